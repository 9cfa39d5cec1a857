import type { Message } from '@switchboard/sdk/api';
import { useVirtualizer } from '@tanstack/react-virtual';
import { EllipsisVertical } from 'lucide-react';
import { type ReactNode, useLayoutEffect, useMemo, useRef, useState } from 'react';
import type { NameOf } from '../../model/names.ts';
import type { More } from '../../paged.ts';
import { chatWords, messageWords } from '../../strings/chats.ts';
import { words } from '../../strings/shared.ts';
import { IconButton } from '../button.tsx';
import { MoreFailed, useMore } from '../more.tsx';
import { Time } from '../time.tsx';
import { Bubble, bubbleLabel } from './bubble.tsx';

interface ThreadProps {
  readonly label: string;
  /** Oldest first. */
  readonly messages: readonly Message[];
  /** Whose messages stand at the right: a session's are `outgoing`, those of the phone it talks to `incoming`. */
  readonly ownDirection: Message['direction'];
  readonly isOwn?: (message: Message) => boolean;
  readonly nameOf: NameOf;
  readonly older: More;
  readonly foundId?: string | undefined;
  /** What can be done with a message: a menu that begins open. Undefined where there is nothing. */
  readonly actions?: (message: Message) => ReactNode;
}

const BUBBLE_HEIGHT = 72;
/** Older ones are read before the reader is at the first. */
const NEAR_START = 15;
/** So near to the end, a new message is followed. */
const AT_END_PX = 80;

/** A conversation of any length: only what is seen is drawn. It opens at its end, and stays where the reader is. */
export function Thread({
  label,
  messages,
  ownDirection,
  isOwn = ({ direction }) => direction === ownDirection,
  nameOf,
  older,
  foundId,
  actions,
}: ThreadProps) {
  const scroller = useRef<HTMLDivElement>(null);
  const byId = useMemo(() => new Map(messages.map((message) => [message.messageId, message])), [messages]);
  const virtual = useVirtualizer({
    count: messages.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => BUBBLE_HEIGHT,
    overscan: 8,
    paddingStart: 12,
    paddingEnd: 12,
    // What is written above or below leaves what is read where it is; who is at the end follows it.
    anchorTo: 'end',
    followOnAppend: true,
    scrollEndThreshold: AT_END_PX,
    getItemKey: (index) => messages[index]?.messageId ?? index,
  });
  const items = virtual.getVirtualItems();
  const first = items[0]?.index ?? 0;

  const isOpened = useRef(false);
  useLayoutEffect(() => {
    if (isOpened.current || messages.length === 0) return;
    isOpened.current = true;
    virtual.scrollToEnd();
  }, [messages.length, virtual]);

  useMore(older, items.length > 0 && first <= NEAR_START);

  const last = messages.at(-1);
  const [openedAt] = useState(last?.messageId);
  const isNew = last !== undefined && last.messageId !== openedAt && !isOwn(last);
  return (
    <>
      <MoreFailed more={older} />
      <div
        ref={scroller}
        role="feed"
        aria-label={label}
        aria-busy={older.isLoading}
        // biome-ignore lint/a11y/noNoninteractiveTabindex: who has no mouse scrolls it with the keys
        tabIndex={0}
        className="min-h-0 flex-1 overflow-y-auto bg-paper contain-strict"
      >
        <div role="presentation" className="relative" style={{ height: virtual.getTotalSize() }}>
          {items.map(({ index, key, start }) => {
            const message = messages[index] as Message; // an index of the virtualiser is one of the messages
            const before = messages[index - 1];
            return (
              <article
                key={key}
                ref={virtual.measureElement}
                data-index={index}
                aria-label={bubbleLabel(message, isOwn(message), nameOf)}
                aria-posinset={index + 1}
                aria-setsize={older.load === undefined ? messages.length : -1}
                className="absolute inset-x-0 px-4 py-1"
                style={{ transform: `translateY(${start}px)` }}
              >
                {dayOf(before) !== dayOf(message) && (
                  <p className="py-2 text-center text-xs text-ink-faint">
                    <Time at={message.timestamp} as="date" />
                  </p>
                )}
                <Bubble
                  message={message}
                  isOwn={isOwn(message)}
                  isFound={message.messageId === foundId}
                  answered={byId.get(message.replyTo ?? '')}
                  nameOf={nameOf}
                  actions={<LazyMenu>{actions?.(message)}</LazyMenu>}
                />
              </article>
            );
          })}
        </div>
      </div>
      <p role="status" className="sr-only">
        {older.isLoading && words.loadingMore}
      </p>
      <p role="status" className="sr-only">
        {/* Keyed: a second one of the same sender is told as well. */}
        {isNew && <span key={last.messageId}>{chatWords.newMessage(nameOf(last.from))}</span>}
      </p>
    </>
  );
}

/** A menu for each message would make scrolling slow: there is only its button until it is pressed. */
function LazyMenu({ children }: { readonly children: ReactNode }) {
  const [isWanted, setWanted] = useState(false);
  if (isWanted || children === undefined) return children;
  return (
    <IconButton label={messageWords.actions} onClick={() => setWanted(true)}>
      <EllipsisVertical />
    </IconButton>
  );
}

/** In the reader's zone. */
function dayOf(message: Message | undefined): string {
  return message === undefined ? '' : new Date(message.timestamp).toDateString();
}
