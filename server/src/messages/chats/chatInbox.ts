import type { ChatEvent } from '../../connectors/contract/chatActions.ts';
import type { NetworkChat } from '../../connectors/contract/messageKey.ts';
import type { Commit, Tx } from '../../db/commit.ts';
import type { Database } from '../../db/database.ts';
import type { MessageRow } from '../../db/schema.ts';
import type { Deletions } from '../../jobs/deletions.ts';
import { groupIdOf } from '../groupStore.ts';
import type { InboxOptions } from '../inboxOptions.ts';
import { findByNetworkId, isAwaited } from '../messages/changes.ts';
import { setStarred } from '../messages/marks.ts';
import type { Report, ReportHandlers } from '../reports.ts';
import type { SessionRef } from '../store.ts';
import { changeChat, findChat, markRead, setDisappearing } from './chatChanges.ts';
import { deleteChat, removeMessage } from './chatRemoval.ts';
import { findLabelByNetworkId, putLabel, setChatLabel, setMessageLabel } from './labels.ts';

/**
 * Takes over what another device of the account did with a chat. Takes several transactions if messages were read, and
 * can be repeated.
 */
export async function storeChatUpdate(
  options: InboxOptions,
  commit: Commit,
  session: SessionRef,
  { chat, isRead, readUpTo, ...settings }: Report<'chat_updated'>,
): Promise<void> {
  const read = await commit(async (tx) => {
    const chatId = await chatIdOf(tx, session, chat);
    if (chatId === undefined) return undefined;
    await changeChat(options, tx, session, chatId, settings);
    if (isRead !== true) return undefined;
    const last =
      readUpTo === undefined
        ? (await findChat(tx, session, chatId))?.last_message_id
        : (await messageOf(tx, session, { networkId: readUpTo, chat }))?.message_id;
    return last ? { chatId, last } : undefined;
  }, session.sessionId);
  if (read !== undefined) await markRead(options, commit, session, read.chatId, read.last);
}

/** Repeats a deletion from another device of the account, as a recorded deletion that continues after a crash. */
export async function storeChatRemoval(
  deletions: Deletions,
  database: Pick<Database, 'commit'>,
  session: SessionRef,
  { chat, isWhole, upTo, keepsStarred = false }: Report<'chat_removed'>,
): Promise<void> {
  const chatId = await database.commit((tx) => chatIdOf(tx, session, chat), session.sessionId);
  if (chatId !== undefined) await deleteChat({ database, deletions }, session, chatId, { isWhole, upTo, keepsStarred });
}

/** Reports about what another device of the account, or a person in a chat, did with a chat or a message. */
export const chatReports: ReportHandlers<
  Exclude<ChatEvent['type'], 'chat_removed' | 'label_removed' | 'message_pinned'>
> = {
  label_updated: async (options, tx, session, { label }) => {
    await putLabel(options, tx, session, label);
  },
  label_assigned: storeAssignment,
  disappearing: async (options, tx, session, { chat, seconds, timestamp }) => {
    // The timer of a group is reported with the group.
    if (chat.type === 'direct') await setDisappearing(options, tx, session, chat.id, seconds, timestamp);
  },
  message_removed: async (options, tx, session, event) => {
    const row = await messageOf(tx, session, event);
    const isMessage = event.onlyAwaited !== true;
    if (row !== undefined && (isMessage || isAwaited(row))) await removeMessage(options, tx, row, isMessage);
  },
  message_starred: async (options, tx, session, event) => {
    const row = await messageOf(tx, session, event);
    if (row !== undefined) await setStarred(options, tx, row, event.isStarred);
  },
};

async function storeAssignment(
  options: InboxOptions,
  tx: Tx,
  session: SessionRef,
  { labelId, chat, message, isSet }: Report<'label_assigned'>,
): Promise<void> {
  // A network may report where a label is before it reports its name.
  const label =
    (await findLabelByNetworkId(tx, session, labelId)) ??
    (isSet ? await putLabel(options, tx, session, { networkId: labelId, name: '', color: 0 }) : undefined);
  if (label === undefined) return;
  if (message === undefined) {
    const chatId = await chatIdOf(tx, session, chat);
    if (chatId !== undefined) await setChatLabel(options, tx, label, chatId, isSet);
    return;
  }
  const row = await messageOf(tx, session, { networkId: message, chat });
  if (row !== undefined) await setMessageLabel(options, tx, label, row, isSet);
}

/** Undefined for a group that the session does not know. */
async function chatIdOf(tx: Tx, session: SessionRef, { type, id }: NetworkChat): Promise<string | undefined> {
  return type === 'group' ? groupIdOf(tx, session, id) : id;
}

/** Undefined unless the message is in the chat: ids of messages are no secret on a network. */
async function messageOf(
  tx: Tx,
  session: SessionRef,
  { networkId, chat }: { readonly networkId: string; readonly chat: NetworkChat },
): Promise<MessageRow | undefined> {
  const chatId = await chatIdOf(tx, session, chat);
  return findByNetworkId(tx, session, networkId, ({ chat_id }) => chat_id === chatId);
}
