import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, before, describe, it } from 'node:test';
import { operations } from '../../server/src/operations/index.ts';
import { picture } from '../../server/test/support/media.ts';
import { startServer, type TestServer } from '../../server/test/support/server.ts';
import { routes } from '../src/api.ts';
import { type Client, createClient } from '../src/client.ts';
import {
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
  let sessionId: string;
  before(async () => {
    server = await startServer();
    const guest = createClient({ baseUrl: `${server.url}/` });
    const { token } = await guest.auth.register({ email: 'sdk@example.com', password: 'correct horse battery' });
    const { key } = await createClient({ baseUrl: server.url, credential: token }).apiKeys.create({ name: 'sdk' });
    sb = createClient({ baseUrl: server.url, credential: key });
    ({ sessionId } = await sb.sessions.create({ name: 'sdk' }));
    await sb.sessions.connect({ sessionId });
  });
  after(() => server.stop());

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

  it('puts fields where they belong: path, query and body', async () => {
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

  it('goes through a list from end to end', async () => {
    for (let n = 0; n < 5; n++) await sb.messages.send({ to: '491701112223', message: `page ${n}` });
    const seen: string[] = [];
    for await (const { message } of sb.messages.list.all({ chatId: '491701112223', limit: 2 })) seen.push(message);
    assert.deepEqual(
      seen,
      [4, 3, 2, 1, 0].map((n) => `page ${n}`),
    );
  });

  it('sends a file and reads it back', async () => {
    const bytes = new Uint8Array(picture());
    const { mediaId, mimeType } = await sb.media.upload(new Blob([bytes]), { fileName: 'p.png' });
    assert.equal(mimeType, 'image/png');
    const content = await sb.media.content({ mediaId });
    assert.deepEqual(new Uint8Array(await content.arrayBuffer()), bytes);
  });

  it('throws what the server refuses, as an error of its kind with its code and fields', async () => {
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

  it('follows events as they happen, and goes on where it was after a break', async () => {
    const gone = new AbortController();
    const first = sb.events.stream({ kinds: ['message.sent'], signal: gone.signal });
    const next = first.next();
    await new Promise((resolve) => setTimeout(resolve, 200)); // the stream starts with what comes next
    const { messageId } = await sb.messages.send({ to: '491701112223', message: 'stream' });
    const { value } = await next;
    assert.ok(value !== undefined && value.event === 'message.sent');
    assert.equal(value.data.messageId, messageId);
    gone.abort();
    await assert.rejects(first.next());

    const missed = await sb.messages.send({ to: '491701112223', message: 'missed' });
    const again = new AbortController();
    const resumed = sb.events.stream({ kinds: ['message.sent'], after: value.id, signal: again.signal });
    const { value: seen } = await resumed.next();
    assert.ok(seen !== undefined && seen.event === 'message.sent');
    assert.equal(seen.data.messageId, missed.messageId);
    again.abort();
    await assert.rejects(resumed.next());
  });
});

describe('repeating', () => {
  interface Seen {
    readonly url: string | undefined;
    readonly key: string | undefined;
    readonly at: number;
  }

  /** A server that fails as often as told before it answers. */
  async function failing(times: number, status: number, headers: Record<string, string> = {}) {
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
      else response.writeHead(status, headers).end('busy');
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    return { seen, sb: createClient({ baseUrl, credential: 'x' }), close: () => server.close() };
  }

  it('waits as long as the server says', async () => {
    const { seen, sb, close } = await failing(1, 429, { 'retry-after': '1' });
    await sb.sessions.list();
    assert.equal(seen.length, 2);
    assert.ok((seen[1]?.at ?? 0) - (seen[0]?.at ?? 0) >= 950);
    close();
  });

  it('repeats a send under one key, also when no answer came', async () => {
    const { seen, sb, close } = await failing(2, 0);
    await sb.messages.send({ to: '491707654321', message: 'x' });
    assert.equal(seen.length, 3);
    assert.ok(seen[0]?.key);
    assert.equal(new Set(seen.map(({ key }) => key)).size, 1);
    close();
  });

  it('repeats nothing that might be done twice, and nothing that is plainly refused', async () => {
    const once = await failing(5, 503);
    await assert.rejects(once.sb.webhooks.replay({ deliveryIds: ['dlv_1'] }), ServerError);
    assert.equal(once.seen.length, 1);
    once.close();
    const refused = await failing(5, 400);
    await assert.rejects(refused.sb.sessions.list(), ValidationError);
    assert.equal(refused.seen.length, 1);
    refused.close();
  });

  it('gives up after three more tries', async () => {
    const { seen, sb, close } = await failing(9, 429);
    await assert.rejects(sb.sessions.list(), RateLimitError);
    assert.equal(seen.length, 4);
    close();
  });
});
