import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import pg from 'pg';
import { systemClock } from '../../src/clock.ts';
import type { Commit } from '../../src/db/commit.ts';
import { type Database, openDatabase } from '../../src/db/database.ts';
import { createLog } from '../../src/log.ts';
import { changeWords, dropWords, readCursor } from '../../src/messages/search.ts';
import { WordIndexer } from '../../src/messages/wordIndexer.ts';
import { findByWords } from '../../src/messages/wordSearch.ts';
import { type DatabaseName, describeOnEachDatabase, newHome } from '../support/databases/databases.ts';
import { insertTexts } from '../support/databases/messageRows.ts';
import { eventually } from '../support/eventually.ts';
import { connectSession, startServer } from '../support/server.ts';

const accountId = 'acc_one';
const MESSAGES = 60;
const upTo = (count: number) => Array.from({ length: count }, (_, n) => n + 1);

async function open(test: TestContext, name: DatabaseName) {
  const home = await newHome(name);
  const database = await openDatabase(home, systemClock);
  test.after(async () => {
    await database.close();
    await home.remove();
  });
  const add = (seqs: readonly number[], body: string, content: string | null = null) =>
    database.commit((tx) => insertTexts(tx, { accountId, seqs, body, content }));
  const find = async (...words: string[]) =>
    (await findByWords(database.longReader, { accountId, words, before: undefined, most: 100 })).seqs;
  const start = () => {
    const indexer = new WordIndexer({ database, clock: systemClock, log: createLog('silent') });
    indexer.start();
    test.after(() => indexer.stop());
    return indexer;
  };
  return { home, database, add, find, start };
}

const indexedOf = async ({ reader }: Database) =>
  (
    await reader.kysely.selectFrom('message_words').select('rowid').where('rowid', '>', 0).orderBy('rowid').execute()
  ).map(({ rowid }) => rowid);

const untilCursor = ({ reader }: Database, seq: number) =>
  eventually(
    () => readCursor(reader),
    (cursor) => cursor === seq,
  );

describeOnEachDatabase('the search index', (_, name) => {
  it('gets messages in batches, each once, even if every batch is the last before a crash', async (test) => {
    const { database, add, find, start } = await open(test, name);
    const seqs = upTo(MESSAGES);
    await add(seqs, 'hello world');
    for (let cursor = 0; cursor < MESSAGES; ) {
      const indexer = start();
      await eventually(
        () => readCursor(database.reader),
        (now) => now > cursor,
      );
      await indexer.stop();
      cursor = await readCursor(database.reader);
      assert.deepEqual(await indexedOf(database), upTo(cursor));
      assert.deepEqual(await find('hello', 'wor'), seqs.toReversed());
    }
  });

  it('is built again when the cursor is set back', async (test) => {
    const { database, add, find, start } = await open(test, name);
    await add(upTo(MESSAGES), 'hello world');
    const first = start();
    await untilCursor(database, MESSAGES);
    await first.stop();
    await database.commit(({ kysely }) => kysely.updateTable('search_cursor').set({ seq: 0 }).execute());
    start();
    await untilCursor(database, MESSAGES);
    assert.deepEqual(await indexedOf(database), upTo(MESSAGES));
    assert.deepEqual(await find('hello'), upTo(MESSAGES).toReversed());
  });

  it('leaves out a message that cannot be read, and gets the others', async (test) => {
    const { database, add, start } = await open(test, name);
    await add([1, 2], 'hello');
    await add([3], 'hello', '{');
    await add([4, 5], 'hello');
    start();
    await untilCursor(database, 5);
    assert.deepEqual(await indexedOf(database), [1, 2, 4, 5]);
  });

  it('leaves out deleted messages', async (test) => {
    const { database, add, start } = await open(test, name);
    await add([1, 2, 3], 'hello');
    await database.commit(async (tx) => {
      await tx.kysely.updateTable('messages').set({ body: '', deleted_at: 1 }).where('seq', '=', 2).execute();
      await dropWords(tx, [2]);
    });
    start();
    await untilCursor(database, 3);
    assert.deepEqual(await indexedOf(database), [1, 3]);
  });

  it('gets the messages of a server within moments', async (test) => {
    const home = await newHome(name);
    const server = await startServer({ home });
    test.after(async () => {
      await server.stop();
      await home.remove();
    });
    const { call } = await server.account();
    await connectSession(call);
    for (const message of ['hello one', 'hello two'])
      assert.equal((await call('POST', '/messages/send', { to: '491707000001', message })).status, 201);
    const { body } = await call('GET', '/messages?q=hello');
    assert.equal(body.data.length, 2);
    const { database } = server.app.services;
    await eventually(
      () => indexedOf(database),
      ({ length }) => length === 2,
    );
  });
});

