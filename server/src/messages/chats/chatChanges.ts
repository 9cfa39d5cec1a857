import { type Kysely, type RawBuilder, sql } from 'kysely';
import { type Clock, isoTime } from '../../clock.ts';
import type { Commit, Tx } from '../../db/commit.ts';
import { LISTED_ROWS, Pace } from '../../db/pace.ts';
import { query } from '../../db/query.ts';
import type { ChatTable, Schema } from '../../db/schema.ts';
import { isGroupId } from '../../ids.ts';
import type { Emit } from '../../webhooks/log/emit.ts';
import { withinDisappearing } from '../reportLimits.ts';
import type { SessionRef } from '../store.ts';

interface Parts {
  readonly emit: Emit;
  readonly clock: Clock;
}

/** The new settings of a chat. A field that is left out does not change. */
export interface ChatSettings {
  readonly archived?: boolean | undefined;
  readonly pinned?: boolean | undefined;
  /** Null unmutes the chat. */
  readonly mutedUntil?: number | null | undefined;
  readonly markedUnread?: boolean | undefined;
}

/** Changes the settings of a chat. Emits nothing if they are the same or the session has no such chat. */
export async function changeChat(
  parts: Parts,
  tx: Tx,
  session: SessionRef,
  chatId: string,
  { archived, pinned, mutedUntil, markedUnread }: ChatSettings,
): Promise<void> {
  const given = {
    ...(archived !== undefined && { archived: Number(archived) }),
    ...(pinned !== undefined && { pinned: Number(pinned) }),
    ...(mutedUntil !== undefined && { muted_until: mutedUntil }),
    ...(markedUnread !== undefined && { marked_unread: Number(markedUnread) }),
  };
  const columns = Object.entries(given) as [keyof typeof given, number | null][];
  if (columns.length === 0) return;
  // Only these columns, because another node may change others at the same time.
  const after = await tx.kysely
    .updateTable('chats')
    .set(given)
    .where((eb) => eb.and(keyOf(session, chatId)))
    .where((eb) => eb.or(columns.map(([column, value]) => eb(column, 'is distinct from', value))))
    .returningAll()
    .executeTakeFirst();
  if (after !== undefined) await emitChat(parts, tx, after);
}

/**
 * Sets after how many seconds new messages of a chat disappear. Creates a direct chat, because it can begin with that.
 * The chat of a group begins with the timer of the group.
 * @param at time of the change on the network, which does nothing if a newer one is stored; left out for one made here
 */
export async function setDisappearing(
  parts: Parts,
  tx: Tx,
  session: SessionRef,
  chatId: string,
  seconds: number | null,
  at: number | null = null,
): Promise<void> {
  const disappearing_seconds = withinDisappearing(seconds);
  if (disappearing_seconds !== null && !isGroupId(chatId)) {
    const row = { ...keyOf(session, chatId), type: 'direct', unread_count: 0, archived: 0, pinned: 0 } as const;
    await tx.kysely
      .insertInto('chats')
      .values(row)
      .onConflict((conflict) => conflict.doNothing())
      .execute();
  }
  const change = tx.kysely
    .updateTable('chats')
    .set({ disappearing_seconds, disappearing_changed_at: at })
    .where((eb) => eb.and(keyOf(session, chatId)))
    .where(({ eb, lit, or }) =>
      or([lit(at === null), eb('disappearing_changed_at', 'is', null), eb('disappearing_changed_at', '<=', at)]),
    );
  const after = await change
    .where('disappearing_seconds', 'is distinct from', disappearing_seconds)
    .returningAll()
    .executeTakeFirst();
  if (after === undefined) await change.execute();
  else await emitChat(parts, tx, after);
}

/** Marks the incoming messages of a chat as read, up to the message `last`. Those that arrived later stay unread. */
export async function markRead(
  parts: Parts,
  commit: Commit,
  session: SessionRef,
  chatId: string,
  last: string,
): Promise<void> {
  const step = (tx: Tx, rows: number) => markBatch(parts, tx, session, chatId, { last, rows });
  await new Pace().repeat(commit, step, { key: session.sessionId });
}

