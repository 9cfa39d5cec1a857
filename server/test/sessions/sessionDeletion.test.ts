import assert from 'node:assert/strict';
import { it } from 'node:test';
import { sql } from 'kysely';
import type { Commit } from '../../src/db/commit.ts';
import { deleteSessionRows } from '../../src/sessions/deletion.ts';
import { describeOnEachDatabase } from '../support/databases/databases.ts';
import { connectSession, startAgain } from '../support/server.ts';

const POSTS = 1200;
const GROUPS = 1200;
const MESSAGES = 600;

describeOnEachDatabase('the deletion of a session', (newHome, database) => {
  it('deletes many rows in batches, and leaves other sessions', async (t) => {
    const server = await startAgain(t, newHome, { database })();
    const { call } = await server.account();
    const [sessionId, otherId] = [await connectSession(call), await connectSession(call)];
    const { database: stored } = server.app.services;
    const { account_id: accountId } = await stored.reader.kysely
      .selectFrom('sessions')
      .select('account_id')
      .where('session_id', '=', sessionId)
      .executeTakeFirstOrThrow();
    const postsOf = (session: string, count: number) =>
      Array.from({ length: count }, (_, n) => ({
        account_id: accountId,
        session_id: session,
        channel_id: `chn_${session}`,
        post_id: `pst_${session}_${n}`,
        network_id: String(n),
        is_own: 0,
        type: 'text' as const,
        body: 'news',
        state: 'sent' as const,
        timestamp: n,
      }));
    await stored.commit(async ({ kysely }) => {
      for (let n = 0; n < POSTS; n += 100)
        await kysely
          .insertInto('channel_posts')
          .values(postsOf(sessionId, POSTS).slice(n, n + 100))
          .execute();
      await kysely.insertInto('channel_posts').values(postsOf(otherId, 1)).execute();
    });
    const left = async (session: string) =>
      (
        await stored.reader.kysely
          .selectFrom('channel_posts')
          .select('post_id')
          .where('session_id', '=', session)
          .execute()
      ).length;
    let most = 0;
    const commit: Commit = async (work, key) => {
      const before = await left(sessionId);
      const result = await stored.commit(work, key);
      most = Math.max(most, before - (await left(sessionId)));
      return result;
    };
    const deletedFrom = { commit, longReader: stored.longReader };
    // A stop ends it between two transactions.
    const isStopped = () => most > 0;
    const stopped = deleteSessionRows(deletedFrom, { accountId, sessionId }, undefined, isStopped);
    await assert.rejects(stopped, { code: 'shutting_down' });
    assert.ok((await left(sessionId)) > 0);
    await deleteSessionRows(deletedFrom, { accountId, sessionId });
    assert.deepEqual([await left(sessionId), await left(otherId)], [0, 1]);
    assert.ok(most > 0 && most <= 500, `${most} in one transaction`);
    assert.equal((await call('GET', `/sessions/${sessionId}`)).status, 404);
    assert.equal((await call('GET', `/sessions/${otherId}`)).status, 200);
  });

  it('deletes messages in small batches, with their words, and leaves other sessions', async (t) => {
    const server = await startAgain(t, newHome, { database })();
    const { call } = await server.account();
    const [sessionId, otherId] = [await connectSession(call), await connectSession(call)];
    const history = { generate: { messages: MESSAGES, chats: 3 } };
    for (const id of [otherId, sessionId])
      await call('POST', `/sessions/${id}/simulate`, { action: 'history', history });
    const { database: stored } = server.app.services;
    const { kysely } = stored.reader;
    const { account_id: accountId } = await kysely
      .selectFrom('sessions')
      .select('account_id')
      .where('session_id', '=', sessionId)
      .executeTakeFirstOrThrow();
    const left = async (id: string) =>
      (await kysely.selectFrom('messages').select('seq').where('session_id', '=', id).execute()).map(({ seq }) => seq);
    const gone = await left(sessionId);
    let most = 0;
    const commit: Commit = async (work, key) => {
      const before = (await left(sessionId)).length;
      const result = await stored.commit(work, key);
      most = Math.max(most, before - (await left(sessionId)).length);
      return result;
    };
    await deleteSessionRows({ commit, longReader: stored.longReader }, { accountId, sessionId });
    assert.deepEqual([(await left(sessionId)).length, (await left(otherId)).length], [0, MESSAGES]);
    assert.ok(most > 0 && most <= 250, `${most} in one transaction`);
    const words = await kysely.selectFrom('message_words').select('rowid').where('rowid', 'in', gone).execute();
    assert.deepEqual(words, []);
    const { body } = await call('GET', `/messages?q=history&limit=200&sessionId=${otherId}`);
    assert.equal(body.data.length, 200);
  });

  it('deletes groups in batches, with their participants, and leaves other sessions', async (t) => {
    const server = await startAgain(t, newHome, { database })();
    const { call, accountId } = await server.account();
    const [sessionId, otherId] = [await connectSession(call), await connectSession(call)];
    const { database: stored } = server.app.services;
    await stored.commit(async ({ kysely }) => {
      for (const [session, count] of [
        [sessionId, GROUPS],
        [otherId, 1],
      ] as const) {
        const numbers = sql`with recursive s (n) as (select 1 union all select n + 1 from s where n < ${sql.lit(count)})`;
        const id = sql`${sql.lit(`grp_${session}_`)} || n`;
        await sql`${numbers} insert into groups (account_id, session_id, group_id, network_id, subject, created_by,
            announce, locked, join_approval, created_at)
          select ${sql.lit(accountId)}, ${sql.lit(session)}, ${id}, 'g' || n, 'Group', '49', 0, 0, 0, 1 from s`.execute(
          kysely,
        );
        await sql`${numbers} insert into group_participants (account_id, group_id, phone_number, role, joined_at)
          select ${sql.lit(accountId)}, ${id}, '49', 'member', 1 from s`.execute(kysely);
      }
    });
    const left = async (table: 'groups' | 'group_participants') => {
      const rows = stored.reader.kysely.selectFrom(table).select('group_id').where('account_id', '=', accountId);
      return (await rows.execute()).length;
    };
    let most = 0;
    const commit: Commit = async (work, key) => {
      const before = await left('groups');
      const result = await stored.commit(work, key);
      most = Math.max(most, before - (await left('groups')));
      return result;
    };
    await deleteSessionRows({ commit, longReader: stored.longReader }, { accountId, sessionId });
    assert.deepEqual([await left('groups'), await left('group_participants')], [1, 1]);
    assert.ok(most > 0 && most <= 500, `${most} in one transaction`);
  });
});
