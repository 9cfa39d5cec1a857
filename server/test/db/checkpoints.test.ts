import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { describe, it, type TestContext } from 'node:test';
import { Checkpoints } from '../../src/db/sqlite/checkpoints.ts';
import { openSqlite } from '../../src/db/sqlite/sqlite.ts';

const PAGE = 2048;
const LIMITS = { due: 100, most: 400, few: 10 };

function newFile(test: TestContext): string {
  const folder = mkdtempSync(join(tmpdir(), 'checkpoints-'));
  test.after(() => rmSync(folder, { recursive: true, force: true }));
  return join(folder, 'test.db');
}

function openLogged(test: TestContext) {
  const file = newFile(test);
  const open = () => {
    const database = new DatabaseSync(file);
    database.exec('pragma journal_mode = wal; pragma wal_autocheckpoint = 0');
    test.after(() => database.close());
    return database;
  };
  const writing = open();
  writing.exec('create table texts (text)');
  const insert = writing.prepare('insert into texts values (?)');
  const logPages = () => Number(writing.prepare('pragma wal_checkpoint(noop)').get()?.['log']);
  /** @returns the largest number of pages that the log had meanwhile */
  const write = async (checkpoints: Checkpoints, commits: number) => {
    let most = 0;
    for (let n = 0; n < commits; n++) {
      insert.run('x'.repeat(PAGE));
      checkpoints.committed();
      most = Math.max(most, logPages());
      await Promise.resolve();
    }
    return most;
  };
  const other = open();
  const inThread = async () => other.prepare('pragma wal_checkpoint(passive)').get();
  return { open, writing, write, inThread };
}

describe('checkpoints', () => {
  it('write the log back in the thread when it is due, and let it restart', async (test) => {
    const { writing, write, inThread } = openLogged(test);
    let rounds = 0;
    const checkpoints = new Checkpoints(
      writing,
      () => {
        rounds += 1;
        return inThread();
      },
      LIMITS,
    );
    const most = await write(checkpoints, 500);
    assert.ok(rounds >= 5, `${rounds} rounds in the thread`);
    assert.ok(most < LIMITS.due + 20, `${most} pages`);
  });

  it('write the log back on the spot when the thread does not', async (test) => {
    const { writing, write } = openLogged(test);
    const checkpoints = new Checkpoints(writing, () => new Promise(() => {}), LIMITS);
    const most = await write(checkpoints, 1000);
    assert.ok(most >= LIMITS.most && most < LIMITS.most + 20, `${most} pages`);
  });

  it('ask the thread again after it has failed', async (test) => {
    const { writing, write, inThread } = openLogged(test);
    let asked = 0;
    const checkpoints = new Checkpoints(
      writing,
      async () => {
        asked += 1;
        if (asked === 1) throw new Error('too busy');
        return inThread();
      },
      LIMITS,
    );
    const most = await write(checkpoints, 200);
    assert.ok(most < LIMITS.due + 30, `${most} pages`);
  });

  it('try again after each commit while a reader is in the way, but not without end', async (test) => {
    const { open, writing, write, inThread } = openLogged(test);
    let here = 0;
    const prepare = DatabaseSync.prototype.prepare;
    const counting = test.mock.method(writing, 'prepare', (text: string) => {
      const statement = prepare.call(writing, text);
      if (!text.includes('passive')) return statement;
      const get = statement.get.bind(statement);
      return Object.assign(statement, {
        get: () => {
          here += 1;
          return get();
        },
      });
    });
    const checkpoints = new Checkpoints(writing, inThread, LIMITS);
    counting.mock.restore();
    const reader = open();
    await write(checkpoints, 10);
    reader.exec('begin; select count(*) from texts');
    await write(checkpoints, 150);
    assert.ok(here > 1 && here <= 20, `${here} on the spot`);
    reader.exec('commit');
    await write(checkpoints, 300);
    assert.ok((await write(checkpoints, 100)) < LIMITS.due + 20);
  });

  it('let transactions wait while the thread writes a full log back', async () => {
    const state = { log: LIMITS.most, checkpointed: 0 };
    const results: Readonly<Record<string, () => object>> = {
      'pragma wal_checkpoint(noop)': () => state,
      'pragma wal_checkpoint(passive)': () => ({ busy: 1 }),
    };
    const writing = { prepare: (text: string) => ({ get: results[text] }) };
    const { promise, resolve } = Promise.withResolvers<void>();
    const checkpoints = new Checkpoints(writing as unknown as DatabaseSync, () => promise, LIMITS);
    state.log = LIMITS.due;
    checkpoints.committed();
    assert.equal(checkpoints.room(), undefined, 'due, but not full');
    state.log = LIMITS.most;
    checkpoints.committed();
    let hasRoom = false;
    const room = checkpoints.room()?.then(() => {
      hasRoom = true;
    });
    await new Promise(setImmediate);
    assert.equal(hasRoom, false);
    state.checkpointed = LIMITS.most;
    resolve();
    await room;
    assert.equal(hasRoom, true);
  });

  it('keep the log of a store bounded', { timeout: 60_000 }, async (test) => {
    const file = newFile(test);
    const store = openSqlite(file);
    test.after(() => store.close());
    const create = await store.begin();
    await create.connection.query('create table texts (text text)', []);
    await create.commit();
    for (let n = 0; n < 200; n++) {
      const tx = await store.begin();
      await tx.connection.query('insert into texts values (?)', ['x'.repeat(100 * PAGE)]);
      await tx.commit();
    }
    const bytes = statSync(`${file}-wal`).size;
    assert.ok(bytes > 4 * 2 ** 20 && bytes <= 66 * 2 ** 20, `${bytes} bytes`);
  });
});
