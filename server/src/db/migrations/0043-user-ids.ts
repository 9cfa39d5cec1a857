import type { Migration } from './migration.ts';

/** Stores each contact's user id and user name. A node of the previous release stores neither. */
export const userIds: Migration = {
  version: 43,
  name: 'user ids of contacts',
  statements: () => ['alter table contacts add column user_id text', 'alter table contacts add column user_name text'],
};
