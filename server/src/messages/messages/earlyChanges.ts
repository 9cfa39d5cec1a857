import { sql } from 'kysely';
import type { Clock } from '../../clock.ts';
import type { NetworkChat } from '../../connectors/contract/messageKey.ts';
import type { Tx } from '../../db/commit.ts';
import type { Queryable } from '../../db/dialect.ts';
import { batch, query } from '../../db/query.ts';
import type { EarlyChangeTable } from '../../db/schema.ts';
import type { Cleaning } from '../../jobs/cleaning.ts';
import { namesOf } from '../../objects.ts';
import type { StoredMedia } from '../content.ts';
import type { InboxOptions } from '../inboxOptions.ts';
import type { Report, ReportHandlers } from '../reports.ts';
import type { SessionRef } from '../store.ts';
import { findParent, storeBetterMedia, storeLivePhoto } from './addedMedia.ts';
import {
  storeEventAnswer,
  storeNetworkDeletion,
  storeNetworkEdit,
  storeNetworkReaction,
  storeVote,
} from './changes.ts';
import { storeNetworkPin } from './marks.ts';

/*
 * Changes that arrive before their message, such as the deletion of a message that WhatsApp could not decrypt at first
 * and sends again minutes later. They wait in the database, and take effect in the transaction that stores the message:
 * its events are the same as if it had come first. Whether the person may change the message is decided then. Changes
 * of messages that never arrive, such as a reaction to a message from before the session was linked, are deleted.
 */

/** Stores a change, as `StoreChange` does. A report with a file has it as `file`. */
type Store<T extends ChangeType> = (
  options: InboxOptions,
  tx: Tx,
  session: SessionRef,
  change: Change<T>,
) => Promise<boolean>;

/** Sorted by precedence: an edit takes effect first, and a deletion ends all others. */
const changes = {
  edited: storeNetworkEdit,
  reaction: storeNetworkReaction,
  vote: storeVote,
  event_answer: storeEventAnswer,
  message_pinned: storeNetworkPin,
  better_media: storeBetterMedia,
  live_photo: storeLivePhoto,
  deleted: storeNetworkDeletion,
} as const satisfies { readonly [T in ChangeType]: Store<T> };

type ChangeType = EarlyChangeTable['kind'];
type Change<T extends ChangeType = ChangeType> = Report<T> & { readonly file?: StoredMedia };

// The keys of the table are exactly the types, which the type of Object.keys loses.
const types: readonly ChangeType[] = namesOf(changes);

/** A phone that is offline answers the request for a message when it is online again. */
const KEPT_MS = 7 * 24 * 3_600_000;
const MAX_PER_SESSION = 1000;
/** Otherwise one stranger could displace the changes of everyone else. */
const MAX_PER_PERSON = 50;
const ID_CHARACTERS = 300;

/** The handlers of changes: each changes its message, or waits for it. */
export const changeReports: ReportHandlers<ChangeType> = {
  edited: applyOrKeep,
  reaction: applyOrKeep,
  vote: applyOrKeep,
  event_answer: applyOrKeep,
  message_pinned: applyOrKeep,
  better_media: applyOrKeep,
  live_photo: applyOrKeep,
  deleted: applyOrKeep,
};

async function applyOrKeep(
  options: InboxOptions,
  tx: Tx,
  session: SessionRef,
  report: Report<ChangeType>,
  file: StoredMedia | undefined,
): Promise<void> {
  const change = { ...report, ...(file && { file }) };
  if (await apply(options, tx, session, change)) return applyToFile(options, tx, session, change);
  // Its file was not wanted: see `isAddedFileWanted`.
  if (hasAddedFile(change) && file === undefined) return;
  const { networkId } = change;
  if (networkId !== '' && networkId.length <= ID_CHARACTERS) await keep(tx, session, change, options.clock.now());
}

const hasAddedFile = ({ type }: { readonly type: string }) => type === 'better_media' || type === 'live_photo';

/**
 * Whether to fetch a file that a message gets later. Anyone can send files for a message that does not exist, and a
 * deleted message needs none. The files of a person that wait for their message have the limit of changes.
 */
export async function isAddedFileWanted(
  on: Queryable,
  session: SessionRef,
  report: Report<'better_media' | 'live_photo'>,
): Promise<boolean> {
  const parent = await findParent(on, session, report);
  if (parent !== undefined) return parent.deleted_at === null;
  const { networkId, from, type } = report;
  const waiting = await filesOf.all(on, { sessionId: session.sessionId, from });
  return waiting.length < MAX_PER_PERSON || waiting.some((one) => one.network_id === networkId && one.kind === type);
}

function apply(options: InboxOptions, tx: Tx, session: SessionRef, change: Change): Promise<boolean> {
  const store = changes[change.type] as Store<ChangeType>; // the one of the change's own type
  return store(options, tx, session, change);
}

