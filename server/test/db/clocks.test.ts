import assert from 'node:assert/strict';
import { join } from 'node:path';
import { after, afterEach, before, beforeEach, describe, it, type TestContext } from 'node:test';
import { type Clock, systemClock } from '../../src/clock.ts';
import { createLog } from '../../src/log.ts';
import { type Receiver, startReceiver } from '../support/connections/receiver.ts';
import { describeOnEachDatabase, type Home, newHome } from '../support/databases/databases.ts';
import { eventually } from '../support/eventually.ts';
import { createFakeClock } from '../support/fakeClock.ts';
import { bearer, type Call, connectSession, startServer, type TestServer } from '../support/server.ts';

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const NOW = Date.UTC(2026, 5, 1);
const TO = '491702222222';

describeOnEachDatabase('a clock change', (newHome) => {
  const clock = createFakeClock(NOW);
  let home: Home;
  let server: TestServer;
  let receiver: Receiver;
  before(async () => {
    home = await newHome();
    clock.set(NOW + 10 * MINUTE_MS);
    server = await startServer({ home, clock });
  });
  beforeEach(async () => {
    receiver = await startReceiver();
  });
  afterEach(() => receiver.close());
  after(async () => {
    await server.stop();
    await home.remove();
  });

  async function openAccount() {
    const account = await server.account();
    await connectSession(account.call);
    await setWebhook(account.call, receiver);
    return account;
  }

  for (const backMs of [MINUTE_MS, HOUR_MS]) {
    it(`back by ${backMs / 1000} s does not delay a reset, a new URL or a replay`, async () => {
      const { call } = await openAccount();
      await holdBehindBreaker(call, receiver);
      const held = await send(call, ['1']);
      clock.set(clock.now() - backMs);
      receiver.respond(200);
      await call('POST', '/webhooks/circuit-breaker/reset');
      await receiver.waitFor((all) => all.some(({ parsed }) => parsed.data.messageId === held[0]));

      await holdBehindBreaker(call, receiver);
      const again = await send(call, ['2']);
      clock.set(clock.now() - backMs);
      receiver.respond(200);
      await setWebhook(call, { url: `${receiver.url}/new` });
      await receiver.waitFor((all) => all.some(({ parsed }) => parsed.data.messageId === again[0]));

      const { body } = await eventually(
        () => call('GET', `/webhooks/deliveries?messageId=${again[0]}&states=delivered`),
        (answer) => answer.body.data.length === 1,
      );
      const { deliveryId } = body.data[0];
      clock.set(clock.now() - backMs);
      await call('POST', '/webhooks/replay', { deliveryIds: [deliveryId] });
      await receiver.waitFor((all) => all.filter(({ parsed }) => parsed.data.messageId === again[0]).length === 2);
    });
  }

  for (const [name, setMs] of [
    ['back', -HOUR_MS],
    ['ahead', HOUR_MS],
  ] as const) {
    it(`${name} by an hour does not change how long a retry waits`, async () => {
      const { call } = await openAccount();
      receiver.respond(500);
      const [failing = ''] = await send(call, ['1']);
      const attempts = () => receiver.deliveries.filter(({ parsed }) => parsed.data.messageId === failing).length;
      const delivery = () => call('GET', `/webhooks/deliveries?messageId=${failing}`);
      const { body } = await eventually(delivery, (answer) => answer.body.data[0]?.attempts === 1);
      const waitMs = Date.parse(body.data[0].dueAt) - clock.now();
      assert.ok(waitMs >= 4000 && waitMs <= 6000, `due in ${waitMs} ms`);

      clock.set(clock.now() + setMs);
      assert.equal(Date.parse((await delivery()).body.data[0].dueAt) - clock.now(), waitMs);
      receiver.respond(200);
      await clock.advance(waitMs - 1);
      const [later] = await send(call, ['2']);
      await receiver.waitFor((all) => all.some(({ parsed }) => parsed.data.messageId === later));
      assert.equal(attempts(), 1, 'not due yet');
      await clock.advance(1);
      await receiver.waitFor(() => attempts() === 2);
    });
  }

  it('ahead by years expires nothing, and long polls end on time', async (test) => {
    const { call } = await openAccount();
    await holdBehindBreaker(call, receiver);
    const now = clock.now();
    clock.set(now + 10 * 365 * 24 * HOUR_MS);
    assert.deepEqual(await server.app.retention.run(), { expired: 0, pruned: 0 });

    clock.set(now);

    // Login tokens expire meanwhile.
    const { key } = (await call('POST', '/api-keys/create', { name: 'polls' })).body;
    const reads = countReads(test, server);
    let polled: number | undefined;
    void bearer(server.url, key)('GET', '/events?events=group.created&wait=2').then(({ status }) => (polled = status));
    await eventually(reads, (count) => count > 0);
    const seen = await reads();
    clock.set(now + 10 * 365 * 24 * HOUR_MS);
    await clock.advance(1000);
    await eventually(reads, (count) => count > seen);
    assert.equal(polled, undefined, 'less than two seconds have passed');
    clock.set(now);
    await eventually(
      async () => {
        await clock.advance(1000);
        return polled;
      },
      (status) => status !== undefined,
    );
    assert.equal(polled, 200);
  });

  it('ahead right after a restart neither strands nor reorders anything', async () => {
    const { call, token } = await openAccount();
    await holdBehindBreaker(call, receiver);
    const before = await send(call, ['1', '2']);
    const { nextCursor } = (await call('GET', '/events?events=message.sent&limit=200')).body;
    await server.stop();
    clock.set(NOW);
    server = await startServer({ home, clock });
    const again = bearer(server.url, token);
    receiver.respond(200);
    const seen = receiver.deliveries.length;
    await again('POST', '/webhooks/circuit-breaker/reset');
    await connected(again);
    const after = await send(again, ['3', '4']);
    await receiver.waitFor(seen + 5);
    assert.deepEqual(messageIds(receiver).slice(seen + 1), [...before, ...after]);
    const { data } = (await again('GET', `/events?events=message.sent&afterCursor=${nextCursor}`)).body;
    assert.deepEqual(
      data.map(({ data: { messageId } }: Data) => messageId),
      after,
      'the log continues after an earlier cursor',
    );
    const { body: list } = await again('GET', '/messages?limit=4');
    assert.deepEqual(
      list.data.map(({ messageId }: { messageId: string }) => messageId),
      [...before, ...after].reverse(),
      'newest first',
    );
  });
});

