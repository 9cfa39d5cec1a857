import type { Migration } from './migration.ts';

/**
 * The event log no longer depends on the transactions of others. Its positions were ids of transactions, so readers had
 * to wait for every transaction of the database cluster that began before, also in another database.
 */
export const logPositions: Migration = {
  version: 4,
  name: 'log positions',
  statements: ({ logPositions }) => logPositions,
};
