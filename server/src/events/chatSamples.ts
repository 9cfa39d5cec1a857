import type { EventData } from './events.ts';

type Kind = 'chat.updated' | 'chat.removed' | 'message.removed' | 'message.marked' | 'message.pinned' | 'label.updated';

/** The samples about chats. @param change a change of a message by a person */
export function chatSamples(
  chat: Pick<EventData<'chat.removed'>, 'chatId' | 'sessionId' | 'timestamp' | 'test'>,
  change: Omit<EventData<'message.pinned'>, 'pinnedUntil'>,
): { [K in Kind]: EventData<K> } {
  const { from: _, fromMe: __, ...marked } = change;
  const { chatId: ___, ...ofSession } = chat;
  return {
    'chat.updated': {
      ...chat,
      archived: true,
      pinned: false,
      mutedUntil: null,
      unreadCount: 0,
      markedUnread: false,
      disappearingSeconds: null,
      labelIds: [],
    },
    'chat.removed': { ...chat, action: 'cleared' },
    'message.removed': marked,
    'message.marked': { ...marked, starred: true, labelIds: [] },
    'message.pinned': { ...change, pinnedUntil: chat.timestamp },
    'label.updated': { labelId: 'lbl_00000000000000000000000000', ...ofSession, name: 'Test', color: 0 },
  };
}
