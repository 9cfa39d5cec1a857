import type { Migration } from './migration.ts';

/**
 * Stores what changes of messages depend on and what a deletion would forget: members who have left a group,
 * placeholders that were deleted, the ids of added files, and the ads that led to a chat. A node of the previous
 * release adds none.
 */
export const messageChanges: Migration = {
  version: 45,
  name: 'changes of messages',
  statements: () => [
    `create table group_former_members (
      account_id text not null, group_id text not null, phone_number text not null, left_at bigint not null,
      primary key (account_id, group_id, phone_number))`,
    'create index group_former_members_person on group_former_members (account_id, phone_number, group_id)',
    'create index group_former_members_age on group_former_members (left_at)',
    `create table removed_placeholders (
      session_id text not null, network_id text not null, from_number text not null, account_id text not null,
      created_at bigint not null, primary key (session_id, network_id, from_number))`,
    'create index removed_placeholders_age on removed_placeholders (created_at)',
    'create index removed_placeholders_person on removed_placeholders (session_id, from_number)',
    `create table added_files (
      session_id text not null, network_id text not null, message_id text not null, account_id text not null,
      replaced_at bigint, primary key (session_id, network_id, message_id))`,
    'create index added_files_message on added_files (account_id, message_id)',
    `create table chat_ads (
      session_id text not null, chat_id text not null, ad_id text not null, account_id text not null,
      primary key (session_id, chat_id, ad_id))`,
    `insert into chat_ads (session_id, chat_id, ad_id, account_id)
      select distinct session_id, chat_id, ad_id, account_id from messages where ad_id is not null`,
    'drop index messages_referral_chat',
  ],
};
