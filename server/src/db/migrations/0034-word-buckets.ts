import type { Migration } from './migration.ts';

/**
 * Divides the search index of SQLite into buckets. The messages of the former index move after the start
 * (`messages/wordMove.ts`), because a million of them take a minute. An earlier release adds messages to the former
 * index, from which the next start moves them.
 */
export const wordBuckets: Migration = {
  version: 34,
  name: 'word buckets',
  statements: ({ search }) => search.buckets?.tables ?? [],
};
