import type { ChatModification, WAMessageKey } from 'baileys';
import type { ChatActions, ChatParts, LabelActions, LastMessage } from '../../contract/chatActions.ts';
import type { NetworkChat } from '../../contract/messageKey.ts';
import { jidOfChat } from '../people/addresses.ts';
import type { Session } from '../session.ts';
import { keyOf } from './outgoingContent.ts';
import type { Sender } from './sender.ts';
import type { SharedState } from './sharedState.ts';

/** The end of a mute that lasts until somebody ends it, which the network stores as −1. */
export const FOREVER = Date.UTC(9999, 11, 31);

/** The actions of a connection that arrange chats. */
export function createChatParts({ self }: Session, state: SharedState, sender: Sender): Required<ChatParts> {
  const messagesUpTo = (last: LastMessage | null) =>
    last === null ? [] : [{ key: keyOf(last, self.phoneNumber), messageTimestamp: Math.floor(last.timestamp / 1000) }];
  const change = (modification: ChatModification, chat: NetworkChat) => state.change(modification, jidOfChat(chat));

  const chats: ChatActions = {
    async update(chat, { archived, pinned, mutedUntil, markedUnread }, last) {
      const lastMessages = messagesUpTo(last);
      if (mutedUntil !== undefined) await change({ mute: muteOf(mutedUntil) }, chat);
      if (pinned !== undefined) await change({ pin: pinned }, chat);
      if (archived !== undefined) await change({ archive: archived, lastMessages }, chat);
      if (markedUnread !== undefined) await change({ markRead: !markedUnread, lastMessages }, chat);
    },
    clear: (chat, last) => change({ clear: true, lastMessages: messagesUpTo(last) }, chat),
    remove: (chat, last) => change({ delete: true, lastMessages: messagesUpTo(last) }, chat),
  };

  const labels: LabelActions = {
    put: ({ networkId: id, name, color }) => state.change({ addLabel: { id, name, color, deleted: false } }, ''),
    remove: ({ networkId: id, name, color }) => state.change({ addLabel: { id, name, color, deleted: true } }, ''),
    setOnChat: (labelId, chat, isSet) =>
      change(isSet ? { addChatLabel: { labelId } } : { removeChatLabel: { labelId } }, chat),
    setOnMessage(labelId, message, isSet) {
      const about = { labelId, messageId: idOf(keyOf(message, self.phoneNumber)) };
      return change(isSet ? { addMessageLabel: about } : { removeMessageLabel: about }, message.chat);
    },
  };

  return {
    chats,
    labels,
    star(message, isStarred) {
      const key = keyOf(message, self.phoneNumber);
      const messages = [{ id: idOf(key), fromMe: key.fromMe === true }];
      return change({ star: { messages, star: isStarred } }, message.chat);
    },
    removeForMe(message) {
      const key = keyOf(message, self.phoneNumber);
      const timestamp = Math.floor(message.timestamp / 1000);
      return change({ deleteForMe: { deleteMedia: false, key, timestamp } }, message.chat);
    },
    pin: (message, seconds) => sender.pin(message, seconds),
    setDisappearing: (chat, seconds) => sender.setDisappearing(chat, seconds),
  };
}

function muteOf(until: number | null): number | null {
  return until !== null && until >= FOREVER ? -1 : until;
}

const idOf = ({ id }: WAMessageKey): string => id ?? '';
