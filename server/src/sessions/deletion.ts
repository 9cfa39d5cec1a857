import { type RawBuilder, sql } from 'kysely';
import type { Commit, Tx } from '../db/commit.ts';
import type { Database } from '../db/database.ts';
import { LISTED_ROWS, MESSAGES, Pace } from '../db/pace.ts';
import { listed, query, unindexed } from '../db/query.ts';
import { AppError } from '../errors.ts';
import type { Deletions } from '../jobs/deletions.ts';
import { removeRows } from '../messages/chats/chatRemoval.ts';
import type { SessionRef } from '../messages/store.ts';

/** Messages that one read finds, outside the main thread. */
const MESSAGES_READ = 5000;

/** Tables that can have many rows of a session, with their keys. */
const largeTables = {
  batches: 'account_id, batch_id',
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
  session_store: 'session_id, key',
  early_receipts: 'session_id, network_id, status',
  early_changes: 'session_id, network_id, kind, from_number',
  removed_placeholders: 'session_id, network_id, from_number',
  added_files: 'session_id, network_id, message_id',
  chat_ads: 'session_id, chat_id, ad_id',
  template_states: 'session_id, template_id',
} as const;

/** Tables that can have many rows of a group, with their keys. */
const groupTables = {
  group_participants: 'account_id, group_id, phone_number',
  group_former_members: 'account_id, group_id, phone_number',
  group_join_requests: 'account_id, group_id, phone_number',
} as const;

const tablesOfSession = ['channels', 'followed_presences', 'session_health', 'labels', 'sessions'] as const;

/** Marks a session as being deleted, and records the deletion. From then on nothing connects it. */
export async function beginDeletion(tx: Tx, deletions: Deletions, session: SessionRef, now: number): Promise<void> {
  await markDeleting.run(tx, { ...session, now });
  await deletions.record(tx, deletionOf(session));
}

/** The record of a session's deletion. */
export const deletionOf = ({ accountId, sessionId }: SessionRef) => ({
  resourceId: sessionId,
  accountId,
  kind: 'session' as const,
  details: '{}',
});

/**
 * Deletes in batches that keep the database available, the session itself last. Running it again continues.
 * @param complete ends the record of the deletion, in the last transaction
 * @throws {AppError} `shutting_down` between two transactions once `isStopped`
 */
export async function deleteSessionRows(
  { commit: commitAny, longReader }: Pick<Database, 'commit' | 'longReader'>,
  { accountId, sessionId }: SessionRef,
  complete: (tx: Tx) => Promise<void> = async () => {},
  isStopped: () => boolean = () => false,
): Promise<void> {
  const commit: Commit = async (work, key) => {
    if (isStopped()) throw new AppError('shutting_down');
    return commitAny(work, key);
  };
  const ofSession = sql`session_id = ${sessionId}`;
  // A message to a large group has a thousand, so they are deleted in steps before it.
  await deleteAll(commit, 'message_receipts', 'message_id, phone_number, account_id', ofSession);
  const pace = new Pace(MESSAGES);
  for (;;) {
    const rows = await someMessages.all(longReader, { sessionId });
    await pace.inSlices(commit, rows, async (tx, slice) => {
      await removeRows(tx, accountId, slice);
      return slice.length;
    });
    if (rows.length < MESSAGES_READ) break;
  }
  for (const [table, key] of Object.entries(largeTables)) await deleteAll(commit, table, key, ofSession);
  await deleteGroups({ commit, longReader }, { accountId, sessionId });
  const ofLastSession = sql`account_id = ${accountId} and not exists (
    select 1 from sessions where account_id = ${accountId} and session_id <> ${sessionId})`;
  await deleteAll(commit, 'network_numbers', 'account_id, phone_number', ofLastSession);
  await commit(async (tx) => {
    const { kysely } = tx;
    for (const table of tablesOfSession)
      await kysely
        .deleteFrom(table)
        .where(unindexed('account_id'), '=', accountId) // SQLite would read all rows of the account
        .where('session_id', '=', sessionId)
        .execute();
    await kysely.deleteFrom('callback_keys').where('session_id', '=', sessionId).execute();
    await complete(tx);
  });
}

const markDeleting = query((db, p: SessionRef & { now: number }) =>
  db
    .updateTable('sessions')
    .set({ deleting_at: p.now, wanted: 0 })
    .where('account_id', '=', p.accountId)
    .where('session_id', '=', p.sessionId),
);

/** In the order of their time: neighbors share pages, so that a batch changes few of them. */
const someMessages = query((db, p: { sessionId: string }) =>
  db
    .selectFrom('messages')
    .select(['message_id', 'seq'])
    .where(listed('session_id'), '=', p.sessionId)
    .orderBy('message_id')
    .limit(MESSAGES_READ),
);

/** Deletes the groups of a session, each after its participants and requests. */
async function deleteGroups(
  { commit, longReader }: Pick<Database, 'commit' | 'longReader'>,
  { accountId, sessionId }: SessionRef,
): Promise<void> {
  const pace = new Pace();
  for (;;) {
    const ids = (await someGroups.all(longReader, { accountId, sessionId })).map(({ group_id }) => group_id);
    const ofGroups = sql`account_id = ${accountId} and group_id in ${longReader.dialect.texts(JSON.stringify(ids))}`;
    for (const [table, key] of Object.entries(groupTables)) await deleteAll(commit, table, key, ofGroups);
    await pace.inSlices(commit, ids, (tx, slice) => deleteById.run(tx, { accountId, ids: JSON.stringify(slice) }));
    if (ids.length < LISTED_ROWS) return;
  }
}

const someGroups = query((db, p: SessionRef) =>
  db
    .selectFrom('groups')
    .select('group_id')
    .where(unindexed('account_id'), '=', p.accountId)
    .where('session_id', '=', p.sessionId)
    .limit(sql.lit(LISTED_ROWS)),
);

const deleteById = query((db, p: { accountId: string; ids: string }, dialect) =>
  db.deleteFrom('groups').where('account_id', '=', p.accountId).where('group_id', 'in', dialect.texts(p.ids)),
);

async function deleteAll(commit: Commit, table: string, key: string, which: RawBuilder<unknown>): Promise<void> {
  const [name, columns] = [sql.table(table), sql.raw(key)];
  const deleteSome = async ({ kysely }: Tx, limit: number) => {
    const { numAffectedRows = 0n } = await sql`
      delete from ${name} where (${columns}) in (
        select ${columns} from ${name} where ${which} limit ${limit})`.execute(kysely);
    return Number(numAffectedRows);
  };
  await new Pace().repeat(commit, deleteSome);
}
