import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import pg from 'pg';
import { evictDead, freeOrphans } from '../../src/cluster/members.ts';
import { openTx } from '../../src/db/commit.ts';
import { FencedError, type Membership } from '../../src/db/dialect.ts';
import { migrate } from '../../src/db/migrate.ts';
import { openPostgres } from '../../src/db/postgres/postgres.ts';
import { newHome } from '../support/databases/databases.ts';
import { eventually } from '../support/eventually.ts';
import { queryOf, spawnNodes } from '../support/processes/nodes.ts';
import { bearer, connectSession, newNumber, startServer } from '../support/server.ts';

const DEAD: Membership = { nodeId: 'nod_dead', epoch: 1 };
const ALIVE: Membership = { nodeId: 'nod_alive', epoch: 7 };

/** A database with the rows of a dead node and a live one, and a foreign connection that can lock rows. */
async function openMembers(test: TestContext) {
  const home = await newHome('postgres');
  const store = openPostgres(home.databaseUrl);
  await migrate(store, Date.now);
  const foreigner = new pg.Client({ connectionString: home.databaseUrl });
  await foreigner.connect();
  test.after(async () => {
    await foreigner.end();
    await store.close();
    await home.remove();
  });
  for (const [{ nodeId, epoch }, expiresAt] of [[DEAD, 1] as const, [ALIVE, Date.now() + 600_000] as const])
    await foreigner.query(`insert into nodes (node_id, epoch, instance, version, carries, joined_at, expires_at)
      values ('${nodeId}', ${epoch}, '${nodeId}', '1', 1, 1, ${expiresAt})`);
  const evict = async () => {
    const transaction = await store.begin(ALIVE);
    const evicted = await evictDead(openTx(transaction).tx);
    await transaction.commit();
    return evicted;
  };
  const areWaiting = async () => {
    const { rows } = await foreigner.query('select pid from pg_locks where not granted');
    return rows.length;
  };
  return { store, foreigner, evict, areWaiting };
}

describe('the fence of a node', () => {
  it('keeps the row while a transaction is open, and rejects every later one', async (test) => {
    const { store, foreigner, areWaiting } = await openMembers(test);
    const open = await store.begin(ALIVE);
    let isDeleted = false;
    // As a node of an earlier release does it.
    const deleted = foreigner.query(`delete from nodes where node_id = '${ALIVE.nodeId}'`).then(() => {
      isDeleted = true;
    });
    await eventually(
      async () => (await store.reader.connection.query('select pid from pg_locks where not granted', [])).rows.length,
      (waiting) => waiting > 0,
    );
    assert.equal(isDeleted, false);
    await open.connection.query('update steady_time set ms = 1', []);
    await open.commit();
    await deleted;
    await assert.rejects(store.begin(ALIVE), FencedError);
    await assert.rejects(store.begin({ ...DEAD, epoch: 2 }), FencedError);
    assert.equal(await areWaiting(), 0);
  });

  it('rejects a transaction that begins while the row is being deleted', async (test) => {
    const { store, foreigner, areWaiting } = await openMembers(test);
    await foreigner.query(`begin; delete from nodes where node_id = '${ALIVE.nodeId}'`);
    const late = assert.rejects(store.begin(ALIVE), FencedError);
    await eventually(areWaiting, (waiting) => waiting > 0);
    await foreigner.query('commit');
    await late;
  });

  it('ends only the transactions of a dead node, even while they wait for locks', async (test) => {
    const { store, foreigner, evict, areWaiting } = await openMembers(test);
    await foreigner.query('begin; update steady_time set ms = 5');
    const dead = await store.begin(DEAD, { lockMs: 0 });
    const stuck = assert.rejects(dead.connection.query('update steady_time set ms = 6', []));
    await eventually(areWaiting, (waiting) => waiting > 0);
    const other = await store.begin(ALIVE);
    const startedAt = performance.now();
    assert.deepEqual(await evict(), [DEAD.nodeId]);
    assert.ok(performance.now() - startedAt < 5000, 'it does not wait for the lock');
    await stuck;
    await dead.rollback().catch(() => {});
    await other.commit();
    await foreigner.query('rollback');
    await assert.rejects(store.begin(DEAD), FencedError);
  });

  it('frees the leases of a dead node although the row of one is locked, and that one later', async (test) => {
    const { store, foreigner, evict } = await openMembers(test);
    for (const id of ['wh_locked', 'wh_free'])
      await foreigner.query(`insert into webhooks (account_id, webhook_id, is_default, url, events, enabled,
          max_in_flight, breaker_state, breaker_generation, breaker, created_at, updated_at, lease_owner, lease_generation)
        values ('acc', '${id}', 0, 'http://127.0.0.1/', '[]', 1, 1, 'closed', 0, '{}', 1, 1, '${DEAD.nodeId}', 1)`);
    const owners = async () => {
      const { rows } = await store.reader.connection.query<{ webhook_id: string; lease_owner: string | null }>(
        'select webhook_id, lease_owner from webhooks order by webhook_id',
        [],
      );
      return rows.map(({ lease_owner: owner }) => owner);
    };
    await foreigner.query(`begin; select from webhooks where webhook_id = 'wh_locked' for update`);
    assert.deepEqual(await evict(), [DEAD.nodeId]);
    assert.deepEqual(await owners(), [null, DEAD.nodeId]);
    await foreigner.query('rollback');
    const transaction = await store.begin(ALIVE);
    assert.equal(await freeOrphans(openTx(transaction).tx), true);
    await transaction.commit();
    assert.deepEqual(await owners(), [null, null]);
  });

  it('creates hardly any multixacts', async (test) => {
    const home = await newHome('postgres');
    const server = await startServer({ home });
    test.after(async () => {
      await server.stop();
      await home.remove();
    });
    const { call } = await server.account();
    const sessionId = await connectSession(call);
    const ask = queryOf(home);
    const multixacts = async () => (await ask<{ age: number }>(`select mxid_age('1'::xid) as age`))[0]?.age ?? 0;
    const before = await multixacts();
    const sends = 400;
    for (let sent = 0; sent < sends; sent += 40) {
      const together = Array.from({ length: 40 }, () =>
        call('POST', '/messages/send', { sessionId, to: newNumber(), message: 'hello' }),
      );
      for (const { status } of await Promise.all(together)) assert.equal(status, 201);
    }
    const perSend = ((await multixacts()) - before) / sends;
    test.diagnostic(`${perSend} multixacts per send`);
    assert.ok(perSend < 0.1, `${perSend} multixacts per send`);
  });
});

