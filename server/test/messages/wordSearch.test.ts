import assert from 'node:assert/strict';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { describe, it, type TestContext } from 'node:test';
import { sql } from 'kysely';
import { systemClock } from '../../src/clock.ts';
import { type Database, openDatabase } from '../../src/db/database.ts';
import { accountWord, changeWords, dropWords, indexNext } from '../../src/messages/search.ts';
import { findByWords } from '../../src/messages/wordSearch.ts';
import type { DatabaseName, Home } from '../support/databases/databases.ts';
import { describeOnEachDatabase, newHome } from '../support/databases/databases.ts';
import { insertTexts } from '../support/databases/messageRows.ts';

const accountId = 'acc_one';
/** Numbers of messages in several buckets, at their edges and with empty buckets in between. */
const SEQS = [1, 7, 16_383, 16_384, 16_385, 200_000, 400_000, 400_001, 999_999];

async function openOn(test: TestContext, name: DatabaseName): Promise<{ home: Home; database: Database }> {
  const home = await newHome(name);
  const database = await openDatabase(home, systemClock);
  test.after(async () => {
    await database.close();
    await home.remove();
  });
  return { home, database };
}

const add = (database: Database, seqs: readonly number[], body: string, owner = accountId) =>
  database.commit((tx) => insertTexts(tx, { accountId: owner, seqs, body }));

const index = ({ commit }: Database) => commit((tx) => indexNext(tx, Number.MAX_SAFE_INTEGER, 1000));

async function store(database: Database, seqs: readonly number[], body: string): Promise<void> {
  await add(database, seqs, body);
  await index(database);
}

const remove = (database: Database, seqs: readonly number[]) =>
  database.commit(async (tx) => {
    await tx.kysely.deleteFrom('messages').where('seq', 'in', seqs).execute();
    await dropWords(tx, seqs);
  });

/** Follows a search to its end, and returns its pages. */
async function pagesOf(
  { longReader }: Database,
  words: readonly string[],
  { most = 50, elapsed = (): number => 0, owner = accountId } = {},
) {
  const pages: (readonly number[])[] = [];
  for (let before: number | undefined; ; ) {
    const { seqs, end } = await findByWords(longReader, { accountId: owner, words, before, most }, elapsed);
    assert.ok(seqs.length <= most && (end === undefined || before === undefined || end < before));
    pages.push(seqs);
    if (end === undefined) return pages;
    before = end;
  }
}

describeOnEachDatabase('a search for words', (_, name) => {
  it('finds all messages once, newest first, in pages of any length, with any number of them indexed', async (test) => {
    const { database } = await openOn(test, name);
    await add(database, SEQS, 'hello world');
    await add(database, [2, 16_386, 500_000], 'hello');
    await add(database, [3, 16_387, 600_000], 'hello world', 'acc_two');
    for (let indexed = 0; indexed <= 15; indexed += 5) {
      for (const most of [1, 2, 3, 50])
        for (const words of [['hello', 'world'], ['hello', 'wor'], ['world']])
          assert.deepEqual((await pagesOf(database, words, { most })).flat(), SEQS.toReversed(), `${words} ${most}`);
      assert.deepEqual((await pagesOf(database, ['hello'])).flat().length, SEQS.length + 3);
      assert.deepEqual((await pagesOf(database, ['hello', 'wo'])).flat(), [], 'two letters are no prefix');
      assert.deepEqual((await pagesOf(database, ['nowhere', 'wor'])).flat(), []);
      assert.deepEqual((await pagesOf(database, ['accone'])).flat(), [], 'the account is no word of a message');
      assert.deepEqual((await pagesOf(database, ['acc'])).flat(), []);
      assert.deepEqual((await pagesOf(database, ['world'], { owner: 'acc_two' })).flat(), [600_000, 16_387, 3]);
      assert.deepEqual((await pagesOf(database, ['world'], { owner: 'acc_three' })).flat(), []);
      const added = await database.commit((tx) => indexNext(tx, Number.MAX_SAFE_INTEGER, 5));
      assert.equal(added, indexed < 15 ? 5 : 0);
    }
  });

  it('ends early among many messages that are not indexed, and continues there', async (test) => {
    const { database } = await openOn(test, name);
    const seqs = Array.from({ length: 500 }, (_, n) => n + 1);
    await add(database, seqs, 'hello');
    let now = 0;
    const pages = await pagesOf(database, ['hello'], { most: 5000, elapsed: () => (now += 0.25) });
    assert.deepEqual(pages.flat(), seqs.toReversed());
    assert.ok(pages.length === 3, 'a page ends after 50 ms');
  });

  it('passes a limited number of messages of other accounts that are not indexed', async (test) => {
    const { database } = await openOn(test, name);
    await add(database, [1], 'hello');
    const others = Array.from({ length: 1000 }, (_, n) => n);
    for (let n = 0; n < 6; n++)
      await add(
        database,
        others.map((seq) => 2 + n * 1000 + seq),
        'hello',
        'acc_two',
      );
    assert.deepEqual(await pagesOf(database, ['hello']), [[], [1]]);
  });

  for (const isIndexed of [true, false])
    it(`finds neither deleted messages nor former words, ${isIndexed ? 'after' : 'before'} indexing`, async (test) => {
      const { database } = await openOn(test, name);
      await add(database, SEQS, 'hello world');
      if (isIndexed) await index(database);
      await remove(database, [400_000, 999_999]);
      await database.commit(async (tx) => {
        for (const body of ['hello again', 'goodbye']) {
          await tx.kysely.updateTable('messages').set({ body }).where('seq', '=', 7).execute();
          await changeWords(tx, { seq: 7, account_id: accountId, body, content: null });
        }
      });
      const expected = SEQS.filter((seq) => ![7, 400_000, 999_999].includes(seq)).toReversed();
      for (let round = 0; round < 2; round++) {
        assert.deepEqual((await pagesOf(database, ['hello'])).flat(), expected);
        assert.deepEqual((await pagesOf(database, ['goodbye'])).flat(), [7]);
        await index(database);
      }
    });
});