/** Each transaction changes the count and emits it, so that nothing is missing if the process dies between two. */
async function markBatch(
  parts: Parts,
  tx: Tx,
  session: SessionRef,
  chatId: string,
  { last, rows }: { readonly last: string; readonly rows: number },
): Promise<number> {
  const before = await findChat(tx, session, chatId);
  if (before === undefined) return 0;
  const marked = await markMessages.run(tx, { ...session, chatId, last, rows, now: parts.clock.now() });
  const after = await tx.kysely
    .updateTable('chats')
    .set({ marked_unread: 0, unread_count: await remainingUnread(tx, session, chatId, marked) })
    .where((eb) => eb.and(keyOf(session, chatId)))
    .returningAll()
    .executeTakeFirstOrThrow();
  if (after.unread_count !== before.unread_count || before.marked_unread === 1) await emitChat(parts, tx, after);
  return marked;
}

const markMessages = query((db, p: SessionRef & { chatId: string; last: string; rows: number; now: number }) =>
  db
    .updateTable('messages')
    .set({ status: 'read', read_at: p.now })
    .where('account_id', '=', p.accountId)
    .where(
      'message_id',
      'in',
      unreadIn(db, p).select('u.message_id').where('u.message_id', '<=', p.last).orderBy('u.message_id').limit(p.rows),
    ),
);

/**
 * Returns how many messages of a chat are unread, after the given number of them no longer is. Counts up to
 * `LISTED_ROWS` of them, and subtracts if there are more.
 */
export async function remainingUnread(
  tx: Tx,
  session: SessionRef,
  chatId: string,
  fewer: number,
): Promise<number | RawBuilder<number>> {
  const counted = await countUnread.first(tx, { ...session, chatId, limit: LISTED_ROWS });
  const few = Number(counted?.count ?? 0);
  if (few < LISTED_ROWS) return few;
  return sql<number>`case when unread_count - ${fewer} > ${few} then unread_count - ${fewer} else ${few} end`;
}

const countUnread = query((db, p: SessionRef & { chatId: string; limit: number }) =>
  db
    .selectFrom(unreadIn(db, p).select('u.message_id').limit(p.limit).as('few'))
    .select(({ fn }) => fn.countAll<number>().as('count')),
);

/** The unread messages of a chat. */
export const unreadIn = (db: Pick<Kysely<Schema>, 'selectFrom'>, p: SessionRef & { readonly chatId: string }) =>
  db
    .selectFrom('unread_messages as u')
    .where('u.account_id', '=', p.accountId)
    .where('u.session_id', '=', p.sessionId)
    .where('u.chat_id', '=', p.chatId);

function keyOf({ accountId, sessionId }: SessionRef, chatId: string) {
  return { account_id: accountId, session_id: sessionId, chat_id: chatId };
}

export function findChat({ kysely }: Tx, session: SessionRef, chatId: string): Promise<ChatTable | undefined> {
  return kysely
    .selectFrom('chats')
    .selectAll()
    .where((eb) => eb.and(keyOf(session, chatId)))
    .executeTakeFirst();
}

/** Emits the present state of a chat, if it exists. */
export async function emitChatById(parts: Parts, tx: Tx, session: SessionRef, chatId: string): Promise<void> {
  const row = await findChat(tx, session, chatId);
  if (row !== undefined) await emitChat(parts, tx, row);
}

async function emitChat({ emit, clock }: Parts, tx: Tx, row: ChatTable): Promise<void> {
  const { account_id: accountId, session_id: sessionId, chat_id: chatId } = row;
  const labels = await tx.kysely
    .selectFrom('chat_labels')
    .select('label_id')
    .where((eb) => eb.and(keyOf({ accountId, sessionId }, chatId)))
    .orderBy('label_id')
    .execute();
  const data = {
    chatId,
    sessionId,
    ...(row.type === 'group' && { groupId: chatId }),
    archived: row.archived === 1,
    pinned: row.pinned === 1,
    mutedUntil: isoTime(row.muted_until),
    unreadCount: row.unread_count,
    markedUnread: row.marked_unread === 1,
    disappearingSeconds: row.disappearing_seconds,
    labelIds: labels.map(({ label_id }) => label_id),
    timestamp: isoTime(clock.now()),
  };
  emit(tx, { accountId, kind: 'chat.updated', data, conversation: `${sessionId}/${chatId}` });
}
