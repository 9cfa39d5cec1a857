import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { after, before, describe, it, type TestContext } from 'node:test';
import { fileURLToPath } from 'node:url';
import { isRefusal } from '../../../examples/refusals.ts';
import { ConnectionError, errorOf } from '../../../sdk/src/errors.ts';
import { portOf } from '../support/connections/listening.ts';
import { eventually } from '../support/eventually.ts';
import { samples } from '../support/media/media.ts';
import { type Call, connectSession, newNumber, startServer, type TestServer } from '../support/server.ts';

const SECRET = 'a secret of the example';

interface Asked {
  readonly path: string;
  readonly authorization: string | undefined;
  readonly body: Buffer;
  readonly type: string;
}

/** Response of a service to one request. */
type Respond = (asked: Asked, count: number) => { readonly status: number; readonly json?: object };

it('isRefusal tells errors that stay from errors that can pass', async () => {
  const errorWith = (status: number, code: string) =>
    errorOf(Response.json({ status, code, detail: 'x', requestId: 'req_x' }, { status }));
  const stays = ['validation_failed 400', 'fetch_failed 422', 'not_found 404', 'send_failed 502', 'network_denied 403'];
  const passes = [
    'session_not_connected 409',
    'permission_denied 403',
    'unauthorized 401',
    'rate_limited 429',
    'too_busy 503',
  ];
  for (const each of [...stays, ...passes]) {
    const [code = '', status] = each.split(' ');
    assert.equal(isRefusal(await errorWith(Number(status), code)), stays.includes(each), each);
  }
  assert.equal(isRefusal(new ConnectionError('gone')), false);
});

