import { sql } from 'kysely';
import type { NetworkEvent, NetworkGroup, NetworkMedia } from '../connectors/connector.ts';
import type { Parcel } from '../connectors/sandbox/exchange.ts';
import type { LateTx, Tx } from '../db/commit.ts';
import type { Queryable } from '../db/dialect.ts';
import { query } from '../db/query.ts';
import type { Media } from '../media/media.ts';
import { toNetworkMedia } from '../messages/content.ts';

/*
 * The rows of the sandbox networks, by statements that only PostgreSQL runs: where the database is one process's own,
 * the networks are in its memory. Their numbers are addresses (see `addressOf`).
 *
 * A row of `sandbox_post` is one event for one number. It goes away in the transaction that stores the event at the
 * session of that number: a node that dies before has changed nothing, and one that was given up finds no row. The
 * receipt of a message is put there in the same transaction; of a message for several numbers by whoever is the last.
 */

/**
 * Names a number of the network of a scope among those of all. The network that has no scope keeps bare numbers, as
 * all numbers were kept by versions before there were scopes: nodes of such a version run beside this one.
 */
export const addressOf = (scope: string, number: string): string => (scope === '' ? number : `${scope}/${number}`);

/** An event that is kept for a number. */
export interface Kept {
  readonly post_id: number;
  readonly event: string;
  readonly direct_from: string | null;
  readonly sent_at: number | null;
}

/**
 * Keeps parcels for those of their numbers that have signed up, in this order.
 * @returns the numbers that something waits for now
 */
export async function putPost(tx: LateTx, parcels: readonly Parcel[], now: number): Promise<string[]> {
  const rows = parcels.flatMap(({ to, event, sentAt, directFrom, receiptTo }) => {
    const row = {
      event: writeEvent(event),
      direct_from: directFrom ?? null,
      sent_at: sentAt ?? null,
      message_id: event.type === 'message' ? event.networkId : null,
      receipt_to: receiptTo ?? null,
      is_counted: receiptTo !== undefined && to.length > 1 ? 1 : 0,
      created_at: now,
    };
    return to.map((number) => ({ number, ...row }));
  });
  if (rows.length === 0) return [];
  const list = JSON.stringify(rows.map((row, place) => ({ place, ...row })));
  return (await insertPost.all(tx, { list, now })).map(({ number }) => number);
}

/** A receipt that is due: `messageId` is with everybody. */
export interface DueReceipt {
  readonly to: string;
  readonly messageId: string;
}

/** Takes one from the post. @returns undefined when it is not there any more, or the receipt that is due now, if any */
export async function takePost(tx: Tx, postId: string): Promise<{ receipt?: DueReceipt } | undefined> {
  const taken = await deletePost.first(tx, { postId: Number(postId) });
  if (taken === undefined) return undefined;
  const { message_id: messageId, receipt_to: to } = taken;
  if (to === null || messageId === null) return {};
  if (taken.is_counted === 1) {
    const counted = await countDown.first(tx, { messageId });
    if (counted !== undefined && counted.missing > 0) return {};
    await dropCount.run(tx, { messageId });
  }
  return { receipt: { to, messageId } };
}

/** Signs a number up, if nobody has it. @returns whose it is */
export async function signUp(tx: Tx, number: string, sessionId: string): Promise<string> {
  const isNew = (await insertNumber.run(tx, { number, sessionId })) === 1;
  if (!isNew) return (await ownerOf.first(tx, { number }))?.session_id ?? sessionId;
  // What was sent to who had it before, and came too late for them.
  await dropPostOf.run(tx, { number });
  return sessionId;
}

/** A session gives up its number, wherever it has signed up, and what waits for it. */
export async function signOff(tx: Tx, sessionId: string): Promise<void> {
  for (const { number } of await deleteNumbers.all(tx, { sessionId })) await dropPostOf.run(tx, { number });
}

/** Which of these numbers have signed up. */
export async function readSignedUp(on: Queryable, numbers: readonly string[]): Promise<string[]> {
  if (numbers.length === 0) return [];
  return (await signedUpOf.all(on, { numbers: JSON.stringify(numbers) })).map(({ number }) => number);
}

/** For which of these sessions something waits. */
export async function readWaiting(on: Queryable, sessionIds: readonly string[]): Promise<Set<string>> {
  if (sessionIds.length === 0) return new Set();
  const rows = await waitingOf.all(on, { sessionIds: JSON.stringify(sessionIds) });
  return new Set(rows.map(({ session_id }) => session_id));
}

export const ownerOf = query((db, p: { number: string }) =>
  db.selectFrom('sandbox_numbers').select('session_id').where('number', '=', p.number),
);

/**
 * What waits for a session, oldest first: under whichever addresses it has signed up. There are two where an older
 * version has signed it up, or `SANDBOX_SHARED` was changed.
 */
