import { isoTime } from '../../clock.ts';
import { isPlaceholder } from '../../connectors/contract/people.ts';
import type { Tx } from '../../db/commit.ts';
import type { MessageRow } from '../../db/schema.ts';
import {
  adColumn,
  addressPart,
  contentColumn,
  contentParts,
  ownWithinLimits,
  type StoredContent,
  type StoredMedia,
  withinLimits,
} from '../content.ts';
import { groupIdOf } from '../groupStore.ts';
import type { InboxOptions } from '../inboxOptions.ts';
import { noteContact } from '../people/contactChanges.ts';
import { withinDisappearing } from '../reportLimits.ts';
import type { Report, ReportHandlers } from '../reports.ts';
import { countUnreadable } from '../standing/sessionRisk.ts';
import { findSession, findStatus, newRow, type SessionRef, storeMessages } from '../store.ts';
import { replaceAwaited } from './awaitedMessages.ts';
import { findByNetworkId, isFileOf } from './changes.ts';
import { applyEarlyChanges, changeReports } from './earlyChanges.ts';
import { moveLocation } from './liveLocations.ts';
import { type OutgoingProgress, statusOf } from './outgoingProgress.ts';

type MessageReport = 'message' | keyof typeof changeReports;

/** @param outgoing applies the receipts that arrived before a message of the session's own number */
export const messageReports = (outgoing: OutgoingProgress): ReportHandlers<MessageReport> => ({
  message: async (options, tx, session, event, file) => {
    await storeReceived(options, tx, session, event, file);
    const stored = [{ session_id: session.sessionId, network_id: event.networkId }];
    if (event.isOwn === true) await outgoing.catchUp(tx, stored);
    await applyEarlyChanges(options, tx, stored);
  },
  ...changeReports,
});

/** Returns our id of the status that a message replies to, if the session has it. */
async function statusPart(
  tx: Tx,
  session: SessionRef,
  { content: { quoted }, replyTo }: Report<'message'>,
): Promise<{ statusId?: string }> {
  if (quoted?.isStatus !== true || quoted.from === undefined || replyTo === null) return {};
  const status = await findStatus(tx, session, replyTo, quoted.from);
  return status === undefined ? {} : { statusId: status.status_id };
}

async function findReplied(
  tx: Tx,
  session: SessionRef,
  { replyTo, content: { quoted } }: Report<'message'>,
  chatId: string,
): Promise<MessageRow | undefined> {
  const isInChat = ({ chat_id }: MessageRow) => chat_id === chatId;
  return replyTo === null ? undefined : findByNetworkId(tx, session, replyTo, isInChat, isFileOf(quoted?.from));
}

/** Stores a message that the session received, or that its own number sent from another device, with its event. */
async function storeReceived(
  options: InboxOptions,
  tx: Tx,
  session: SessionRef,
  event: Report<'message'>,
  file: StoredMedia | undefined,
): Promise<void> {
  const { media, clock, newId, emit } = options;
  const { accountId, sessionId } = session;
  const own = await findSession(tx, session);
  if (own === undefined) return;
  const ownNumber = own.phone_number ?? '';
  const isOwn = event.isOwn === true;
  const chatId = event.chat.type === 'direct' ? event.chat.id : await groupIdOf(tx, session, event.chat.id);
  if (chatId === undefined) return;
  const replied = await findReplied(tx, session, event, chatId);
  const { type, text: body, media: _, quoted, ...parts } = (isOwn ? ownWithinLimits : withinLimits)(event.content);
  const content: StoredContent = {
    ...parts,
    ...(quoted && {
      quoted: {
        ...(replied && { messageId: replied.message_id }),
        ...(await statusPart(tx, session, event)),
        ...quoted,
      },
    }),
    ...(file && { media: file }),
    ...addressPart(event),
  };
  const now = clock.now();
  const row = newRow({
    account_id: accountId,
    message_id: newId('msg'),
    session_id: sessionId,
    chat_id: chatId,
    network_id: event.networkId,
    direction: isOwn ? 'outgoing' : 'incoming',
    type,
    from_number: event.from,
    to_id: isOwn || event.chat.type === 'group' ? chatId : ownNumber,
    body,
    content: contentColumn(content),
    ad_id: adColumn(content),
    reply_to: replied?.message_id ?? null,
    expires_in: withinDisappearing(event.expiresInSeconds),
    ...(isOwn
      ? { status: 'sent', sent_at: event.timestamp, sent_elsewhere: 1 }
      : { status: 'delivered', delivered_at: now }),
    timestamp: event.timestamp,
    created_at: now,
  });
  const [isNew] = await storeMessages(tx, [row]);
  const replaced = isNew ? undefined : await replaceAwaited(tx, session, row);
  if (isNew && event.unreadable !== undefined) countUnreadable(options, tx, session, event);
  if (!isNew && replaced === undefined) return moveLocation({ emit }, tx, session, event);
  const messageId = replaced?.message_id ?? row.message_id;
  const conversation = `${sessionId}/${chatId}`;
  const shown = {
    ...contentParts(content, media),
    ...(replied !== undefined && { replyTo: replied.message_id }),
    ...(event.isReplayed === true && { replayed: true as const }),
    ...(replaced !== undefined && { wasAwaited: true as const }),
  };
  if (isOwn) {
    const status = statusOf({ ...row, message_id: messageId }, 'sent', event.timestamp);
    const data = { ...status, sentElsewhere: true as const, message: body, ...shown };
    return emit(tx, { accountId, kind: 'message.sent', data, conversation, messageId });
  }
  if (event.chat.type === 'direct' || event.senderName !== undefined || event.userId !== undefined) {
    const { senderName: name = null, userId = null, username = null } = event;
    await noteContact({ emit, clock }, tx, session, event.from, { name, userId, username });
  }
  const data = {
    messageId,
    from: event.from,
    message: body,
    timestamp: isoTime(event.timestamp),
    sessionId,
    chatId,
    to: ownNumber,
    type,
    ...shown,
    ...(event.chat.type === 'group' && { groupId: chatId }),
    ...(isPlaceholder(event.from) && { unidentified: true as const }),
    ...(event.userId !== undefined && { userId: event.userId }),
    ...(event.username !== undefined && { userName: event.username }),
  };
  emit(tx, { accountId, kind: 'message.incoming', data, conversation, messageId });
}
