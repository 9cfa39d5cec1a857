import type { Message } from '@switchboard/sdk/api';
import { useVirtualizer } from '@tanstack/react-virtual';
import { EllipsisVertical } from 'lucide-react';
import { type ReactNode, useLayoutEffect, useMemo, useRef, useState } from 'react';
import type { useMessages } from '../../model/messageList.ts';
import type { NameOf } from '../../model/names.ts';
import { chatStrings, messageStrings } from '../../strings/chats.ts';
import { sharedStrings } from '../../strings/shared.ts';
import { IconButton } from '../button.tsx';
import { MoreFailed, useMore } from '../page/more.tsx';
import { Loaded } from '../page/states.tsx';
import { Time } from '../text/time.tsx';
import { Bubble, bubbleLabel } from './bubble.tsx';

interface FeedProps {
  readonly label: string;
  readonly list: ReturnType<typeof useMessages>;
  /** Whether a message is on the right, the side of the reader. */
  readonly isOwn: (message: Message) => boolean;
  readonly nameOf: NameOf;
  readonly foundId?: string | undefined;
  /** The menu of a message, which is mounted open. Undefined if it has none. */
  readonly actions: (message: Message) => ReactNode;
}

/** The messages of a chat while they load, once they are there, or if there are none. */
export function Thread(props: FeedProps) {
  return (
    <Loaded query={props.list}>
      {() =>
        props.list.messages.length === 0 ? (
          <p className="m-auto p-6 text-sm text-ink-faint">{chatStrings.noMessages}</p>
        ) : (
          <Feed {...props} />
        )
      }
    </Loaded>
  );
}

const BUBBLE_HEIGHT = 72;
/** Older messages load when the reader is this close to the first one. */
const NEAR_START = 15;
/** New messages scroll into view while the reader is this close to the end. */
const AT_END_PX = 80;

/** A conversation of any length that renders only the messages in view. It opens at its end. */
function Feed({ label, list: { messages, more }, isOwn, nameOf, foundId, actions }: FeedProps) {
  const scroller = useRef<HTMLDivElement>(null);
  const byId = useMemo(() => new Map(messages.map((message) => [message.messageId, message])), [messages]);
  const virtual = useVirtualizer({
    count: messages.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => BUBBLE_HEIGHT,
    overscan: 8,
    paddingStart: 12,
    paddingEnd: 12,
    // Keeps the position of the reader when messages arrive, and follows them at the end.
    anchorTo: 'end',
    followOnAppend: true,
    scrollEndThreshold: AT_END_PX,
    getItemKey: (index) => messages[index]?.messageId ?? index,
  });
  const items = virtual.getVirtualItems();

  const isOpened = useRef(false);
  useLayoutEffect(() => {
    if (isOpened.current) return;
    isOpened.current = true;
    virtual.scrollToEnd();
  }, [virtual]);

  useMore(more, items.length > 0 && (items[0]?.index ?? 0) <= NEAR_START);

  return (
    <>
      <MoreFailed more={more} />
      <div
        ref={scroller}
        role="feed"
        aria-label={label}
        aria-busy={more.isLoading}
        // biome-ignore lint/a11y/noNoninteractiveTabindex: lets the keyboard scroll it
        tabIndex={0}
        className="min-h-0 flex-1 overflow-y-auto bg-paper contain-strict"
      >
        <div role="presentation" className="relative" style={{ height: virtual.getTotalSize() }}>
          {items.map(({ index, key, start }) => {
            const message = messages[index] as Message; // the virtualizer's indexes are those of the messages
            return (
              <article
                key={key}
                ref={virtual.measureElement}
                data-index={index}
                aria-label={bubbleLabel(message, isOwn(message), nameOf)}
                aria-posinset={index + 1}
                aria-setsize={more.load === undefined ? messages.length : -1}
                className="absolute inset-x-0 px-4 py-1"
                style={{ transform: `translateY(${start}px)` }}
              >
                {dayOf(messages[index - 1]) !== dayOf(message) && (
                  <p className="py-2 text-center text-xs text-ink-faint">
                    <Time at={message.timestamp} as="date" />
                  </p>
                )}
                <Bubble
                  message={message}
                  isOwn={isOwn(message)}
                  isFound={message.messageId === foundId}
                  repliedTo={byId.get(message.replyTo ?? '')}
                  nameOf={nameOf}
                  actions={<LazyMenu>{actions(message)}</LazyMenu>}
                />
              </article>
            );
          })}
        </div>
      </div>
      <p role="status" className="sr-only">
        {more.isLoading && sharedStrings.loadingMore}
      </p>
      <NewMessageStatus last={messages.at(-1)} isOwn={isOwn} nameOf={nameOf} />
    </>
  );
}

/** Announces new messages of others to screen readers. */
function NewMessageStatus({
  last,
  isOwn,
  nameOf,
}: Pick<FeedProps, 'isOwn' | 'nameOf'> & { readonly last: Message | undefined }) {
  const [openedAt] = useState(last?.messageId);
  const isNew = last !== undefined && last.messageId !== openedAt && !isOwn(last);
  return (
    <p role="status" className="sr-only">
      {/* Keyed, so that a second message of the same sender is announced too. */}
      {isNew && <span key={last.messageId}>{chatStrings.newMessage(nameOf(last.from))}</span>}
    </p>
  );
}

/** Renders only the button of a menu until it is pressed. A menu per message would make scrolling slow. */
function LazyMenu({ children }: { readonly children: ReactNode }) {
  const [isWanted, setWanted] = useState(false);
  if (isWanted || children === undefined) return children;
  return (
    <IconButton label={messageStrings.actions} onClick={() => setWanted(true)}>
      <EllipsisVertical />
    </IconButton>
  );
}

/** In the time zone of the reader. */
function dayOf(message: Message | undefined): string {
  return message === undefined ? '' : new Date(message.timestamp).toDateString();
}
