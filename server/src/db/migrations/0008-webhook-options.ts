import type { Migration } from './migration.ts';

/**
 * Lets a webhook filter its events, add headers to its deliveries, have a deadline and a retry schedule of its own, and
 * be paused. A node of the previous release ignores all of them.
 */
export const webhookOptions: Migration = {
  version: 8,
  name: 'webhook options',
  statements: () => [
    `alter table webhooks add column filters text`,
    `alter table webhooks add column headers text`,
    `alter table webhooks add column timeout_ms integer`,
    `alter table webhooks add column retry_seconds text`,
    `alter table webhooks add column paused integer not null default 0`,
  ],
};
