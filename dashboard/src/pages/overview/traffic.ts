import type { MessageStats } from '@switchboard/sdk/api';
import { useQuery } from '@tanstack/react-query';
import { useMemo } from 'react';
import { api } from '../../api.ts';
import { useNow } from '../../components/time.tsx';
import { lastMinutes, minuteOf } from '../../model/stats.ts';

/** How many messages each minute of the last hour had. */
export interface Traffic {
  /** Seconds since 1970. */
  readonly times: readonly number[];
  readonly incoming: readonly number[];
  readonly outgoing: readonly number[];
}

/** The messages of the last hour, counted again as events tell of more. */
export function useTraffic() {
  const query = useQuery({ queryKey: ['messages', 'stats'], queryFn: () => api.messages.stats() });
  const minute = minuteOf(useNow());
  const { data } = query;
  const traffic = useMemo(() => data && byMinute(data, minute), [data, minute]);
  return { data: traffic, error: query.error, refetch: query.refetch };
}

/** The statistics name only minutes with messages; a line needs the others too. */
function byMinute({ series }: MessageStats, now: number): Traffic {
  const known = new Map(series.map((counts) => [Date.parse(counts.minute), counts]));
  const minutes = lastMinutes(now);
  return {
    times: minutes.map((minute) => minute / 1000),
    incoming: minutes.map((minute) => known.get(minute)?.incoming ?? 0),
    outgoing: minutes.map((minute) => known.get(minute)?.outgoing ?? 0),
  };
}
