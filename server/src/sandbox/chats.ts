import type { ChatActions, ChatEvent, LabelActions } from '../connectors/contract/chatActions.ts';
import type { ChatSimulation } from './simulatedActions.ts';

/* The sandbox has no other devices, so what only they would see needs nothing but a connection. */

export function createChatActions(requireOnline: () => void): ChatActions {
  const online = async () => requireOnline();
  return { update: online, clear: online, remove: online };
}

export function createLabelActions(requireOnline: () => void): LabelActions {
  const online = async () => requireOnline();
  return { put: online, remove: online, setOnChat: online, setOnMessage: online };
}

const chatActions = [
  'chat_remove',
  'star',
  'delete_for_me',
  'pin',
  'disappearing',
  'label',
  'label_delete',
  'label_assign',
] as const satisfies readonly ChatSimulation['action'][];

export function isChatAction(action: { readonly action: string }): action is ChatSimulation {
  return chatActions.some((one) => one === action.action);
}

/** The event that a session gets when another device, or somebody in the chat, does this. */
export function chatEventOf(action: ChatSimulation, timestamp: number): ChatEvent {
  switch (action.action) {
    case 'chat_remove':
      return { type: 'chat_removed', chat: action.chat, isWhole: action.isWhole, upTo: timestamp };
    case 'star': {
      const { networkId, chat, isStarred } = action;
      return { type: 'message_starred', networkId, chat, isStarred };
    }
    case 'delete_for_me':
      return { type: 'message_removed', networkId: action.networkId, chat: action.chat };
    case 'pin': {
      const { networkId, chat, from, until } = action;
      return { type: 'message_pinned', networkId, chat, from, until, timestamp };
    }
    case 'disappearing':
      return { type: 'disappearing', chat: action.chat, seconds: action.seconds };
    case 'label':
      return { type: 'label_updated', label: action.label };
    case 'label_delete':
      return { type: 'label_removed', networkId: action.networkId };
    case 'label_assign': {
      const { action: _, ...assigned } = action;
      return { type: 'label_assigned', ...assigned };
    }
  }
}
