import type { Migration } from './migration.ts';

/**
 * Stores the part of an account's link key that it can rotate, and each webhook's maximum size of files in
 * deliveries. Null and 0 until they are set. A node of the previous release neither makes links nor adds files.
 */
export const mediaLinks: Migration = {
  version: 46,
  name: 'links to files',
  statements: () => [
    'alter table accounts add column link_salt text',
    'alter table webhooks add column inline_media_bytes bigint not null default 0',
  ],
};
