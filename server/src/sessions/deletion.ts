import { sql } from 'kysely';
import type { Tx } from '../db/commit.ts';
import type { Database } from '../db/database.ts';
import { query } from '../db/query.ts';
import { removeRows } from '../messages/chatRemoval.ts';
import type { SessionRef } from '../messages/store.ts';

const DELETED_AT_ONCE = 500;
/** Few, because a message is in many indexes: other transactions wait for a batch. */
const MESSAGES_AT_ONCE = 250;
/** All messages of the session are looked at to find these. */
const MESSAGES_READ = 20_000;

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
export async function deleteSessionRows(
  { commit, longReader }: Pick<Database, 'commit' | 'longReader'>,
  { accountId, sessionId }: SessionRef,
): Promise<void> {
  for (let after = -1; ; ) {
    const rowids = (await messagesAfter.all(longReader, { sessionId, after })).map(({ seq }) => seq);
    for (let start = 0; start < rowids.length; start += MESSAGES_AT_ONCE)
      await commit((tx) => deleteMessages(tx, accountId, rowids.slice(start, start + MESSAGES_AT_ONCE)));
    const last = rowids.at(-1);
    if (last === undefined) break;
    after = last;
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

async function deleteMessages(tx: Tx, accountId: string, seqs: readonly number[]): Promise<void> {
  await removeRows(tx, accountId, await messagesAt.all(tx, { seqs: JSON.stringify(seqs) }));
}

/**
 * In the order in which they were stored: neighbors share pages, so that a batch changes few of them. By the index of
 * the session, because that of the account has the messages of its other sessions as well.
 */
const messagesAfter = query((db, p: { sessionId: string; after: number }) =>
  db
    .selectFrom('messages')
    .select('seq')
    .where('session_id', '=', p.sessionId)
    .where('seq', '>', p.after)
    .orderBy('seq')
    .limit(MESSAGES_READ),
);

const messagesAt = query((db, p: { seqs: string }, dialect) =>
  db.selectFrom('messages').select(['message_id', 'seq']).where('seq', 'in', dialect.integers(p.seqs)),
);

/** Returns how many rows it has deleted. */
async function deleteSome({ kysely }: Tx, table: string, key: string, sessionId: string): Promise<number> {
  const [name, columns] = [sql.table(table), sql.raw(key)];
  const { numAffectedRows = 0n } = await sql`
    delete from ${name} where (${columns}) in (
      select ${columns} from ${name} where session_id = ${sessionId} limit ${DELETED_AT_ONCE})`.execute(kysely);
  return Number(numAffectedRows);
}
