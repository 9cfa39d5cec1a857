import assert from 'node:assert/strict';
import { get } from 'node:http';
import { afterEach, it } from 'node:test';
import { redeliver } from '../../src/webhooks/queue/queue.ts';
import { type Receiver, startReceiver } from '../support/connections/receiver.ts';
import { describeOnEachDeployment } from '../support/databases/databases.ts';
import { eventually } from '../support/eventually.ts';
import { createFakeClock } from '../support/fakeClock.ts';
import { type Answer, type Call, serversFor, type TestServer } from '../support/server.ts';

describeOnEachDeployment('the delivery log', (_, database) => {
  const start = serversFor(database);
  const open: Receiver[] = [];
  afterEach(async () => {
    for (const receiver of open.splice(0)) await receiver.close();
  });

  async function receive(): Promise<Receiver> {
    const receiver = await startReceiver();
    open.push(receiver);
    return receiver;
  }
  /** An account with a connected session and a webhook. */
  async function setUp(server: TestServer, receiver: Receiver, events = ['message.sent']) {
    const { call, token, accountId } = await server.account();
    const { body } = await call('POST', '/sessions', {});
    await call('POST', `/sessions/${body.sessionId}/connect`);
    await call('POST', '/webhooks/set', { webhookUrl: receiver.url, events, secret: 'old secret' });
    return { call, token, accountId, sessionId: body.sessionId };
  }
  const send = async (call: Call, n: number) => {
    const { status, body } = await call('POST', '/messages/send', { to: `4917055500${10 + n}`, message: `${n}` });
    assert.equal(status, 201, JSON.stringify(body));
    return body.messageId;
  };

  it('lists deliveries by state, event type, message, number and time, page by page', async () => {
    const server = await start();
    const receiver = await receive();
    const { call } = await setUp(server, receiver, ['message.sent', 'message.delivered']);
    const ids: string[] = [];
    for (let n = 0; n < 5; n++) ids.push(await send(call, n));
    await eventually(
      () => call('GET', '/webhooks/deliveries?states=delivered&limit=200'),
      ({ body }) => body.data.length === 10,
    );
    const count = async (query: string) => (await call('GET', `/webhooks/deliveries?${query}`)).body.data.length;
    assert.equal(await count('events=message.sent'), 5);
    assert.equal(await count(`messageId=${ids[2]}`), 2);
    const { call: quiet } = await setUp(server, receiver, ['message.failed']);
    const { status, body: none } = await quiet('GET', `/webhooks/deliveries?messageId=${await send(quiet, 0)}`);
    assert.deepEqual([status, none.data], [200, []], 'of a message without deliveries');
    assert.equal(await count('chatId=%2B49 170 555 0013'), 2);
    assert.equal(await count('states=failed'), 0);
    assert.equal(await count(`beforeTime=${new Date(Date.now() - 3_600_000).toISOString()}`), 0);
    assert.equal(await count(`afterTime=${new Date(Date.now() - 3_600_000).toISOString()}`), 10);
    const seen: string[] = [];
    let cursor = '';
    do {
      const { body } = await call('GET', `/webhooks/deliveries?limit=3${cursor && `&cursor=${cursor}`}`);
      seen.push(...body.data.map(({ deliveryId }: { deliveryId: string }) => deliveryId));
      cursor = body.nextCursor;
    } while (cursor !== null);
    assert.equal(new Set(seen).size, 10);
    assert.deepEqual(seen, [...seen].sort().reverse());
    const others = await server.account();
    assert.equal((await others.call('GET', '/webhooks/deliveries')).body.data.length, 0);
    assert.equal((await others.call('GET', `/webhooks/deliveries/${seen[0]}`)).status, 404);
  });

  it('states in one sentence why a delivery has not arrived', async () => {
    const server = await start({ env: { WEBHOOK_RETRY_SECONDS: '600', BREAKER_OPEN_SECONDS: '900' } });
    const receiver = await receive();
    const { call } = await setUp(server, receiver);
    receiver.respond((_, response) =>
      response.writeHead(502, { 'content-type': 'text/html' }).end('<html>Bad gateway</html>'),
    );
    const whyOf = async (messageId: string): Promise<Answer> => {
      const { body } = await call('GET', `/webhooks/deliveries?messageId=${messageId}`);
      return call('GET', `/webhooks/deliveries/${body.data[0].deliveryId}`);
    };
    const first = await send(call, 0);
    const waiting = await eventually(
      () => whyOf(first),
      ({ body }) => body.attempts === 1,
    );
    assert.match(waiting.body.why, /^Attempt 1 failed: Answered 502 with an HTML page; the next one is due at 20/);
    assert.deepEqual(
      waiting.body.attemptLog.map(({ number, class: kind, status, response }: Record<string, unknown>) => ({
        number,
        kind,
        status,
        response,
      })),
      [{ number: 1, kind: 'server_error', status: 502, response: '<html>Bad gateway</html>' }],
    );
    assert.equal(JSON.parse(waiting.body.body).data.messageId, first);
    for (let n = 1; n < 6; n++) await send(call, n);
    await eventually(
      () => call('GET', '/webhooks/circuit-breaker'),
      ({ body }) => body.state === 'open',
    );
    const held = await send(call, 7);
    assert.match(
      (await whyOf(held)).body.why,
      /^The circuit breaker holds this delivery and has been open since .*: Answered 502 .*; the next probe goes out at/,
    );
    receiver.respond(200);
    await call('POST', '/webhooks/circuit-breaker/reset');
    const done = await eventually(
      () => whyOf(held),
      ({ body }) => body.state === 'delivered',
    );
    assert.match(done.body.why, /^It was delivered at 20.*, on attempt 1\.$/);
  });

  it('fails a delivery after its last retry, and replays it by id with the same event id', async () => {
    const server = await start({ env: { WEBHOOK_RETRY_SECONDS: '1' } });
    const receiver = await receive();
    const { call } = await setUp(server, receiver);
    receiver.respond(404);
    await send(call, 0);
    const { body } = await eventually(
      () => call('GET', '/webhooks/deliveries?states=failed'),
      (answer) => answer.body.data.length === 1,
    );
    const [{ deliveryId }] = body.data;
    assert.match(
      (await call('GET', `/webhooks/deliveries/${deliveryId}`)).body.why,
      /^All 2 attempts failed; the last one: Answered 404/,
    );
    receiver.respond(200);
    const replay = await call('POST', '/webhooks/replay', { deliveryIds: [deliveryId] });
    assert.deepEqual([replay.body.matched, replay.body.replayed, replay.body.notFound], [1, 1, []]);
    await receiver.waitFor(3);
    assert.deepEqual(
      receiver.deliveries.map(({ attempt }) => attempt),
      [1, 2, 3],
    );
    assert.equal(new Set(receiver.deliveries.map(({ id }) => id)).size, 1);
    const again = await eventually(
      () => call('GET', `/webhooks/deliveries/${deliveryId}`),
      (answer) => answer.body.state === 'delivered',
    );
    assert.deepEqual(
      again.body.attemptLog.map(({ number, status }: { number: number; status: number }) => [number, status]),
      [
        [1, 404],
        [2, 404],
        [3, 200],
      ],
    );
  });

  it('keeps the attempts of a cancelled delivery beside the reason', async () => {
    const server = await start({ env: { WEBHOOK_RETRY_SECONDS: '600' } });
    const receiver = await receive();
    const { call } = await setUp(server, receiver);
    receiver.respond(503);
    await send(call, 0);
    const { body } = await eventually(
      () => call('GET', '/webhooks/deliveries'),
      (answer) => answer.body.data[0]?.attempts === 1,
    );
    const [{ deliveryId, lastMessage: answered }] = body.data;
    const isCancelled = (one: Answer) => one.body.state === 'cancelled';
    await call('POST', '/webhooks/set', { webhookUrl: receiver.url, events: ['message.read'] });
    const read = () => call('GET', `/webhooks/deliveries/${deliveryId}`);
    const cancelled = (await eventually(read, isCancelled)).body;
    assert.match(cancelled.lastMessage, /no longer/);
    assert.match(cancelled.why, /^It was cancelled at 20.*no longer/);
    assert.deepEqual(
      cancelled.attemptLog.map(({ number, message }: { number: number; message: string }) => [number, message]),
      [[1, answered]],
    );

    receiver.respond(200);
    await call('POST', '/webhooks/replay', { deliveryIds: [deliveryId] });
    const delivered = (await eventually(read, (one) => one.body.state === 'delivered')).body;
    assert.equal(delivered.lastMessage, 'Answered 200');
    assert.deepEqual(
      delivered.attemptLog.map(({ number, status }: { number: number; status: number }) => [number, status]),
      [
        [1, 503],
        [2, 200],
      ],
    );
  });

  it('reports the ids that cannot be replayed', async () => {
    const server = await start();
    const { call } = await server.account();
    const deliveryIds = ['dlv_unknown', 'x', 'dlv_unknown'];
    for (const dryRun of [true, false]) {
      const { status, body } = await call('POST', '/webhooks/replay', { deliveryIds, dryRun });
      assert.deepEqual(
        [status, body],
        [200, { matched: 0, replayed: 0, lastDueAt: null, notFound: ['dlv_unknown', 'x'] }],
      );
    }
  });

  it('says of a delivery that waits for its replay when it is due', async () => {
    const server = await start();
    const receiver = await receive();
    const { call, accountId } = await setUp(server, receiver);
    await send(call, 0);
    const { body } = await eventually(
      () => call('GET', '/webhooks/deliveries?states=delivered'),
      (list) => list.body.data.length === 1,
    );
    const [{ deliveryId }] = body.data;
    const { database, steady } = server.app.services;
    await database.commit((tx) => redeliver(tx, accountId, [{ id: deliveryId, dueAt: steady.now() + 3_600_000 }]));
    const { body: waiting } = await call('GET', `/webhooks/deliveries/${deliveryId}`);
    assert.match(waiting.why, /^It is being replayed, and is due at 20/);
  });

  it('records an attempt that ends after its delivery was cancelled', async () => {
    const server = await start();
    const receiver = await receive();
    const { call } = await setUp(server, receiver);
    const set = (events: string[]) => call('POST', '/webhooks/set', { webhookUrl: receiver.url, events });
    for (const [status, state] of [
      [503, 'cancelled'],
      [200, 'delivered'],
    ] as const) {
      const answer = Promise.withResolvers<void>();
      receiver.respond((_, response) => void answer.promise.then(() => response.writeHead(status).end()));
      const messageId = await send(call, 0);
      await receiver.waitFor((all) => all.some(({ parsed }) => parsed.data.messageId === messageId));
      await set(['message.read']);
      const { body: list } = await call('GET', `/webhooks/deliveries?messageId=${messageId}`);
      assert.equal(list.data[0].state, 'cancelled');
      answer.resolve();
      const { body } = await eventually(
        () => call('GET', `/webhooks/deliveries/${list.data[0].deliveryId}`),
        (one) => one.body.attempts === 1,
      );
      assert.equal(body.state, state);
      assert.equal(body.attemptLog[0].status, status);
      assert.match(body.why, state === 'cancelled' ? /^It was cancelled .* no longer/ : /^It was delivered/);
      await set(['message.sent']);
    }
  });

  it('stores a response that its limit cuts within a character', async () => {
    const server = await start();
    const receiver = await receive();
    const { call } = await setUp(server, receiver);
    receiver.respond((_, response) => response.end(`\u0001${'😀'.repeat(600)}`));
    await send(call, 0);
    const { body } = await eventually(
      () => call('GET', '/webhooks/deliveries?states=delivered'),
      (list) => list.body.data.length === 1,
    );
    const { body: delivery } = await call('GET', `/webhooks/deliveries/${body.data[0].deliveryId}`);
    assert.match(delivery.attemptLog[0].response, /^\\u\{1\}😀+\ufffd?$/u);
  });

  it('replays a range by filter, after a dry run, at the requested rate', async () => {
    const server = await start();
    const receiver = await receive();
    const { call } = await setUp(server, receiver, ['message.sent', 'message.delivered']);
    for (let n = 0; n < 4; n++) await send(call, n);
    await receiver.waitFor(8);
    await eventually(
      () => call('GET', '/webhooks/deliveries?states=delivered'),
      ({ body }) => body.data.length === 8,
    );
    const range = {
      afterTime: new Date(Date.now() - 60_000).toISOString(),
      beforeTime: new Date(Date.now() + 60_000).toISOString(),
    };
    const filter = { ...range, events: ['message.sent'], states: ['delivered'] };
    const dry = await call('POST', '/webhooks/replay', { ...filter, dryRun: true });
    assert.deepEqual(dry.body, { matched: 4, replayed: 0, lastDueAt: null });
    assert.deepEqual((await call('POST', '/webhooks/replay', range)).body.matched, 0);
    const started = Date.now();
    const wet = await call('POST', '/webhooks/replay', { ...filter, perSecond: 10 });
    assert.equal(wet.body.replayed, 4);
    await receiver.waitFor(12);
    assert.ok(Date.now() - started >= 250, 'replays are spread over time');
    assert.equal((await call('POST', '/webhooks/replay', {})).body.errors[0].field, 'deliveryIds');
  });

  it('supports several webhooks per account, each with its own event types, secret and breaker', async () => {
    const server = await start({ env: { BREAKER_OPEN_SECONDS: '900' } });
    const [main, audit] = [await receive(), await receive()];
    const { call } = await setUp(server, main);
    const created = await call('POST', '/webhooks/endpoints', {
      webhookUrl: audit.url,
      events: ['message.delivered'],
      maxInFlight: 16,
    });
    assert.equal(created.status, 201);
    const { webhookId } = created.body;
    assert.equal(created.body.isDefault, false);
    const path = `/webhooks/endpoints/${webhookId}`;
    await send(call, 0);
    await main.waitFor(1);
    await audit.waitFor(1);
    assert.equal(audit.deliveries[0]?.event, 'message.delivered');
    const list = await call('GET', '/webhooks/endpoints');
    assert.deepEqual(list.body.data.map(({ isDefault }: { isDefault: boolean }) => isDefault).sort(), [false, true]);

    audit.respond(410);
    await send(call, 1);
    await eventually(
      () => call('GET', `${path}/circuit-breaker`),
      ({ body }) => body.state === 'open',
    );
    assert.equal((await call('GET', '/webhooks/circuit-breaker')).body.state, 'closed');
    const states = (await call('GET', '/webhooks/endpoints')).body.data.map(
      ({ isDefault, breakerState }: { isDefault: boolean; breakerState: string }) => [isDefault, breakerState],
    );
    assert.deepEqual(states.toSorted(), [
      [false, 'open'],
      [true, 'closed'],
    ]);
    audit.respond(200);
    assert.equal((await call('GET', `${path}/test`)).body.delivered, true);
    await eventually(
      () => call('GET', `${path}/stats`),
      ({ body }) => body.pending === 0,
    );
    assert.equal((await call('POST', `${path}/circuit-breaker/reset`)).status, 200);

    assert.equal((await call('PATCH', path, { enabled: false })).body.enabled, false);
    const before = audit.deliveries.length;
    await send(call, 2);
    await main.waitFor(3);
    assert.equal(audit.deliveries.length, before);
    assert.equal(
      (await call('PATCH', path, { enabled: true, events: ['message.sent'] })).body.events[0],
      'message.sent',
    );
    const others = await server.account();
    assert.equal((await others.call('GET', path)).status, 404);
    assert.equal((await others.call('DELETE', path)).status, 404);
    assert.deepEqual((await call('DELETE', path)).body, { webhookId, deleted: true });
    assert.equal((await call('GET', path)).status, 404);
    assert.deepEqual((await call('DELETE', '/webhooks')).body, { deleted: true });
    assert.equal((await call('GET', '/webhooks')).body.webhookUrl, null);
  });

  it('sends both signatures during the grace period of a rotated secret', async () => {
    const clock = createFakeClock(Date.now());
    const server = await start({ clock });
    const receiver = await receive();
    const { call } = await setUp(server, receiver);
    const rotated = await call('POST', '/webhooks/secret/rotate', {
      secret: 'the new secret, which is long',
      graceSeconds: 3600,
    });
    assert.equal(rotated.status, 200);
    assert.ok(!JSON.stringify(rotated.body).includes('the new secret, which is long'));
    await send(call, 0);
    await receiver.waitFor(1);
    assert.equal(String(receiver.deliveries[0]?.headers['webhook-signature']).split(' ').length, 2);
    await clock.advance(3_600_001);
    await send(call, 1);
    await receiver.waitFor(2);
    assert.equal(String(receiver.deliveries[1]?.headers['webhook-signature']).split(' ').length, 1);
  });

  it('reports the stages of a test', async () => {
    const server = await start();
    const receiver = await receive();
    const { call } = await setUp(server, receiver);
    const stages = async () => {
      const { body } = await call('GET', '/webhooks/test');
      return body.stages.map(({ stage, result }: Record<string, string>) => `${stage} ${result}`);
    };
    assert.deepEqual(await stages(), ['url ok', 'dns skipped', 'connect ok', 'tls skipped', 'http ok']);
    receiver.respond(500);
    assert.deepEqual(await stages(), ['url ok', 'dns skipped', 'connect ok', 'tls skipped', 'http failed']);
    await call('POST', '/webhooks/set', { webhookUrl: 'http://no-such-name.invalid/hook', events: ['message.sent'] });
    assert.deepEqual(await stages(), ['url ok', 'dns failed', 'connect skipped', 'tls skipped', 'http skipped']);
    await call('POST', '/webhooks/set', {
      webhookUrl: receiver.url.replace('http://127.0.0.1', 'https://localhost'),
      events: ['message.sent'],
    });
    assert.deepEqual(await stages(), ['url ok', 'dns ok', 'connect ok', 'tls failed', 'http skipped']);
  });

  it('expires deliveries held too long, prunes old ones, and keeps pending ones', async () => {
    const clock = createFakeClock(Date.now());
    const server = await start({ clock, env: { EVENT_RETENTION_DAYS: '30', HELD_RETENTION_DAYS: '7' } });
    const receiver = await receive();
    const { call } = await setUp(server, receiver);
    await send(call, 0);
    await receiver.waitFor(1);
    await eventually(
      () => call('GET', '/webhooks/deliveries?states=delivered'),
      ({ body }) => body.data.length === 1,
    );
    receiver.respond(410);
    await send(call, 1);
    await eventually(
      () => call('GET', '/webhooks/circuit-breaker'),
      ({ body }) => body.state === 'open',
    );
    // No further deliveries are expected.
    await eventually(
      () => call('GET', '/events?events=message.delivered'),
      ({ body }) => body.data.length === 2,
    );
    assert.deepEqual(await server.app.retention.run(), { expired: 0, pruned: 0 });

    clock.skip(8 * 86_400_000);
    const again = await server.call('POST', '/auth/login', { email: 'nobody@example.com', password: 'x' });
    assert.equal(again.status, 401);
    assert.deepEqual(await server.app.retention.run(), { expired: 1, pruned: 0 });
    clock.skip(23 * 86_400_000);
    const { pruned } = await server.app.retention.run();
    assert.ok(pruned >= 4, `${pruned}`);
    const { kysely } = server.app.services.database.reader;
    assert.deepEqual(await kysely.selectFrom('deliveries').selectAll().execute(), []);
    assert.deepEqual(await kysely.selectFrom('attempts').selectAll().execute(), []);
    assert.deepEqual(await kysely.selectFrom('events').selectAll().execute(), []);
  });

  it('is read from a cursor, filtered by event type, and waits for new events', async () => {
    const server = await start();
    const receiver = await receive();
    const { call } = await setUp(server, receiver);
    const empty = await (await server.account()).call('GET', '/events');
    assert.deepEqual(empty.body, { data: [], nextCursor: null });
    await send(call, 0);
    const all = await eventually(
      () => call('GET', '/events'),
      ({ body }) => body.data.length === 3,
    );
    assert.deepEqual(
      all.body.data.map(({ event }: { event: string }) => event),
      ['session.connected', 'message.sent', 'message.delivered'],
    );
    const sentOnly = await call('GET', '/events?events=message.sent,session.connected&limit=1');
    assert.equal(sentOnly.body.data[0].event, 'session.connected');
    const rest = await call('GET', `/events?afterCursor=${sentOnly.body.nextCursor}`);
    assert.equal(rest.body.data.length, 2);
    const waiting = call('GET', `/events?afterCursor=${rest.body.nextCursor}&wait=20`);
    const messageId = await send(call, 1);
    const woken = await waiting;
    assert.equal(woken.body.data[0].data.messageId, messageId);
    assert.equal((await call('GET', '/events?afterCursor=nonsense')).body.errors[0].field, 'afterCursor');
    assert.equal((await call('GET', '/events?wait=31')).status, 400);
    const none = await call('GET', `/events?afterCursor=${woken.body.nextCursor}&events=group.created&wait=1`);
    assert.equal(none.body.nextCursor, woken.body.nextCursor);
  });

  it('is streamed live and resumes after the last id', async () => {
    const server = await start();
    const receiver = await receive();
    const { call, token } = await setUp(server, receiver);
    const first = await openStream(server.url, token);
    const messageId = await send(call, 0);
    // On PostgreSQL, recently stored events may still appear.
    let sent = await first.next();
    if (sent?.event === 'session.connected') sent = await first.next();
    const delivered = await first.next();
    assert.equal(sent?.event, 'message.sent');
    assert.equal(JSON.parse(sent?.data ?? '').data.messageId, messageId);
    assert.equal(delivered?.event, 'message.delivered');
    first.close();
    const second = await openStream(server.url, token, { 'last-event-id': sent?.id ?? '' });
    assert.equal((await second.next())?.id, delivered?.id);
    second.close();
    const refused = await fetch(`${server.url}/api/v1/events/stream`);
    assert.equal(refused.status, 401);
  });
});

