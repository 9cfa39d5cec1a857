import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { describe, it, type TestContext } from 'node:test';
import { type Database, openDatabase, type Statement } from '../src/database/database.ts';
import { type Job, Queue } from '../src/queue/queue.ts';
import { done, type Outcome, Worker } from '../src/queue/worker.ts';
import { State } from '../src/state.ts';

const job = (dedup: string, lane = 'lane') => ({ dedup, lane, payload: { name: dedup } });

function newFile(test: TestContext): string {
  const folder = mkdtempSync(join(tmpdir(), 'chatwoot-queue-'));
  test.after(() => rmSync(folder, { recursive: true }));
  return join(folder, 'queue.db');
}

async function open(test: TestContext, table: 'to_chatwoot' | 'to_whatsapp' = 'to_chatwoot') {
  const database = await openDatabase(newFile(test));
  test.after(() => database.close());
  const queue = new Queue(database, table, 1000, () => {});
  return { database, queue };
}

/** Runs all jobs that are due, one at a time. @returns their names */
async function runAll(queue: Queue): Promise<unknown[]> {
  const names: unknown[] = [];
  for (;;) {
    const [next] = await queue.due(new Set(), 1);
    if (next === undefined) return names;
    names.push((next.payload as { name: string }).name);
    await queue.finish(next, 'done', []);
  }
}

