import type { Migration } from './migration.ts';

/**
 * Lets a webhook expire. `expires_at` is only for subscriptions: a node of the previous release ends whatever has it.
 * That node removes no expired webhook.
 */
export const webhookExpiry: Migration = {
  version: 49,
  name: 'webhook expiry',
  statements: () => [
    'alter table webhooks add column remove_at bigint',
    'create index webhooks_remove_at on webhooks (remove_at) where remove_at is not null',
  ],
};
