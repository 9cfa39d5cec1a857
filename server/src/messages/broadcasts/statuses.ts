import { sql } from 'kysely';
import { type Clock, isoTime } from '../../clock.ts';
import type { NetworkEvent } from '../../connectors/contract/events.ts';
import { isPlaceholder } from '../../connectors/contract/people.ts';
import type { Tx } from '../../db/commit.ts';
import type { Queryable } from '../../db/dialect.ts';
import { LISTED_ROWS } from '../../db/pace.ts';
import { query, unindexed } from '../../db/query.ts';
import type { StatusTable } from '../../db/schema.ts';
import { cut } from '../../events/contentParts/limits.ts';
import type { Cleaning } from '../../jobs/cleaning.ts';
import { mediaPart, type StoredMedia } from '../content.ts';
import type { InboxOptions } from '../inboxOptions.ts';
import { placeOf } from '../people/activity.ts';
import { noteContact } from '../people/contactChanges.ts';
import { findSession, findStatus, type SessionRef } from '../store.ts';

/* Statuses (stories): what networks report about them. They are no messages, and are deleted after a day. */

type EventOf<T extends NetworkEvent['type']> = Extract<NetworkEvent, { type: T }>;

/** The parts of a status besides its text, as stored in `content`. */
export interface StoredStatus {
  readonly media?: StoredMedia;
  readonly backgroundColor?: string;
  readonly font?: number;
  readonly leftOut?: LeftOut;
}

/** People of an audience who cannot see the status. */
interface LeftOut {
  readonly count: number;
  /** The first ones. */
  readonly phoneNumbers: string[];
}

export const STATUS_MS = 24 * 60 * 60 * 1000;
/** Statuses of others that a session keeps; the oldest make room. Their number is up to other people. */
const MAX_RECEIVED = 500;
const MAX_VIEWS = 5000;
const TEXT_CHARACTERS = 4096;
const EMOJI_CHARACTERS = 32;
const COLOR = /^#[0-9A-F]{6}$/;
const MAX_FONT = 100;
/** People who are listed for a status that did not reach them. */
export const MAX_LEFT_OUT = 100;

export const statusContent = ({ content }: Pick<StatusTable, 'content'>): StoredStatus =>
  content === null ? {} : JSON.parse(content);

/** Returns the stored content of a status that did not reach these people. */
export function contentWithLeftOut(
  row: Pick<StatusTable, 'content' | 'audience'>,
  leftOut: readonly string[],
): string | null {
  const audience = new Set<string>(JSON.parse(row.audience ?? '[]'));
  const people = [...new Set(leftOut)].filter((digits) => audience.has(digits));
  const { leftOut: _, ...content } = statusContent(row);
  const after: StoredStatus = {
    ...content,
    ...(people.length > 0 && { leftOut: { count: people.length, phoneNumbers: people.slice(0, MAX_LEFT_OUT) } }),
  };
  return Object.keys(after).length === 0 ? null : JSON.stringify(after);
}

/** Whether a status is neither stored nor expired, so that its file is worth fetching. */
export async function isNewStatus(
  queryable: Queryable,
  session: SessionRef,
  { networkId, from, timestamp }: EventOf<'status'>,
  now: number,
): Promise<boolean> {
  if (timestamp + STATUS_MS <= now) return false;
  return (await findStatus(queryable, session, networkId, from)) === undefined;
}

/** Emits that a person mentioned a group of the session, or its number, in a status. */
export async function emitStatusMention(
  { emit }: Pick<InboxOptions, 'emit'>,
  tx: Tx,
  session: SessionRef,
  event: EventOf<'status_mentioned'>,
): Promise<void> {
  const place = await placeOf(tx, session, event);
  if (place === undefined) return;
  const { from, status, timestamp } = event;
  const own = await findSession(tx, session);
  const stored = status === null ? undefined : await findStatus(tx, session, status, from);
  const data = {
    ...place.data,
    fromMe: own?.phone_number === from,
    ...(stored && { statusId: stored.status_id }),
    timestamp: isoTime(timestamp),
  };
  emit(tx, { ...place.emission, kind: 'status.mentioned', data });
}

