import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { sql } from 'kysely';
import { Pace } from '../../src/db/pace.ts';
import { cancelPending } from '../../src/webhooks/queue/queue.ts';
import { startReceiver } from '../support/connections/receiver.ts';
import { newHome } from '../support/databases/databases.ts';
import { storeLog } from '../support/databases/storedLog.ts';
import { eventually } from '../support/eventually.ts';
import { queryOf } from '../support/processes/nodes.ts';
import { bearer, connectSession, startServer } from '../support/server.ts';

/** How many requests to a webhook may be open at the same time. */
const IN_FLIGHT = 8;
/** Deliveries of other chats that wait for one of these. */
const QUEUED = 2;

describe('removing a webhook', () => {
  for (const database of ['sqlite', 'two nodes'] as const)
    it(`aborts requests in flight and sends none after the response (${database})`, async (test) => {
      const server = await startServer({ database });
      const receiver = await startReceiver();
      const witness = await startReceiver();
      test.after(async () => {
        await receiver.close();
        await witness.close();
        await server.stop();
      });
      const { call, token } = await server.account();
      const removals = [
        () => call('DELETE', '/webhooks'),
        async () => {
          const { data } = (await call('GET', '/webhooks/endpoints')).body;
          const { webhookId } = data.find(({ webhookUrl }: { webhookUrl: string }) => webhookUrl === receiver.url);
          return call('DELETE', `/webhooks/endpoints/${webhookId}`);
        },
      ];
      await connectSession(bearer(server.url, token));
      const send = (count: number) =>
        Promise.all(
          Array.from({ length: count }, (_, n) =>
            call('POST', '/messages/send', { to: `49170222222${n}`, message: 'hello' }),
          ),
        );
      // When the witness has its deliveries, the removed webhook would have had its own too.
      await call('POST', '/webhooks/endpoints', { webhookUrl: witness.url, events: ['message.sent'] });
      let [sent, cancelled] = [0, 0];
      for (const remove of removals) {
        let open = 0;
        receiver.respond((_, response) => {
          open++; // and never responds
          response.once('close', () => open--);
        });
        await call('POST', '/webhooks/set', { webhookUrl: receiver.url, events: ['message.sent'] });
        const before = receiver.deliveries.length;
        await send(IN_FLIGHT + QUEUED);
        sent += IN_FLIGHT + QUEUED;
        await receiver.waitFor(before + IN_FLIGHT);
        await witness.waitFor(sent);
        assert.equal((await remove()).status, 200);
        const { data } = (await call('GET', `/webhooks/deliveries?states=cancelled&limit=50`)).body;
        cancelled += IN_FLIGHT + QUEUED;
        assert.equal(data.length, cancelled);
        await send(3);
        sent += 3;
        await witness.waitFor(sent);
        await eventually(
          async () => open,
          (count) => count === 0,
        );
        assert.equal(receiver.deliveries.length - before, IN_FLIGHT);
      }
    });

  it('fails with an error about webhooks if the owner does not respond', async (test) => {
    const home = await newHome('postgres');
    const server = await startServer({ home, env: { NODE_ROLE: 'api' } });
    test.after(async () => {
      await server.stop();
      await home.remove();
    });
    const { call } = await server.account();
    await call('POST', '/webhooks/set', { webhookUrl: 'http://127.0.0.1:9/', events: ['message.sent'] });
    await queryOf(home)(`
      insert into nodes (node_id, epoch, instance, url, version, carries, jwt_fingerprint, joined_at, expires_at)
        select 'nod_other', 1, 'other', 'http://127.0.0.1:9/', version, 1, jwt_fingerprint, joined_at,
          expires_at + 600000 from nodes;
      create function keep() returns trigger as $$ begin return null; end $$ language plpgsql;
      create trigger keep before update or delete on nodes for each row when (old.node_id = 'nod_other')
        execute function keep();
      update webhooks set lease_owner = 'nod_other';`);
    const { cluster } = server.app.services;
    await eventually(
      async () => cluster.hasOthers(),
      (hasOthers) => hasOthers,
    );
    const { status, body } = await call('DELETE', '/webhooks');
    assert.deepEqual([status, body.code], [503, 'session_unavailable']);
    assert.match(body.detail, /webhook/);
  });

  it('cancels the whole queue although a node settles some of it at the same time (postgres)', async (test) => {
    const server = await startServer({ database: 'postgres' });
    test.after(() => server.stop());
    const { call, accountId } = await server.account();
    const webhook = { webhookUrl: 'http://127.0.0.1:9/', events: ['message.sent'] };
    const { webhookId } = (await call('POST', '/webhooks/endpoints', webhook)).body;
    const { database, newId, clock } = server.app.services;
    const rows = Array.from({ length: 100 }, () => ({ eventId: newId('evt'), deliveryId: newId('dlv'), webhookId }));
    const [first = assert.fail()] = await database.commit(async (tx) => {
      await tx.kysely.updateTable('webhooks').set({ paused: 1 }).execute();
      return storeLog(tx, accountId, rows);
    });
    const { promise: isSettled, resolve: settled } = Promise.withResolvers<void>();
    const { promise: mayEnd, resolve: end } = Promise.withResolvers<void>();
    const settling = database.commit(async ({ kysely }) => {
      await kysely.updateTable('deliveries').set({ state: 'delivered' }).where('event', '=', first.event).execute();
      await kysely.deleteFrom('queue').where('event', '=', first.event).execute();
      settled();
      await mayEnd;
    });
    await isSettled;
    const cancelling = new Pace({ first: 10, fewest: 10, most: 10 }).repeat(database.commit, (tx, limit) =>
      cancelPending(tx, { accountId, webhookId }, 'test', clock.now(), limit),
    );
    const { kysely } = database.reader;
    await eventually(
      () =>
        kysely.selectFrom(sql`pg_locks`.as('l')).select(sql`1`.as('one')).where(sql<boolean>`not granted`).execute(),
      (waiting) => waiting.length > 0,
    );
    end();
    await Promise.all([settling, cancelling]);
    assert.deepEqual(await kysely.selectFrom('queue').selectAll().execute(), []);
  });
});
