import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { it } from 'node:test';
import { systemClock } from '../../src/clock.ts';
import { createWithFiles } from '../../src/operations/webhooks/deliveredFiles.ts';
import { startReceiver } from '../support/connections/receiver.ts';
import { describeOnEachDeployment } from '../support/databases/databases.ts';
import { eventually } from '../support/eventually.ts';
import { picture, upload } from '../support/media/media.ts';
import { type Answer, bearer, connectSession, eventOf, newNumber, serversFor, startServer } from '../support/server.ts';

const ANN = '491711111111';
const SECRET = 'a secret of the test';
const DAY_MS = 24 * 60 * 60 * 1000;
const DELIVERED = {
  class: 'ok',
  status: 200,
  durationMs: 1,
  message: 'Answered 200',
  response: null,
  retryAfterMs: null,
} as const;

describeOnEachDeployment('files in a delivery', (_, database) => {
  const start = serversFor(database);

  async function setUp(test: { after(cleanUp: () => Promise<void>): void }) {
    const server = await start();
    const { call, token } = await server.account();
    const receiver = await startReceiver();
    test.after(() => receiver.close());
    const sessionId = await connectSession(call, newNumber());
    const create = async (more: object) => {
      const { status, body } = await call('POST', '/webhooks/endpoints', {
        webhookUrl: receiver.url,
        events: ['message.incoming'],
        secret: SECRET,
        retrySeconds: [1, 1, 1, 1, 1],
        ...more,
      });
      assert.equal(status, 201, JSON.stringify(body));
      return body;
    };
    const receive = async (bytes = picture()) => {
      const { mediaId } = (await upload(server, token, bytes)).body;
      const { status, body } = await call('POST', `/sessions/${sessionId}/simulate`, {
        action: 'incoming',
        from: ANN,
        type: 'image',
        mediaId,
      });
      assert.equal(status, 200, JSON.stringify(body));
      return bytes;
    };
    const open = async (link: { url: string }) => {
      const response = await fetch(new URL(link.url, server.url));
      return { status: response.status, bytes: Buffer.from(await response.arrayBuffer()) };
    };
    return { server, call, receiver, create, receive, open };
  }

  it('have a link for each attempt, which the signature covers, and none in the log', async (test) => {
    const { call, receiver, create, receive, open } = await setUp(test);
    const { webhookId, include, inlineMediaBytes } = await create({ include: ['mediaLink'] });
    assert.deepEqual([include, inlineMediaBytes], [['mediaLink'], 0]);
    receiver.respond(({ attempt }, response) => response.writeHead(attempt === 1 ? 500 : 200).end());
    const before = Date.now();
    const bytes = await receive();
    await receiver.waitFor(2);
    for (const { body, headers, parsed } of receiver.deliveries) {
      const signature = createHmac('sha256', SECRET).update(body).digest('hex');
      assert.equal(headers['x-webhook-signature'], `sha256=${signature}`);
      const { link, content } = parsed.data.media;
      assert.equal(content, undefined);
      assert.ok(Date.parse(link.expiresAt) >= before + DAY_MS);
      assert.ok((await open(link)).bytes.equals(bytes));
    }
    const { body } = await eventually(
      () => call('GET', `/webhooks/deliveries?webhookId=${webhookId}`),
      (answer) => answer.body.data[0].state === 'delivered',
    );
    const { deliveryId } = body.data[0];
    const { body: shown } = await call('GET', `/webhooks/deliveries/${deliveryId}`);
    assert.equal(JSON.parse(shown.body).data.media.link, undefined);

    await call('POST', '/media/links/revoke', {});
    assert.equal((await open(receiver.deliveries[1]?.parsed.data.media.link)).status, 403);
    await call('POST', '/webhooks/replay', { deliveryIds: [deliveryId] });
    await receiver.waitFor(3);
    assert.equal((await open(receiver.deliveries[2]?.parsed.data.media.link)).status, 200);
  });

  it('are missing once deleted, and do not hold up the event', async (test) => {
    const { call, receiver, create, receive } = await setUp(test);
    const { webhookId } = await create({ include: ['mediaLink'], inlineMediaBytes: 1024, paused: true });
    await receive();
    const { media } = await eventOf(call, 'message.incoming');
    await call('DELETE', `/media/${media.mediaId}`);
    await call('PATCH', `/webhooks/endpoints/${webhookId}`, { paused: false });
    await receiver.waitFor(1);
    assert.deepEqual(receiver.deliveries[0]?.parsed.data.media, media);
  });

  it('are part of the body up to the size of the webhook', async (test) => {
    const { receiver, create, receive } = await setUp(test);
    const small = picture();
    await create({ inlineMediaBytes: small.length });
    await receive(small);
    await receive(Buffer.concat([picture(), Buffer.alloc(1)]));
    await receiver.waitFor(2);
    const [first, second] = receiver.deliveries.map(({ parsed }) => parsed.data.media);
    assert.ok(Buffer.from(first.content, 'base64').equals(small));
    assert.deepEqual([first.link, second.content, second.size], [undefined, undefined, small.length + 1]);
  });

  it('need the permission to read files, now and at the time of the delivery', async (test) => {
    const { server, call, receiver, receive } = await setUp(test);
    const { body: key } = await call('POST', '/api-keys/create', {
      name: 'hooks',
      permissions: ['webhooks:write', 'webhooks:read'],
    });
    const hooks = bearer(server.url, key.key);
    const wanted = { webhookUrl: receiver.url, events: ['message.incoming'] };
    for (const files of [{ include: ['mediaLink'] }, { inlineMediaBytes: 1 }]) {
      const { status, body } = await hooks('POST', '/webhooks/endpoints', { ...wanted, ...files });
      assert.deepEqual([status, body.code], [403, 'permission_denied']);
    }
    const permissions = ['webhooks:write', 'media:read'];
    await call('PATCH', `/api-keys/${key.keyId}`, { permissions });
    const { status, body } = await hooks('POST', '/webhooks/endpoints', { ...wanted, include: ['mediaLink'] });
    assert.equal(status, 201, JSON.stringify(body));
    await receive();
    await receiver.waitFor(1);
    await call('PATCH', `/api-keys/${key.keyId}`, { permissions: ['webhooks:write'] });
    await receive();
    await receiver.waitFor(2);
    const links = receiver.deliveries.map(({ parsed }) => typeof parsed.data.media.link);
    assert.deepEqual(links, ['object', 'undefined']);
    const changed = await hooks('PATCH', `/webhooks/endpoints/${body.webhookId}`, { inlineMediaBytes: 5 });
    assert.equal(changed.status, 403);
    assert.equal(
      (await call('PATCH', `/webhooks/endpoints/${body.webhookId}`, { inlineMediaBytes: 5242881 })).status,
      400,
    );
  });

  it('stay out after a key without media:read has set the receiver and ended, until a login adds them', async (test) => {
    const { server, call, receiver, create, receive } = await setUp(test);
    const { webhookId } = await create({ include: ['mediaLink'], inlineMediaBytes: 1000 });
    const { body: key } = await call('POST', '/api-keys/create', { name: 'hooks', permissions: ['webhooks:*'] });
    const change = (by: typeof call, input: object) => by('PATCH', `/webhooks/endpoints/${webhookId}`, input);
    const moved = await change(bearer(server.url, key.key), { webhookUrl: `${receiver.url}/stolen` });
    assert.deepEqual([moved.status, moved.body.setByKeyId], [200, key.keyId]);
    const expiring = { permissions: ['webhooks:*'], expiresAt: new Date(Date.now() + 300).toISOString() };
    assert.equal((await call('PATCH', `/api-keys/${key.keyId}`, expiring)).status, 200);
    await eventually(
      () => bearer(server.url, key.key)('GET', '/webhooks/endpoints'),
      ({ status }) => status === 401,
    );
    const hasFiles: boolean[] = [];
    const next = async () => {
      await receive();
      await receiver.waitFor(hasFiles.length + 1);
      const { media } = receiver.deliveries[hasFiles.length]?.parsed.data ?? {};
      hasFiles.push(media.link !== undefined || media.content !== undefined);
    };
    await next();
    assert.equal((await call('DELETE', `/api-keys/${key.keyId}`)).status, 200);
    await next();
    assert.equal((await change(call, { inlineMediaBytes: 1000 })).body.setByKeyId, null);
    await next();
    assert.deepEqual(hasFiles, [false, false, true]);
  });

  it('keep coming after a key with media:read has ended', async (test) => {
    const { server, call, receiver, create, receive } = await setUp(test);
    const { webhookId } = await create({ include: ['mediaLink'] });
    const permissions = ['webhooks:*', 'media:read'];
    const { body: key } = await call('POST', '/api-keys/create', { name: 'hooks', permissions });
    const path = `/webhooks/endpoints/${webhookId}`;
    const hooks = bearer(server.url, key.key);
    assert.equal((await hooks('PATCH', path, { inlineMediaBytes: 1000 })).body.setByKeyId, null);
    const moved = await hooks('PATCH', path, { webhookUrl: `${receiver.url}/moved` });
    assert.equal(moved.body.setByKeyId, key.keyId);
    assert.equal((await call('DELETE', `/api-keys/${key.keyId}`)).status, 200);
    await receive();
    await receiver.waitFor(1);
    assert.equal(typeof receiver.deliveries[0]?.parsed.data.media.link, 'object');
    assert.equal((await call('GET', path)).body.setByKeyId, null);
  });

  it('go out as links only if the endpoint refuses the size, even without retries', async (test) => {
    const { call, receiver, create, receive } = await setUp(test);
    const { webhookId } = await create({ include: ['mediaLink'], inlineMediaBytes: 1000, retrySeconds: [] });
    const isTooLong = (body: string) => body.includes('"content":');
    receiver.respond(({ body }, response) => response.writeHead(isTooLong(`${body}`) ? 413 : 200).end());
    await receive();
    await receiver.waitFor(2);
    const [refused, accepted] = receiver.deliveries.map(({ parsed }) => parsed.data.media);
    assert.deepEqual([typeof refused.content, refused.contentOmitted], ['string', undefined]);
    assert.deepEqual([accepted.content, accepted.contentOmitted], [undefined, 'tooLarge']);
    assert.equal(typeof accepted.link.url, 'string');
    const { body } = await eventually(
      () => call('GET', `/webhooks/deliveries?webhookId=${webhookId}`),
      (answer) => answer.body.data[0].state === 'delivered',
    );
    const { body: shown } = await call('GET', `/webhooks/deliveries/${body.data[0].deliveryId}`);
    assert.equal(shown.attemptLog.length, 1);
    assert.match(shown.attemptLog[0].message, /Answered 200. Sent without the contents of its files.*Answered 413/);
    // The size is known now.
    await receive();
    await receiver.waitFor(3);
    assert.equal(receiver.deliveries[2]?.parsed.data.media.contentOmitted, 'tooLarge');
  });

  it('go out as links only if the connection is closed over them', async (test) => {
    const { call, receiver, create, receive } = await setUp(test);
    const { webhookId } = await create({ inlineMediaBytes: 1000, retrySeconds: [] });
    const delivered = (count: number) =>
      eventually(
        () => call('GET', `/webhooks/deliveries?webhookId=${webhookId}`),
        ({ body }) => body.data.filter(({ state }: Answer['body']) => state === 'delivered').length === count,
      );
    receiver.respond(({ body }, response) => {
      if (`${body}`.includes('"content":')) response.destroy();
      else response.writeHead(200).end();
    });
    await receive();
    await receiver.waitFor(2);
    const { content, contentOmitted } = receiver.deliveries[1]?.parsed.data.media ?? {};
    assert.deepEqual([content, contentOmitted], [undefined, undefined]);
    await delivered(1);
    await receive();
    await delivered(2);
    const requests = receiver.deliveries.length;
    // Twice in a row: the size counts as refused.
    await receive();
    await delivered(3);
    assert.equal(receiver.deliveries.length, requests + 1);
    assert.equal(receiver.deliveries.at(-1)?.parsed.data.media.contentOmitted, 'tooLarge');
  });

  it('have links that end with their webhook', async (test) => {
    const { call, receiver, create, receive, open } = await setUp(test);
    const { webhookId } = await create({ include: ['mediaLink'] });
    await receive();
    await receiver.waitFor(1);
    const { link } = receiver.deliveries[0]?.parsed.data.media ?? {};
    assert.equal((await open(link)).status, 200);
    assert.equal((await call('DELETE', `/webhooks/endpoints/${webhookId}`)).status, 200);
    assert.equal((await open(link)).status, 403);
  });

  it('have links that end with the key that set the webhook', async (test) => {
    const { server, call, receiver, receive, open } = await setUp(test);
    const permissions = ['webhooks:*', 'media:read'];
    const { body: key } = await call('POST', '/api-keys/create', { name: 'hooks', permissions });
    const wanted = { webhookUrl: receiver.url, events: ['message.incoming'], include: ['mediaLink'] };
    const { status } = await bearer(server.url, key.key)('POST', '/webhooks/endpoints', wanted);
    assert.equal(status, 201);
    const next = async (count: number) => {
      await receive();
      await receiver.waitFor(count);
      return receiver.deliveries[count - 1]?.parsed.data.media.link;
    };
    const link = await next(1);
    assert.equal((await open(link)).status, 200);
    await call('PATCH', `/api-keys/${key.keyId}`, { permissions: ['webhooks:*'] });
    assert.equal((await open(link)).status, 403);
    await call('PATCH', `/api-keys/${key.keyId}`, { permissions });
    assert.equal((await open(link)).status, 200);
    await call('DELETE', `/api-keys/${key.keyId}`);
    assert.equal((await open(link)).status, 403);
    assert.equal((await open(await next(2))).status, 200, 'the webhook belongs to the account now');
  });

  it('are shown in a test delivery', async (test) => {
    const { call, receiver, create } = await setUp(test);
    const { webhookId } = await create({ events: ['message.media'], include: ['mediaLink'] });
    await call('GET', `/webhooks/endpoints/${webhookId}/test`);
    await receiver.waitFor(1);
    assert.match(receiver.deliveries[0]?.parsed.data.media.link.url, /^https:\/\/example\.com\//);
  });
});

it('waits for memory, and sends a file without its content if the store fails or memory stays short', async (test) => {
  const server = await startServer();
  test.after(() => server.stop());
  const { token, accountId } = await server.account();
  const { database, links, log } = server.app.services;
  const { body: file } = await upload(server, token, picture());
  const size = 5 * 1024 * 1024;
  await database.commit(({ kysely }) => kysely.updateTable('media').set({ size }).execute());
  const timers: (() => void)[] = [];
  const clock = {
    ...systemClock,
    after(_: number, action: () => void) {
      timers.push(action);
      return () => {};
    },
  };
  let isBroken = false;
  let isSlow = false;
  /** A read that has been told to end, and has not ended yet. */
  const aborted: (() => void)[] = [];
  const stuck = (signal?: AbortSignal) =>
    new Promise<Buffer>((_, reject) => {
      signal?.addEventListener('abort', () => aborted.push(() => reject(signal.reason)));
    });
  const withFiles = createWithFiles({
    reader: database.reader,
    clock,
    log,
    files: () => ({
      links,
      media: {
        read: async (_, signal) => {
          if (isBroken) throw new Error('the store is down');
          if (isSlow) return stuck(signal);
          return Buffer.from('content');
        },
      },
    }),
  });
  const url = 'https://example.com/';
  const webhook = { accountId, webhookId: 'whk_1', url, links: false, inlineBytes: size, setByKey: null };
  const body = JSON.stringify({ event: 'message.incoming', data: { media: { mediaId: file.mediaId } } });
  /** Starts a delivery. Its attempt lasts until `end`. */
  const deliver = () => {
    const started = Promise.withResolvers<{ content?: string }>();
    const ended = Promise.withResolvers<void>();
    const done = withFiles(webhook, body, async (text) => {
      started.resolve(JSON.parse(text).data.media);
      await ended.promise;
      return DELIVERED;
    });
    const end = () => {
      ended.resolve();
      return done;
    };
    return { started: started.promise, end };
  };
  // Three of 20 MiB fit into 64 MiB.
  const first = [deliver(), deliver(), deliver()];
  for (const { started } of first) assert.ok((await started).content);
  const [fourth, fifth] = [deliver(), deliver()];
  await eventually(
    async () => timers.length,
    (count) => count === 5, // three reads, and two that wait
  );
  await first[0]?.end();
  assert.ok((await fourth.started).content);
  timers.at(4)?.(); // the fifth has waited long enough
  assert.equal((await fifth.started).content, undefined);
  for (const each of [...first.slice(1), fourth, fifth]) await each.end();
  isSlow = true;
  const slow = [deliver(), deliver(), deliver()];
  const reads = timers.length;
  await eventually(
    async () => timers.length,
    (count) => count === reads + 3,
  );
  for (const late of timers.slice(reads)) late();
  for (const each of slow) {
    assert.equal((await each.started).content, undefined);
    await each.end();
  }
  isSlow = false;
  const next = deliver();
  await eventually(
    async () => timers.length,
    (count) => count === reads + 4, // it waits for the memory of the reads, which have not ended
  );
  aborted[0]?.();
  assert.ok((await next.started).content);
  await next.end();
  for (const end of aborted) end();
  isBroken = true;
  const last = deliver();
  assert.equal((await last.started).content, undefined);
  await last.end();
});
