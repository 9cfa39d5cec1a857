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

/**
 * Reads a list of the API page by page.
 *
 * ```ts
 * const keys = usePaged(['api_keys'], (page) => api.apiKeys.list(page));
 * ```
 */
export function usePaged<T>(key: QueryKey, read: (page: { limit: number; cursor?: string }) => Promise<PageOf<T>>) {
  const query = useInfiniteQuery({
    queryKey: [...key, 'pages'],
    queryFn: ({ pageParam }) => read({ limit: 100, ...(pageParam !== null && { cursor: pageParam }) }),
    initialPageParam: null as string | null,
    getNextPageParam: (last) => last.nextCursor,
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
