import { useInfiniteQuery } from '@tanstack/react-query';
import { ScrollText } from 'lucide-react';
import { useEffect, useEffectEvent, useMemo, useRef } from 'react';
import { api } from '../../api.ts';
import { Card } from '../../components/page/layout.tsx';
import { Empty, Loaded } from '../../components/page/states.tsx';
import { useLiveEvents } from '../../live/live.ts';
import { moreOf } from '../../paged.ts';
import { eventStrings } from '../../strings/events.ts';
import type { EventEntry, EventListProps } from './eventEntry.ts';
import { EventTable } from './eventTable.tsx';

const PAGE = 200;
/** Limits how often the end of the log is read. */
const READ_NEXT_EVERY_MS = 1000;

/** The log from its beginning, as API clients read it. New events are appended. */
export function LogEvents({ type, onChoose }: EventListProps) {
  const query = useInfiniteQuery({
    // Not under `events`: entries of the log never change.
    queryKey: ['event_log', type ?? null],
    queryFn: ({ pageParam }) =>
      api.events.list({
        limit: PAGE,
        ...(pageParam !== null && { afterCursor: pageParam }),
        events: [type ?? '*'],
      }),
    initialPageParam: null as string | null,
    // The last page has a cursor too, for events to come.
    getNextPageParam: (last) => last.nextCursor,
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: 0,
  });
  const { data, fetchNextPage, refetch } = query;
  const more = moreOf(query);
  const events = useMemo(() => data?.pages.flatMap((page) => page.data.map(toEntry)) ?? [], [data]);
  const isAtEnd = (data?.pages.at(-1)?.data.length ?? 0) < PAGE;

  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  const readNext = useEffectEvent(() => {
    timer.current = undefined;
    // An empty log has no cursor.
    if (isAtEnd) void (data?.pages.at(-1)?.nextCursor == null ? refetch() : fetchNextPage());
  });
  useLiveEvents(() => {
    timer.current ??= setTimeout(() => readNext(), READ_NEXT_EVERY_MS);
  });
  useEffect(() => () => clearTimeout(timer.current), []);

  return (
    <Card flush title={eventStrings.log} hint={eventStrings.logHint}>
      <Loaded query={query}>
        {() => (
          <EventTable
            label={eventStrings.logList}
            events={events}
            onChoose={onChoose}
            more={isAtEnd && more.error === null ? undefined : more}
            empty={
              <Empty
                icon={<ScrollText />}
                title={type === undefined ? eventStrings.logEmpty : eventStrings.logEmptyType}
              >
                {type === undefined && eventStrings.logEmptyHint}
              </Empty>
            }
          />
        )}
      </Loaded>
      {isAtEnd && events.length > 0 && (
        <p className="border-t border-line px-5 py-2 text-xs text-ink-faint">{eventStrings.logEnd}</p>
      )}
    </Card>
  );
}

type Logged = Awaited<ReturnType<typeof api.events.list>>['data'][number];

function toEntry({ eventId, event, data, createdAt }: Logged): EventEntry {
  return { id: eventId, type: event, data, at: createdAt };
}
