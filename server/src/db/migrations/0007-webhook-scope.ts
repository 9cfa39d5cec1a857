import type { Migration } from './migration.ts';

/**
 * Lets a webhook receive the events of some sessions only, and carry a description and data of the account. A node of
 * the previous release ignores the sessions.
 */
export const webhookScope: Migration = {
  version: 7,
  name: 'webhook scope',
  statements: () => [
    `alter table webhooks add column session_ids text`,
    `alter table webhooks add column description text`,
    `alter table webhooks add column metadata text not null default '{}'`,
  ],
};
