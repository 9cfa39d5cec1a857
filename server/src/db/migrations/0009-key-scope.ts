import type { Migration } from './migration.ts';

/**
 * Limits API keys to sessions, addresses and recipients, and to a number of sends per day. A node of the previous
 * release ignores the limits.
 */
export const keyScope: Migration = {
  version: 9,
  name: 'key scope',
  statements: () => [
    `alter table api_keys add column session_ids text`,
    `alter table api_keys add column allowed_ips text`,
    `alter table api_keys add column allowed_recipients text`,
    `alter table api_keys add column send_quota bigint`,
    `create table key_sends (
      key_id text not null, day bigint not null, sends bigint not null,
      primary key (key_id, day))`,
    `create table key_media (
      account_id text not null, key_id text not null, media_id text not null,
      primary key (account_id, key_id, media_id))`,
  ],
};
