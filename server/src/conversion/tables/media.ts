import type { TableDescription } from '../description.ts';

export const mediaTables: readonly TableDescription[] = [
  { table: 'media', key: ['account_id', 'media_id'] },
  { table: 'media_conversions', key: ['account_id', 'hash', 'target'], since: 18 },
  { table: 'unused_contents', key: ['hash'], since: 18 },
];
