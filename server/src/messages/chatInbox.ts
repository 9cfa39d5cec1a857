import type { ChatEvent, NetworkChat } from '../connectors/connector.ts';
import type { Commit, Tx } from '../db/commit.ts';
import type { MessageRow } from '../db/schema.ts';
import { findByNetworkId } from './changes.ts';
import { setDisappearing } from './chatChanges.ts';
import { removeChat, removeMessage } from './chatRemoval.ts';
import { groupIdOf } from './groupStore.ts';
import type { InboxOptions } from './inboxOptions.ts';
import { findLabelByNetworkId, putLabel, removeLabel, setChatLabel, setMessageLabel } from './labels.ts';
import { setPinned, setStarred } from './marks.ts';
import { findSession, type SessionRef } from './store.ts';

type EventOf<T extends ChatEvent['type']> = Extract<ChatEvent, { type: T }>;

/** Deletes what was deleted on another device of the account. Takes several transactions, and can be repeated. */
export async function storeChatRemoval(
  options: InboxOptions,
  commit: Commit,
  session: SessionRef,
  { chat, isWhole, upTo, keepsStarred = false }: EventOf<'chat_removed'>,
): Promise<void> {
  const chatId = await commit((tx) => chatIdOf(tx, session, chat), session.sessionId);
  if (chatId !== undefined) await removeChat(options, commit, session, chatId, { isWhole, upTo, keepsStarred });
}

/** Stores what another device of the account, or a person in a chat, did with a chat or a message. */
export async function storeChatEvent(
  options: InboxOptions,
  tx: Tx,
  session: SessionRef,
  event: Exclude<ChatEvent, { type: 'chat_removed' }>,
): Promise<void> {
  switch (event.type) {
    case 'label_updated':
      await putLabel(options, tx, session, event.label);
      return;
    case 'label_removed':
      return removeLabel(options, tx, session, event.networkId);
    case 'label_assigned':
      return storeAssignment(options, tx, session, event);
    case 'disappearing':
      // The timer of a group is reported with the group.
      if (event.chat.type === 'direct') await setDisappearing(options, tx, session, event.chat.id, event.seconds);
      return;
    case 'message_removed': {
      const row = await messageOf(tx, session, event);
      if (row !== undefined) await removeMessage(options, tx, row);
      return;
    }
    case 'message_starred': {
      const row = await messageOf(tx, session, event);
      if (row !== undefined) await setStarred(options, tx, row, event.isStarred);
      return;
    }
    case 'message_pinned': {
      const row = await messageOf(tx, session, event);
      if (row === undefined) return;
      const { from, timestamp: at } = event;
      const own = await findSession(tx, session);
      await setPinned(options, tx, row, event.until, { from, fromMe: own?.phone_number === from, at });
    }
  }
}

async function storeAssignment(
  options: InboxOptions,
  tx: Tx,
  session: SessionRef,
  { labelId, chat, message, isSet }: EventOf<'label_assigned'>,
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
