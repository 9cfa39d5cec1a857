import type { Migration } from './migration.ts';

/**
 * Keeps the numbers that accounts were shown although no numbering plan has them. A node of the previous release
 * neither reads nor writes them, so it refuses these numbers as before.
 */
export const networkNumbers: Migration = {
  version: 31,
  name: 'network numbers',
  statements: ({ clustered }) => [
    `create table network_numbers (
      account_id text not null, phone_number text not null, noted_at bigint not null,
      primary key (account_id, phone_number)) ${clustered}`,
    `create index network_numbers_age on network_numbers (account_id, noted_at)`,
  ],
};