describe('SQLite', () => {
  it('lists no more messages than a bucket has under a word of the index', async (test) => {
    const { home, database } = await openOn(test, 'sqlite');
    await store(database, SEQS, 'hello');
    const file = new DatabaseSync(join(home.dataDir, 'switchboard.db'), { readOnly: true });
    test.after(() => file.close());
    file.exec(`create virtual table temp.words using fts5vocab(main, message_words, row)`);
    const lists = file.prepare('select term, doc from temp.words where term like ? order by doc desc').all('%hello');
    const counts = Map.groupBy(SEQS, (seq) => Math.floor(seq / 16_384));
    assert.deepEqual(
      lists.map(({ doc }) => doc),
      [...counts.values()].map(({ length }) => length).toSorted((a, b) => b - a),
    );
  });

  it('ends a search that takes long at the end of a bucket, and continues there', async (test) => {
    const { database } = await openOn(test, 'sqlite');
    await store(database, SEQS, 'hello world');
    let now = 0;
    const pages = await pagesOf(database, ['hello', 'wor'], { elapsed: () => (now += 1000) });
    assert.deepEqual(pages.flat(), SEQS.toReversed());
    assert.ok(pages.length > 2, 'no page reads all buckets');
  });

  it('removes the words of deleted messages in steps', async (test) => {
    const { database } = await openOn(test, 'sqlite');
    const seqs = [1, 16_385, 32_769, 49_153];
    await store(database, seqs, 'hello world');
    await remove(database, seqs);
    const { purge } = database.reader.dialect.search;
    assert.ok(purge !== undefined);
    let steps = 0;
    while ((await database.reader.connection.query(purge.isDue, [])).rows.length > 0) {
      await database.commit(({ connection }) => connection.query(purge.step, [1]));
      steps++;
    }
    assert.ok(steps > seqs.length, `${steps} steps: one passes several buckets`);
  });

  it('looks into few buckets for a common prefix', async (test) => {
    const { database } = await openOn(test, 'sqlite');
    await store(database, SEQS, 'hello world');
    const { mock } = test.mock.method(database.longReader.connection, 'query');
    await findByWords(database.longReader, { accountId, words: ['wor'], before: undefined, most: 1 });
    const read = await Promise.all(mock.calls.map(async ({ result }) => (await result)?.rows));
    assert.deepEqual(read.at(-1), [{ bucket: 61, seqs: '[999999]' }]);
    assert.equal(read.length, 3, 'after the cursor and the messages behind it');
  });
});

describe('PostgreSQL', () => {
  it('searches for a word that is common among old messages in parts, newest first', async (test) => {
    const { database } = await openOn(test, 'postgres');
    const words = (owner: string) => database.reader.dialect.search.stored(sql`${`${accountWord(owner)} hello`}`);
    // More than are sorted, and then more of another account than are scanned first.
    await database.commit(({ kysely }) =>
      sql`insert into message_words (rowid, words)
        select n, case when n <= 150000 then ${words(accountId)} else ${words('acc_two')} end
        from generate_series(1, 175000) as n`.execute(kysely),
    );
    await database.commit(({ kysely }) => kysely.updateTable('search_cursor').set({ seq: 175_000 }).execute());
    const { longReader } = database;
    const first = await findByWords(longReader, { accountId, words: ['hello'], before: undefined, most: 3 });
    assert.deepEqual(first, { seqs: [150_000, 149_999, 149_998], end: 149_998 });
    const none = await findByWords(longReader, { accountId, words: ['nowhere'], before: undefined, most: 3 });
    assert.deepEqual(none, { seqs: [], end: undefined });
    const last = await findByWords(longReader, { accountId, words: ['hello'], before: 3, most: 3 });
    assert.deepEqual(last, { seqs: [2, 1], end: undefined });
    await database.commit(({ kysely }) =>
      sql`update message_words set words = ${words('acc_two')} where rowid > 25000`.execute(kysely),
    );
    const part = await findByWords(longReader, { accountId, words: ['hello'], before: undefined, most: 3 });
    assert.deepEqual(part, { seqs: [], end: 55_001 }, 'ends after a bounded number of messages');
    const next = await findByWords(longReader, { accountId, words: ['hello'], before: part.end, most: 3 });
    assert.deepEqual(next.seqs, [25_000, 24_999, 24_998]);
  });
});
