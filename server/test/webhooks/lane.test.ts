import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { Condition } from '../../src/async.ts';
import { Lane, type LaneDeps } from '../../src/webhooks/lanes/lane.ts';
import { LaneReader, readStarts } from '../../src/webhooks/lanes/laneReader.ts';
import { createSettleLanes } from '../../src/webhooks/lanes/settling.ts';
import type { Due } from '../../src/webhooks/queue/due.ts';
import { startReceiver } from '../support/connections/receiver.ts';
import { eventually } from '../support/eventually.ts';
import { connectSession, startServer } from '../support/server.ts';

/** Reads for each lane by itself, within a turn of the event loop. */
const startsOf =
  ({ database, steady }: Pick<LaneDeps, 'database' | 'steady'>): LaneDeps['readStart'] =>
  async (webhookId) =>
    (await readStarts(database, [webhookId], steady.now()))(webhookId);

describe('a lane', () => {
  it('does not tell the engine that it is idle once it was stopped, because a newer one may have its place', async (test) => {
    const server = await startServer({});
    test.after(() => server.stop());
    const { services } = server.app;
    const readStart = startsOf(services);
    const { call } = await server.account();
    const { status } = await call('POST', '/webhooks/set', { webhookUrl: server.url, events: ['message.sent'] });
    assert.equal(status, 200);
    const { webhook_id: webhookId } = await services.database.reader.kysely
      .selectFrom('webhooks')
      .select('webhook_id')
      .executeTakeFirstOrThrow();
    let idle = 0;
    const newLane = () =>
      new Lane(webhookId, {
        ...services,
        settleLanes: createSettleLanes(services),
        showOccurrence: async () => ({ refusal: 'no subscription' }),
        withFiles: (_, body, use) => use(body),
        deliver: services.deliver,
        retry: { stepsMs: [], random: Math.random },
        breaker: { openMs: 1000, random: Math.random },
        readStart,
        room: () => 1024,
        offer: () => {},
        release: () => {},
        idle: () => idle++,
      });
    newLane().wake();
    let ticksUntilIdle = 0;
    for (; idle === 0; ticksUntilIdle++) await Promise.resolve();
    // Stops one at every step of its reads.
    for (let ticks = 0; ticks < ticksUntilIdle; ticks++) {
      idle = 0;
      const lane = newLane();
      lane.wake();
      for (let tick = 0; tick < ticks; tick++) await Promise.resolve();
      if (idle > 0) break;
      lane.abandon();
      await lane.stop();
      await setImmediate();
      assert.equal(idle, 0, `stopped after ${ticks} of ${ticksUntilIdle} ticks`);
    }
  });

  it('starts new deliveries without reading them only if its backlog contains all earlier ones', async (test) => {
    const server = await startServer({});
    test.after(() => server.stop());
    const { services } = server.app;
    const readStart = startsOf(services);
    const { call } = await server.account();
    await call('POST', '/webhooks/set', { webhookUrl: server.url, events: ['message.sent'] });
    const { webhook_id: webhookId } = await services.database.reader.kysely
      .selectFrom('webhooks')
      .select('webhook_id')
      .executeTakeFirstOrThrow();
    const idle = new Condition();
    let isIdle = false;
    const sent: string[] = [];
    const lane: Lane = new Lane(webhookId, {
      ...services,
      settleLanes: createSettleLanes(services),
      showOccurrence: async () => ({ refusal: 'no subscription' }),
      withFiles: (_, body, use) => use(body),
      deliver: {
        ...services.deliver,
        attempt: async ({ body }) => {
          sent.push(body);
          return { class: 'ok', status: 200, durationMs: 1, message: '', response: null, retryAfterMs: null };
        },
      },
      retry: { stepsMs: [], random: Math.random },
      breaker: { openMs: 1000, random: Math.random },
      readStart,
      room: () => 1024,
      offer: () => {
        while (lane.canStart) lane.startOne();
      },
      release: () => {},
      idle: () => {
        isIdle = true;
        idle.notify();
      },
    });
    test.after(() => lane.stop());
    const untilIdle = async () => {
      await idle.until(() => isIdle);
      isIdle = false;
    };
    // None of them is in the database, so whatever the lane reads instead is not there.
    const stored = (...names: string[]): Due[] =>
      names.map((name) => ({
        webhook: 1,
        deliveryId: `dlv_${name}`,
        eventId: `evt_${name}`,
        kind: 'message.sent',
        conversation: name.slice(0, 1),
        attempts: 0,
        steps: 0,
        dueAt: 0,
        body: name,
        trace: null,
        sequence: 1,
        createdAt: 0,
      }));
    lane.wake(stored('a0'));
    await untilIdle();
    assert.equal(sent.length, 0, 'there may be earlier ones');
    lane.wake(stored('a1', 'a2', 'b1'));
    lane.wake(stored('a3'));
    await untilIdle();
    assert.deepEqual(sent.toSorted(), ['a1', 'a2', 'a3', 'b1']);
    assert.deepEqual(
      sent.filter((name) => name.startsWith('a')),
      ['a1', 'a2', 'a3'],
    );
    lane.wake();
    lane.wake(stored('a4'));
    await untilIdle();
    assert.equal(sent.length, 4, 'there may be others');
    lane.wake(stored(...Array.from({ length: 1025 }, (_, n) => `c${n}`)));
    await untilIdle();
    assert.equal(sent.length, 4, 'they are more than a backlog has room for');
  });

  it('reads new deliveries that may be out of order, and looks for the next retry only if that may have changed', async (test) => {
    const server = await startServer({});
    test.after(() => server.stop());
    const { services } = server.app;
    const { call } = await server.account();
    const webhook = { webhookUrl: server.url, events: ['message.sent'] };
    const { webhookId } = (await call('POST', '/webhooks/endpoints', webhook)).body;
    const reads = { due: 0, next: 0 };
    const { connection } = services.database.reader;
    const query: typeof connection.query = (text, ...more) => {
      if (text.includes('"dueAt"')) reads.due++;
      if (text.includes('min(w.due_at)')) reads.next++;
      return connection.query(text, ...more);
    };
    const readsOf = async (work: () => void) => {
      Object.assign(reads, { due: 0, next: 0 });
      const { promise, resolve } = Promise.withResolvers<void>();
      onIdle = resolve;
      work();
      await promise;
      return { ...reads };
    };
    let onIdle = () => {};
    const lane: Lane = new Lane(webhookId, {
      ...services,
      database: { ...services.database, reader: { ...services.database.reader, connection: { query } } },
      settleLanes: createSettleLanes(services),
      showOccurrence: async () => ({ refusal: 'no subscription' }),
      withFiles: (_, body, use) => use(body),
      deliver: services.deliver,
      retry: { stepsMs: [], random: Math.random },
      breaker: { openMs: 1000, random: Math.random },
      readStart: startsOf(services),
      room: () => 1024,
      offer: () => {},
      release: () => {},
      idle: () => onIdle(),
    });
    test.after(() => lane.stop());
    await readsOf(() => lane.wake());
    const added: Due = {
      webhook: 1,
      deliveryId: 'dlv_a',
      eventId: 'evt_a',
      kind: 'message.sent',
      conversation: 'a',
      attempts: 0,
      steps: 0,
      dueAt: 0,
      body: '{}',
      trace: null,
      sequence: 1,
      createdAt: 0,
    };
    assert.deepEqual(await readsOf(() => lane.wake([added], false)), { due: 1, next: 0 });
    assert.deepEqual(await readsOf(() => lane.wake()), { due: 1, next: 1 });
    assert.deepEqual(await readsOf(() => lane.wake([added], false)), { due: 1, next: 0 });
  });

  it('delivers a conversation in order that is longer than a backlog has room for (postgres)', async (test) => {
    const receiver = await startReceiver();
    const server = await startServer({ database: 'postgres' });
    test.after(async () => {
      await server.stop();
      await receiver.close();
    });
    const { call } = await server.account();
    await connectSession(call);
    await call('POST', '/webhooks/endpoints', { webhookUrl: receiver.url, events: ['message.sent'] });
    const gate = Promise.withResolvers<void>();
    receiver.respond((_, response) => void gate.promise.then(() => response.end()));
    const ids: string[] = [];
    for (let n = 0; n < 40; n++) {
      const { status, body } = await call('POST', '/messages/send', { to: '491702222222', message: String(n) });
      assert.deepEqual([status, body.status], [201, 'sent'], JSON.stringify(body));
      ids.push(body.messageId);
    }
    gate.resolve();
    await receiver.waitFor(40);
    assert.deepEqual(
      receiver.deliveries.map(({ parsed }) => parsed.data.messageId),
      ids,
    );
  });

  it('keeps its webhook while it is idle, instead of reading it for each event', async (test) => {
    const server = await startServer({});
    test.after(() => server.stop());
    const receiver = await startReceiver();
    test.after(() => receiver.close());
    const { call } = await server.account();
    const sessionId = await connectSession(call);
    await call('POST', '/webhooks/endpoints', { webhookUrl: receiver.url, events: ['message.sent'] });
    const { connection } = server.app.services.database.reader;
    const query = test.mock.method(connection, 'query');
    for (let n = 1; n <= 10; n++) {
      await call('POST', '/messages/send', { sessionId, to: '491701234567', message: `Message ${n}` });
      await eventually(
        () => call('GET', '/webhooks/deliveries?states=delivered'),
        ({ body }) => body.data.length === n,
      );
    }
    const loads = query.mock.calls.filter(({ arguments: [text] }) => /"is_default".* from "webhooks"/.test(text));
    // One for the start, and one for a reload if the machine needs half a minute for all this.
    assert.ok(loads.length <= 2, `${loads.length} loads`);
    assert.ok(loads.length > 0);
  });

  it('starts with a read that it shares with up to 127 others', async (test) => {
    const server = await startServer({});
    test.after(() => server.stop());
    const { database, steady } = server.app.services;
    const { call } = await server.account();
    const { webhookId } = (
      await call('POST', '/webhooks/endpoints', { webhookUrl: server.url, events: ['message.sent'] })
    ).body;
    let reads = 0;
    const { connection } = database.reader;
    const query: typeof connection.query = (text, ...more) => {
      if (text.includes('from "webhooks"')) reads++;
      return connection.query(text, ...more);
    };
    const reader = new LaneReader({ ...database, reader: { ...database.reader, connection: { query } } }, steady);
    const ids = Array.from({ length: 200 }, (_, n) => (n === 150 ? webhookId : `whk_${n}`));
    const starts = await Promise.all(ids.map((id) => reader.read(id)));
    assert.equal(reads, 2);
    assert.deepEqual(
      starts.flatMap(({ webhook }, n) => (webhook === undefined ? [] : { n, id: webhook.webhookId })),
      [{ n: 150, id: webhookId }],
    );
  });
});
