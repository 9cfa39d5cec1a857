import assert from 'node:assert/strict';
import { it } from 'node:test';
import { systemClock } from '../../src/clock.ts';
import { SingleNode } from '../../src/cluster/cluster.ts';
import { leasable } from '../../src/cluster/leaseRows.ts';
import { NodeLeases } from '../../src/cluster/leases.ts';
import { Peers } from '../../src/cluster/peers.ts';
import { readSettings } from '../../src/config.ts';
import { type Database, openDatabase } from '../../src/db/database.ts';
import { FencedError } from '../../src/db/dialect.ts';
import { createLog } from '../../src/log.ts';
import { newHome } from '../support/databases/databases.ts';

it('a lease that was lost while it was being freed is not freed later, when this node may own it again', async (test) => {
  const home = await newHome('sqlite');
  const database = await openDatabase(readSettings({ DATA_DIR: home.dataDir }), systemClock);
  test.after(async () => {
    await database.close();
    await home.remove();
  });
  let commits = 0;
  const commit: Database['commit'] = async () => {
    commits++;
    leases.lose();
    throw new FencedError();
  };
  const log = createLog('silent');
  const leases = new NodeLeases(leasable.sessions, {
    database: { ...database, commit },
    peers: new Peers('nod_A', null, log),
    acceptsWork: true,
    signals: new SingleNode('nod_A', database).signals,
    log,
  });
  await assert.rejects(leases.release('ses_1'), FencedError);
  assert.equal(commits, 1);
  await leases.releaseAll();
  assert.equal(commits, 1);
});
