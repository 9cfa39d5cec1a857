import assert from 'node:assert/strict';
import { EventEmitter, once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { describe, it, type TestContext } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import type { Worker } from 'node:worker_threads';
import { ThreadReader } from '../../src/db/sqlite/threadReader.ts';
import { connectSession, startServer } from '../support/server.ts';

/** Takes a second, which a stop waits for. */
const LONG =
  'with recursive n (i) as (select 1 union all select i + 1 from n where i < 5000000) select max(i) as i from n';
const INTERRUPTED = { errcode: 9 };

/** Keeps the thread busy for minutes. A stop ends all but the query that is running. */
const occupy = (query: (text: string, parameters: []) => Promise<unknown>) =>
  Promise.allSettled(Array.from({ length: 150 }, () => query(LONG, [])));

/** A thread that answers with the text of a query, or never. */
const HANGING = `
  import { parentPort } from 'node:worker_threads';
  parentPort.on('message', ({ id, text }) => {
    while (text === 'hang');
    parentPort.postMessage({ id, rows: [text] });
  });
  parentPort.postMessage('ready');`;

/** A thread that announces each query before it runs. */
const ANNOUNCING = `
  import { DatabaseSync } from 'node:sqlite';
  import { parentPort } from 'node:worker_threads';
  const database = new DatabaseSync(':memory:');
  parentPort.on('message', ({ id, text }) => {
    parentPort.postMessage('begins');
    parentPort.postMessage({ id, rows: database.prepare(text).all() });
  });
  parentPort.postMessage('ready');`;

function open(test: TestContext) {
  const folder = mkdtempSync(join(tmpdir(), 'switchboard-reader-'));
  const file = join(folder, 'a.db');
  const database = new DatabaseSync(file);
  database.exec('pragma journal_mode = wal; create table things (id text, n integer)');
  const reader = new ThreadReader(file);
  test.after(async () => {
    await reader.stop();
    database.close();
    rmSync(folder, { recursive: true });
  });
  return { database, reader };
}

describe('the thread that reads SQLite', () => {
  it('runs a long query while the process does other things', async (test) => {
    const { database, reader } = open(test);
    await reader.query('select 1', []);
    let isAnswered = false;
    const answer = reader.query(LONG, []).finally(() => {
      isAnswered = true;
    });
    for (let n = 0; n < 10; n++) {
      assert.deepEqual({ ...database.prepare('select count(*) as count from things').get() }, { count: 0 });
      await setImmediate();
    }
    assert.equal(isAnswered, false);
    assert.deepEqual((await answer).rows, [{ i: 5_000_000 }]);
  });

  it('reads what was committed before the query, in the order of the queries', async (test) => {
    const { database, reader } = open(test);
    database.exec(`insert into things values ('a', 1)`);
    const first = reader.query('select * from things where id = ?', ['a']);
    const second = reader.query('select count(*) as count from things', []);
    assert.deepEqual((await first).rows, [{ id: 'a', n: 1 }]);
    assert.deepEqual((await second).rows, [{ count: 1 }]);
    database.exec(`insert into things values ('b', 2)`);
    assert.deepEqual((await reader.query('select count(*) as count from things', [])).rows, [{ count: 2 }]);
  });

  it('rejects a query with the error of SQLite, and writes nothing', async (test) => {
    const { reader } = open(test);
    const wrong = reader.query('select missing from things', []);
    const right = reader.query('select 1 as one', []);
    await assert.rejects(wrong, { message: 'no such column: missing', errcode: 1 });
    assert.deepEqual((await right).rows, [{ one: 1 }]);
    await assert.rejects(reader.query(`insert into things values ('c', 3)`, []), { errcode: 8 });
  });

  it('rejects the waiting queries and every later one when it stops', async (test) => {
    const { reader } = open(test);
    await reader.query('select 1', []);
    const occupied = occupy((...of) => reader.query(...of));
    const rejected = assert.rejects(reader.query('select 1', []), INTERRUPTED);
    await reader.stop();
    await rejected;
    await occupied;
    await assert.rejects(reader.query('select 1', []), INTERRUPTED);
    await reader.stop();
  });

  it('rejects the waiting queries when the thread ends, and starts it again with the next one', async (test) => {
    const folder = mkdtempSync(join(tmpdir(), 'switchboard-reader-'));
    const file = join(folder, 'folder', 'a.db');
    const reader = new ThreadReader(file);
    test.after(async () => {
      await reader.stop();
      rmSync(folder, { recursive: true });
    });
    await assert.rejects(reader.query('select 1', []), INTERRUPTED); // the thread cannot open the file
    mkdirSync(join(folder, 'folder'));
    assert.deepEqual((await reader.query('select 1 as one', [])).rows, [{ one: 1 }]);
  });

  it('continues in another thread when a query runs beyond its deadline, and does not run one that expired', async (test) => {
    test.mock.timers.enable({ apis: ['setTimeout'] });
    const reader = new ThreadReader('', { script: new URL(`data:text/javascript,${HANGING}`), timeoutMs: 1000 });
    test.after(() => reader.stop());
    await reader.query('first', []);
    const hanging = assert.rejects(reader.query('hang', []), INTERRUPTED);
    const expiring = assert.rejects(reader.query('hang', []), INTERRUPTED);
    test.mock.timers.tick(999);
    const later = [reader.query('second', []), reader.query('third', [])];
    test.mock.timers.tick(1);
    await Promise.all([hanging, expiring]);
    const answers = await Promise.all(later);
    assert.deepEqual(
      answers.map(({ rows }) => rows),
      [['second'], ['third']],
    );
  });

  it('waits for the end of an expired query when two are still running', async (test) => {
    test.mock.timers.enable({ apis: ['setTimeout'] });
    const reader = new ThreadReader('', { script: new URL(`data:text/javascript,${ANNOUNCING}`) });
    test.after(() => reader.stop());
    let ended = 0;
    const endedBefore: number[] = [];
    const threads = new EventEmitter();
    const watch = (thread: Worker) => {
      endedBefore.push(ended);
      thread.on('message', (message) => message === 'begins' && threads.emit('begins'));
      thread.on('exit', () => ended++);
    };
    process.on('worker', watch);
    test.after(() => process.off('worker', watch));
    for (let expired = 0; expired < 2; expired++) {
      const begins = once(threads, 'begins');
      const long = assert.rejects(reader.query(LONG, []), INTERRUPTED);
      await begins;
      test.mock.timers.tick(60_000);
      await long;
    }
    assert.deepEqual((await reader.query('select 1 as one', [])).rows, [{ one: 1 }]);
    assert.deepEqual([endedBefore.slice(0, 2), (endedBefore[2] ?? 0) >= 1, endedBefore.length], [[0, 0], true, 3]);
  });

  it('refuses more queries than may wait', async (test) => {
    const { reader } = open(test);
    await reader.query('select 1', []);
    const occupied = occupy((...of) => reader.query(...of));
    const waiting = Array.from({ length: 50 }, () => assert.rejects(reader.query('select 1', []), INTERRUPTED));
    await assert.rejects(reader.query('select 1', []), { code: 'too_busy', retryAfterSeconds: 2 });
    await reader.stop();
    await Promise.all([occupied, ...waiting]);
  });
});

it('sends, and reads sessions and events, while a long query runs', async (test) => {
  const server = await startServer();
  test.after(() => server.stop());
  const { call } = await server.account();
  await connectSession(call);
  const { longReader } = server.app.services.database;
  const occupied = occupy((...of) => longReader.connection.query(...of));
  const interrupted = assert.rejects(longReader.connection.query('select 1', []), { code: 'storage_unavailable' });
  assert.equal((await call('POST', '/messages/send', { to: '491705550001', message: 'hello' })).status, 201);
  for (const path of ['/sessions', '/events', '/events?wait=1', '/webhooks/circuit-breaker'])
    assert.equal((await call('GET', path)).status, 200, path);
  await server.stop();
  await interrupted;
  await occupied;
});
