import type { TableDescription } from '../description.ts';

/** Contacts, groups, statuses and channels. */
export const peopleTables: readonly TableDescription[] = [
  { table: 'contacts', key: ['session_id', 'phone_number'] },
  { table: 'network_numbers', key: ['account_id', 'phone_number'], since: 31 },
  { table: 'groups', key: ['account_id', 'group_id'] },
  { table: 'group_participants', key: ['account_id', 'group_id', 'phone_number'] },
  { table: 'group_join_requests', key: ['account_id', 'group_id', 'phone_number'], since: 20 },
  { table: 'group_former_members', key: ['account_id', 'group_id', 'phone_number'], since: 45 },
  { table: 'statuses', key: ['status_id'], since: 19 },
  { table: 'status_views', key: ['status_id', 'phone_number'], since: 19 },
  { table: 'channels', key: ['channel_id'], since: 19 },
  { table: 'channel_posts', key: ['post_id'], since: 19 },
  { table: 'followed_presences', key: ['session_id', 'phone_number'], since: 19 },
];
