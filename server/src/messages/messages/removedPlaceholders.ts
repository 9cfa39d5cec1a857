import { sql } from 'kysely';
import type { Clock } from '../../clock.ts';
import type { Tx } from '../../db/commit.ts';
import { batch, query } from '../../db/query.ts';
import type { MessageRow } from '../../db/schema.ts';
import type { Cleaning } from '../../jobs/cleaning.ts';
import { isAwaited } from './changes.ts';

/*
 * Placeholders that were deleted for the session, alone or with their chat. A message that arrives for one stays
 * deleted: `insertMessages` leaves it out. A session gets at most 200 placeholders per day. The other rows are messages
 * of an unsupported type that their sender had deleted for everyone.
 */

const DAY_MS = 24 * 3_600_000;
/**
 * Number of days before a deleted placeholder is forgotten. A phone answers the request for its message when it is
 * online.
 */
const KEPT_DAYS = 90;

/** Notes the placeholders among messages that are about to be deleted for the session. */
export async function noteRemovedPlaceholders(
  tx: Tx,
  accountId: string,
  rows: readonly Pick<MessageRow, 'message_id' | 'type'>[],
  now: number,
): Promise<void> {
  const ids = rows.flatMap(({ message_id, type }) => (type === 'unsupported' ? [message_id] : []));
  if (ids.length === 0) return;
  const found = await placeholders.all(tx, { accountId, ids: JSON.stringify(ids) });
  // A placeholder that its sender has deleted for everyone has no content, like any other deleted message.
  const removed = found.filter((row) => isAwaited(row) || row.deleted_at !== null);
  await insertRemoved.run(
    tx,
    removed.map(({ session_id, network_id, from_number }) => ({
      session_id,
      network_id,
      from_number,
      account_id: accountId,
      created_at: now,
    })),
  );
}

const insertRemoved = batch(
  { session_id: 'text', network_id: 'text', from_number: 'text', account_id: 'text', created_at: 'bigint' },
  ({ row, from }) => sql`
    insert into removed_placeholders (session_id, network_id, from_number, account_id, created_at)
    select ${row.session_id}, ${row.network_id}, ${row.from_number}, ${row.account_id}, ${row.created_at} ${from}
    where true
    on conflict do nothing`,
);

const placeholders = query((db, p: { accountId: string; ids: string }, dialect) =>
  db
    .selectFrom('messages')
    .select(['session_id', 'network_id', 'from_number', 'type', 'content', 'deleted_at'])
    .where('account_id', '=', p.accountId)
    .where('message_id', 'in', dialect.texts(p.ids))
    .where('network_id', 'is not', null),
);

/** Forgets old placeholders. */
export function prunesRemovedPlaceholders(clock: Clock): Cleaning {
  return {
    name: 'deleted placeholders',
    run: (steps) => steps.repeat((tx, limit) => deleteOld.run(tx, { before: clock.now() - KEPT_DAYS * DAY_MS, limit })),
  };
}

const KEY = sql.raw('session_id, network_id, from_number');

const deleteOld = query(
  (_, p: { before: number; limit: number }) => sql`
    delete from removed_placeholders where (${KEY}) in (
      select ${KEY} from removed_placeholders where created_at < ${p.before} order by created_at limit ${p.limit})`,
);
