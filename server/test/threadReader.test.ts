import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { describe, it, type TestContext } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { ThreadReader } from '../src/db/threadReader.ts';

/** Takes some 100 ms. */
const LONG =
  'with recursive n (i) as (select 1 union all select i + 1 from n where i < 1000000) select max(i) as i from n';
const ENDLESS = 'with recursive n (i) as (select 1 union all select i + 1 from n) select max(i) as i from n';

function open(test: TestContext) {
  const folder = mkdtempSync(join(tmpdir(), 'switchboard-thread-'));
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
    const { reader } = open(test);
    await reader.query('select 1', []);
    let isAnswered = false;
    const answer = reader.query(LONG, []).finally(() => {
      isAnswered = true;
    });
    await setImmediate();
    assert.equal(isAnswered, false);
    assert.deepEqual((await answer).rows, [{ i: 1_000_000 }]);
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

  it('rejects the waiting queries when it stops, and starts again with the next one', async (test) => {
    const { reader } = open(test);
    const waiting = [reader.query(ENDLESS, []), reader.query('select 1', [])];
    const rejected = Promise.all(waiting.map((query) => assert.rejects(query, { errcode: 9 })));
    await reader.stop();
    await rejected;
    assert.deepEqual((await reader.query('select 1 as one', [])).rows, [{ one: 1 }]);
  });
});
