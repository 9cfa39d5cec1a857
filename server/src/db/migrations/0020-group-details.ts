import type { Migration } from './migration.ts';

/**
 * Adds what a network tells about a group besides its subject and participants, and the people who ask to join it. A
 * node of the previous release leaves the columns as they are.
 */
export const groupDetails: Migration = {
  version: 20,
  name: 'group details',
  statements: ({ clustered }) => [
    `alter table groups add column member_add text`,
    `alter table groups add column disappearing_seconds bigint`,
    `alter table groups add column is_community integer`,
    `alter table groups add column community text`,
    `alter table groups add column is_announcement_group integer`,
    `create index groups_communities on groups (account_id, group_id) where is_community = 1`,
    `create table group_join_requests (
      account_id text not null, group_id text not null, phone_number text not null, method text,
      requested_at bigint not null,
      primary key (account_id, group_id, phone_number)) ${clustered}`,
  ],
};
