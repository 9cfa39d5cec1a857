import type { MessageStats } from '@switchboard/sdk/api';
import { useQuery } from '@tanstack/react-query';
import { useMemo } from 'react';
import { api } from '../../api.ts';
import { useNow } from '../../components/text/time.tsx';
import { lastMinutes, minuteOf } from '../../model/stats.ts';

/** The messages of each minute of the last hour. */
export interface Traffic {
  /** Seconds since the epoch. */
  readonly times: readonly number[];
  readonly incoming: readonly number[];
  readonly outgoing: readonly number[];
}

/** The messages of the last hour, refetched on events. */
export function useTraffic() {
  const query = useQuery({ queryKey: ['messages', 'stats'], queryFn: () => api.messages.stats() });
  const minute = minuteOf(useNow());
  const { data } = query;
  const traffic = useMemo(() => data && byMinute(data, minute), [data, minute]);
  return { data: traffic, error: query.error, refetch: query.refetch };
}

/** Statistics leave out minutes without messages, which a line needs too. */
function byMinute({ series }: MessageStats, now: number): Traffic {
  const known = new Map(series.map((counts) => [Date.parse(counts.minute), counts]));
  const minutes = lastMinutes(now);
  return {
    times: minutes.map((minute) => minute / 1000),
    incoming: minutes.map((minute) => known.get(minute)?.incoming ?? 0),
    outgoing: minutes.map((minute) => known.get(minute)?.outgoing ?? 0),
  };
}