/** Stores a status that the session received, or that its own number posted from another device, with its event. */
export async function storeStatus(
  { media, clock, newId, emit }: InboxOptions,
  tx: Tx,
  session: SessionRef,
  event: EventOf<'status'>,
  file: StoredMedia | undefined,
): Promise<void> {
  const { accountId, sessionId } = session;
  const now = clock.now();
  const timestamp = Math.min(event.timestamp, now);
  const expiresAt = timestamp + STATUS_MS;
  if (expiresAt <= now || (await findSession(tx, session)) === undefined) return;
  const { type, text, backgroundColor, font } = event.content;
  const content: StoredStatus = {
    ...(file && { media: file }),
    ...(backgroundColor !== undefined && COLOR.test(backgroundColor) && { backgroundColor }),
    ...(font !== undefined && Number.isInteger(font) && font >= 0 && font <= MAX_FONT && { font }),
  };
  const isOwn = event.isOwn === true;
  const row: StatusTable = {
    account_id: accountId,
    session_id: sessionId,
    status_id: newId('sts'),
    network_id: event.networkId,
    from_number: event.from,
    is_own: Number(isOwn),
    type,
    body: cut(text, TEXT_CHARACTERS),
    content: Object.keys(content).length === 0 ? null : JSON.stringify(content),
    audience: null,
    state: 'sent',
    error: null,
    timestamp,
    expires_at: expiresAt,
    viewed_at: null,
    media_id: file?.mediaId ?? null,
  };
  const inserted = await tx.kysely
    .insertInto('statuses')
    .values(row)
    .onConflict((conflict) => conflict.doNothing())
    .returning('status_id')
    .executeTakeFirst();
  if (inserted === undefined) return;
  if (!isOwn) {
    await makeRoom(tx, session);
    if (event.senderName !== undefined)
      await noteContact({ emit, clock }, tx, session, event.from, { name: event.senderName });
  }
  const { media: stored, ...shown } = content;
  const data = {
    statusId: row.status_id,
    sessionId,
    from: event.from,
    fromMe: isOwn,
    ...(isPlaceholder(event.from) && { unidentified: true as const }),
    type,
    message: row.body,
    ...(stored !== undefined && { media: mediaPart(stored, media) }),
    ...shown,
    timestamp: isoTime(timestamp),
    expiresAt: isoTime(expiresAt),
  };
  emit(tx, { accountId, kind: 'status.received', data, conversation: sessionId });
}

async function makeRoom({ kysely }: Tx, { accountId, sessionId }: SessionRef): Promise<void> {
  const last = await kysely
    .selectFrom('statuses')
    .select('status_id')
    .where(unindexed('account_id'), '=', accountId) // SQLite would read all statuses of the account
    .where('session_id', '=', sessionId)
    .where('is_own', '=', 0)
    .orderBy('status_id', 'desc')
    .offset(MAX_RECEIVED)
    .limit(1)
    .executeTakeFirst();
  if (last === undefined) return;
  await kysely
    .deleteFrom('statuses')
    .where(unindexed('account_id'), '=', accountId)
    .where('session_id', '=', sessionId)
    .where('is_own', '=', 0)
    .where('status_id', '<=', last.status_id)
    .execute();
}

export async function deleteStatus(
  { emit }: Pick<InboxOptions, 'emit'>,
  tx: Tx,
  session: SessionRef,
  { networkId, from, timestamp }: EventOf<'status_deleted'>,
): Promise<void> {
  const row = await tx.kysely
    .deleteFrom('statuses')
    .where('account_id', '=', session.accountId)
    .where('session_id', '=', session.sessionId)
    .where('network_id', '=', networkId)
    .where('from_number', '=', from)
    .returningAll()
    .executeTakeFirst();
  if (row !== undefined) await emitDeleted({ emit }, tx, row, timestamp);
}

