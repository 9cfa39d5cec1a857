import type { Migration } from './migration.ts';

/**
 * Lets the messages of an API key wait for approval. A node of the previous release ignores the setting of the key, and
 * sends no message that waits.
 */
export const approvals: Migration = {
  version: 14,
  name: 'approvals',
  statements: () => [
    `alter table api_keys add column requires_approval integer`,
    `alter table messages add column approval text`,
    `create index messages_approval on messages (account_id, message_id) where status = 'pending_approval'`,
    `create index messages_unapproved on messages (created_at) where status = 'pending_approval'`,
  ],
};
