import assert from 'node:assert/strict';
import { once } from 'node:events';
import { after, before, describe, it, type TestContext } from 'node:test';
import { verify } from '../../../sdk/src/webhooks.ts';
import { startFaultyLine } from '../support/connections/faultyLine.ts';
import { type Received, type Receiver, startReceiver } from '../support/connections/receiver.ts';
import { type Call, connectSession, newNumber, startServer, type TestServer } from '../support/server.ts';
import { type CliProcess, newPerson, type Person, spawnCli } from './support.ts';

const SECRET = 'between us and the receiver';

describe('switchboard listen', () => {
  let server: TestServer;
  let person: Person;
  let call: Call;
  let key: string;
  let alice: string;
  let bob: string;
  const bobNumber = newNumber();
  before(async () => {
    server = await startServer();
    person = newPerson();
    ({ call } = await server.account());
    key = (await call('POST', '/api-keys/create', { name: 'listen' })).body.key;
    alice = await connectSession(call);
    bob = await connectSession(call, bobNumber);
  });
  after(async () => {
    await server.stop();
    person.remove();
  });

  async function receiverFor(t: TestContext): Promise<Receiver> {
    const receiver = await startReceiver();
    t.after(() => receiver.close());
    return receiver;
  }

  /** Starts the command, and returns once it forwards every later event. */
  async function listen(t: TestContext, url: string, args: readonly string[] = [], env = {}): Promise<CliProcess> {
    const listening = spawnCli(person, ['listen', '--forward-to', url, ...args], {
      SWITCHBOARD_URL: server.url,
      SWITCHBOARD_KEY: key,
      SWITCHBOARD_WEBHOOK_SECRET: SECRET,
      ...env,
    });
    t.after(() => listening.end('SIGKILL'));
    await listening.waitFor(/Forwarding events|"listening"/);
    return listening;
  }

  async function send(message: string, to = bobNumber): Promise<string> {
    return (await call('POST', '/messages/send', { sessionId: alice, to, message })).body.messageId;
  }

  const ofMessage = (id: string) => (all: readonly Received[]) =>
    all.filter(({ parsed }) => parsed.data.messageId === id).length >= 2; // sent, delivered
  const eventsOf = ({ deliveries }: Receiver) => deliveries.map(({ id }) => id);
  const repeated = (ids: readonly string[]) => ids.filter((id, index) => ids.indexOf(id) !== index);

  for (const [events, include] of [
    [undefined, undefined],
    ['message.*', undefined],
    ['*', ['chat', 'session']],
  ] as const)
    it(`sends what a webhook would send for ${events ?? 'the default events'}`, async (t) => {
      const [receiver, webhookReceiver] = [await receiverFor(t), await receiverFor(t)];
      const { body } = await call('POST', '/webhooks/endpoints', {
        webhookUrl: webhookReceiver.url,
        events: events === undefined ? ['message.sent', 'message.delivered', 'message.incoming'] : [events],
        secret: SECRET,
        ...(include && { include }),
      });
      t.after(() => call('DELETE', `/webhooks/endpoints/${body.webhookId}`));
      const args = [...(events ? ['--events', events] : []), ...(include ? ['--include', include.join()] : [])];
      await listen(t, receiver.url, args);
      const id = await send('compare me');
      for (const each of [receiver, webhookReceiver]) {
        await each.waitFor(ofMessage(id));
        await each.waitFor((all) => all.some(({ event }) => event === 'message.incoming'));
      }
      const expected = new Map(webhookReceiver.deliveries.map((delivery) => [delivery.id, delivery]));
      for (const given of receiver.deliveries) {
        const webhook = expected.get(given.id) ?? assert.fail(`${given.event} was not delivered`);
        assert.equal(given.body, webhook.body);
        assert.deepEqual(Object.keys(given.headers).toSorted(), Object.keys(webhook.headers).toSorted());
        for (const name of [
          'content-type',
          'user-agent',
          'x-webhook-event',
          'x-webhook-sequence',
          'x-webhook-signature',
        ])
          assert.equal(given.headers[name], webhook.headers[name], name);
        const verified = await verify({ body: given.body, headers: given.headers, secret: SECRET });
        assert.deepEqual([verified.ok, verified.ok && verified.scheme], [true, 'standard']);
      }
    });

  it('prints a line per event with the answer, or with the reason of a failure', async (t) => {
    const receiver = await receiverFor(t);
    const listening = await listen(t, receiver.url, ['--session', bob, '--json', '--timeout', '1']);
    receiver.respond(503);
    await send('refused');
    const refused = JSON.parse((await listening.waitFor(/^\{.*"status":503.*\}$/m))[0]);
    assert.deepEqual([refused.type, refused.event, refused.delivered], ['forwarded', 'message.incoming', false]);
    receiver.respond((_, response) => response.destroy());
    await send('cut off');
    await listening.waitFor(/"error":"127\.0\.0\.1:\d+ closed the connection without an answer"/);
    receiver.respond(() => {}); // never
    await send('ignored');
    await listening.waitFor(/"error":"no answer within 1 s"/);
    await receiver.close();
    await send('lost');
    await listening.waitFor(/"status":null,"durationMs":\d+,"error":"nothing listens on 127\.0\.0\.1:\d+"/);
    assert.ok(receiver.deliveries.every(({ parsed }) => parsed.data.sessionId === bob));
    assert.equal(await listening.end('SIGINT'), 0, listening.output.stderr);
    const lines = listening.output.stdout.trim().split('\n');
    assert.ok(lines.every((line) => typeof JSON.parse(line) === 'object'));
    assert.match(lines.at(-1) ?? '', /^\{"type":"stopped","cursor":"\d+\.evt_\w+"\}$/);
  });

  it('makes a secret if there is none, and prints it once', async (t) => {
    const receiver = await receiverFor(t);
    const listening = await listen(t, receiver.url, [], { SWITCHBOARD_WEBHOOK_SECRET: '' });
    const [, secret = ''] = await listening.waitFor(/The secret that signs them: (\S{32})\n/);
    const id = await send('signed');
    await receiver.waitFor(ofMessage(id));
    for (const { body, headers } of receiver.deliveries)
      assert.equal((await verify({ body, headers, secret })).ok, true);
    assert.equal(listening.output.stderr.split(secret).length, 2);
    const other = await listen(t, receiver.url);
    assert.ok(!JSON.stringify(other.output).includes(SECRET));
  });

  it('continues after a break without losing or repeating an event', async (t) => {
    const receiver = await receiverFor(t);
    const line = await startFaultyLine();
    t.after(() => line.close());
    line.aim({ hostname: '127.0.0.1', port: new URL(server.url).port });
    const listening = await listen(t, receiver.url, [], { SWITCHBOARD_URL: `http://127.0.0.1:${line.port}` });
    const ids = [await send('before')];
    await receiver.waitFor(ofMessage(ids[0] ?? ''));
    line.refuse(true);
    line.reset();
    await listening.waitFor(/Connection lost/);
    for (let n = 0; n < 5; n++) ids.push(await send(`during ${n}`));
    line.refuse(false);
    await listening.waitFor(/The server answers again/);
    ids.push(await send('after'));
    for (const id of ids) await receiver.waitFor(ofMessage(id));
    assert.deepEqual(repeated(eventsOf(receiver)), []);
    const incoming = receiver.deliveries.filter(({ event }) => event === 'message.incoming');
    const texts = incoming.map(({ parsed }) => parsed.data.message);
    assert.deepEqual(texts, ['before', 'during 0', 'during 1', 'during 2', 'during 3', 'during 4', 'after']);
  });

  it('keeps the order of a chat, and does not wait for other chats', async (t) => {
    const receiver = await receiverFor(t);
    const others = [newNumber(), newNumber()];
    const held = new Map<string, () => void>();
    receiver.respond(({ id, parsed }, response) => {
      const answer = () => response.writeHead(200).end();
      if (parsed.data.from === others[0]) held.set(id, answer);
      else answer();
    });
    await listen(t, receiver.url, [
      '--session',
      bob,
      '--events',
      'message.incoming',
      '--concurrency',
      '2',
      '--timeout',
      '120',
    ]);
    const arrive = (from: string | undefined, message: string) =>
      call('POST', `/sessions/${bob}/simulate`, { action: 'incoming', from, message });
    const textsOf = (from: string | undefined) =>
      receiver.deliveries.filter(({ parsed }) => parsed.data.from === from).map(({ parsed }) => parsed.data.message);
    for (const text of ['1', '2', '3']) await arrive(others[0], text);
    for (const text of ['1', '2', '3']) await arrive(others[1], text);
    await receiver.waitFor(() => textsOf(others[1]).length === 3);
    assert.deepEqual(textsOf(others[0]), ['1'], 'the next one waits for the answer');
    assert.deepEqual(textsOf(others[1]), ['1', '2', '3']);
    for (const count of [2, 3]) {
      for (const answer of held.values()) answer();
      held.clear();
      await receiver.waitFor(() => textsOf(others[0]).length === count);
    }
    for (const answer of held.values()) answer();
    assert.deepEqual(textsOf(others[0]), ['1', '2', '3']);
    assert.ok(receiver.maxInFlight <= 2);
  });

  it('ends after Ctrl-C with the position from which a later run continues', async (t) => {
    const receiver = await receiverFor(t);
    const held: (() => void)[] = [];
    receiver.respond((_, response) => void held.push(() => response.writeHead(200).end()));
    const args = ['--events', 'message.incoming', '--concurrency', '1', '--timeout', '120'];
    const first = await listen(t, receiver.url, args);
    for (let n = 0; n < 4; n++) await send(`text ${n}`);
    await receiver.waitFor(1);
    held.shift()?.();
    await receiver.waitFor(2);
    first.child.kill('SIGINT');
    await first.waitFor(/Stopping once the receiver has answered/);
    held.shift()?.();
    await once(first.child, 'close');
    assert.equal(first.child.exitCode, 0);
    const [, cursor = ''] = /--after (\S+)/.exec(first.output.stderr) ?? [];
    assert.equal(receiver.deliveries.length, 2);

    receiver.respond(200);
    await listen(t, receiver.url, [...args, '--after', cursor]);
    await receiver.waitFor(4);
    assert.deepEqual(repeated(eventsOf(receiver)), []);
    assert.deepEqual(
      receiver.deliveries.map(({ parsed }) => parsed.data.message),
      ['text 0', 'text 1', 'text 2', 'text 3'],
    );
  });

  it('ends with the exit code of a refusal', async () => {
    const args = ['listen', '--forward-to', 'http://127.0.0.1:9', '--json'];
    const started = (extra: readonly string[], env: Record<string, string>) => {
      const listening = spawnCli(person, [...args, ...extra], {
        SWITCHBOARD_URL: server.url,
        SWITCHBOARD_KEY: key,
        ...env,
      });
      return new Promise<number | null>((resolve) => listening.child.on('close', resolve));
    };
    assert.equal(await started([], { SWITCHBOARD_KEY: 'wrong' }), 3);
    assert.equal(await started(['--events', 'message.seen'], {}), 1);
    assert.equal(await started(['--after', 'yesterday'], {}), 1);
    assert.equal(await started([], { SWITCHBOARD_URL: 'http://127.0.0.1:9' }), 5);
  });

  it('ends when its key is revoked, with the position from which a later run continues', async (t) => {
    const receiver = await receiverFor(t);
    const own = (await call('POST', '/api-keys/create', { name: 'short' })).body;
    const listening = await listen(t, receiver.url, [], { SWITCHBOARD_KEY: own.key });
    await receiver.waitFor(ofMessage(await send('before')));
    await call('DELETE', `/api-keys/${own.keyId}`);
    const code = await new Promise<number | null>((resolve) => listening.child.on('close', resolve));
    assert.equal(code, 3);
    assert.match(listening.output.stderr, /--after \d+\.evt_\w+\n.*switchboard login/s);
  });
});
