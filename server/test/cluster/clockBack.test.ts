import assert from 'node:assert/strict';
import { it } from 'node:test';
import { newHome } from '../support/databases/databases.ts';
import { eventually } from '../support/eventually.ts';
import { queryOf } from '../support/processes/nodes.ts';
import { startServer } from '../support/server.ts';

it('the lease of a dead node expires on time after the clock of PostgreSQL moved back', async (test) => {
  const home = await newHome('postgres');
  const server = await startServer({ home });
  test.after(async () => {
    await server.stop();
    await home.remove();
  });
  const ask = queryOf(home);
  // As if the clock had been an hour ahead when the other node died.
  await ask(`
    insert into nodes (node_id, epoch, instance, url, version, carries, jwt_fingerprint, file_store, joined_at, expires_at)
    select 'nod_dead', 1, 'dead', null, version, carries, jwt_fingerprint, file_store, joined_at, expires_at + 3600000
    from nodes`);
  const leaseMs = async () => {
    const [row] = await ask<{ ms: string }>(`
      select expires_at - (extract(epoch from clock_timestamp()) * 1000)::bigint as ms from nodes
      where node_id = 'nod_dead'`);
    return Number(row?.ms ?? 0);
  };
  await eventually(leaseMs, (ms) => ms <= 8000);
  assert.equal((await fetch(`${server.url}/ready`)).status, 200);
});
