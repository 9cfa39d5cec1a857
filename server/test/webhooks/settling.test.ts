import assert from 'node:assert/strict';
import { it } from 'node:test';
import { createSettleLanes } from '../../src/webhooks/lanes/settling.ts';
import { type Breaker, newBreaker } from '../../src/webhooks/queue/breaker.ts';
import type { Settlement } from '../../src/webhooks/queue/queue.ts';
import { minuteOf, readFigures } from '../../src/webhooks/queue/stats.ts';
import { startReceiver } from '../support/connections/receiver.ts';
import { describeOnEachDatabase } from '../support/databases/databases.ts';
import { eventually } from '../support/eventually.ts';
import { connectSession, serversFor } from '../support/server.ts';

describeOnEachDatabase('settling the attempts of several lanes together', (_, database) => {
  const start = serversFor(database);

  it('adds the figures of each, and keeps a breaker that was changed meanwhile', async () => {
    const server = await start();
    const { call } = await server.account();
    const ids: string[] = [];
    for (let n = 0; n < 3; n++) {
      const endpoint = { webhookUrl: `${server.url}/${n}`, events: ['message.sent'] };
      ids.push((await call('POST', '/webhooks/endpoints', endpoint)).body.webhookId);
    }
    const { database: db, clock, steady } = server.app.services;
    const settleLanes = createSettleLanes(server.app.services);
    const minute = minuteOf(clock.now());
    const settlement = (n: number): Settlement => ({
      due: { webhook: 1, sequence: n, conversation: 'ses', attempts: 0 },
      outcome: { class: 'ok', status: 200, durationMs: 1, message: '', response: null, retryAfterMs: null },
      startedAt: clock.now(),
      state: 'delivered',
      dueAt: 0,
      steps: 0,
    });
    const settleAll = (failures: number) =>
      Promise.all(
        ids.map((webhookId, n) =>
          db.commitJointly(settleLanes, {
            webhookId,
            settlements: Array.from({ length: n + 1 }, (_, m) => settlement(10 * n + m)),
            released: [],
            minute,
            breaker: { ...newBreaker(steady.now()), failures },
            // The second one was changed since the lane has read it.
            from: 'closed',
            generation: n === 1 ? 7 : 0,
            steadyMs: steady.now(),
          }),
        ),
      );
    for (const failures of [1, 2]) {
      const settled = await settleAll(failures);
      assert.deepEqual(
        settled.map(({ isStored }) => isStored),
        [true, false, true],
      );
    }

    for (const [n, webhookId] of ids.entries()) {
      const [{ figures } = assert.fail()] = await readFigures(db.reader, webhookId, 0);
      assert.deepEqual(figures, {
        classes: { ok: 2 * (n + 1) },
        states: { delivered: 2 * (n + 1) },
        latencies: [2 * (n + 1)],
      });
    }
    const rows = await db.reader.kysely.selectFrom('webhooks').select(['webhook_id', 'breaker']).execute();
    const failuresOf = new Map(rows.map((row) => [row.webhook_id, (JSON.parse(row.breaker) as Breaker).failures]));
    assert.deepEqual(
      ids.map((id) => failuresOf.get(id)),
      [2, 0, 2],
    );
  });
});

describeOnEachDatabase('settling a first attempt', (_, database) => {
  const start = serversFor(database);

  it('takes a delivery out of the queue that was cancelled and replayed during the attempt', async (test) => {
    const receiver = await startReceiver();
    test.after(() => receiver.close());
    const server = await start();
    const { call } = await server.account();
    await connectSession(call);
    await call('POST', '/webhooks/set', { webhookUrl: receiver.url, events: ['message.sent'] });
    const { promise: isHeld, resolve: answer } = Promise.withResolvers<void>();
    receiver.respond((_received, response) => void isHeld.then(() => response.writeHead(200).end()));
    await call('POST', '/messages/send', { to: '491705550001', message: 'x' });
    await receiver.waitFor(1);
    const [{ deliveryId }] = (await call('GET', '/webhooks/deliveries')).body.data;
    assert.equal((await call('POST', `/webhooks/deliveries/${deliveryId}/cancel`)).status, 200);
    assert.equal((await call('POST', '/webhooks/replay', { deliveryIds: [deliveryId] })).body.replayed, 1);
    answer();
    await eventually(
      () => call('GET', `/webhooks/deliveries/${deliveryId}`),
      ({ body }) => body.state === 'delivered',
    );

    const { kysely } = server.app.services.database.reader;
    assert.deepEqual(await kysely.selectFrom('queue').selectAll().execute(), []);
    assert.deepEqual(await kysely.selectFrom('waiting').selectAll().execute(), []);
  });
});
