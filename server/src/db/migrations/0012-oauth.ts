import type { Migration } from './migration.ts';

/**
 * Adds what OAuth stores, and lets an API key stand for a connected app. A node of the previous release lists an app as
 * a key that nobody can use, and answers its access tokens with 401.
 */
export const oauth: Migration = {
  version: 12,
  name: 'oauth',
  statements: () => [
    `alter table api_keys add column oauth_client_id text`,
    `alter table api_keys add column oauth_client text`,
    `create index api_keys_by_oauth_client on api_keys (oauth_client_id) where oauth_client_id is not null`,
    `create table oauth_records (
      model text not null, record_id text not null, key_id text, payload text not null,
      created_at bigint not null, expires_at bigint not null, consumed_at bigint,
      primary key (model, record_id))`,
    `create index oauth_records_by_key on oauth_records (key_id) where key_id is not null`,
    `create index oauth_records_by_expiry on oauth_records (expires_at)`,
  ],
};
