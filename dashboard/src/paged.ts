import { type QueryKey, type UseInfiniteQueryResult, useInfiniteQuery } from '@tanstack/react-query';

export interface PageOf<T> {
  readonly data: readonly T[];
  readonly nextCursor: string | null;
}

/** The rest of a paginated list. */
export interface More {
  /** Reads the next page. Undefined after the last one. */
  readonly load: (() => unknown) | undefined;
  readonly isLoading: boolean;
  /** Why the next page could not be read. */
  readonly error: unknown;
}

/** A list as far as it has been read. */
export interface PagedList<T> {
  readonly data: unknown;
  readonly error: unknown;
  readonly refetch: () => unknown;
  readonly rows: readonly T[];
  readonly more: More;
}

/** Maximum number of pages to skip before the reader is asked whether to load more. */
const MOST_SKIPPED = 50;

/** Reads a page, and the ones after it while they are empty: the server ends a page of a filtered list early. */
export async function readRows<T, P extends { readonly cursor?: string }>(
  read: (page: P) => Promise<PageOf<T>>,
  page: P,
): Promise<PageOf<T>> {
  let found = await read(page);
  for (let skipped = 0; found.data.length === 0 && found.nextCursor !== null && skipped < MOST_SKIPPED; skipped++)
    found = await read({ ...page, cursor: found.nextCursor });
  return found;
}

interface Again<T> {
  readonly everyMs?: number | false;
  readonly isFinal?: (rows: readonly T[]) => boolean;
}

/**
 * Reads a list of the API page by page.
 *
 * ```ts
 * const keys = usePaged(['api_keys'], (page) => api.apiKeys.list(page));
 * ```
 *
 * @param options.everyMs interval of reading again what has been read, for lists that change without an event. With
 * several pages it grows, so that the server gets one request per interval.
 * @param options.isFinal whether the whole list can no longer change, so that it is not read again
 */
export function usePaged<T>(
  key: QueryKey,
  read: (page: { limit: number; cursor?: string }) => Promise<PageOf<T>>,
  { everyMs = false, isFinal = () => false }: Again<T> = {},
) {
  const query = useInfiniteQuery({
    queryKey: [...key, 'pages'],
    queryFn: ({ pageParam }) => readRows(read, { limit: 100, ...(pageParam !== null && { cursor: pageParam }) }),
    initialPageParam: null as string | null,
    getNextPageParam: (last) => last.nextCursor,
    refetchInterval: ({ state: { data } }) => {
      const { pages = [] } = data ?? {};
      if (everyMs === false) return false;
      const isWhole = pages.at(-1)?.nextCursor === null;
      return isWhole && isFinal(pages.flatMap(({ data: rows }) => rows)) ? false : everyMs * Math.max(1, pages.length);
    },
  });
  return {
    data: query.data,
    error: query.error,
    refetch: query.refetch,
    rows: query.data?.pages.flatMap(({ data }) => data) ?? [],
    more: moreOf(query),
  };
}

type Pages = Pick<
  UseInfiniteQueryResult,
  'hasNextPage' | 'fetchNextPage' | 'isFetchingNextPage' | 'isFetchNextPageError' | 'error'
>;

export function moreOf(query: Pages): More {
  return {
    load: query.hasNextPage ? () => query.fetchNextPage() : undefined,
    isLoading: query.isFetchingNextPage,
    error: query.isFetchNextPageError ? query.error : null,
  };
}
