import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { connect, createServer as createTcpServer, type Socket } from 'node:net';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { operations } from '../../server/src/operations/index.ts';
import { portOf } from '../../server/test/support/connections/listening.ts';
import { picture } from '../../server/test/support/media/media.ts';
import { startServer, type TestServer } from '../../server/test/support/server.ts';
import { routes } from '../src/api.ts';
import { type Client, createClient } from '../src/client.ts';
import {
  ArgumentError,
  AuthenticationError,
  ConflictError,
  ConnectionError,
  NotFoundError,
  RateLimitError,
  ServerError,
  ValidationError,
} from '../src/errors.ts';

describe('the client', () => {
  let server: TestServer;
  let sb: Client;
  let key: string;
  let sessionId: string;
  before(async () => {
    server = await startServer();
    const guest = createClient({ baseUrl: `${server.url}/` });
    const { token } = await guest.auth.register({ email: 'sdk@example.com', password: 'correct horse battery' });
    ({ key } = await createClient({ baseUrl: server.url, credential: token }).apiKeys.create({ name: 'sdk' }));
    sb = createClient({ baseUrl: server.url, credential: key });
    ({ sessionId } = await sb.sessions.create({ name: 'sdk' }));
    await sb.sessions.connect({ sessionId });
  });
  after(() => server.stop());

  it('refuses an id that would lead to another route, and an address that is no URL', async () => {
    for (const id of ['.', '..', '']) {
      await assert.rejects(
        sb.webhooks.endpoints.test({ webhookId: id }),
        new ArgumentError(`\`webhookId\` is not an id: "${id}"`),
      );
      await assert.rejects(sb.media.content({ mediaId: id }), TypeError);
    }
    await assert.rejects(sb.sessions.get({ sessionId: '../auth/me' }), NotFoundError);
    for (const baseUrl of ['nowhere', 'ftp://example.com', '', undefined as unknown as string])
      assert.throws(
        () => createClient({ baseUrl }),
        /^ArgumentError: `baseUrl` is the http or https address of the server/,
      );
    for (const end of ['/', '/api/v1', '/api/v1/']) {
      const { account } = await createClient({ baseUrl: `${server.url}${end}`, credential: key }).auth.me();
      assert.ok(account.accountId);
    }
  });

  it('has a method for every operation', () => {
    assert.deepEqual(
      Object.keys(routes),
      operations.map(({ id }) => id),
    );
    for (const id of Object.keys(routes)) {
      const path = id.split('.').map((part) => part.replace(/_(\w)/g, (_, letter: string) => letter.toUpperCase()));
      const method = path.reduce<unknown>((node, part) => (node as Record<string, unknown>)[part], sb);
      assert.equal(typeof method, 'function', id);
    }
  });

  it('places fields in the path, query and body', async () => {
    const sent = await sb.messages.send({ to: '+49 170 7654321', message: 'Hello' });
    assert.equal(sent.to, '491707654321');
    assert.equal((await sb.messages.get({ messageId: sent.messageId })).message, 'Hello');
    assert.equal((await sb.messages.edit({ messageId: sent.messageId, message: 'Hi' })).edited, true);
    const { data } = await sb.messages.list({ direction: 'outgoing', limit: 1 });
    assert.equal(data[0]?.messageId, sent.messageId);
    const checked = await sb.contacts.check({ phoneNumbers: ['491707654321', '15550001234'] });
    assert.deepEqual(
      checked.data.map(({ onNetwork }) => onNetwork),
      [true, false],
    );
    assert.equal((await sb.webhooks.endpoints.list()).data.length, 0);
    assert.equal((await sb.messages.delete({ messageId: sent.messageId })).deleted, true);
  });

  it('iterates over all pages of a list', async () => {
    for (let n = 0; n < 5; n++) await sb.messages.send({ to: '491701112223', message: `page ${n}` });
    const seen: string[] = [];
    for await (const { message } of sb.messages.list.all({ chatId: '491701112223', limit: 2 })) seen.push(message);
    assert.deepEqual(
      seen,
      [4, 3, 2, 1, 0].map((n) => `page ${n}`),
    );
  });

  it('uploads a file and downloads it', async () => {
    const bytes = new Uint8Array(picture());
    const { mediaId, mimeType } = await sb.media.upload(new Blob([bytes]), { fileName: 'p.png' });
    assert.equal(mimeType, 'image/png');
    const content = await sb.media.content({ mediaId });
    assert.deepEqual(new Uint8Array(await content.arrayBuffer()), bytes);
  });

  it('sends a file as a stream', async () => {
    const parts = ['a file ', 'in two parts'].map((part) => new TextEncoder().encode(part));
    const stream = new ReadableStream<Uint8Array>({
      pull(controller) {
        const part = parts.shift();
        if (part === undefined) controller.close();
        else controller.enqueue(part);
      },
    });
    const { mediaId, size } = await sb.media.upload(stream, { fileName: 'parts.txt' });
    assert.equal(size, 19);
    assert.equal(await (await sb.media.content({ mediaId })).text(), 'a file in two parts');
  });

  it('reports upload progress for any kind of body', async () => {
    const bytes = new Uint8Array(1_000_000).map((_, index) => index % 251);
    const text = 'é'.repeat(500_000);
    const form = new FormData();
    form.append('file', new Blob([bytes]), 'form.bin');
    for (const [content, size, totalBytes] of [
      [bytes, 1_000_000, 1_000_000],
      [bytes.buffer, 1_000_000, 1_000_000],
      [new Blob([bytes]), 1_000_000, 1_000_000],
      [text, 1_000_000, 1_000_000],
      [new Blob([bytes]).stream(), 1_000_000, undefined],
      [form, 1_000_000, undefined],
    ] as const) {
      const reported: number[] = [];
      const media = await sb.media.upload(
        content,
        {},
        {
          onProgress: (progress) => {
            reported.push(progress.sentBytes);
            assert.equal(progress.totalBytes, totalBytes);
          },
        },
      );
      assert.equal(media.size, size);
      assert.ok(reported.length > 3, `only ${reported} were reported`);
      assert.deepEqual(
        reported,
        reported.toSorted((one, other) => one - other),
      );
      if (totalBytes !== undefined) assert.equal(reported.at(-1), totalBytes);
      if (content === text) assert.match(media.mimeType, /^text\/plain/);
    }
  });

  it('uploads with progress through a custom fetch', async () => {
    let asked = 0;
    const own = createClient({
      baseUrl: server.url,
      fetch: (...request) => {
        asked++;
        return fetch(...request);
      },
    });
    const reported: number[] = [];
    await assert.rejects(
      own.media.upload('text', {}, { onProgress: ({ sentBytes }) => reported.push(sentBytes) }),
      AuthenticationError,
    );
    assert.deepEqual([asked, reported], [1, [4]]);
  });

  it('cancels an upload midway', async () => {
    const giveUp = new AbortController();
    const upload = sb.media.upload(
      new Blob([new Uint8Array(50_000_000)]),
      {},
      { signal: giveUp.signal, onProgress: () => giveUp.abort() },
    );
    await assert.rejects(upload, { name: 'AbortError' });
  });

  it('throws errors of a class per code, with fields', async () => {
    await assert.rejects(sb.messages.send({ to: 'nobody', message: 'x' }), (error: unknown) => {
      assert.ok(error instanceof ValidationError);
      assert.deepEqual([error.status, error.code, error.fields[0]?.field], [400, 'validation_failed', 'to']);
      assert.match(error.requestId, /^req_/);
      return true;
    });
    await assert.rejects(sb.messages.get({ messageId: 'msg_none' }), NotFoundError);
    await assert.rejects(sb.webhooks.test(), ConflictError);
    await assert.rejects(
      createClient({ baseUrl: server.url, credential: 'sb_x' }).sessions.list(),
      AuthenticationError,
    );
    await assert.rejects(createClient({ baseUrl: 'http://127.0.0.1:9', retries: 0 }).sessions.list(), ConnectionError);
  });
});

