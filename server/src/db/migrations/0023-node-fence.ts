import type { Migration } from './migration.ts';

/**
 * Nodes fence their transactions with an advisory lock instead of a lock on their row. The deletion of a row takes it
 * too, so a node of the previous release waits for the transactions of the new ones when it evicts them.
 */
export const nodeFence: Migration = {
  version: 23,
  name: 'node fence',
  statements: ({ nodeFence }) => nodeFence,
};
