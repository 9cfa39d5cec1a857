import type { TableDescription } from '../description.ts';

export const accountTables: readonly TableDescription[] = [
  { table: 'accounts', key: ['account_id'], drawn: ['seq'] },
  { table: 'api_keys', key: ['account_id', 'key_id'] },
  { table: 'key_sends', key: ['key_id', 'day'], since: 9 },
  { table: 'key_media', key: ['account_id', 'key_id', 'media_id'], since: 9 },
  { table: 'oauth_records', key: ['model', 'record_id'], since: 12 },
  { table: 'used_confirmations', key: ['account_id', 'confirmation_id'], since: 13 },
  { table: 'tool_calls', key: ['account_id', 'call_id'], since: 13 },
  { table: 'idempotency_keys', key: ['account_id', 'idempotency_key'] },
  { table: 'login_buckets', key: ['bucket'] },
  { table: 'secrets', key: ['name'] },
];
