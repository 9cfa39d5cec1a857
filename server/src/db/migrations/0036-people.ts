import type { Migration } from './migration.ts';

/**
 * Finds the rows of a person, to move them to a number that has become known, without reading all groups or statuses.
 */
export const people: Migration = {
  version: 36,
  name: 'people',
  statements: () => [
    'create index group_participants_person on group_participants (account_id, phone_number, group_id)',
    'create index group_join_requests_person on group_join_requests (account_id, phone_number, group_id)',
    'create index groups_creator on groups (account_id, created_by, group_id)',
    'create index statuses_person on statuses (session_id, from_number)',
    'create index status_views_person on status_views (session_id, phone_number)',
    'drop index status_views_session',
  ],
};