describe('the search index (SQLite)', () => {
  it('gets a message that has the number of a deleted one', async (test) => {
    const { database, add, find, start } = await open(test, 'sqlite');
    await add([1, 2, 3], 'hello');
    const first = start();
    await untilCursor(database, 3);
    await first.stop();
    await database.commit(async (tx) => {
      await tx.kysely.deleteFrom('messages').where('seq', '>', 1).execute();
      await dropWords(tx, [2, 3]);
    });
    await add([2], 'goodbye');
    assert.deepEqual(await find('goodbye'), [2]);
    assert.deepEqual(await find('hello'), [1]);
    start();
    await untilCursor(database, 2);
    assert.deepEqual(await find('goodbye'), [2]);
  });
});

describe('the search index (PostgreSQL)', () => {
  /** Opens the same database as another node. */
  async function openOther(test: TestContext, databaseUrl: string): Promise<Database> {
    const home = await newHome('sqlite');
    const other = await openDatabase({ ...home, databaseUrl }, systemClock);
    test.after(async () => {
      await other.close();
      await home.remove();
    });
    return other;
  }

  it('waits for a transaction with an earlier number', async (test) => {
    const { home, database, add, find, start } = await open(test, 'postgres');
    const client = new pg.Client({ connectionString: home.databaseUrl });
    client.on('error', () => {}); // its database is dropped if the test fails
    await client.connect();
    await add([1], 'hello');
    await client.query('begin');
    await client.query(
      `insert into messages (seq, account_id, message_id, session_id, chat_id, network_id, direction,
        type, from_number, to_id, body, status, timestamp, created_at) overriding system value
      values (2, $1, 'msg_2', 'ses_1', 'chat', 'msg_2', 'incoming', 'text', '1', '2', 'hello', 'sent', 1, 1)`,
      [accountId],
    );
    await add([3], 'hello');
    const reads = test.mock.method(database.reader.connection, 'query');
    start();
    // Several looks at the open transactions.
    await eventually(
      async () => reads.mock.calls.filter(({ arguments: [text] }) => String(text).includes('pg_locks')).length,
      (count) => count > 4,
    );
    assert.equal(await readCursor(database.reader), 0);
    assert.deepEqual(await find('hello'), [3, 1]);
    await client.query('commit');
    await client.end();
    assert.deepEqual(await find('hello'), [3, 2, 1]);
    await untilCursor(database, 3);
    assert.deepEqual(await indexedOf(database), [1, 2, 3]);
  });

  it('waits for a change of a message that begins just before the batch', async (test) => {
    const { home, database, add, find } = await open(test, 'postgres');
    await add([1], 'hello');
    const other = await openOther(test, home.databaseUrl);
    const [changed, finished] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    let change: Promise<void> | undefined;
    let batches = 0;
    const commit: Commit = async (work, key) => {
      batches++;
      change ??= other.commit(async (tx) => {
        await tx.kysely.updateTable('messages').set({ body: 'goodbye' }).where('seq', '=', 1).execute();
        await changeWords(tx, { seq: 1, account_id: accountId, body: 'goodbye', content: null });
        changed.resolve();
        await finished.promise;
      });
      await changed.promise;
      return database.commit(work, key);
    };
    const indexer = new WordIndexer({
      database: { ...database, commit },
      clock: systemClock,
      log: createLog('silent'),
    });
    indexer.start();
    test.after(() => indexer.stop());
    await eventually(
      async () => batches,
      (count) => count > 0,
    );
    assert.equal(await readCursor(database.reader), 0);
    finished.resolve();
    await change;
    await untilCursor(database, 1);
    assert.deepEqual([await find('hello'), await find('goodbye')], [[], [1]]);
  });

  it('gets each message once from several nodes', async (test) => {
    const { home, database, add } = await open(test, 'postgres');
    const other = await openOther(test, home.databaseUrl);
    const indexers = [database, other].map(
      (each) => new WordIndexer({ database: each, clock: systemClock, log: createLog('silent') }),
    );
    for (const indexer of indexers) indexer.start();
    test.after(() => Promise.all(indexers.map((indexer) => indexer.stop())));
    for (let n = 0; n < 10; n++)
      await add(
        upTo(100).map((seq) => n * 100 + seq),
        'hello',
      );
    await untilCursor(database, 1000);
    assert.deepEqual(await indexedOf(database), upTo(1000));
  });
});