/** Emits that a status was deleted, and deletes what belongs to it. */
export async function emitDeleted(
  { emit }: Pick<InboxOptions, 'emit'>,
  tx: Tx,
  { account_id: accountId, session_id: sessionId, status_id: statusId, from_number: from, is_own }: StatusTable,
  timestamp: number,
): Promise<void> {
  await tx.kysely
    .deleteFrom('status_views')
    .where('account_id', '=', accountId)
    .where('status_id', '=', statusId)
    .execute();
  const data = {
    statusId,
    sessionId,
    from,
    fromMe: is_own === 1,
    ...(isPlaceholder(from) && { unidentified: true as const }),
    timestamp: isoTime(timestamp),
  };
  emit(tx, { accountId, kind: 'status.deleted', data, conversation: sessionId });
}

/** Stores that somebody has seen a status of the session, or reacted to it. */
export async function noteView(
  { emit }: Pick<InboxOptions, 'emit'>,
  tx: Tx,
  session: SessionRef,
  event: EventOf<'status_viewed' | 'status_reaction'>,
): Promise<void> {
  const { kysely } = tx;
  const { accountId, sessionId } = session;
  const { from, timestamp } = event;
  const status = await kysely
    .selectFrom('statuses')
    .select('status_id')
    .where('account_id', '=', accountId)
    .where('session_id', '=', sessionId)
    .where('network_id', '=', event.networkId)
    .where('is_own', '=', 1)
    .executeTakeFirst();
  if (status === undefined) return;
  const { status_id: statusId } = status;
  const views = kysely.selectFrom('status_views').where('account_id', '=', accountId).where('status_id', '=', statusId);
  const before = await views.selectAll().where('phone_number', '=', from).executeTakeFirst();
  const emoji =
    event.type === 'status_reaction' ? event.emoji && cut(event.emoji, EMOJI_CHARACTERS) : (before?.emoji ?? null);
  if (before !== undefined && before.emoji === emoji) return;
  if (before === undefined) {
    const { count } = await views.select(({ fn }) => fn.countAll<number>().as('count')).executeTakeFirstOrThrow();
    if (Number(count) >= MAX_VIEWS) return;
  }
  await kysely
    .insertInto('status_views')
    .values({
      account_id: accountId,
      session_id: sessionId,
      status_id: statusId,
      phone_number: from,
      viewed_at: timestamp,
      emoji,
    })
    .onConflict((conflict) => conflict.columns(['status_id', 'phone_number']).doUpdateSet({ emoji }))
    .execute();
  const data = {
    statusId,
    sessionId,
    from,
    ...(isPlaceholder(from) && { unidentified: true as const }),
    emoji,
    timestamp: isoTime(timestamp),
  };
  emit(tx, { accountId, kind: 'status.viewed', data, conversation: sessionId });
}

/** Deletes the statuses that have expired, after the rows of people who have seen them. */
export function prunesStatuses(clock: Clock): Cleaning {
  return {
    name: 'expired statuses',
    async run(steps) {
      for (let total = 0; ; ) {
        const found = await expired.all(steps.database.longReader, { now: clock.now(), limit: LISTED_ROWS });
        const ids = JSON.stringify(found.map(({ status_id }) => status_id));
        if (found.length === 0 || steps.isStopped) return total;
        await steps.repeat((tx, limit) => deleteViews.run(tx, { ids, limit }));
        total += await steps.inChunks(found, (tx, chunk) =>
          deleteStatuses.run(tx, { ids: JSON.stringify(chunk.map(({ status_id }) => status_id)) }),
        );
      }
    },
  };
}

const expired = query((db, p: { now: number; limit: number }) =>
  db.selectFrom('statuses').select('status_id').where('expires_at', '<=', p.now).limit(p.limit),
);

const deleteViews = query((db, p: { ids: string; limit: number }, dialect) =>
  db.deleteFrom('status_views').where(
    sql<boolean>`(status_id, phone_number) in (
        select status_id, phone_number from status_views where status_id in ${dialect.texts(p.ids)} limit ${p.limit})`,
  ),
);

const deleteStatuses = query((db, p: { ids: string }, dialect) =>
  db.deleteFrom('statuses').where('status_id', 'in', dialect.texts(p.ids)),
);
