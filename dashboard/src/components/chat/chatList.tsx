import type { Chat } from '@switchboard/sdk/api';
import { BellOff, Pin, Users } from 'lucide-react';
import type { ReactNode } from 'react';
import { messagePreview } from '../../model/messageList.ts';
import type { NameOf } from '../../model/names.ts';
import type { More } from '../../paged.ts';
import { chatStrings, messageStrings } from '../../strings/chats.ts';
import { classes } from '../classes.ts';
import { VirtualList } from '../page/virtualList.tsx';
import { Time } from '../text/time.tsx';

interface ChatListProps {
  readonly chats: readonly Chat[];
  readonly chosen: string | undefined;
  readonly onChoose: (chatId: string) => void;
  readonly nameOf: NameOf;
  readonly more: More;
  readonly empty: ReactNode;
}

/** The chats of a session with their last messages, the most recent first. */
export function ChatList({ chats, chosen, onChoose, nameOf, more, empty }: ChatListProps) {
  if (chats.length === 0) return empty;
  return (
    // A link may open a chat that is further down the list.
    <VirtualList label={chatStrings.list} rows={chats} rowKey={({ chatId }) => chatId} more={more} visibleKey={chosen}>
      {(chat) => (
        <ChatRow
          chat={chat}
          name={nameOf(chat.chatId)}
          nameOf={nameOf}
          isChosen={chat.chatId === chosen}
          onChoose={() => onChoose(chat.chatId)}
        />
      )}
    </VirtualList>
  );
}

function ChatRow({
  chat: { type, lastMessage, unreadCount, markedUnread, pinned, archived, mutedUntil },
  name,
  nameOf,
  isChosen,
  onChoose,
}: {
  readonly chat: Chat;
  readonly name: string;
  readonly nameOf: NameOf;
  readonly isChosen: boolean;
  readonly onChoose: () => void;
}) {
  return (
    <button
      type="button"
      aria-current={isChosen || undefined}
      onClick={onChoose}
      className={classes(
        'grid h-full w-full grid-cols-[minmax(0,1fr)_auto] items-center gap-x-3 px-4 text-left -outline-offset-2 hover:bg-sunken',
        isChosen && 'bg-accent-soft',
      )}
    >
      <span className="flex min-w-0 items-center gap-1.5 text-sm font-medium">
        {type === 'group' && <Users aria-hidden className="size-3.5 shrink-0 text-ink-faint" />}
        <span className="truncate">{name}</span>
        {pinned && <Pin aria-label={chatStrings.pinned} role="img" className="size-3.5 shrink-0 text-ink-faint" />}
        {mutedUntil !== null && Date.parse(mutedUntil) > Date.now() && (
          <BellOff aria-label={chatStrings.muted} role="img" className="size-3.5 shrink-0 text-ink-faint" />
        )}
        {archived && <span className="text-xs font-normal text-ink-faint">{chatStrings.archived}</span>}
      </span>
      <span className="text-xs text-ink-faint">
        {lastMessage !== null && <Time at={lastMessage.timestamp} as="relative" />}
      </span>
      <span className="truncate text-xs text-ink-soft">
        {lastMessage === null ? '' : messagePreview(lastMessage, messageStrings, nameOf)}
      </span>
      {markedUnread && unreadCount === 0 && (
        <span
          role="img"
          aria-label={chatStrings.markedUnread}
          className="size-2.5 justify-self-end rounded-full bg-accent"
        />
      )}
      {unreadCount > 0 && (
        <span className="justify-self-end rounded-full bg-accent px-1.5 text-xs font-medium text-on-accent">
          <span aria-hidden>{unreadCount}</span>
          <span className="sr-only">{chatStrings.unread(unreadCount)}</span>
        </span>
      )}
    </button>
  );
}
