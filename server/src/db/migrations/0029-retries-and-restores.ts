import type { Migration } from './migration.ts';

/**
 * Recognizes a repeated request by what its caller sent, for each credential apart, and a log that was restored. A node
 * of the previous release recognizes requests by their hash with defaults, and keeps doing so: it is still stored.
 */
export const retriesAndRestores: Migration = {
  version: 29,
  name: 'retries and restores',
  statements: ({ clustered }) => [
    `alter table idempotency_keys add column sent_hash text`,
    `alter table idempotency_keys add column credential text`,
    `create table log_epochs (
      epoch text not null, starts_after text not null, server text, written_by text, created_at bigint not null,
      primary key (epoch)) ${clustered}`,
    `insert into log_epochs (epoch, starts_after, created_at) values ('', '0.evt_00000000000000000000000000', 0)`,
  ],
};