describe('nodes whose clocks differ', () => {
  for (const [aheadMs, behindMs] of [
    [900, 0],
    [10 * MINUTE_MS, -10 * MINUTE_MS],
  ] as const) {
    it(`by ${(aheadMs - behindMs) / 1000} s keep the order of a conversation that moves between them`, async (test) => {
      const home = await newHome('postgres');
      test.after(() => home.remove());
      const receiver = await startReceiver();
      test.after(() => receiver.close());
      const lines: string[] = [];
      const log = createLog('info', { write: (line: string) => void lines.push(JSON.parse(line).msg) });
      const ahead = await startNode(test, home, 'ahead', aheadMs, createLog('silent'));
      const { call, token } = await ahead.account();
      await connectSession(call);
      await setWebhook(call, receiver);
      await holdBehindBreaker(call, receiver);
      const sent = await send(call, ['1', '2']);
      const behind = await startNode(test, home, 'behind', behindMs, log);
      await ahead.stop();
      const there = bearer(behind.url, token);
      await connected(there);
      sent.push(...(await send(there, ['3', '4'])));

      receiver.respond(200);
      const seen = receiver.deliveries.length;
      await there('POST', '/webhooks/circuit-breaker/reset');
      await receiver.waitFor(seen + 5);
      assert.deepEqual(messageIds(receiver).slice(seen + 1), sent);
      const { body: list } = await there('GET', '/messages?limit=4');
      assert.deepEqual(
        list.data.map(({ messageId }: { messageId: string }) => messageId),
        [...sent].reverse(),
      );
      const { body: log4 } = await eventually(
        () => there('GET', '/events?events=message.sent'),
        ({ body }) => body.data.length === 5,
      );
      assert.deepEqual(
        log4.data.slice(1).map(({ data }: Data) => data.messageId),
        sent,
      );

      const differs = 'clock differs from the clock of the database; synchronize both';
      const agrees = 'clock agrees with the clock of the database again';
      // Measured with every heartbeat. A slow response may distort it until the next one.
      await eventually(
        async () => {
          const metrics = await (await fetch(`${behind.url}/metrics`)).text();
          const isWarned = lines.findLast((line) => line === differs || line === agrees) === differs;
          return { skew: Number(/^switchboard_clock_skew_seconds (\S+)$/m.exec(metrics)?.[1]), isWarned };
        },
        ({ skew, isWarned }) => Math.abs(skew - behindMs / 1000) < 0.5 && isWarned === Math.abs(behindMs) > 1000,
      );
    });
  }
});

interface Data {
  readonly data: { readonly messageId: string };
}

/** A node in this process whose clock differs from that of the database. */
async function startNode(
  test: TestContext,
  home: Home,
  name: string,
  offsetMs: number,
  log: ReturnType<typeof createLog>,
) {
  const clock: Clock = { ...systemClock, now: () => Date.now() + offsetMs };
  const folders = { DATA_DIR: join(home.dataDir, name), MEDIA_DIR: join(home.dataDir, 'media') };
  const env = { ...folders, BREAKER_OPEN_SECONDS: '900' };
  const server = await startServer({ home, clock, env, log });
  test.after(() => server.stop());
  return server;
}

/** Counts how often long polls have read the log since. */
function countReads(test: TestContext, { app }: TestServer): () => Promise<number> {
  const next = test.mock.method(app.services.feed, 'next');
  return async () => next.mock.callCount();
}

const setWebhook = (call: Call, { url }: Pick<Receiver, 'url'>) =>
  call('POST', '/webhooks/set', { webhookUrl: url, events: ['message.sent'] });

/** Holds events from now on. */
async function holdBehindBreaker(call: Call, receiver: Receiver): Promise<void> {
  receiver.respond(410);
  await send(call, ['opens the breaker']);
  await eventually(
    () => call('GET', '/webhooks/circuit-breaker'),
    ({ body }) => body.state === 'open',
  );
}

/** @returns the ids of the messages */
async function send(call: Call, texts: readonly string[]): Promise<string[]> {
  const ids: string[] = [];
  for (const message of texts) {
    const { status, body } = await call('POST', '/messages/send', { to: TO, message });
    assert.equal(status, 201, JSON.stringify(body));
    ids.push(body.messageId);
  }
  return ids;
}

const connected = (call: Call) =>
  eventually(
    () => call('GET', '/sessions'),
    ({ body }) => body.data[0].status === 'connected',
  );

const messageIds = ({ deliveries }: Receiver): string[] => deliveries.map(({ parsed }) => parsed.data.messageId);
