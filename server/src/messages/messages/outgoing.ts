import { sql } from 'kysely';
import type { MessageKey, NetworkChat } from '../../connectors/contract/messageKey.ts';
import type { OutgoingMessage } from '../../connectors/contract/outgoing.ts';
import type { Queryable } from '../../db/dialect.ts';
import type { MessageRow } from '../../db/schema.ts';
import { AppError } from '../../errors.ts';
import { isGroupId } from '../../ids.ts';
import type { Media } from '../../media/media.ts';
import { addressPart, contentOf, toNetworkContent } from '../content.ts';
import { findMessage, type NewRow, networkIdOfGroup, type SessionRef, sessionOf } from '../store.ts';

/** Limits the unconfirmed messages that are reported to the network, which is several weeks of traffic. */
const UNDELIVERED_KEPT = 10_000;

/** @throws {AppError} `not_found` if the session has no such group */
export async function chatOf(on: Queryable, session: SessionRef, chatId: string): Promise<NetworkChat> {
  if (!isGroupId(chatId)) return { type: 'direct', id: chatId };
  const id = await networkIdOfGroup(on, session, chatId);
  if (id === undefined) throw new AppError('not_found', 'The session is not in this group');
  return { type: 'group', id };
}

/** @throws {AppError} `not_found` if its group is gone */
export async function keyOf(on: Queryable, row: MessageRow): Promise<MessageKey> {
  const { network_id: networkId, from_number: from, timestamp } = row;
  return {
    networkId,
    chat: await chatOf(on, sessionOf(row), row.chat_id),
    from,
    timestamp,
    ...addressPart(contentOf(row)),
  };
}

export async function toOutgoing(
  on: Queryable,
  media: Media,
  row: NewRow,
  chat: NetworkChat,
): Promise<OutgoingMessage> {
  const replied = row.reply_to === null ? undefined : await findMessage(on, row.account_id, row.reply_to);
  return {
    networkId: row.network_id,
    chat,
    content: toNetworkContent(row, media),
    replyTo: replied?.network_id ?? null,
    ...(row.expires_in !== null && { expiresInSeconds: row.expires_in }),
    ...(replied && {
      quoted: {
        from: replied.from_number,
        type: replied.type,
        text: replied.body,
        timestamp: replied.timestamp,
        ...addressPart(contentOf(replied)),
      },
    }),
  };
}

/** Messages that the network accepted and has not confirmed as delivered, oldest first. */
export async function readUndelivered(on: Queryable, media: Media, session: SessionRef): Promise<OutgoingMessage[]> {
  const rows = await on.kysely
    .selectFrom('messages')
    .selectAll()
    .where('account_id', '=', session.accountId)
    .where('session_id', '=', session.sessionId)
    // A literal, so that the planner can use the partial index.
    .where('status', '=', sql.lit('sent' as const))
    .orderBy('message_id')
    .limit(UNDELIVERED_KEPT)
    .execute();
  const found: OutgoingMessage[] = [];
  for (const row of rows) {
    const message = await toOutgoing(on, media, row, await chatOf(on, session, row.chat_id));
    found.push({ ...message, ...(row.sent_at !== null && { sentAt: row.sent_at }) });
  }
  return found;
}
