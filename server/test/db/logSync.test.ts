import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { cpSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { setTimeout } from 'node:timers/promises';
import { promisify } from 'node:util';
import { ChildHealth } from '../../src/childHealth.ts';
import { type Commit, inTransaction } from '../../src/db/commit.ts';
import { LogSync } from '../../src/db/sqlite/logSync.ts';
import { openSqlite } from '../../src/db/sqlite/sqlite.ts';
import { eventually } from '../support/eventually.ts';

function folder(test: TestContext): string {
  const path = mkdtempSync(join(tmpdir(), 'switchboard-log-'));
  test.after(() => rmSync(path, { recursive: true, force: true }));
  return path;
}

/** A thread that runs `code` for each message. */
const thread = (code: string) =>
  new URL(
    `data:text/javascript,${encodeURIComponent(`
      import { parentPort } from 'node:worker_threads';
      parentPort.on('message', () => { ${code} });
      parentPort.postMessage('ready');`)}`,
  );

/** Syncs that all count as slow. */
async function setUp(test: TestContext, script?: URL) {
  const file = join(folder(test), 'log');
  writeFileSync(file, 'text');
  const health = new ChildHealth('log_sync');
  const log = new LogSync(file, { health, slowMs: -1, ...(script && { script }) });
  test.after(() => log.stop());
  const inThread = () =>
    eventually(
      async () => {
        const synced = log.sync();
        const isInThread = log.pending !== undefined;
        await synced.catch(() => {});
        return isInThread;
      },
      (isInThread) => isInThread,
    );
  return { log, health, inThread };
}

describe('the sync of the log', () => {
  it('runs in a thread after a slow one', async (test) => {
    const { log, health, inThread } = await setUp(test);
    await log.sync();
    assert.equal(log.pending, undefined, 'on the spot');
    await inThread();
    await log.sync();
    assert.equal(log.pending, undefined, 'done');
    assert.equal(health.isFailing, false);
  });

  it('stays on the spot while it is fast', async (test) => {
    const file = join(folder(test), 'log');
    writeFileSync(file, 'text');
    const log = new LogSync(file, { slowMs: Number.POSITIVE_INFINITY, script: thread('process.exit(1)') });
    for (let n = 0; n < 20; n++) {
      void log.sync();
      assert.equal(log.pending, undefined);
    }
    await log.stop();
  });

  it('serves all calls during one together, by another one', async (test) => {
    const slow = thread('setTimeout(() => parentPort.postMessage(undefined), 50)');
    const { log, inThread } = await setUp(test, slow);
    await inThread();
    const order: number[] = [];
    const first = log.sync().then(() => order.push(1));
    const second = log.sync().then(() => order.push(2));
    const { pending } = log;
    const third = log.sync().then(() => order.push(3));
    assert.equal(log.pending, pending);
    await Promise.all([first, second, third]);
    assert.deepEqual(order, [1, 2, 3]);
    assert.equal(log.pending, undefined);
  });

  it('passes the error of the disk on', async (test) => {
    const failing = thread(`parentPort.postMessage({ message: 'EIO: i/o error, fdatasync', code: 'EIO' })`);
    const { log, inThread } = await setUp(test, failing);
    await inThread();
    const refused = { code: 'EIO', message: 'EIO: i/o error, fdatasync' };
    await assert.rejects(log.sync(), refused);
    // Nobody knows what the disk has kept, even if a later sync would succeed.
    await assert.rejects(log.pending ?? Promise.resolve(), refused);
    await assert.rejects(log.sync(), refused);
  });

  it('reports a disk that does not respond', async (test) => {
    const file = join(folder(test), 'log');
    writeFileSync(file, 'text');
    const log = new LogSync(file, { slowMs: -1, stuckMs: 20, script: thread('') });
    test.after(() => log.stop());
    await log.sync();
    log.requireResponsive();
    void log.sync();
    await setTimeout(30);
    assert.throws(() => log.requireResponsive(), { code: 'storage_unavailable' });
  });

  it('keeps the process running only while one is pending', async (test) => {
    const path = folder(test);
    writeFileSync(join(path, 'log'), 'text');
    const script = `
      import { LogSync } from ${JSON.stringify(new URL('../../src/db/sqlite/logSync.ts', import.meta.url).href)};
      const log = new LogSync(${JSON.stringify(join(path, 'log'))}, { slowMs: -1 });
      await log.sync();
      await log.sync(); // in the thread
      process.stdout.write('synced');`;
    const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '--eval', script]);
    assert.equal(stdout, 'synced');
  });

  it('runs on the spot when the thread ends in the middle, and in another thread later', async (test) => {
    const { log, health, inThread } = await setUp(test, thread('process.exit(1)'));
    await inThread();
    assert.equal(health.isFailing, true);
    await log.sync();
    await eventually(
      async () => health.isFailing,
      (isFailing) => !isFailing,
    );
    const both = [log.sync(), log.sync()];
    assert.notEqual(log.pending, undefined);
    await Promise.all(both);
  });
});

