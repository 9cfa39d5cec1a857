import type { ChatModification } from 'baileys';
import type { ChatActions, ChatParts, LabelActions, LastMessage } from '../../contract/chatActions.ts';
import type { NetworkChat } from '../../contract/messageKey.ts';
import { jidOfChat } from '../people/addresses.ts';
import type { MemberAddresses } from '../people/memberAddresses.ts';
import type { Session } from '../session.ts';
import { toWireId } from './messageIds.ts';
import { keyOf } from './messageKeys.ts';
import type { Sender } from './sender.ts';
import type { SharedState } from './sharedState.ts';

/** The end of a mute that lasts until somebody ends it, which the network stores as −1. */
export const FOREVER = Date.UTC(9999, 11, 31);

interface Options {
  readonly session: Session;
  readonly members: MemberAddresses;
  readonly state: SharedState;
  readonly sender: Sender;
}

/** The actions of a connection that arrange chats. */
export function createChatParts({ session, members, state, sender }: Options): Required<ChatParts> {
  const messagesUpTo = async (last: LastMessage | null) =>
    last === null
      ? []
      : [{ key: await keyOf(session, members, last), messageTimestamp: Math.floor(last.timestamp / 1000) }];
  const change = (modification: ChatModification, chat: NetworkChat) => state.change(modification, jidOfChat(chat));

  const chats: ChatActions = {
    async update(chat, { archived, pinned, mutedUntil, markedUnread }, last) {
      const lastMessages = await messagesUpTo(last);
      if (mutedUntil !== undefined) await change({ mute: muteOf(mutedUntil) }, chat);
      if (pinned !== undefined) await change({ pin: pinned }, chat);
      if (archived !== undefined) await change({ archive: archived, lastMessages }, chat);
      if (markedUnread !== undefined) await change({ markRead: !markedUnread, lastMessages }, chat);
    },
    clear: async (chat, last) => change({ clear: true, lastMessages: await messagesUpTo(last) }, chat),
    remove: async (chat, last) => change({ delete: true, lastMessages: await messagesUpTo(last) }, chat),
  };

  const labels: LabelActions = {
    put: ({ networkId: id, name, color }) => state.change({ addLabel: { id, name, color, deleted: false } }, ''),
    remove: ({ networkId: id, name, color }) => state.change({ addLabel: { id, name, color, deleted: true } }, ''),
    setOnChat: (labelId, chat, isSet) =>
      change(isSet ? { addChatLabel: { labelId } } : { removeChatLabel: { labelId } }, chat),
    setOnMessage(labelId, message, isSet) {
      const about = { labelId, messageId: toWireId(message.networkId) };
      return change(isSet ? { addMessageLabel: about } : { removeMessageLabel: about }, message.chat);
    },
  };

  return {
    chats,
    labels,
    star(message, isStarred) {
      const fromMe = message.from === session.self.phoneNumber;
      const messages = [{ id: toWireId(message.networkId), fromMe }];
      return change({ star: { messages, star: isStarred } }, message.chat);
    },
    async removeForMe(message) {
      const key = await keyOf(session, members, message);
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
