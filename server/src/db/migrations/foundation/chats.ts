import type { Dialect } from '../../dialect.ts';

/** Chats, contacts and groups. */
export const chatTables = ({ clustered }: Dialect): readonly string[] => [
  `create table chats (
    account_id text not null, session_id text not null, chat_id text not null, type text not null,
    last_message_id text, last_message_at bigint, unread_count integer not null, archived integer not null,
    pinned integer not null, muted_until bigint, marked_unread integer not null default 0,
    disappearing_seconds bigint, disappearing_changed_at bigint, metadata text not null default '{}',
    primary key (session_id, chat_id)) ${clustered}`,
  // SQLite uses it only for queries with its expressions.
  `create index chats_recent on chats (substr(session_id, 1), coalesce(last_message_id, chat_id))`,
  `create table cleared_chats (
    account_id text not null, session_id text not null, chat_id text not null, cleared_at bigint not null,
    primary key (session_id, chat_id)) ${clustered}`,
  `create table chat_ads (
    session_id text not null, chat_id text not null, ad_id text not null, account_id text not null,
    primary key (session_id, chat_id, ad_id))`,
  `create table labels (
    account_id text not null, session_id text not null, label_id text not null, network_id text not null,
    name text not null, color integer not null, created_at bigint not null,
    primary key (account_id, label_id)) ${clustered}`,
  `create unique index labels_network on labels (session_id, network_id)`,
  `create table chat_labels (
    account_id text not null, session_id text not null, chat_id text not null, label_id text not null,
    primary key (session_id, chat_id, label_id)) ${clustered}`,
  `create index chat_labels_label on chat_labels (account_id, label_id)`,

  `create table contacts (
    account_id text not null, session_id text not null, phone_number text not null, name text, saved_name text,
    blocked integer not null, on_network integer, checked_at bigint, user_id text, user_name text,
    primary key (session_id, phone_number)) ${clustered}`,
  `create index contacts_blocked on contacts (session_id, phone_number) where blocked = 1`,
  `create table network_numbers (
    account_id text not null, phone_number text not null, noted_at bigint not null,
    primary key (account_id, phone_number)) ${clustered}`,
  `create index network_numbers_age on network_numbers (account_id, noted_at)`,
  `create table followed_presences (
    account_id text not null, session_id text not null, phone_number text not null, followed_at bigint not null,
    presence text, last_seen bigint, updated_at bigint, primary key (session_id, phone_number))`,

  `create table groups (
    account_id text not null, session_id text not null, group_id text not null, network_id text not null,
    subject text not null, description text, created_by text not null, announce integer not null,
    locked integer not null, join_approval integer not null, member_add text, disappearing_seconds bigint,
    is_community integer, community text, is_announcement_group integer, invite_code text, picture_media_id text,
    created_at bigint not null, left_at bigint, last_change_id text,
    primary key (account_id, group_id), unique (session_id, network_id))`,
  `create index groups_address on groups (account_id, network_id)`,
  `create index groups_communities on groups (account_id, group_id) where is_community = 1`,
  `create index groups_creator on groups (account_id, created_by, group_id)`,
  `create index groups_picture on groups (account_id, picture_media_id) where picture_media_id is not null`,
  `create table group_participants (
    account_id text not null, group_id text not null, phone_number text not null, role text not null,
    joined_at bigint not null,
    primary key (account_id, group_id, phone_number)) ${clustered}`,
  `create index group_participants_person on group_participants (account_id, phone_number, group_id)`,
  `create table group_former_members (
    account_id text not null, group_id text not null, phone_number text not null, left_at bigint not null,
    primary key (account_id, group_id, phone_number))`,
  `create index group_former_members_person on group_former_members (account_id, phone_number, group_id)`,
  `create index group_former_members_age on group_former_members (left_at)`,
  `create table group_join_requests (
    account_id text not null, group_id text not null, phone_number text not null, method text,
    requested_at bigint not null,
    primary key (account_id, group_id, phone_number)) ${clustered}`,
  `create index group_join_requests_person on group_join_requests (account_id, phone_number, group_id)`,
];
