import type { Migration } from './migration.ts';

/**
 * Records deletions that take many transactions, so that they continue after a crash. A node of the previous release
 * neither continues them nor refuses to connect a session that is being deleted.
 */
export const deletions: Migration = {
  version: 25,
  name: 'deletions',
  statements: () => [
    `create table deletions (
      resource_id text primary key, account_id text not null, kind text not null, details text not null,
      created_at bigint not null, worked_until bigint not null)`,
    `alter table sessions add column deleting_at bigint`,
  ],
};