describe('the stream of events', () => {
  /** A proxy to the server that can be cut or fall silent, independently of the server. */
  async function wayTo(server: TestServer) {
    const sockets = new Set<Socket>();
    let isOpen = true;
    let isSilent = false;
    let begun = () => {};
    const proxy = createTcpServer((socket) => {
      if (!isOpen) {
        socket.destroy();
        return;
      }
      const onward = connect(Number(new URL(server.url).port), '127.0.0.1');
      for (const end of [socket, onward]) {
        sockets.add(end);
        end.on('error', () => {});
        end.on('close', () => [socket, onward].forEach((other) => void other.destroy()));
      }
      socket.pipe(onward);
      onward.on('data', (bytes) => {
        if (isSilent) return;
        socket.write(bytes);
        if (bytes.includes('connected')) begun();
      });
    });
    await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve));
    return {
      baseUrl: `http://127.0.0.1:${portOf(proxy)}`,
      /** Resolves once a stream that is requested from now on has begun. */
      beginning: () => new Promise<void>((resolve) => (begun = resolve)),
      cut() {
        isOpen = false;
        for (const socket of sockets) socket.destroy();
      },
      silence(on: boolean) {
        isSilent = on;
      },
      open() {
        isOpen = true;
      },
      close() {
        this.cut();
        proxy.close();
      },
    };
  }

  async function setUp() {
    const server = await startServer();
    const { token } = await server.account();
    const sb = createClient({ baseUrl: server.url, credential: token });
    const { sessionId } = await sb.sessions.create({});
    await sb.sessions.connect({ sessionId });
    const way = await wayTo(server);
    const far = createClient({ baseUrl: way.baseUrl, credential: token });
    const stop = async () => {
      way.close();
      await server.stop();
    };
    return { sb, far, way, stop };
  }

  it('streams live events, and resumes after an interruption', async () => {
    const { sb, far, way, stop } = await setUp();
    const beginning = way.beginning();
    const gone = new AbortController();
    const first = far.events.stream({ events: ['message.sent'], signal: gone.signal });
    const next = first.next();
    await beginning;
    const { messageId } = await sb.messages.send({ to: '491701112223', message: 'stream' });
    const { value } = await next;
    assert.ok(value !== undefined && value.event === 'message.sent');
    assert.equal(value.data.messageId, messageId);
    gone.abort();
    await assert.rejects(first.next());

    const missed = await sb.messages.send({ to: '491701112223', message: 'missed' });
    const again = new AbortController();
    const resumed = sb.events.stream({ events: ['message.sent'], after: value.id, signal: again.signal });
    const { value: seen } = await resumed.next();
    assert.ok(seen !== undefined && seen.event === 'message.sent');
    assert.equal(seen.data.messageId, missed.messageId);
    again.abort();
    await assert.rejects(resumed.next());
    await stop();
  });

  it('misses nothing during an interruption, even before its first event', async () => {
    const { sb, far, way, stop } = await setUp();
    const gone = new AbortController();
    const beginning = way.beginning();
    const stream = far.events.stream({ events: ['message.sent'], signal: gone.signal });
    const next = stream.next();
    await beginning;
    way.cut();
    const { messageId } = await sb.messages.send({ to: '491707654321', message: 'meanwhile' });
    way.open();
    const { value } = await next;
    assert.ok(value?.event === 'message.sent');
    assert.equal(value.data.messageId, messageId);
    gone.abort();
    await assert.rejects(stream.next());
    await stop();
  });

  it('reconnects after its connection died silently', async () => {
    const { sb, far, way, stop } = await setUp();
    const gone = new AbortController();
    const beginning = way.beginning();
    const stream = far.events.stream({ events: ['message.sent'], silenceMs: 2000, signal: gone.signal });
    const next = stream.next();
    await beginning;
    way.silence(true);
    const { messageId } = await sb.messages.send({ to: '491707654321', message: 'into the void' });
    way.silence(false);
    const { value } = await next;
    assert.ok(value?.event === 'message.sent');
    assert.equal(value.data.messageId, messageId);
    gone.abort();
    await assert.rejects(stream.next());
    await stop();
  });

  it('fails permanently without a valid credential', async () => {
    const { way, stop } = await setUp();
    const stranger = createClient({ baseUrl: way.baseUrl, credential: 'sb_none' });
    await assert.rejects(stranger.events.stream().next(), AuthenticationError);
    await stop();
  });
});

