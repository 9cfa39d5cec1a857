import type { Migration } from './migration.ts';

/**
 * Lets a webhook belong to the subscription of an MCP client. Its destination has a type that a node of the previous
 * release does not know, so such a node delivers nothing to it, and the deliveries stay pending for a node of this
 * release.
 */
export const eventSubscriptions: Migration = {
  version: 15,
  name: 'event subscriptions',
  statements: () => [
    `alter table webhooks add column subscription_id text`,
    `alter table webhooks add column key_id text`,
    `alter table webhooks add column arguments text`,
    `alter table webhooks add column expires_at bigint`,
    `create unique index webhooks_subscription on webhooks (account_id, subscription_id)
      where subscription_id is not null`,
    `create index webhooks_expiry on webhooks (expires_at) where expires_at is not null`,
  ],
};
