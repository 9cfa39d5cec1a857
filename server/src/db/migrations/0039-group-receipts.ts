import type { Migration } from './migration.ts';

/**
 * Stores which group members received and read a message. A node of the previous release stores none, and leaves
 * the rows of messages that it deletes to the cleaning.
 */
export const groupReceipts: Migration = {
  version: 39,
  name: 'group receipts',
  statements: () => [
    `create table message_receipts (
      message_id text not null, phone_number text not null, account_id text not null, session_id text not null,
      chat_id text not null, delivered_at bigint not null, read_at bigint,
      primary key (message_id, phone_number, account_id))`,
    `create index message_receipts_chat on message_receipts (session_id, chat_id, message_id)`,
    `create index message_receipts_person on message_receipts (account_id, phone_number, message_id)`,
  ],
};
