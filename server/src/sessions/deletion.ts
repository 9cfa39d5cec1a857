import type { Commit } from '../db/commit.ts';
import { dropWords } from '../messages/search.ts';
import type { SessionRef } from '../messages/store.ts';

const DELETED_AT_ONCE = 500;

const tablesOfSession = [
  'statuses',
  'status_views',
  'channels',
  'channel_posts',
  'followed_presences',
  'session_health',
  'session_activity',
  'started_chats',
  'groups',
  'chats',
  'chat_labels',
  'cleared_chats',
  'labels',
  'contacts',
  'session_history',
  'sessions',
] as const;

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
