import { keepPreviousData, type QueryKey, useInfiniteQuery, useQuery, useQueryClient } from '@tanstack/react-query';
import { useEffect, useEffectEvent, useMemo } from 'react';
import { moreOf, type PageOf } from './paged.ts';

interface LiveList<T> {
  /** Its first part names the resource, so that events read the newest page again. */
  readonly key: QueryKey;
  readonly read: (page: { limit: number; cursor?: string }, signal: AbortSignal) => Promise<PageOf<T>>;
  readonly idOf: (row: T) => string;
  /** For what changes without an event: how often the newest page is read. */
  readonly everyMs?: number;
  readonly enabled?: boolean;
  /** Shows the rows of the key before until those of this one are there. */
  readonly keepsPrevious?: boolean;
}

const PAGE = 100;

/**
 * A list that grows at its newest end while it is read, such as a log. However far down the reader has come, only the
 * newest page is read again and again; older ones stay as they were. (`usePaged` reads all of them: right for lists of
 * some pages, not for one of a hundred.)
 */
export function useLivePaged<T>({ key, read, idOf, everyMs, enabled = true, keepsPrevious = false }: LiveList<T>) {
  const queries = useQueryClient();
  // Not below the resource's name: an event must not touch it.
  const olderKey = ['as_read', ...key];
  const newest = useQuery({
    queryKey: [...key, 'newest'],
    queryFn: ({ signal }) => read({ limit: PAGE }, signal),
    enabled,
    // A page of whatever rows is no function, which the types cannot tell.
    ...(keepsPrevious && { placeholderData: keepPreviousData as never }),
    ...(everyMs !== undefined && { refetchInterval: everyMs }),
  });
  const older = useInfiniteQuery({
    queryKey: olderKey,
    queryFn: ({ pageParam, signal }) => read({ limit: PAGE, ...(pageParam !== null && { cursor: pageParam }) }, signal),
    initialPageParam: null as string | null,
    getNextPageParam: (last) => last.nextCursor,
    // Begins with the newest page as that was read: read on its own, it could be later and never fit.
    enabled: false,
    // Left and opened again, a log begins at its newest end.
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
    /** Reads everything anew, after a change of rows that may be far down. */
    refresh: async () => {
      const { data } = await newest.refetch();
      if (data !== undefined) begin(data);
    },
  };
}

/**
 * The newest page holds what it spans: rows that it has no longer are gone. It goes on with the older ones after its
 * last row; when that is not among them, more has come than one page holds, and they are to be read anew.
 */
export function mergePages<T>(
  newest: PageOf<T> | undefined,
  older: readonly T[],
  idOf: (row: T) => string,
): { readonly rows: readonly T[]; readonly hasGap: boolean } {
  if (newest === undefined) return { rows: [], hasGap: false };
  const last = newest.data.at(-1);
  if (last === undefined || newest.nextCursor === null) return { rows: newest.data, hasGap: false };
  const seam = older.findIndex((row) => idOf(row) === idOf(last));
  if (seam === -1) return { rows: newest.data, hasGap: true };
  // A row that has moved up, as a chat does in which somebody writes, is where it is now.
  const isNewest = new Set(newest.data.map(idOf));
  return { rows: [...newest.data, ...older.slice(seam + 1).filter((row) => !isNewest.has(idOf(row)))], hasGap: false };
}
