import { sql } from 'kysely';
import type { Commit, Tx } from '../db/commit.ts';
import { dropWords } from '../messages/search.ts';
import type { SessionRef } from '../messages/store.ts';

const DELETED_AT_ONCE = 500;

/** Tables that can have many rows of a session, with their keys. */
const largeTables = {
  status_views: 'status_id, phone_number',
  statuses: 'status_id',
  channel_posts: 'post_id',
  started_chats: 'session_id, chat_id',
  session_activity: 'session_id, at',
  chat_labels: 'session_id, chat_id, label_id',
  cleared_chats: 'session_id, chat_id',
  chats: 'session_id, chat_id',
  contacts: 'session_id, phone_number',
  session_history: 'session_id, entry_id',
} as const;

const tablesOfSession = ['channels', 'followed_presences', 'session_health', 'groups', 'labels', 'sessions'] as const;

/** In batches that keep the database available, the session itself last. */
export async function deleteSessionRows(commit: Commit, { accountId, sessionId }: SessionRef): Promise<void> {
  for (;;) {
    const deleted = await commit(async (tx) => {
      const { kysely } = tx;
      const batch = await kysely
        .selectFrom('messages')
        .select(['message_id', 'seq'])
        .where('account_id', '=', accountId)
        .where('session_id', '=', sessionId)
        .limit(DELETED_AT_ONCE)
        .execute();
      const ids = batch.map(({ message_id }) => message_id);
      if (ids.length === 0) return 0;
      await dropWords.run(
        tx,
        batch.map(({ seq }) => ({ rowid: seq })),
      );
      for (const table of ['reactions', 'poll_votes', 'message_labels', 'messages'] as const) {
        await kysely.deleteFrom(table).where('account_id', '=', accountId).where('message_id', 'in', ids).execute();
      }
      return ids.length;
    });
    if (deleted < DELETED_AT_ONCE) break;
  }
  for (const [table, key] of Object.entries(largeTables))
    while ((await commit((tx) => deleteSome(tx, table, key, sessionId))) === DELETED_AT_ONCE);
  await commit(async ({ kysely }) => {
    const groups = kysely
      .selectFrom('groups')
      .select('group_id')
      .where('account_id', '=', accountId)
      .where('session_id', '=', sessionId);
    for (const table of ['group_participants', 'group_join_requests'] as const)
      await kysely.deleteFrom(table).where('account_id', '=', accountId).where('group_id', 'in', groups).execute();
    for (const table of tablesOfSession)
      await kysely.deleteFrom(table).where('account_id', '=', accountId).where('session_id', '=', sessionId).execute();
    for (const table of ['session_store', 'template_states', 'early_receipts', 'callback_keys'] as const)
      await kysely.deleteFrom(table).where('session_id', '=', sessionId).execute();
  });
}

/** Returns how many rows it has deleted. */
async function deleteSome({ kysely }: Tx, table: string, key: string, sessionId: string): Promise<number> {
  const [name, columns] = [sql.table(table), sql.raw(key)];
  const { numAffectedRows = 0n } = await sql`
    delete from ${name} where (${columns}) in (
      select ${columns} from ${name} where session_id = ${sessionId} limit ${DELETED_AT_ONCE})`.execute(kysely);
  return Number(numAffectedRows);
}
