import assert from 'node:assert/strict';
import { it, type TestContext } from 'node:test';
import { SingleNode } from '../../src/cluster/cluster.ts';
import { readSettings } from '../../src/config.ts';
import { type Database, openDatabase } from '../../src/db/database.ts';
import { AppError } from '../../src/errors.ts';
import { createIds } from '../../src/ids.ts';
import { Idempotency } from '../../src/invoke/idempotency.ts';
import { KeyReleases } from '../../src/invoke/keyReleases.ts';
import { newHome } from '../support/databases/databases.ts';
import { eventually } from '../support/eventually.ts';
import { createFakeClock } from '../support/fakeClock.ts';

const UNAVAILABLE = { code: 'storage_unavailable' };

/** Idempotency on a database whose disk can be full. */
async function onDisk(test: TestContext) {
  const home = await newHome('sqlite');
  const clock = createFakeClock();
  const database = await openDatabase(readSettings({ DATA_DIR: home.dataDir }), clock);
  test.after(async () => {
    await database.close();
    await home.remove();
  });
  const disk = { isFull: false, refused: 0 };
  const commit: Database['commit'] = async (work, key) => {
    if (!disk.isFull) return database.commit(work, key);
    disk.refused++;
    throw new AppError('storage_unavailable');
  };
  const idempotency = new Idempotency({
    database: { ...database, commit },
    clock,
    newId: createIds(clock),
    cluster: new SingleNode('nod_A', database),
  });
  const once = (key: string, run: () => Promise<unknown>) =>
    idempotency.once(
      { accountId: 'acc_1', credential: 'login', key, operationId: 'messages.send', sent: {}, input: {} },
      run,
    );
  const ownerOf = async (key: string) => {
    const { kysely } = database.reader;
    const row = kysely.selectFrom('idempotency_keys').select('owner').where('idempotency_key', '=', key);
    return (await row.executeTakeFirst())?.owner;
  };
  return { clock, disk, idempotency, once, ownerOf };
}

it('keys whose requests failed on a full disk cost only a few write attempts per second until there is space', async (test) => {
  const { clock, disk, once, ownerOf } = await onDisk(test);
  const interrupted = once('interrupted', async () => {
    disk.isFull = true;
    throw new AppError('session_unavailable');
  });
  await assert.rejects(interrupted, { code: 'session_unavailable' });
  assert.equal(await ownerOf('interrupted'), 'nod_A');
  for (let at = 0; at < 500; at++)
    await assert.rejects(
      once(`refused ${at}`, async () => {}),
      UNAVAILABLE,
    );

  disk.refused = 0;
  await clock.advance(1000);
  assert.ok(disk.refused > 0 && disk.refused <= 50, `${disk.refused} attempts`);
  disk.isFull = false;
  await eventually(
    async () => {
      await clock.advance(1000);
      return ownerOf('interrupted');
    },
    (owner) => owner === '',
  );
});

it('of two identical requests in one commit, only one runs', async (test) => {
  const { once } = await onDisk(test);
  for (let round = 0; round < 20; round++) {
    let runs = 0;
    const run = async () => ++runs;
    const results = await Promise.allSettled([once(`twin ${round}`, run), once(`twin ${round}`, run)]);
    const refused = results.filter(({ status }) => status === 'rejected');
    assert.equal(runs, 1);
    for (const { reason } of refused as PromiseRejectedResult[]) assert.equal(reason.code, 'idempotency_in_flight');
  }
});

it('the search for keys to release ends when the server stops', async (test) => {
  const { clock, disk, idempotency, once } = await onDisk(test);
  disk.isFull = true;
  await assert.rejects(
    once('refused', async () => {}),
    UNAVAILABLE,
  );
  disk.refused = 0;
  await idempotency.stop();
  await clock.advance(5000);
  assert.equal(disk.refused, 0);
});

it('at most 10,000 keys wait for the database', async () => {
  const clock = createFakeClock();
  const looked = new Set<string>();
  const last = Promise.withResolvers<void>();
  const releases = new KeyReleases(
    async ({ key }) => {
      looked.add(key);
      if (looked.size === 10_000) last.resolve();
      return true;
    },
    () => false,
    clock,
  );
  for (let at = 0; at < 10_100; at++) releases.add({ accountId: 'acc_1', credential: 'login', key: String(at) });
  await clock.advance(1000);
  await last.promise;
  await clock.advance(1000);
  await releases.stop();
  assert.equal(looked.size, 10_000);
});