describe('the queue', () => {
  it('reports to a job which of its additions to another queue were new', async (test) => {
    const { database, queue } = await open(test);
    const second = new Queue(database, 'to_whatsapp', 10, () => {});
    const changes = Promise.withResolvers<readonly number[]>();
    const worker = new Worker({
      queue,
      log: () => {},
      handle: async () => done([second.insertion(job('known')), second.insertion(job('new'))], changes.resolve),
    });
    test.after(() => worker.stop());
    await second.add(job('known'));
    await queue.add(job('job'));
    worker.start();
    assert.deepEqual(await changes.promise, [0, 1]);
    assert.equal(queue.waiting, 0);
  });

  it('keeps the order of each lane, including after a job has moved to another one', async (test) => {
    const { queue } = await open(test);
    for (const name of ['a1', 'a2', 'b1', 'a3']) await queue.add(job(name, name.slice(0, 1)));
    const firsts = await queue.due(new Set(), 10);
    assert.deepEqual(
      firsts.map(({ payload }) => payload),
      [{ name: 'a1' }, { name: 'b1' }],
    );
    assert.deepEqual(await queue.due(new Set(['a', 'b']), 10), []);
    const [first] = firsts;
    assert.ok(first);
    await queue.postpone(first, { dueAt: 0, error: '', lane: 'b' });
    // The lane `b` has a job already, so the moved one, which is older, follows it.
    const order = await runAll(queue);
    assert.deepEqual(order.toSorted(), ['a1', 'a2', 'a3', 'b1']);
    assert.ok(order.indexOf('a2') < order.indexOf('a3') && order.indexOf('b1') < order.indexOf('a1'), String(order));
  });

  it('reads as few rows with 1,000 waiting jobs as with one', async (test) => {
    const { database, queue } = await open(test);
    const statements: Statement[] = [];
    const recorded: Database = {
      ...database,
      all: (...statement) => {
        statements.push(statement);
        return database.all(...statement);
      },
      batch: (batch) => {
        statements.push(...batch);
        return database.batch(batch);
      },
    };
    for (let index = 0; index < 1000; index++) await queue.add(job(`job ${index}`, `lane ${index % 10}`));
    const watched = new Queue(recorded, 'to_chatwoot', 1000, () => {});
    const [next] = await watched.due(new Set(['lane 0']), 1);
    assert.ok(next);
    await watched.nextDueAt(new Set(['lane 0']));
    await watched.begin(next.seq);
    await watched.workOn(next.seq, 'chat');
    await watched.isWorkingOn('chat');
    await watched.postpone(next, { dueAt: 0, error: '', lane: 'other' });
    await watched.finish({ ...next, lane: 'other' }, 'done', []);
    await watched.add(job('one more', 'lane 1'));
    const state = new State(recorded);
    await state.isEcho('reported:1');
    await database.batch([['INSERT INTO echoes VALUES (?, 0)', 'reported:1']]);
    await state.triesOf(1);
    assert.ok(statements.length > 10);
    for (const [sql, ...values] of statements) {
      const plan = await database.all(`EXPLAIN QUERY PLAN ${sql}`, ...values);
      const steps = plan.map(({ detail }) => String(detail));
      // An index of `is_first` has one job of each lane; it is read in its order up to the limit.
      const costly = steps.filter((step) => /SCAN (?!CONSTANT)|TEMP B-TREE/.test(step) && !step.includes('_first'));
      assert.deepEqual(costly, [], sql);
    }
  });

  it('knows the chats that an attempt may have written to', async (test) => {
    const { queue } = await open(test, 'to_whatsapp');
    await queue.add(job('one', 'conversation 1'));
    const [first] = await queue.due(new Set(), 1);
    assert.ok(first);
    await queue.workOn(first.seq, 'ses_1:491');
    assert.equal(await queue.isWorkingOn('ses_1:491'), true);
    assert.equal(await queue.isWorkingOn('ses_1:492'), false);
    await queue.postpone(first, { dueAt: 0, error: 'no response' });
    assert.equal(await queue.isWorkingOn('ses_1:491'), true);
    assert.equal((await queue.due(new Set(), 1))[0]?.isUnclear, true);
    await queue.postpone(first, { dueAt: 0, error: 'refused', isWithoutEffect: true });
    assert.equal(await queue.isWorkingOn('ses_1:491'), false);
    await queue.workOn(first.seq, 'ses_1:491');
    await queue.finish(first, 'done', []);
    assert.equal(await queue.isWorkingOn('ses_1:491'), false);
  });

  it('counts rejections alone, and reports outages until they end', async (test) => {
    const { queue } = await open(test);
    const seen: Pick<Job, 'attempt' | 'rejections'>[] = [];
    const lines: string[] = [];
    const ended = Promise.withResolvers<readonly number[]>();
    const outcomes: Outcome[] = [
      { kind: 'retry', cause: 'outage', reason: 'secret text', outage: 'Chatwoot responded with 503' },
      { kind: 'retry', cause: 'rejection', reason: 'invalid' },
      { kind: 'retry', cause: 'order', reason: 'undecided' },
      done([], ended.resolve),
    ];
    const delays: unknown[] = [];
    const worker = new Worker({
      queue,
      firstRetryMs: 1,
      log: (_, message) => lines.push(message),
      handle: async ({ attempt, rejections }) => {
        seen.push({ attempt, rejections });
        delays.push(worker.delays?.reason);
        return outcomes.shift() ?? done();
      },
    });
    test.after(() => worker.stop());
    await queue.add(job('one'));
    worker.start();
    await ended.promise;
    assert.deepEqual(
      seen.map(({ rejections }) => rejections),
      [0, 0, 1, 1],
    );
    assert.deepEqual(delays, [undefined, 'Chatwoot responded with 503', undefined, undefined]);
    assert.deepEqual(
      lines.filter((line) => line !== 'job postponed'),
      ['jobs are delayed', 'delayed jobs have been processed'],
    );
  });

  it('deletes many old rows in several transactions', async (test) => {
    const { database } = await open(test);
    await database.batch(
      Array.from({ length: 2500 }, (_, index) => ['INSERT INTO echoes VALUES (?, ?)', `echo ${index}`, index]),
    );
    const deleted: number[] = [];
    const counted: Database = {
      ...database,
      all: (...statement) => database.all(...statement),
      batch: async (statements) => {
        const changes = await database.batch(statements);
        deleted.push(...changes);
        return changes;
      },
    };
    await new State(counted).forget(2400, 0);
    const [left] = await database.all('SELECT count(*) AS n FROM echoes');
    assert.equal(left?.['n'], 100);
    assert.ok(Math.max(...deleted) <= 1000, String(deleted));
  });

  it('keeps all failures of a message while the newest is young', async (test) => {
    const { database } = await open(test);
    const state = new State(database);
    await database.batch([['INSERT INTO failures VALUES (7, ?, 0)', 'first'], ...state.failureStatements(7, 2)]);
    await state.expectEcho('reported:7');
    await state.forget(1000, 1000);
    assert.equal(await state.triesOf(7), 2);
  });

  it('continues with a database of the first version', async (test) => {
    const file = newFile(test);
    const old = new DatabaseSync(file);
    old.exec(`CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL);
      INSERT INTO meta VALUES ('schema', '1');
      CREATE TABLE echoes (key TEXT PRIMARY KEY, created_at BIGINT NOT NULL);
      INSERT INTO echoes VALUES ('reported:5', 9), ('failed:5:11', 9), ('failed:5:msg_1', 9), ('failed:55:1', 9);
      CREATE TABLE to_chatwoot (seq INTEGER PRIMARY KEY, dedup TEXT NOT NULL UNIQUE, lane TEXT NOT NULL,
        payload TEXT NOT NULL, state TEXT NOT NULL, attempts BIGINT NOT NULL, due_at BIGINT NOT NULL,
        created_at BIGINT NOT NULL, finished_at BIGINT, error TEXT);
      INSERT INTO to_chatwoot (dedup, lane, payload, state, attempts, due_at, created_at) VALUES
        ('1', 'a', '{"name":"1"}', 'done', 1, 0, 0), ('2', 'a', '{"name":"2"}', 'waiting', 0, 0, 0),
        ('3', 'b', '{"name":"3"}', 'waiting', 0, 0, 0), ('4', 'a', '{"name":"4"}', 'waiting', 0, 0, 0);`);
    old.close();
    for (let opened = 0; opened < 2; opened++) {
      const database = await openDatabase(file);
      assert.equal(await new State(database).triesOf(5), 2);
      await database.close();
    }
    const database = await openDatabase(file);
    test.after(() => database.close());
    const queue = new Queue(database, 'to_chatwoot', 10, () => {});
    await queue.open();
    assert.equal(queue.waiting, 3);
    assert.deepEqual(await runAll(queue), ['2', '3', '4']);
  });
});
