import type { Message } from '@switchboard/sdk/api';
import { useVirtualizer } from '@tanstack/react-virtual';
import { useEffect, useRef, useState } from 'react';
import { api } from '../../api.ts';
import { MoreFailed, useMore } from '../../components/more.tsx';
import { Loaded } from '../../components/states.tsx';
import { Time } from '../../components/time.tsx';
import { useLivePaged } from '../../livePaged.ts';
import { messagePreview } from '../../model/messageList.ts';
import type { NameOf } from '../../model/names.ts';
import type { More } from '../../paged.ts';
import { chatWords, messageWords } from '../../strings/chats.ts';

interface SearchProps {
  readonly sessionId: string;
  readonly text: string;
  readonly nameOf: NameOf;
  readonly onChoose: (message: Message) => void;
}

const idOf = ({ messageId }: Message) => messageId;

/** Messages that have all of the words, the newest first. */
export function SearchResults({ sessionId, text, nameOf, onChoose }: SearchProps) {
  const q = useSettled(text);
  const found = useLivePaged({
    key: ['messages', 'found', sessionId, q],
    read: (page, signal) => api.messages.list({ sessionId, q, ...page }, { signal }),
    idOf,
    enabled: q !== '',
    keepsPrevious: true,
  });
  return (
    <Loaded query={found}>
      {() =>
        found.rows.length === 0 ? (
          <p role="status" className="p-6 text-center text-sm text-ink-faint">
            {chatWords.nothingFound}
          </p>
        ) : (
          <Results {...found} nameOf={nameOf} onChoose={onChoose} />
        )
      }
    </Loaded>
  );
}

/** What is typed, once the reader pauses. */
function useSettled(text: string): string {
  const [settled, setSettled] = useState('');
  useEffect(() => {
    const timer = setTimeout(() => setSettled(text), PAUSE_MS);
    return () => clearTimeout(timer);
  }, [text]);
  return settled;
}

const PAUSE_MS = 250;
const ROW_HEIGHT = 64;
const OVERSCAN = 10;

function Results({
  rows,
  more,
  nameOf,
  onChoose,
}: Pick<SearchProps, 'nameOf' | 'onChoose'> & {
  readonly rows: readonly Message[];
  readonly more: More;
}) {
  const scroller = useRef<HTMLDivElement>(null);
  const virtual = useVirtualizer({
    count: rows.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => ROW_HEIGHT,
    overscan: OVERSCAN,
  });
  const items = virtual.getVirtualItems();
  const lastSeen = items.at(-1)?.index ?? 0;
  useMore(more, lastSeen >= rows.length - OVERSCAN);

  return (
    <div ref={scroller} className="min-h-0 flex-1 overflow-y-auto contain-strict">
      <ul aria-label={chatWords.results} className="relative" style={{ height: virtual.getTotalSize() }}>
        {items.map(({ index, start }) => {
          const message = rows[index] as Message; // an index of the virtualiser is one of the rows
          return (
            <li
              key={message.messageId}
              className="absolute inset-x-0 border-b border-line"
              style={{ height: ROW_HEIGHT, transform: `translateY(${start}px)` }}
            >
              <button
                type="button"
                onClick={() => onChoose(message)}
                className="grid h-full w-full content-center px-4 text-left -outline-offset-2 hover:bg-sunken"
              >
                <span className="truncate text-sm">{messagePreview(message, messageWords)}</span>
                <span className="truncate text-xs text-ink-faint">
                  {chatWords.foundIn(nameOf(message.chatId))}, <Time at={message.timestamp} as="relative" />
                </span>
              </button>
            </li>
          );
        })}
      </ul>
      <MoreFailed more={more} />
    </div>
  );
}
