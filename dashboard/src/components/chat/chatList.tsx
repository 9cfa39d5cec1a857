import type { Chat } from '@switchboard/sdk/api';
import { useVirtualizer } from '@tanstack/react-virtual';
import { BellOff, Pin, Users } from 'lucide-react';
import { type ReactNode, useEffect, useEffectEvent, useRef } from 'react';
import { messagePreview } from '../../model/messageList.ts';
import type { NameOf } from '../../model/names.ts';
import type { More } from '../../paged.ts';
import { chatWords, messageWords } from '../../strings/chats.ts';
import { classes } from '../classes.ts';
import { MoreFailed, useMore } from '../more.tsx';
import { Time } from '../time.tsx';

interface ChatListProps {
  readonly chats: readonly Chat[];
  readonly chosen: string | undefined;
  readonly onChoose: (chatId: string) => void;
  readonly nameOf: NameOf;
  readonly more: More;
  readonly empty: ReactNode;
}

const ROW_HEIGHT = 64;
const OVERSCAN = 10;

/** The chats of a session, the latest first: each with its last message. */
export function ChatList({ chats, chosen, onChoose, nameOf, more, empty }: ChatListProps) {
  const scroller = useRef<HTMLDivElement>(null);
  const virtual = useVirtualizer({
    count: chats.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => ROW_HEIGHT,
    overscan: OVERSCAN,
    getItemKey: (index) => chats[index]?.chatId ?? index,
  });
  const items = virtual.getVirtualItems();
  const lastSeen = items.at(-1)?.index ?? 0;
  useMore(more, lastSeen >= chats.length - OVERSCAN);

  // A link may name a chat that is further down. One that was chosen by hand is in sight already.
  const scrollTo = useEffectEvent((chatId: string) =>
    virtual.scrollToIndex(
      chats.findIndex((chat) => chat.chatId === chatId),
      { align: 'auto' },
    ),
  );
  const listed = chats.some(({ chatId }) => chatId === chosen) ? chosen : undefined;
  useEffect(() => {
    if (listed !== undefined) scrollTo(listed);
  }, [listed]);

  if (chats.length === 0) return empty;
  return (
    <div ref={scroller} className="min-h-0 flex-1 overflow-y-auto contain-strict">
      <ul aria-label={chatWords.list} className="relative" style={{ height: virtual.getTotalSize() }}>
        {items.map(({ index, key, start }) => {
          const chat = chats[index] as Chat; // an index of the virtualiser is one of the chats
          return (
            <li
              key={key}
              className="absolute inset-x-0 border-b border-line"
              style={{ height: ROW_HEIGHT, transform: `translateY(${start}px)` }}
            >
              <ChatRow
                chat={chat}
                name={nameOf(chat.chatId)}
                isChosen={chat.chatId === chosen}
                onChoose={() => onChoose(chat.chatId)}
              />
            </li>
          );
        })}
      </ul>
      <MoreFailed more={more} />
    </div>
  );
}

function ChatRow({
  chat: { type, lastMessage, unreadCount, pinned, archived, mutedUntil },
  name,
  isChosen,
  onChoose,
}: {
  readonly chat: Chat;
  readonly name: string;
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
        {pinned && <Pin aria-label={chatWords.pinned} role="img" className="size-3.5 shrink-0 text-ink-faint" />}
        {mutedUntil !== null && Date.parse(mutedUntil) > Date.now() && (
          <BellOff aria-label={chatWords.muted} role="img" className="size-3.5 shrink-0 text-ink-faint" />
        )}
        {archived && <span className="text-xs font-normal text-ink-faint">{chatWords.archived}</span>}
      </span>
      <span className="text-xs text-ink-faint">
        {lastMessage !== null && <Time at={lastMessage.timestamp} as="relative" />}
      </span>
      <span className="truncate text-xs text-ink-soft">
        {lastMessage === null ? '' : messagePreview(lastMessage, messageWords)}
      </span>
      {unreadCount > 0 && (
        <span className="justify-self-end rounded-full bg-accent px-1.5 text-xs font-medium text-on-accent">
          <span aria-hidden>{unreadCount}</span>
          <span className="sr-only">{chatWords.unread(unreadCount)}</span>
        </span>
      )}
    </button>
  );
}
