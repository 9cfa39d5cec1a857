import type { Tx } from '../db/commit.ts';
import type { Queryable } from '../db/dialect.ts';
import { query } from '../db/query.ts';
import type { MessageRow, SessionTable } from '../db/schema.ts';
import { contentOf, searchText } from './messageContent.ts';
import { indexWords } from './search.ts';

/* The rows that sending and receiving share. */

/** Which session something happened to. */
export interface SessionRef {
  readonly accountId: string;
  readonly sessionId: string;
}

/** A message before the database has numbered it. */
export type NewRow = Omit<MessageRow, 'seq'>;

type Given = Pick<
  NewRow,
  | 'account_id'
  | 'message_id'
  | 'session_id'
  | 'chat_id'
  | 'network_id'
  | 'direction'
  | 'type'
  | 'from_number'
  | 'to_id'
  | 'body'
  | 'content'
  | 'reply_to'
  | 'status'
  | 'timestamp'
  | 'created_at'
>;

/** A new message: what is not given has not happened yet. */
export function newRow(given: Given & Partial<NewRow>): NewRow {
  return {
    error: null,
    scheduled_at: null,
    sent_at: null,
    delivered_at: null,
    read_at: null,
    failed_at: null,
    edited_at: null,
    deleted_at: null,
    ...given,
  };
}

/**
 * Stores a message, with its words for the search.
 * @returns whether it is new: the same one of the account, or of the session's network, is stored once
 */
export async function storeMessage(tx: Tx, row: NewRow): Promise<boolean> {
  const inserted = await insertMessage.first(tx, row);
  if (inserted === undefined) return false;
  tx.writeLater(indexWords, {
    seq: inserted.seq,
    accountId: row.account_id,
    text: searchText(row.body, contentOf(row)),
  });
  return true;
}

/** @throws nothing: undefined when the account has no such message */
export function findMessage(on: Queryable, accountId: string, messageId: string): Promise<MessageRow | undefined> {
  return messageById.first(on, { accountId, messageId });
}

export function findSession(on: Queryable, session: SessionRef): Promise<SessionTable | undefined> {
  return sessionById.first(on, session);
}

/** The group's id on its network; undefined when the session has no such group. */
export async function networkIdOfGroup(
  on: Queryable,
  session: SessionRef,
  groupId: string,
): Promise<string | undefined> {
  return (await groupById.first(on, { ...session, groupId }))?.network_id;
}

const sessionById = query((db, p: SessionRef) =>
  db.selectFrom('sessions').selectAll().where('account_id', '=', p.accountId).where('session_id', '=', p.sessionId),
);

const messageById = query((db, p: { accountId: string; messageId: string }) =>
  db.selectFrom('messages').selectAll().where('account_id', '=', p.accountId).where('message_id', '=', p.messageId),
);

const groupById = query((db, p: SessionRef & { groupId: string }) =>
  db
    .selectFrom('groups')
    .select('network_id')
    .where('account_id', '=', p.accountId)
    .where('session_id', '=', p.sessionId)
    .where('group_id', '=', p.groupId),
);

const insertMessage = query((db, p: NewRow) =>
  db
    .insertInto('messages')
    .values({
      account_id: p.account_id,
      message_id: p.message_id,
      session_id: p.session_id,
      chat_id: p.chat_id,
      network_id: p.network_id,
      direction: p.direction,
      type: p.type,
      from_number: p.from_number,
      to_id: p.to_id,
      body: p.body,
      content: p.content,
      reply_to: p.reply_to,
      status: p.status,
      error: p.error,
      timestamp: p.timestamp,
      created_at: p.created_at,
      scheduled_at: p.scheduled_at,
      sent_at: p.sent_at,
      delivered_at: p.delivered_at,
      read_at: p.read_at,
      failed_at: p.failed_at,
      edited_at: p.edited_at,
      deleted_at: p.deleted_at,
    })
    // Its id, or its network's id in the session.
    .onConflict((conflict) => conflict.doNothing())
    .returning('seq'),
);

interface ChatTouch extends SessionRef {
  chatId: string;
  type: 'direct' | 'group';
  messageId: string;
  at: number;
  unread: number;
}

/** A chat gets a new last message, and comes into being with its first. */
export const touchChat = query((db, p: ChatTouch) =>
  db
    .insertInto('chats')
    .values({
      account_id: p.accountId,
      session_id: p.sessionId,
      chat_id: p.chatId,
      type: p.type,
      last_message_id: p.messageId,
      last_message_at: p.at,
      unread_count: p.unread,
      archived: 0,
      pinned: 0,
      muted_until: null,
    })
    .onConflict((conflict) =>
      conflict.columns(['session_id', 'chat_id']).doUpdateSet((eb) => ({
        last_message_id: eb.ref('excluded.last_message_id'),
        last_message_at: eb.ref('excluded.last_message_at'),
        unread_count: eb('chats.unread_count', '+', eb.ref('excluded.unread_count')),
      })),
    ),
);