/** Applies the changes that wait for these messages, which the transaction has just stored. */
export async function applyEarlyChanges(
  options: InboxOptions,
  tx: Tx,
  messages: readonly { readonly session_id: string; readonly network_id: string }[],
): Promise<void> {
  const since = options.clock.now() - KEPT_MS;
  const waiting = (await changesOf.all(tx, messages)).filter(({ created_at }) => Number(created_at) >= since);
  const inOrder = waiting.toSorted(
    (one, other) =>
      types.indexOf(one.kind) - types.indexOf(other.kind) || Number(one.created_at) - Number(other.created_at),
  );
  for (const row of inOrder) {
    const session = { accountId: row.account_id, sessionId: row.session_id };
    // Another message with the same id leaves it for its own.
    const change = changeOf(row);
    if (!(await apply(options, tx, session, change))) continue;
    await removeChange.run(tx, row);
    await applyToFile(options, tx, session, change);
  }
}

/** Applies the changes that refer to a message by the id of a file, which has just been added. */
async function applyToFile(options: InboxOptions, tx: Tx, { sessionId }: SessionRef, change: Change): Promise<void> {
  if (change.type !== 'better_media' && change.type !== 'live_photo') return;
  const { fileId } = change;
  if (fileId !== undefined) await applyEarlyChanges(options, tx, [{ session_id: sessionId, network_id: fileId }]);
}

function changeOf({ kind, network_id: networkId, from_number: from, report, at }: EarlyChangeTable): Change {
  return { ...JSON.parse(report), type: kind, networkId, from, timestamp: Number(at) };
}

async function keep(tx: Tx, { accountId, sessionId }: SessionRef, change: Change, now: number): Promise<void> {
  const { type: kind, networkId, from, timestamp: at, ...given } = change;
  const { media: _, ...rest } = { media: undefined, ...given }; // `file` has been stored
  const report = { ...rest, ...('chat' in change && { chat: lastingChat(change.chat) }) };
  const row = {
    session_id: sessionId,
    network_id: networkId,
    kind,
    from_number: from,
    account_id: accountId,
    report: JSON.stringify(report),
    at,
    created_at: now,
  };
  await tx.kysely
    .insertInto('early_changes')
    .values(row)
    .onConflict(
      (conflict) =>
        conflict
          .columns(['session_id', 'network_id', 'kind', 'from_number'])
          .doUpdateSet({ report: row.report, at, created_at: now })
          .where('early_changes.at', '<=', at), // a repeated delivery can bring an older change later
    )
    .execute();
  await removeOldestOfPerson.run(tx, { sessionId, from });
  await removeOldest.run(tx, { sessionId });
}

/** The digits in a direct chat can change, and only its type counts: the chat of a group message must be the group. */
const lastingChat = (chat: NetworkChat | undefined) => (chat?.type === 'direct' ? { ...chat, id: '' } : chat);

const changesOf = batch(
  { session_id: 'text', network_id: 'text' },
  ({ row, join }) => sql<EarlyChangeTable>`
    select c.session_id, c.network_id, c.kind, c.from_number, c.account_id, c.report, c.at, c.created_at
    from early_changes c ${join}
    where c.session_id = ${row.session_id} and c.network_id = ${row.network_id}`,
);

const filesOf = query(
  (_, p: { sessionId: string; from: string }) => sql<Pick<EarlyChangeTable, 'network_id' | 'kind'>>`
    select network_id, kind from early_changes
    where session_id = ${p.sessionId} and from_number = ${p.from} and kind in ('better_media', 'live_photo')
    limit ${sql.lit(MAX_PER_PERSON)}`,
);

/** Deletes changes whose message has not come. */
export function prunesEarlyChanges(clock: Clock): Cleaning {
  return {
    name: 'changes of unknown messages',
    run: (steps) => steps.repeat((tx, limit) => deleteExpired.run(tx, { before: clock.now() - KEPT_MS, limit })),
  };
}

const KEY = sql.raw('session_id, network_id, kind, from_number');

const deleteExpired = query(
  (_, p: { before: number; limit: number }) => sql`
    delete from early_changes where (${KEY}) in (
      select ${KEY} from early_changes where created_at < ${p.before} order by created_at limit ${p.limit})`,
);

type Key = Pick<EarlyChangeTable, 'session_id' | 'network_id' | 'kind' | 'from_number'>;

const removeChange = query((db, p: Key) =>
  db
    .deleteFrom('early_changes')
    .where('session_id', '=', p.session_id)
    .where('network_id', '=', p.network_id)
    .where('kind', '=', p.kind)
    .where('from_number', '=', p.from_number),
);

const removeOldest = query(
  (_, p: { sessionId: string }) => sql`
    delete from early_changes where session_id = ${p.sessionId} and (network_id, kind, from_number) in (
      select network_id, kind, from_number from early_changes where session_id = ${p.sessionId}
      order by created_at desc limit ${sql.lit(MAX_PER_SESSION)} offset ${sql.lit(MAX_PER_SESSION)})`,
);

const removeOldestOfPerson = query(
  (_, p: { sessionId: string; from: string }) => sql`
    delete from early_changes where session_id = ${p.sessionId} and from_number = ${p.from}
      and (network_id, kind) in (
        select network_id, kind from early_changes where session_id = ${p.sessionId} and from_number = ${p.from}
        order by created_at desc limit ${sql.lit(MAX_PER_PERSON)} offset ${sql.lit(MAX_PER_PERSON)})`,
);
