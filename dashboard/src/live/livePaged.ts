import { keepPreviousData, type QueryKey, useInfiniteQuery, useQuery, useQueryClient } from '@tanstack/react-query';
import { useEffect, useEffectEvent, useMemo } from 'react';
import { moreOf, type PageOf, readRows } from '../paged.ts';
import { useLiveState } from './live.ts';

interface LiveList<T> {
  /** Starts with the resource, so that events refetch the newest page. */
  readonly key: QueryKey;
  readonly read: (page: { limit: number; cursor?: string }, signal: AbortSignal) => Promise<PageOf<T>>;
  readonly idOf: (row: T) => string;
  /** How often to refetch the newest page, for resources that change without an event. */
  readonly everyMs?: number;
  readonly enabled?: boolean;
  /** Shows the rows of the previous key until those of this one have loaded. */
  readonly keepsPrevious?: boolean;
}

interface PageInput {
  readonly limit: number;
  readonly cursor?: string;
}

const PAGE = 100;
/** Interval of refetching the newest page while no events arrive. */
const WITHOUT_EVENTS_MS = 4000;

/**
 * Reads a list that grows at its newest end, such as a log. Only the newest page is refetched, however far the reader
 * has scrolled. (`usePaged` refetches all pages, which is too much for a log of a hundred.)
 */
export function useLivePaged<T>({ key, read, idOf, everyMs, enabled = true, keepsPrevious = false }: LiveList<T>) {
  const queries = useQueryClient();
  const refetchInterval =
    useLiveState() === 'live' ? (everyMs ?? false) : Math.min(everyMs ?? WITHOUT_EVENTS_MS, WITHOUT_EVENTS_MS);
  // Not under the name of the resource, so that events do not refetch it.
  const olderKey = ['as_read', ...key];
  const newest = useQuery({
    queryKey: [...key, 'newest'],
    queryFn: ({ signal }) => readRows((page: PageInput) => read(page, signal), { limit: PAGE }),
    enabled,
    // A page is never a function, which the types cannot tell.
    ...(keepsPrevious && { placeholderData: keepPreviousData as never }),
    refetchInterval,
  });
  const older = useInfiniteQuery({
    queryKey: olderKey,
    queryFn: ({ pageParam, signal }) =>
      readRows((page: PageInput) => read(page, signal), {
        limit: PAGE,
        ...(pageParam !== null && { cursor: pageParam }),
      }),
    initialPageParam: null as string | null,
    getNextPageParam: (last) => last.nextCursor,
    // Starts from the newest page: fetched on its own, it could be later and leave a gap.
    enabled: false,
    // A log that is opened again starts at its newest end.
    gcTime: 0,
  });
  const merged = useMemo(
    () => mergePages(newest.data, older.data?.pages.flatMap(({ data }) => data) ?? [], idOf),
    [newest.data, older.data, idOf],
  );

  const begin = (page: PageOf<T>) => queries.setQueryData(olderKey, { pages: [page], pageParams: [null] });
  const beginAtNewest = useEffectEvent(() => newest.data !== undefined && begin(newest.data));
  const hasGap = merged.hasGap && !older.isFetching && !newest.isPlaceholderData;
  useEffect(() => {
    if (hasGap) beginAtNewest();
  }, [hasGap]);

  return {
    data: newest.data,
    error: newest.error,
    refetch: newest.refetch,
    rows: merged.rows,
    more: moreOf(older),
    /** Refetches everything, after a change of rows that may be far down. */
    refresh: async () => {
      const { data } = await newest.refetch();
      if (data !== undefined) begin(data);
    },
  };
}

/**
 * Joins the newest page with the older rows after its last one. Rows within its range that it no longer has are gone.
 * `hasGap` says that more than one page is new, so that the older rows have to be refetched.
 */
export function mergePages<T>(
  newest: PageOf<T> | undefined,
  older: readonly T[],
  idOf: (row: T) => string,
): { readonly rows: readonly T[]; readonly hasGap: boolean } {
  if (newest === undefined) return { rows: [], hasGap: false };
  const last = newest.data.at(-1);
  if (newest.nextCursor === null) return { rows: newest.data, hasGap: false };
  // Nothing matches so far, and older rows can.
  if (last === undefined) return { rows: older, hasGap: older.length === 0 };
  const seam = older.findIndex((row) => idOf(row) === idOf(last));
  if (seam === -1) return { rows: newest.data, hasGap: true };
  // A row that moved to the top, such as a chat with a new message, is only shown there.
  const isNewest = new Set(newest.data.map(idOf));
  return { rows: [...newest.data, ...older.slice(seam + 1).filter((row) => !isNewest.has(idOf(row)))], hasGap: false };
}
