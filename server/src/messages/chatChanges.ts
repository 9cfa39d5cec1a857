import { sql } from 'kysely';
import { type Clock, isoTime } from '../clock.ts';
import type { NetworkEvent } from '../connectors/connector.ts';
import type { Tx } from '../db/commit.ts';
import type { ChatTable } from '../db/schema.ts';
import { isGroupId } from '../ids.ts';
import type { Emit } from '../webhooks/emit.ts';
import { findByNetworkId } from './changes.ts';
import { groupIdOf } from './groupStore.ts';
import type { SessionRef } from './store.ts';

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

/** Longer timers than a phone offers come from modified apps. */
const MAX_DISAPPEARING_SECONDS = 366 * 86_400;

/**
 * Sets after how many seconds new messages of a chat disappear. Creates a direct chat, because it can begin with that.
 * The chat of a group begins with the timer of the group.
 */
export async function setDisappearing(
  parts: Parts,
  tx: Tx,
  session: SessionRef,
  chatId: string,
  seconds: number | null,
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
  const after = await tx.kysely
    .updateTable('chats')
    .set({ disappearing_seconds })
    .where((eb) => eb.and(keyOf(session, chatId)))
    .where('disappearing_seconds', 'is distinct from', disappearing_seconds)
    .returningAll()
    .executeTakeFirst();
  if (after !== undefined) await emitChat(parts, tx, after);
}

/** Returns a timer that a network reports, within its limits; null if it is off. */
export function withinDisappearing(seconds: number | null | undefined): number | null {
  if (!Number.isSafeInteger(seconds) || !seconds || seconds < 0) return null;
  return Math.min(seconds, MAX_DISAPPEARING_SECONDS);
}

/** Takes over what another device of the account did with a chat. */
export async function chatUpdated(
  parts: Parts,
  tx: Tx,
  session: SessionRef,
  { chat, isRead, readUpTo, ...settings }: Extract<NetworkEvent, { type: 'chat_updated' }>,
): Promise<void> {
  const chatId = chat.type === 'group' ? await groupIdOf(tx, session, chat.id) : chat.id;
  if (chatId === undefined) return;
  await changeChat(parts, tx, session, chatId, settings);
  if (isRead !== true) return;
  const last =
    readUpTo === undefined
      ? (await findChat(tx, session, chatId))?.last_message_id
      : (await findByNetworkId(tx, session, readUpTo, ({ chat_id }) => chat_id === chatId))?.message_id;
  if (last) await markRead(parts, tx, session, chatId, last);
}

/** Marks the incoming messages of a chat as read, up to the message `last`. Those that arrived later stay unread. */
export async function markRead(parts: Parts, tx: Tx, session: SessionRef, chatId: string, last: string): Promise<void> {
  const ofChat = keyOf(session, chatId);
  const before = await findChat(tx, session, chatId);
  if (before === undefined) return;
  await tx.kysely
    .updateTable('messages')
    .set({ status: 'read', read_at: parts.clock.now() })
    .where((eb) => eb.and(ofChat))
    .where(isUnread)
    .where('message_id', '<=', last)
    .execute();
  const after = await tx.kysely
    .updateTable('chats')
    .set((eb) => ({
      marked_unread: 0,
      unread_count: eb
        .selectFrom('messages')
        .select(({ fn }) => fn.countAll<number>().as('count'))
        .where((unread) => unread.and(ofChat))
        .where(isUnread),
    }))
    .where((eb) => eb.and(ofChat))
    .returningAll()
    .executeTakeFirst();
  if (after === undefined) return;
  if (after.unread_count !== before.unread_count || before.marked_unread === 1) await emitChat(parts, tx, after);
}

// Exactly the condition of the index `messages_unread`: SQLite uses the index only if it is the same.
export const isUnread = sql<boolean>`direction = 'incoming' and status = 'delivered'`;

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
