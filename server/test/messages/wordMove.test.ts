import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import { sql } from 'kysely';
import { systemClock } from '../../src/clock.ts';
import type { Database } from '../../src/db/database.ts';
import { createLog } from '../../src/log.ts';
import { accountWord, wordsOf } from '../../src/messages/search.ts';
import { WordMove } from '../../src/messages/wordMove.ts';
import { newHome } from '../support/databases/databases.ts';
import { eventually } from '../support/eventually.ts';
import { connectSession, startServer } from '../support/server.ts';

const MESSAGES = 60;
const CHAT = '491707000001';

/** Returns a server whose search index is that of the earlier release. */
async function startFormer(test: TestContext) {
  const home = await newHome('sqlite');
  const server = await startServer({ home });
  test.after(() => server.stop());
  test.after(() => home.remove());
  const { accountId, call } = await server.account();
  await connectSession(call);
  for (let n = 0; n < MESSAGES; n++)
    assert.equal((await call('POST', '/messages/send', { to: CHAT, message: `hello number${n}` })).status, 201);
  const { database } = server.app.services;
  await database.commit(async ({ kysely }) => {
    await sql`delete from bucketed_words`.execute(kysely);
    for (const { seq, body } of await kysely.selectFrom('messages').select(['seq', 'body']).execute()) {
      const words = [accountWord(accountId), ...wordsOf(body)].join(' ');
      await sql`insert into message_words (rowid, words) values (${seq}, ${words})`.execute(kysely);
    }
  });
  const search = async (q: string, limit = 7) => {
    const found: string[] = [];
    for (let cursor = ''; ; ) {
      const { body } = await call('GET', `/messages?q=${encodeURIComponent(q)}&limit=${limit}${cursor}`);
      found.push(...body.data.map(({ message }: { message: string }) => message));
      if (body.nextCursor === null) return found;
      cursor = `&cursor=${body.nextCursor}`;
    }
  };
  return { home, server, database, call, search };
}

const countOf = async ({ reader }: Database, table: 'message_words' | 'bucketed_words') =>
  (await reader.kysely.selectFrom(table).select('rowid').where('rowid', '>', 0).execute()).length;

const all = Array.from({ length: MESSAGES }, (_, n) => `hello number${n}`).toReversed();

describe('the search index of an earlier release', () => {
  it('is searched together with the new one, and follows edits and deletions', async (test) => {
    const { call, search } = await startFormer(test);
    await call('POST', '/messages/send', { to: CHAT, message: 'hello again' });
    assert.deepEqual(await search('hello'), ['hello again', ...all]);
    assert.deepEqual(await search('number12'), ['hello number12']);
    const { body } = await call('GET', '/messages?q=number12');
    const { messageId } = body.data[0];
    assert.equal((await call('PATCH', `/messages/${messageId}`, { message: 'hello changed' })).status, 200);
    assert.deepEqual(await search('number12'), []);
    assert.deepEqual(await search('changed'), ['hello changed']);
    const { body: other } = await call('GET', '/messages?q=number13');
    assert.equal((await call('DELETE', `/messages/${other.data[0].messageId}`)).status, 200);
    assert.deepEqual(await search('number13'), []);
    assert.equal((await search('hello')).length, MESSAGES);
  });

  it('moves to the new one after a start, and leaves no words behind', async (test) => {
    const { home, server, search } = await startFormer(test);
    assert.deepEqual(await search('hello'), all);
    await server.stop();
    const next = await startServer({ home });
    test.after(() => next.stop());
    const { database } = next.app.services;
    await eventually(
      () => countOf(database, 'message_words'),
      (count) => count === 0,
    );
    assert.equal(await countOf(database, 'bucketed_words'), MESSAGES);
    // Page ids exceed JavaScript's safe integers.
    const pages = () => sql`select 1 from message_words_data where id > 10`.execute(database.reader.kysely);
    await eventually(pages, ({ rows }) => rows.length === 0);
  });

  it('moves in steps, of which each leaves every message in the search', async (test) => {
    const { database, search } = await startFormer(test);
    const log = createLog('error');
    let steps = 0;
    for (let left = MESSAGES; left > 0; steps++) {
      // Stops after its first transaction, as a crash would.
      const move = new WordMove({ database, clock: systemClock, log });
      move.start();
      await move.stop();
      assert.deepEqual(await search('hello'), all);
      assert.deepEqual(await search('number7'), ['hello number7']);
      left = await countOf(database, 'message_words');
    }
    assert.ok(steps > 1, `${steps} steps`);
    assert.equal(await countOf(database, 'bucketed_words'), MESSAGES);
  });
});
