import type { Migration } from './migration.ts';

/** Counts received messages that could not be decrypted. A node of the previous release counts none. */
export const unreadableMessages: Migration = {
  version: 40,
  name: 'unreadable messages',
  statements: () => [`alter table session_activity add column unreadable integer not null default 0`],
};