/** Two nodes with sessions, one that the first node owns, and a foreign connection that can lock rows. */
async function openNodes(test: TestContext) {
  const home = await newHome('postgres');
  const nodes = await spawnNodes(home, 2);
  const [first, second] = nodes;
  assert.ok(first !== undefined && second !== undefined);
  const foreigner = new pg.Client({ connectionString: home.databaseUrl });
  await foreigner.connect();
  test.after(async () => {
    await foreigner.end();
    await Promise.all(nodes.map((node) => node.process.kill()));
    await home.remove();
  });
  const register = await fetch(`${first.url}/api/v1/auth/register`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ email: 'a@example.com', password: 'a long enough password', name: 'A' }),
  });
  const { token } = (await register.json()) as { token: string };
  const call = bearer(first.url, token);
  const ask = queryOf(home);
  const sessionIds = await Promise.all(Array.from({ length: 4 }, () => connectSession(call)));
  const ownedBy = async (nodeId: string) =>
    (await ask<{ session_id: string }>(`select session_id from sessions where lease_owner = '${nodeId}'`)).map(
      ({ session_id: id }) => id,
    );
  const [owned] = await eventually(
    () => ownedBy(first.nodeId),
    (ids) => ids.length > 0,
  );
  const takenOver = async () => {
    const startedAt = performance.now();
    await eventually(
      () => ownedBy(second.nodeId),
      (ids) => ids.length === sessionIds.length,
    );
    const ms = performance.now() - startedAt;
    test.diagnostic(`taken over after ${Math.round(ms)} ms`);
    assert.ok(ms < 15_000, `it took ${ms} ms`);
  };
  return { first, foreigner, call, ask, owned, takenOver };
}

it('another node takes over within 15 s from one that was killed while it waits for a foreign lock', async (test) => {
  const { first, foreigner, call, ask, owned, takenOver } = await openNodes(test);
  // A row that the node updates with every message of this chat.
  await call('POST', '/messages/send', { sessionId: owned, to: '491700000001', message: 'first' });
  await foreigner.query(`begin; select from chats for update`);
  void call('POST', '/messages/send', { sessionId: owned, to: '491700000001', message: 'stuck' }).catch(() => {});
  await eventually(
    () =>
      ask(
        `select from pg_stat_activity where application_name = 'switchboard ${first.nodeId}' and wait_event_type = 'Lock'`,
      ),
    (stuck) => stuck.length > 0,
  );
  await first.process.kill();
  await takenOver();
  await foreigner.query('rollback');
});

it('another node takes over soon after a foreign lock on a session of a killed one has ended', async (test) => {
  const { first, foreigner, ask, owned, takenOver } = await openNodes(test);
  await foreigner.query(`begin; select from sessions where session_id = '${owned}' for update`);
  await first.process.kill();
  await eventually(
    () => ask(`select from nodes where node_id = '${first.nodeId}'`),
    (rows) => rows.length === 0,
  );
  await foreigner.query('rollback');
  await takenOver(); // the next regular round comes up to 30 s later
});

it('a node waits for a foreign lock on the rows of nodes when it starts', async (test) => {
  const { first, foreigner } = await openNodes(test);
  await first.process.stop();
  await foreigner.query('begin; select from nodes for update');
  const unlock = setTimeout(() => void foreigner.query('rollback'), 4000); // longer than one attempt
  test.after(() => clearTimeout(unlock));
  await first.start();
  assert.equal((await fetch(`${first.url}/ready`)).status, 200);
});
