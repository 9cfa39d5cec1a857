import type { Migration } from './migration.ts';

/**
 * Adds what owners arrange in chats: labels, stars, pins, chats marked as unread, and disappearing messages. A node of
 * the previous release stores chats and messages without them.
 */
export const chats: Migration = {
  version: 17,
  name: 'chats',
  statements: ({ clustered }) => [
    `alter table chats add column marked_unread integer not null default 0`,
    `alter table chats add column disappearing_seconds bigint`,
    `alter table messages add column expires_in bigint`,
    `alter table messages add column starred_at bigint`,
    `alter table messages add column pinned_until bigint`,
    `create index messages_starred on messages (account_id, message_id) where starred_at is not null`,
    `create table cleared_chats (
      account_id text not null, session_id text not null, chat_id text not null, cleared_at bigint not null,
      primary key (session_id, chat_id)) ${clustered}`,
    `create table labels (
      account_id text not null, session_id text not null, label_id text not null, network_id text not null,
      name text not null, color integer not null, created_at bigint not null,
      primary key (account_id, label_id)) ${clustered}`,
    `create unique index labels_network on labels (session_id, network_id)`,
    `create table chat_labels (
      account_id text not null, session_id text not null, chat_id text not null, label_id text not null,
      primary key (session_id, chat_id, label_id)) ${clustered}`,
    `create index chat_labels_label on chat_labels (account_id, label_id)`,
    `create table message_labels (
      account_id text not null, message_id text not null, label_id text not null,
      primary key (account_id, message_id, label_id)) ${clustered}`,
    `create index message_labels_label on message_labels (account_id, label_id)`,
  ],
};
