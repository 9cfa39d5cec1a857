import assert from 'node:assert/strict';
import { after, before, it } from 'node:test';
import { OutgoingProgress } from '../../src/messages/messages/outgoingProgress.ts';
import { findMessage } from '../../src/messages/store.ts';
import { BatchWatch } from '../../src/operations/bulk/batchWatch.ts';
import { describeOnEachDeployment } from '../support/databases/databases.ts';
import { eventually } from '../support/eventually.ts';
import { createFakeClock } from '../support/fakeClock.ts';
import {
  type Answer,
  bearer,
  type Call,
  connectSession,
  eventOf,
  newNumber,
  startServer,
  type TestServer,
} from '../support/server.ts';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const inHours = (hours: number) => new Date(Date.now() + hours * HOUR_MS).toISOString();

describeOnEachDeployment('a batch', (_, database) => {
  let server: TestServer;
  let call: Call;
  let accountId: string;
  let sessionId: string;
  before(async () => {
    server = await startServer({ database });
    ({ call, accountId } = await server.account());
    sessionId = await connectSession(call, newNumber());
  });
  after(() => server.stop());

  const send = (input: object) =>
    call('POST', '/messages/send-bulk', { sessionId, message: 'Hi', intervalMs: 0, sendAt: inHours(1), ...input });
  async function sent(count: number, input: object = {}): Promise<Answer['body']> {
    const { status, body } = await send({ to: Array.from({ length: count }, () => newNumber()), ...input });
    assert.equal(status, 202, JSON.stringify(body));
    return body;
  }
  const batchOf = async (id: string) => (await call('GET', `/batches/${id}`)).body;
  const change = (id: string, action: string) => call('POST', `/batches/${id}/${action}`, {});
  const ended = (batchId: string, status: string) =>
    eventOf(call, 'batch.updated', (data) => data.batchId === batchId && data.status === status);
  const checkNow = (batchId: string) =>
    server.app.services.database.commit(({ kysely }) =>
      kysely.updateTable('batches').set({ check_at: 0 }).where('batch_id', '=', batchId).execute(),
    );
  const newest = async () => (await call('GET', `/batches?sessionId=${sessionId}&limit=1`)).body.data[0];

  type Schedule = TestServer['app']['services']['sender']['schedule'];

  /** Sends to three recipients, and runs `work` in place of the function that stores the messages. */
  async function sendWith(work: (schedule: Schedule, ...args: Parameters<Schedule>) => ReturnType<Schedule>) {
    const restores = [server, ...(server.other ? [server.other] : [])].map(({ app }) => {
      const { sender } = app.services;
      const { schedule } = sender;
      sender.schedule = (...args) => work(schedule.bind(sender), ...args);
      return () => {
        sender.schedule = schedule;
      };
    });
    const idempotencyKey = `bulk-${newNumber()}`;
    const bulk = { to: [newNumber(), newNumber(), newNumber()], sendAt: inHours(1), idempotencyKey };
    const answer = await send(bulk);
    for (const restore of restores) restore();
    return { ...answer, repeat: async () => (await send(bulk)).body };
  }

  /** Lets the watch count what a request has stored, as if it had taken too long. */
  async function settled(batchId: string) {
    await checkNow(batchId);
    const batch = await eventually(
      () => batchOf(batchId),
      ({ status }) => status === 'running',
    );
    assert.deepEqual([batch.accepted, batch.counts.scheduled], [2, 2]);
  }

  /** Sends to three recipients. The request ends after it has stored two messages, and the watch counts them. */
  async function interrupted() {
    let shown: Answer['body'];
    const { status, body, repeat } = await sendWith(async (schedule, session, drafts, quota) => {
      shown = await newest();
      await schedule(session, drafts.slice(0, 2), quota);
      throw new Error('the process ends');
    });
    assert.equal(status, 500, JSON.stringify(body));
    const { batchId } = await newest();
    assert.deepEqual([shown.batchId, shown.status], [batchId, 'preparing'], 'it is stored before its messages');
    assert.equal((await change(batchId, 'pause')).body.code, 'batch_state');
    await settled(batchId);
    return { batchId, repeat };
  }

  it('counts what an interrupted request has stored', async () => {
    const { batchId, repeat } = await interrupted();
    const repeated = await repeat();
    assert.deepEqual([repeated.batchId, repeated.accepted], [batchId, 3]);
    const completed = await batchOf(batchId);
    assert.deepEqual([completed.status, completed.accepted, completed.counts.scheduled], ['running', 3, 3]);
    assert.equal((await change(batchId, 'cancel')).body.counts.cancelled, 3);
  });

  it('gets no further messages once it is paused or cancelled', async () => {
    for (const [action, status] of [
      ['pause', 'paused'],
      ['cancel', 'cancelled'],
    ] as const) {
      const { batchId, repeat } = await interrupted();
      await change(batchId, action);
      const repeated = await repeat();
      assert.deepEqual([repeated.batchId, repeated.accepted, repeated.refused], [batchId, 2, 1]);
      assert.match(repeated.results[2].error, /interrupted/);
      const { counts, ...batch } = await batchOf(batchId);
      assert.deepEqual([batch.status, batch.accepted, counts.scheduled + counts.cancelled], [status, 2, 2]);
    }
  });

  it('holds or cancels late messages of a slow request', async () => {
    for (const [action, status] of [
      ['pause', 'paused'],
      ['cancel', 'cancelled'],
    ] as const) {
      const { body } = await sendWith(async (schedule, session, drafts, quota) => {
        const first = await schedule(session, drafts.slice(0, 2), quota);
        const { batchId } = await newest();
        await settled(batchId);
        await change(batchId, action);
        return [...first, ...(await schedule(session, drafts.slice(2), quota))];
      });
      assert.equal(body.accepted, 3);
      const batch = await eventually(
        () => batchOf(body.batchId),
        (one) => one.status === status && one.counts.scheduled + one.counts.cancelled === 3,
      );
      assert.deepEqual([batch.accepted, batch.counts.cancelled], [3, status === 'cancelled' ? 3 : 0]);
      const row = await findMessage(server.app.services.database.reader, accountId, body.results[2].messageId);
      const isDue = row?.status === 'scheduled' && Number(row.scheduled_at) < Date.now() + DAY_MS;
      assert.ok(!isDue, JSON.stringify(row));
    }
  });

  it('is removed if its messages are refused', async () => {
    const { body: key } = await call('POST', '/api-keys/create', { name: 'few', sendQuota: 1 });
    const before = await newest();
    const few = bearer(server.url, key.key);
    const bulk = { sessionId, to: [newNumber(), newNumber()], message: 'Hi', sendAt: inHours(1) };
    assert.equal((await few('POST', '/messages/send-bulk', bulk)).body.code, 'quota_exceeded');
    assert.deepEqual(await newest(), before);
  });

  it('is cancelled after a pause of 30 days', async () => {
    const { batchId } = await sent(2);
    assert.equal((await batchOf(batchId)).pausedUntil, null);
    const { pausedUntil } = (await change(batchId, 'pause')).body;
    assert.ok(Math.abs(Date.parse(pausedUntil) - Date.now() - 30 * DAY_MS) < HOUR_MS);
    await checkNow(batchId);
    const { previousStatus, counts } = await ended(batchId, 'cancelled');
    assert.deepEqual([previousStatus, counts.cancelled, counts.scheduled], ['cancelling', 2, 0]);
    assert.equal((await batchOf(batchId)).pausedUntil, null);
  });

  it('completes once all of its messages have ended, before its time', async () => {
    const { batchId, results } = await sent(2, { intervalMs: 60_000 });
    const [first, last] = results;
    await call('POST', `/messages/${last.messageId}/cancel`, {});
    await eventually(
      () => batchOf(batchId),
      ({ endsAt }) => endsAt === first.sendAt,
    );
    await call('POST', `/messages/${first.messageId}/cancel`, {});
    const { counts } = await ended(batchId, 'completed');
    assert.equal(counts.cancelled, 2);
  });

  it('completes once its messages are rejected', async () => {
    const { body: key } = await call('POST', '/api-keys/create', { name: 'held', requiresApproval: true });
    const held = bearer(server.url, key.key);
    const bulk = { sessionId, to: [newNumber()], message: 'May I?', sendAt: inHours(1) };
    const { batchId, results } = (await held('POST', '/messages/send-bulk', bulk)).body;
    await call('POST', `/messages/${results[0].messageId}/reject`, {});
    assert.equal((await ended(batchId, 'completed')).counts.failed, 1);
  });

  it('keeps a message that becomes due while the batch is paused', async () => {
    const { services } = server.app;
    const { batchId, results } = await sent(1);
    const id = results[0].messageId;
    const read = await findMessage(services.database.reader, accountId, id);
    assert.ok(read);
    await change(batchId, 'pause');
    const progress = new OutgoingProgress(services);
    assert.equal(await services.database.commit((tx) => progress.queue(tx, read)), false);
    const resumed = await change(batchId, 'resume');
    assert.equal(resumed.body.counts.scheduled, 1);
    const row = await findMessage(services.database.reader, accountId, id);
    assert.deepEqual([row?.status, Number(row?.scheduled_at)], ['scheduled', Number(read.scheduled_at)]);
    await change(batchId, 'cancel');
  });

  it('lets the watch stop during a long cancellation, which another one continues', async (test) => {
    const { batchId } = await sent(80);
    const { services } = server.app;
    await services.database.commit(({ kysely }) =>
      kysely
        .updateTable('batches')
        .set({ status: 'cancelling', check_at: Date.now() + HOUR_MS })
        .where('batch_id', '=', batchId)
        .execute(),
    );
    // Its clock is ahead, so that it alone finds the batch due.
    const clock = createFakeClock(Date.now() + 2 * HOUR_MS);
    const begun = Promise.withResolvers<void>();
    let cancelled = 0;
    const sender = {
      rescheduled: () => {},
      cancel: async (row: Parameters<typeof services.sender.cancel>[0]) => {
        cancelled++;
        begun.resolve();
        return services.sender.cancel(row);
      },
    };
    const watch = new BatchWatch({ ...services, clock, sender });
    watch.start();
    test.after(() => watch.stop());
    clock.advance(2000);
    await begun.promise;
    await watch.stop();
    assert.ok(cancelled < 80, `${cancelled} were cancelled`);
    assert.equal((await batchOf(batchId)).status, 'cancelling');
    await checkNow(batchId);
    assert.equal((await ended(batchId, 'cancelled')).counts.cancelled, 80);
  });
});
