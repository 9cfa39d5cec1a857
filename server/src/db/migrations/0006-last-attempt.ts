import type { Migration } from './migration.ts';

/**
 * Stores the last attempt of a delivery in the delivery's own row: most deliveries succeed at the first one. Attempts
 * that were stored before stay in `attempts`. Why a delivery was cancelled or expired no longer replaces the message of
 * its last attempt.
 */
export const lastAttempt: Migration = {
  version: 6,
  name: 'last attempt',
  breaksOlder: 'it would not show the attempts that are stored with their deliveries',
  statements: () => [
    `alter table deliveries add column last_status integer`,
    `alter table deliveries add column last_duration_ms integer`,
    `alter table deliveries add column last_response text`,
    `alter table deliveries add column last_started_at bigint`,
    `alter table deliveries add column reason text`,
  ],
};