describe('the receivers in examples/', () => {
  let server: TestServer;
  let call: Call;
  let key: string;
  let sessionId: string;
  before(async () => {
    server = await startServer();
    ({ call } = await server.account());
    key = (await call('POST', '/api-keys/create', { name: 'example' })).body.key;
    sessionId = await connectSession(call);
  });
  after(() => server?.stop());

  /** Starts a stand-in for the service of an example. */
  async function startService(t: TestContext, respond: Respond) {
    const asked: Asked[] = [];
    const listener = async (request: IncomingMessage, response: ServerResponse) => {
      const { authorization, 'content-type': type = '' } = request.headers;
      const one = { path: request.url ?? '', authorization, body: await buffer(request), type };
      asked.push(one);
      const { status, json } = respond(one, asked.length);
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(json ?? {}));
    };
    const service = createServer(listener).listen(0, '127.0.0.1');
    await once(service, 'listening');
    t.after(() => service.close());
    return { url: `http://127.0.0.1:${portOf(service)}`, asked };
  }

  /** Starts an example with a webhook that leads to it. */
  async function start(t: TestContext, name: string, env: Record<string, string>, webhook: object) {
    const script = fileURLToPath(new URL(`../../../examples/${name}.ts`, import.meta.url));
    const settings = { SWITCHBOARD_URL: server.url, SWITCHBOARD_KEY: key, WEBHOOK_SECRET: SECRET, PORT: '0', ...env };
    const running = spawn(process.execPath, [script], {
      env: { ...process.env, ...settings },
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    t.after(() => running.kill('SIGKILL'));
    const [line] = await Promise.race([
      once(running.stdout, 'data'),
      once(running, 'exit').then(([code]) => assert.fail(`${name} exited with ${code}`)),
    ]);
    const [, port] = /port (\d+)/.exec(String(line)) ?? [];
    const { status, body } = await call('POST', '/webhooks/endpoints', {
      webhookUrl: `http://127.0.0.1:${port}/`,
      events: ['message.incoming'],
      secret: SECRET,
      retrySeconds: [1, 1, 1, 1],
      ...webhook,
    });
    assert.equal(status, 201, JSON.stringify(body));
    t.after(() => call('DELETE', `/webhooks/endpoints/${body.webhookId}`));
  }

  const simulate = (from: string, more: object) =>
    call('POST', `/sessions/${sessionId}/simulate`, { action: 'incoming', from, ...more });

  async function repliesTo(from: string, count: number): Promise<Record<string, unknown>[]> {
    const list = async () => (await call('GET', `/messages?chatId=${from}&direction=outgoing`)).body.data;
    const found = await eventually(list, ({ length }) => length >= count);
    return found.toReversed();
  }

  /** Receives the sample of a voice message. */
  async function speak(from: string) {
    const upload = await fetch(`${server.url}/api/v1/media`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'audio/ogg' },
      body: new Uint8Array(samples.voice),
    });
    const { mediaId } = JSON.parse(await upload.text());
    await simulate(from, { type: 'voice', mediaId });
  }

  it('voiceToText answers a voice message with its text, once, although the first try fails', async (t) => {
    const speech = await startService(t, (_, count) =>
      count === 1 ? { status: 503 } : { status: 200, json: { text: ' Call me back. ' } },
    );
    const env = { SPEECH_URL: `${speech.url}/v1/`, SPEECH_KEY: 'speech key', SPEECH_LANGUAGE: 'en' };
    await start(t, 'voiceToText', env, { timeoutMs: 60_000, filters: { messageTypes: ['voice'] } });
    const from = newNumber();
    await simulate(from, { message: 'Not a voice message' });
    await speak(from);
    const [reply] = await repliesTo(from, 1);
    const { data } = (await call('GET', `/messages?chatId=${from}&type=voice`)).body;
    assert.deepEqual([reply?.['message'], reply?.['replyTo']], ['Call me back.', data[0].messageId]);
    assert.equal(speech.asked.length, 2);
    const [, { path, authorization, body: sent, type }] = speech.asked as [Asked, Asked];
    assert.deepEqual([path, authorization], ['/v1/audio/transcriptions', 'Bearer speech key']);
    const form = await new Response(new Uint8Array(sent), { headers: { 'content-type': type } }).formData();
    assert.deepEqual([form.get('model'), form.get('language')], ['whisper-1', 'en']);
    assert.deepEqual(Buffer.from(await (form.get('file') as File).arrayBuffer()), samples.voice);
  });

  it('voiceToText cuts between characters, and removes what no message can have', async (t) => {
    const family = '👨‍👩‍👧';
    const texts = [`${'x'.repeat(3999)}😀 and more`, `${'x'.repeat(3995)}${family} and more`, '\0Good \0morning\ud83d'];
    const speech = await startService(t, (_, count) => ({ status: 200, json: { text: texts[count - 1] } }));
    await start(t, 'voiceToText', { SPEECH_URL: speech.url }, { filters: { messageTypes: ['voice'] } });
    const received: unknown[] = [];
    for (const _ of texts) {
      const from = newNumber();
      await speak(from);
      received.push((await repliesTo(from, 1))[0]?.['message']);
    }
    assert.deepEqual(received, [`${'x'.repeat(3999)}…`, `${'x'.repeat(3995)}…`, 'Good morning\ufffd']);
    assert.equal(speech.asked.length, texts.length);
  });

  it('typebot starts, continues and restarts a chat', async (t) => {
    const text = (markdown: string) => ({ type: 'text', content: { type: 'markdown', markdown } });
    // Typebot forgets the session after the second message.
    const typebot = await startService(t, ({ path }, count) => {
      if (path.endsWith('/startChat')) {
        const input = { type: 'choice input', items: [{ content: 'Sales' }, { content: 'Support' }] };
        return { status: 200, json: { sessionId: `chat${count}`, messages: [text(`Welcome ${count}`)], input } };
      }
      if (count === 2)
        return { status: 200, json: { messages: [text('Which product?')], input: { type: 'text input' } } };
      return { status: 404, json: { message: 'Session not found.', code: 'NOT_FOUND' } };
    });
    const env = { TYPEBOT_URL: typebot.url, TYPEBOT_ID: 'my-bot' };
    await start(t, 'typebot', env, { ordering: 'strict', timeoutMs: 60_000, filters: { chatTypes: ['direct'] } });
    const from = newNumber();
    const sent: unknown[] = [];
    for (const [message, replies] of [
      ['Hello', 2],
      ['Support', 3],
      ['The red one', 5],
    ] as const) {
      await simulate(from, { message });
      sent.push(...(await repliesTo(from, replies)).slice(sent.length).map((reply) => reply['message']));
    }
    const choices = '- Sales\n- Support';
    assert.deepEqual(sent, ['Welcome 1', choices, 'Which product?', 'Welcome 4', choices]);
    assert.deepEqual(
      typebot.asked.map(({ path }) => path),
      [
        '/api/v1/typebots/my-bot/startChat',
        '/api/v1/sessions/chat1/continueChat',
        '/api/v1/sessions/chat1/continueChat',
        '/api/v1/typebots/my-bot/startChat',
      ],
    );
    const question = { message: { type: 'text', text: 'Hello' }, textBubbleContentFormat: 'markdown' };
    assert.deepEqual(JSON.parse(String(typebot.asked[0]?.body)), question);
  });

  it('typebot goes on after a bubble that cannot be sent, and ignores messages without text', async (t) => {
    const typebot = await startService(t, ({ body }) => {
      const { text } = JSON.parse(String(body)).message;
      if (text === 'unreadable') return { status: 400, json: { message: 'Invalid message' } };
      const url = 'https://127.0.0.1/gone.png';
      const messages = [
        { type: 'text', content: { markdown: 'x'.repeat(65_537) } },
        { type: 'image', content: { url } },
        { type: 'text', content: { markdown: `You wrote ${text}` } },
      ];
      return { status: 200, json: { sessionId: 'chat', messages, input: { type: 'text input' } } };
    });
    const env = { TYPEBOT_URL: typebot.url, TYPEBOT_ID: 'my-bot' };
    await start(t, 'typebot', env, { ordering: 'strict', timeoutMs: 60_000, filters: { chatTypes: ['direct'] } });
    const from = newNumber();
    await speak(from);
    for (const message of ['one', 'unreadable', 'two']) await simulate(from, { message });
    const sent = (await repliesTo(from, 4)).map(({ message }) => message);
    const url = 'https://127.0.0.1/gone.png';
    assert.deepEqual(sent, [url, 'You wrote one', url, 'You wrote two']);
    const paths = ['typebots/my-bot/startChat', 'sessions/chat/continueChat', 'sessions/chat/continueChat'];
    assert.deepEqual(
      typebot.asked.map(({ path }) => path),
      paths.map((path) => `/api/v1/${path}`),
    );
  });
});
