import { LRUCache } from 'lru-cache';

/**
 * Creates a cache of the most recently used entries. Its memory grows with its content: with the library's `max`, a
 * cache allocates space for all entries at once, which cost a start 20 ms and 10 MB.
 */
export const cacheOf = <V extends NonNullable<unknown>>(max: number) =>
  new LRUCache<string, V>({ maxSize: max, sizeCalculation: () => 1 });
