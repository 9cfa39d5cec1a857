import type { Migration } from './migration.ts';

/**
 * Gives messages that are queued after they were stored a place in their chat. A node of the previous release queues
 * without one, so such a message keeps the place at which it was stored.
 */
export const sendOrder: Migration = {
  version: 28,
  name: 'send order',
  statements: () => [
    `alter table messages add column turn bigint`,
    `drop index messages_queued`,
    `create index messages_queued on messages (session_id, chat_id, coalesce(turn, seq * 65536), message_id)
      where status = 'queued'`,
  ],
};
