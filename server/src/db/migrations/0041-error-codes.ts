import type { Migration } from './migration.ts';

/**
 * Stores the error code of failed messages, so that a caller who waits for a queued message gets the
 * same error as for one that is sent immediately. A node of the previous release stores none.
 */
export const errorCodes: Migration = {
  version: 41,
  name: 'error codes of messages',
  statements: () => ['alter table messages add column error_code text'],
};
