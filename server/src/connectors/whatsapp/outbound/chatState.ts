import type { ChatModification } from 'baileys';
import type { ChatActions, ChatParts, LabelActions, LastMessage } from '../../contract/chatActions.ts';
import type { MessageKey } from '../../contract/messageKey.ts';
import type { Addresses } from '../people/addresses.ts';
import type { MemberAddresses } from '../people/memberAddresses.ts';
import type { Session } from '../session.ts';
import { toWireId } from './messageIds.ts';
import { chatAddressOf, keyOf } from './messageKeys.ts';
import type { Sender } from './sender.ts';
import type { SharedState } from './sharedState.ts';

/** The end of a mute that lasts until somebody ends it, which the network stores as −1. */
export const FOREVER = Date.UTC(9999, 11, 31);

interface Options {
  readonly session: Session;
  readonly addresses: Addresses;
  readonly members: MemberAddresses;
  readonly state: SharedState;
  readonly sender: Sender;
}

/** A chat, or the message of it that a change is about. */
type About = Pick<MessageKey, 'chat' | 'address'>;

/** The actions of a connection that arrange chats. */
export function createChatParts({ session, addresses, members, state, sender }: Options): Required<ChatParts> {
  const keyFor = async (message: MessageKey) =>
    keyOf(session, members, message, await chatAddressOf(addresses, message));
  const messagesUpTo = async (last: LastMessage | null) =>
    last === null ? [] : [{ key: await keyFor(last), messageTimestamp: Math.floor(last.timestamp / 1000) }];
  const change = async (modification: ChatModification, about: About) =>
    state.change(modification, await chatAddressOf(addresses, about));

  const chats: ChatActions = {
    async update(chat, { archived, pinned, mutedUntil, markedUnread }, last) {
      const lastMessages = await messagesUpTo(last);
      const about = last ?? { chat };
      if (mutedUntil !== undefined) await change({ mute: muteOf(mutedUntil) }, about);
      if (pinned !== undefined) await change({ pin: pinned }, about);
      if (archived !== undefined) await change({ archive: archived, lastMessages }, about);
      if (markedUnread !== undefined) await change({ markRead: !markedUnread, lastMessages }, about);
    },
    clear: async (chat, last) => change({ clear: true, lastMessages: await messagesUpTo(last) }, last ?? { chat }),
    remove: async (chat, last) => change({ delete: true, lastMessages: await messagesUpTo(last) }, last ?? { chat }),
  };

  const labels: LabelActions = {
    put: ({ networkId: id, name, color }) => state.change({ addLabel: { id, name, color, deleted: false } }, ''),
    remove: ({ networkId: id, name, color }) => state.change({ addLabel: { id, name, color, deleted: true } }, ''),
    setOnChat: (labelId, chat, isSet) =>
      change(isSet ? { addChatLabel: { labelId } } : { removeChatLabel: { labelId } }, { chat }),
    setOnMessage(labelId, message, isSet) {
      const about = { labelId, messageId: toWireId(message.networkId) };
      return change(isSet ? { addMessageLabel: about } : { removeMessageLabel: about }, message);
    },
  };

  return {
    chats,
    labels,
    star(message, isStarred) {
      const fromMe = message.from === session.self.phoneNumber;
      const messages = [{ id: toWireId(message.networkId), fromMe }];
      return change({ star: { messages, star: isStarred } }, message);
    },
    async removeForMe(message) {
      const key = await keyFor(message);
      const timestamp = Math.floor(message.timestamp / 1000);
      return change({ deleteForMe: { deleteMedia: false, key, timestamp } }, message);
    },
    pin: (message, seconds) => sender.pin(message, seconds),
    setDisappearing: (chat, seconds) => sender.setDisappearing(chat, seconds),
  };
}

function muteOf(until: number | null): number | null {
  return until !== null && until >= FOREVER ? -1 : until;
}