describe('a commit whose sync takes long', () => {
  /** A database with a sync that waits for `resolve` or `reject`. */
  function open(test: TestContext) {
    const reasons: string[] = [];
    const file = join(folder(test), 'a.db');
    const store = openSqlite(file, (reason) => reasons.push(reason));
    test.after(() => store.close());
    const commit: Commit = (work) => inTransaction(store, undefined, (tx) => work(tx as never));
    const run = (text: string) => commit((tx) => tx.connection.query(text, []));
    const sync = Promise.withResolvers<void>();
    const hold = () => {
      let pending: Promise<void> | undefined = sync.promise;
      const end = () => (pending = undefined);
      sync.promise.then(end, end);
      test.mock.method(LogSync.prototype, 'sync', () => sync.promise);
      test.mock.getter(LogSync.prototype, 'pending', () => pending);
    };
    return { store, run, reasons, sync, hold };
  }

  const settled = async (promise: Promise<unknown>) =>
    Promise.race([promise.then(() => 'resolved'), setTimeout(30, 'waiting')]);

  it('delays the commit, and reads that see it, until the sync ends', async (test) => {
    const { store, run, sync, hold } = open(test);
    await run('create table things (n integer)');
    hold();
    const committed = run('insert into things values (1)');
    await setTimeout(10);
    const read = store.reader.connection.query<{ n: number }>('select n from things', []);
    const long = store.longReader.connection.query<{ n: number }>('select n from things', []);
    for (const waiting of [committed, read, long]) assert.equal(await settled(waiting), 'waiting');
    sync.resolve();
    await committed;
    for (const done of [read, long])
      assert.deepEqual(
        (await done).rows.map(({ n }) => n),
        [1],
      );
  });

  it('is not acknowledged when the disk refuses it, and nothing is written afterwards', async (test) => {
    const { store, run, reasons, sync, hold } = open(test);
    await run('create table things (n integer)');
    hold();
    const committed = run('insert into things values (1)');
    await setTimeout(10);
    const read = store.reader.connection.query('select n from things', []);
    sync.reject(Object.assign(new Error('EIO: i/o error, fdatasync'), { code: 'EIO' }));
    await assert.rejects(committed, { code: 'storage_unavailable' });
    await assert.rejects(read, { code: 'storage_unavailable' });
    assert.match(reasons.join(), /The disk refused to store a transaction \(EIO/);
    await assert.rejects(run('insert into things values (2)'), { code: 'storage_unavailable' });
    test.mock.reset();
  });

  it('is in the database itself after an unclean end, even if the disk has lost some of its log', async (test) => {
    const path = folder(test);
    const crashed = folder(test);
    const store = openSqlite(join(path, 'a.db'));
    await inTransaction(store, undefined, (tx) => tx.connection.query('create table things (n integer)', []));
    cpSync(path, crashed, { recursive: true });
    await store.close();
    assert.ok(statSync(join(crashed, 'a.db-wal')).size > 0);
    const again = openSqlite(join(crashed, 'a.db'));
    test.after(() => again.close());
    assert.equal(statSync(join(crashed, 'a.db-wal')).size, 0);
    assert.deepEqual((await again.reader.connection.query('select n from things', [])).rows, []);
  });
});
