import type { Migration } from './migration.ts';

/**
 * Stores the bulk sends. The messages of a batch have its id in their own. A bulk send of an earlier release has no
 * row, so it cannot be paused, and a node of the previous release stores none.
 */
export const batches: Migration = {
  version: 48,
  name: 'batches',
  statements: () => [
    `create table batches (
      account_id text not null, batch_id text not null, session_id text not null, status text not null,
      type text not null, accepted integer not null, refused integer not null, duplicates integer not null,
      interval_ms bigint not null, ends_at bigint not null, check_at bigint, key_id text,
      created_at bigint not null, updated_at bigint not null,
      primary key (account_id, batch_id))`,
    'create index batches_session on batches (session_id, batch_id)',
    'create index batches_check on batches (check_at) where check_at is not null',
  ],
};
