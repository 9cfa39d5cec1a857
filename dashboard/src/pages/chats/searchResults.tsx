import type { Message } from '@switchboard/sdk/api';
import { useEffect, useState } from 'react';
import { api } from '../../api.ts';
import { Loaded } from '../../components/page/states.tsx';
import { VirtualList } from '../../components/page/virtualList.tsx';
import { Time } from '../../components/text/time.tsx';
import { useLivePaged } from '../../live/livePaged.ts';
import { messagePreview } from '../../model/messageList.ts';
import type { NameOf } from '../../model/names.ts';
import { chatStrings, messageStrings } from '../../strings/chats.ts';
import { type AdSearch, adFilterOf } from './search.ts';

interface SearchProps {
  readonly sessionId: string;
  readonly text: string;
  readonly ads: AdSearch;
  readonly nameOf: NameOf;
  readonly onChoose: (message: Message) => void;
}

const idOf = ({ messageId }: Message) => messageId;

/** Messages that contain all words of the search, newest first. */
export function SearchResults({ sessionId, text, ads, nameOf, onChoose }: SearchProps) {
  const q = useDebounced(text);
  const filter = adFilterOf(ads);
  const found = useLivePaged({
    key: ['messages', 'found', sessionId, q, filter],
    read: (page, signal) => api.messages.list({ sessionId, q, ...filter, ...page }, { signal }),
    idOf,
    enabled: q !== '',
    keepsPrevious: true,
  });
  return (
    <Loaded query={found}>
      {() =>
        found.rows.length === 0 ? (
          <p role="status" className="p-6 text-center text-sm text-ink-faint">
            {chatStrings.nothingFound}
          </p>
        ) : (
          <VirtualList label={chatStrings.results} rows={found.rows} rowKey={idOf} more={found.more}>
            {(message) => (
              <button
                type="button"
                onClick={() => onChoose(message)}
                className="grid h-full w-full content-center px-4 text-left -outline-offset-2 hover:bg-sunken"
              >
                <span className="truncate text-sm">{messagePreview(message, messageStrings, nameOf)}</span>
                <span className="truncate text-xs text-ink-faint">
                  {chatStrings.foundIn(nameOf(message.chatId))}, <Time at={message.timestamp} as="relative" />
                </span>
              </button>
            )}
          </VirtualList>
        )
      }
    </Loaded>
  );
}

const DEBOUNCE_MS = 250;

function useDebounced(text: string): string {
  const [debounced, setDebounced] = useState('');
  useEffect(() => {
    const timer = setTimeout(() => setDebounced(text), DEBOUNCE_MS);
    return () => clearTimeout(timer);
  }, [text]);
  return debounced;
}
