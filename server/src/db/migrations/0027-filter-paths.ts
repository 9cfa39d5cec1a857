import type { Migration } from './migration.ts';

/**
 * Reserves the indexes of sessions and webhooks for lists, and gives lists of one state their own. SQLite preferred the
 * former ones to those of chats and of pending deliveries, and read whole sessions. It uses an index on an expression
 * only for queries with that expression.
 */
export const filterPaths: Migration = {
  version: 27,
  name: 'filter paths',
  statements: () => [
    'drop index messages_session',
    'create index messages_session on messages (substr(session_id, 1), message_id)',
    'drop index deliveries_webhook',
    'create index deliveries_webhook on deliveries (substr(webhook_id, 1), delivery_id)',
    `create index deliveries_state on deliveries (account_id, state, delivery_id)
      where state in ('failed', 'expired', 'cancelled')`,
  ],
};
