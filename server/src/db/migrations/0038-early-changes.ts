import type { Migration } from './migration.ts';

/**
 * Changes that wait for their message: edits, deletions, reactions, votes and pins that a network reports first. During
 * an upgrade, nodes of the previous release drop such changes and ignore the waiting ones.
 */
export const earlyChanges: Migration = {
  version: 38,
  name: 'early changes',
  statements: () => [
    `create table early_changes (
      session_id text not null, network_id text not null, kind text not null, from_number text not null,
      account_id text not null, report text not null, at bigint not null, created_at bigint not null,
      primary key (session_id, network_id, kind, from_number))`,
    `create index early_changes_age on early_changes (created_at)`,
    `create index early_changes_session on early_changes (session_id, created_at)`,
    `create index early_changes_person on early_changes (session_id, from_number, created_at)`,
  ],
};