export const postOf = query<{ sessionId: string; limit: number }, Kept>((db, p) =>
  db
    .selectFrom('sandbox_numbers as n')
    .innerJoinLateral(
      // Each of them in its order: a long queue is not sorted anew for every page of it.
      (eb) =>
        eb
          .selectFrom('sandbox_post as kept')
          .select(['kept.post_id', 'kept.event', 'kept.direct_from', 'kept.sent_at'])
          .whereRef('kept.number', '=', 'n.number')
          .orderBy('kept.post_id')
          .limit(p.limit)
          .as('post'),
      (join) => join.onTrue(),
    )
    .select(['post.post_id', 'post.event', 'post.direct_from', 'post.sent_at'])
    .where('n.session_id', '=', p.sessionId)
    .orderBy('post.post_id')
    .limit(p.limit),
);

/** Takes one away that nobody is to have. */
export const dropPost = query((db, p: { postId: number }) =>
  db.deleteFrom('sandbox_post').where('post_id', '=', p.postId),
);

/** Nobody has come for it. */
export const dropOldPost = query((db, p: { before: number }) =>
  db.deleteFrom('sandbox_post').where('created_at', '<', p.before),
);

export const dropOldCounts = query((db, p: { before: number }) =>
  db.deleteFrom('sandbox_receipts').where('created_at', '<', p.before),
);

const postColumns = {
  place: 'bigint',
  number: 'text',
  event: 'text',
  direct_from: 'text',
  sent_at: 'bigint',
  message_id: 'text',
  receipt_to: 'text',
  is_counted: 'bigint',
  created_at: 'bigint',
} as const;

const insertPost = query<{ list: string; now: number }, { number: string }>(
  (_, p, dialect) => sql<{ number: string }>`
    with posted as (
      insert into sandbox_post
        (number, event, direct_from, sent_at, message_id, receipt_to, is_counted, created_at)
      select number, event, direct_from, sent_at, message_id, receipt_to, is_counted, created_at
      from ${dialect.recordset(postColumns, () => p.list)} as r
      where exists (select from sandbox_numbers n where n.number = r.number)
      order by place
      on conflict (number, message_id) where message_id is not null do nothing
      returning number, message_id, is_counted
    ), counted as (
      insert into sandbox_receipts (message_id, missing, created_at)
      select message_id, count(*), ${p.now}::bigint from posted where is_counted = 1 group by message_id
      on conflict (message_id) do update set missing = sandbox_receipts.missing + excluded.missing
    )
    select distinct number from posted`,
);

const deletePost = query((db, p: { postId: number }) =>
  db.deleteFrom('sandbox_post').where('post_id', '=', p.postId).returning(['message_id', 'receipt_to', 'is_counted']),
);

const countDown = query((db, p: { messageId: string }) =>
  db
    .updateTable('sandbox_receipts')
    .set((eb) => ({ missing: eb('missing', '-', 1) }))
    .where('message_id', '=', p.messageId)
    .returning('missing'),
);

const dropCount = query((db, p: { messageId: string }) =>
  db.deleteFrom('sandbox_receipts').where('message_id', '=', p.messageId),
);

const insertNumber = query((db, p: { number: string; sessionId: string }) =>
  db
    .insertInto('sandbox_numbers')
    .values({ number: p.number, session_id: p.sessionId })
    .onConflict((conflict) => conflict.column('number').doNothing()),
);

const deleteNumbers = query((db, p: { sessionId: string }) =>
  db.deleteFrom('sandbox_numbers').where('session_id', '=', p.sessionId).returning('number'),
);

const dropPostOf = query((db, p: { number: string }) => db.deleteFrom('sandbox_post').where('number', '=', p.number));

const signedUpOf = query((db, p: { numbers: string }, dialect) =>
  db.selectFrom('sandbox_numbers').select('number').where('number', 'in', dialect.texts(p.numbers)),
);

const waitingOf = query((db, p: { sessionIds: string }, dialect) =>
  db
    .selectFrom('sandbox_numbers as n')
    .select('n.session_id')
    .distinct()
    .where('n.session_id', 'in', dialect.texts(p.sessionIds))
    .where(({ exists, selectFrom }) =>
      exists(selectFrom('sandbox_post as kept').select('kept.post_id').whereRef('kept.number', '=', 'n.number')),
    ),
);

/** An event as a row keeps it. Of media there is what they are and their hash: every node reaches their content. */
export function writeEvent(event: NetworkEvent): string {
  return JSON.stringify(event);
}

export function readEvent(text: string, media: Media): NetworkEvent {
  // Written by `writeEvent`.
  const event: NetworkEvent = JSON.parse(text);
  switch (event.type) {
    case 'message': {
      const file = event.content.media;
      return file === undefined ? event : { ...event, content: { ...event.content, media: reopened(file, media) } };
    }
    case 'group_created':
    case 'group_updated':
    case 'group_invite':
      return { ...event, group: withPicture(event.group, media) };
    default:
      return event;
  }
}

/** A group that was read from JSON, with a picture that can be opened. */
export function withPicture(group: NetworkGroup, media: Media): NetworkGroup {
  return group.picture === null ? group : { ...group, picture: reopened(group.picture, media) };
}

/** A file that was read from JSON, which has its hash: it can be opened by that. */
export function reopened({ hash = '', mimeType, size, fileName }: NetworkMedia, media: Media): NetworkMedia {
  return toNetworkMedia({ hash, mimeType, size, fileName }, media);
}
