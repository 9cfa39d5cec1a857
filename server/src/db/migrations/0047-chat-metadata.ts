import type { Migration } from './migration.ts';

/** Stores metadata of chats. A node of the previous release does not show it, and drops it when it merges chats. */
export const chatMetadata: Migration = {
  version: 47,
  name: 'metadata of chats',
  statements: () => ["alter table chats add column metadata text not null default '{}'"],
};