describe('retries', () => {
  interface Seen {
    readonly url: string | undefined;
    readonly key: string | undefined;
    readonly at: number;
  }

  /** A server that fails a given number of times before it succeeds. */
  async function failing(times: number, status: number, headers: Record<string, string> = {}, body = 'busy') {
    const seen: Seen[] = [];
    const server = createServer((request, response) => {
      request.resume();
      seen.push({
        url: request.url,
        key: request.headers['idempotency-key'] as string | undefined,
        at: performance.now(),
      });
      if (seen.length > times)
        response.setHeader('content-type', 'application/json').end('{"data":[],"nextCursor":null}');
      else if (status === 0) response.destroy();
      else {
        response.writeHead(status, headers).write(body);
        // A response that is shorter than its announced length ends early.
        setImmediate(() => (headers['content-length'] === undefined ? response.end() : response.destroy()));
      }
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const baseUrl = `http://127.0.0.1:${portOf(server)}`;
    return { seen, sb: createClient({ baseUrl, credential: 'x' }), close: () => server.close() };
  }

  const problem = (status: number, code: string) =>
    JSON.stringify({ type: 'about:blank', title: 'x', status, detail: 'x', code, requestId: 'req_x' });

  it('wait as long as Retry-After says', async () => {
    const { seen, sb, close } = await failing(1, 429, { 'retry-after': '1' });
    await sb.sessions.list();
    assert.equal(seen.length, 2);
    assert.ok((seen[1]?.at ?? 0) - (seen[0]?.at ?? 0) >= 950);
    close();
  });

  it('send a message once under one key, even after a lost response', async () => {
    const { seen, sb, close } = await failing(2, 0);
    await sb.messages.send({ to: '491707654321', message: 'x' });
    assert.equal(seen.length, 3);
    assert.ok(seen[0]?.key);
    assert.equal(new Set(seen.map(({ key }) => key)).size, 1);
    close();
  });

  it('exclude unsafe requests and permanent errors', async () => {
    const once = await failing(5, 503);
    await assert.rejects(once.sb.webhooks.replay({ deliveryIds: ['dlv_1'] }), ServerError);
    assert.equal(once.seen.length, 1);
    once.close();
    const refused = await failing(5, 400);
    await assert.rejects(refused.sb.sessions.list(), ValidationError);
    assert.equal(refused.seen.length, 1);
    refused.close();
  });

  it('exclude a GET with side effects', async () => {
    const { seen, sb, close } = await failing(5, 503);
    await assert.rejects(sb.webhooks.test(), ServerError);
    assert.equal(seen.length, 1);
    close();
  });

  it('keep the idempotency key of the caller, wherever it is given', async () => {
    const { seen, sb, close } = await failing(0, 200);
    await sb.messages.send({ to: '491707654321', message: 'x', idempotencyKey: 'mine' });
    await sb.messages.send({ to: '491707654321', message: 'x' }, { idempotencyKey: 'mine too' });
    assert.deepEqual(
      seen.map(({ key }) => key),
      [undefined, 'mine too'],
    );
    close();
  });

  it('make a key if that of the caller is undefined', async () => {
    const { seen, sb, close } = await failing(1, 0);
    await sb.messages.send({ to: '491707654321', message: 'x', idempotencyKey: undefined } as never);
    assert.equal(seen.length, 2);
    assert.ok(seen[0]?.key);
    assert.equal(seen[1]?.key, seen[0]?.key);
    close();
  });

  it('continue the stream of events after an internal error', async () => {
    const { seen, sb, close } = await failing(1, 500);
    const gone = new AbortController();
    const next = sb.events.stream({ signal: gone.signal }).next();
    while (seen.length < 2) await Promise.race([next, new Promise(setImmediate)]);
    gone.abort();
    await assert.rejects(next, { name: 'AbortError' });
    close();
  });

  it('end when either signal of the stream of events aborts', async () => {
    const { seen, sb, close } = await failing(9, 500);
    const kept = new AbortController();
    for (const place of ['options', 'call'] as const) {
      const gone = new AbortController();
      const [options, call] = place === 'options' ? [gone, kept] : [kept, gone];
      const before = seen.length;
      const next = sb.events.stream({ signal: options.signal }, { signal: call.signal }).next();
      while (seen.length === before) await Promise.race([next, new Promise(setImmediate)]);
      gone.abort(new Error(place));
      await assert.rejects(next, new Error(place));
    }
    const aborted = AbortSignal.abort(new Error('only the call'));
    await assert.rejects(sb.events.stream({}, { signal: aborted }).next(), new Error('only the call'));
    close();
  });

  it('exclude messages that the network rejected', async () => {
    const { seen, sb, close } = await failing(5, 502, {}, problem(502, 'send_failed'));
    await assert.rejects(sb.messages.send({ to: '491707654321', message: 'x' }), ServerError);
    assert.equal(seen.length, 1);
    close();
  });

  it('wait while an earlier attempt is still in progress', async () => {
    const { seen, sb, close } = await failing(2, 409, {}, problem(409, 'idempotency_in_flight'));
    await sb.messages.send({ to: '491707654321', message: 'x' });
    assert.equal(seen.length, 3);
    close();
  });

  it('never wait for an hour', async () => {
    const { seen, sb, close } = await failing(5, 429, { 'retry-after': '3600' });
    await assert.rejects(sb.sessions.list(), (error: unknown) => {
      assert.ok(error instanceof RateLimitError);
      return error.retryAfterSeconds === 3600;
    });
    assert.equal(seen.length, 1);
    close();
  });

  it('repeat a response that ended early', async () => {
    const { seen, sb, close } = await failing(1, 200, { 'content-length': '1000' });
    assert.deepEqual((await sb.sessions.list()).data, []);
    assert.equal(seen.length, 2);
    close();
  });

  it('stop after the third', async () => {
    const { seen, sb, close } = await failing(9, 429);
    await assert.rejects(sb.sessions.list(), RateLimitError);
    assert.equal(seen.length, 4);
    close();
  });
});

it('depends on nothing that only Node has', async () => {
  const root = fileURLToPath(new URL('../../', import.meta.url));
  const options = ['--noEmit', '--strict', '--allowImportingTsExtensions', '--erasableSyntaxOnly'];
  const platform = ['--target', 'es2024', '--lib', 'es2024,dom,dom.iterable,dom.asynciterable', '--types', ''];
  const files = ['client', 'errors', 'progress', 'webhooks'].map((name) => join(root, `sdk/src/${name}.ts`));
  const tsc = join(root, 'node_modules/typescript/bin/tsc');
  await promisify(execFile)(process.execPath, [tsc, '--ignoreConfig', ...options, ...platform, ...files], {
    cwd: root,
  });
  for (const file of files) assert.doesNotMatch(await readFile(file, 'utf8'), /from '(?!\.\/)/);
});
