import type { Migration } from './migration.ts';

/**
 * Lets lists of chats, of blocked contacts and of messages with a label find a page without sorting or passing all
 * rows. SQLite uses the index of chats only for queries with its expressions.
 */
export const listOrders: Migration = {
  version: 33,
  name: 'list orders',
  statements: () => [
    'create index chats_recent on chats (substr(session_id, 1), coalesce(last_message_id, chat_id))',
    'create index contacts_blocked on contacts (session_id, phone_number) where blocked = 1',
    'drop index message_labels_label',
    'create index message_labels_label on message_labels (account_id, label_id, message_id)',
  ],
};
