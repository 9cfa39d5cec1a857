import type { Migration } from './migration.ts';

/**
 * Stores facts about files, the results of their conversion, and contents that no file refers to any longer. A node of
 * the previous release neither reads nor writes any of it.
 */
export const mediaFacts: Migration = {
  version: 18,
  name: 'media facts',
  statements: () => [
    `alter table media add column facts text`,
    `alter table media add column thumbnail text`,
    `alter table media add column used_at bigint`,
    `create index media_used on media (coalesce(used_at, created_at))`,
    `create table media_conversions (
      account_id text not null, hash text not null, target text not null, media_id text not null,
      created_at bigint not null, primary key (account_id, hash, target))`,
    `create index media_conversions_media on media_conversions (account_id, media_id)`,
    `create table unused_contents (hash text primary key, unused_at bigint not null, removing_until bigint)`,
  ],
};