interface StreamEvent {
  readonly id: string;
  readonly event: string;
  readonly data: string;
}

/** A minimal reader of server-sent events. */
function openStream(url: string, token: string, headers: Record<string, string> = {}) {
  const events: StreamEvent[] = [];
  let wake = () => {};
  return new Promise<{ next(): Promise<StreamEvent | undefined>; close(): void }>((resolve, reject) => {
    const request = get(
      `${url}/api/v1/events/stream`,
      { headers: { authorization: `Bearer ${token}`, ...headers } },
      (response) => {
        let buffer = '';
        response.setEncoding('utf8');
        response.on('error', () => {});
        response.on('data', (chunk) => {
          buffer += chunk;
          const blocks = buffer.split('\n\n');
          buffer = blocks.pop() ?? '';
          for (const block of blocks) {
            if (block.startsWith(':')) {
              resolve({ next, close: () => request.destroy() });
              continue;
            }
            const field = (name: string) => new RegExp(`^${name}: (.*)$`, 'm').exec(block)?.[1] ?? '';
            events.push({ id: field('id'), event: field('event'), data: field('data') });
          }
          wake();
        });
      },
    );
    request.on('error', reject);
    async function next(): Promise<StreamEvent | undefined> {
      while (events.length === 0) {
        await new Promise<void>((proceed) => {
          wake = proceed;
        });
      }
      return events.shift();
    }
  });
}
