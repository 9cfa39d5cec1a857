import type { Dialect } from '../../dialect.ts';
import { outboxTables } from './outbox.ts';

/** Messages and what belongs to each. */
export const messageTables = (dialect: Dialect): readonly string[] => [...ownTables(dialect), ...outboxTables(dialect)];

const ownTables = ({ clustered, counted, fillfactor, search }: Dialect): readonly string[] => [
  // No index contains a column that changes when a message is sent, delivered or read: on PostgreSQL, such an update
  // would add an entry to every index of the table. With 50 sends at the same time, 92 % of the updates then stay on
  // their page (28 % with full pages), and table and indexes are 11 % smaller.
  `create table messages (
    seq ${counted}, account_id text not null, message_id text not null, session_id text not null,
    chat_id text not null, network_id text not null, direction text not null, type text not null,
    from_number text not null, to_id text not null, body text not null, content text, reply_to text,
    status text not null, error text, error_code text, ad_id text, timestamp bigint not null,
    created_at bigint not null, scheduled_at bigint, sent_at bigint, delivered_at bigint, read_at bigint,
    failed_at bigint, edited_at bigint, deleted_at bigint, sent_elsewhere bigint, approval text, origin text,
    reply_network_id text, file_reference text, expires_in bigint, starred_at bigint, pinned_until bigint,
    pin_changed_at bigint, pricing text, turn bigint, key_id text, late_at bigint,
    unique (account_id, message_id)) ${fillfactor(55)}`,
  // Networks report messages again: each is stored once. Senders choose ids, so chat and sender are part of it.
  `create unique index messages_network on messages (session_id, network_id, chat_id, from_number)`,
  `create index messages_chat on messages (account_id, chat_id, message_id)`,
  // SQLite uses an index on an expression only for queries with that expression. It would prefer these two to the
  // unique ones of a message, and read whole sessions.
  `create index messages_of_chat on messages (substr(session_id, 1), chat_id, message_id)`,
  `create index messages_session on messages (substr(session_id, 1), message_id)`,
  // Filters of the list. Most messages are texts: these are found in the list itself, and cost no entry in an index.
  `create index messages_from on messages (account_id, from_number, message_id)`,
  `create index messages_failed on messages (account_id, message_id) where failed_at is not null`,
  `create index messages_type on messages (account_id, type, message_id) where type <> 'text'`,
  `create index messages_origin on messages (account_id, message_id) where origin = 'history'`,
  `create index messages_starred on messages (account_id, message_id) where starred_at is not null`,
  `create index messages_referral on messages (account_id, message_id) where ad_id is not null`,
  `create index messages_ad on messages (account_id, ad_id, message_id) where ad_id is not null`,
  // Messages that were sent long after they were stored are newer than their ids.
  `create index messages_late on messages (account_id, late_at) where late_at is not null`,
  // Replies whose original has not been imported yet.
  `create index messages_reply on messages (session_id, reply_network_id)
    where reply_network_id is not null and reply_to is null`,
  ...search.tables,
  `create table search_cursor (seq bigint not null)`,
  `insert into search_cursor values (0)`,

  `create table reactions (
    account_id text not null, message_id text not null, from_number text not null, emoji text not null,
    at bigint not null,
    primary key (account_id, message_id, from_number)) ${clustered}`,
  `create index reactions_from on reactions (account_id, from_number)`,
  `create table poll_votes (
    account_id text not null, message_id text not null, from_number text not null, options text not null,
    at bigint not null,
    primary key (account_id, message_id, from_number)) ${clustered}`,
  `create index poll_votes_from on poll_votes (account_id, from_number)`,
  `create table message_labels (
    account_id text not null, message_id text not null, label_id text not null,
    primary key (account_id, message_id, label_id)) ${clustered}`,
  `create index message_labels_label on message_labels (account_id, label_id, message_id)`,
  `create table message_receipts (
    message_id text not null, phone_number text not null, account_id text not null, session_id text not null,
    chat_id text not null, delivered_at bigint not null, read_at bigint,
    primary key (message_id, phone_number, account_id))`,
  `create index message_receipts_chat on message_receipts (session_id, chat_id, message_id)`,
  `create index message_receipts_person on message_receipts (account_id, phone_number, message_id)`,
  `create table added_files (
    session_id text not null, network_id text not null, message_id text not null, account_id text not null,
    replaced_at bigint, primary key (session_id, network_id, message_id))`,
  `create index added_files_message on added_files (account_id, message_id)`,

  // Reports about messages that are not stored, or no longer.
  `create table early_receipts (
    session_id text not null, network_id text not null, status text not null, account_id text not null,
    receipt text not null, created_at bigint not null,
    primary key (session_id, network_id, status))`,
  `create index early_receipts_age on early_receipts (session_id, created_at)`,
  `create table early_changes (
    session_id text not null, network_id text not null, kind text not null, from_number text not null,
    account_id text not null, report text not null, at bigint not null, created_at bigint not null,
    primary key (session_id, network_id, kind, from_number))`,
  `create index early_changes_age on early_changes (created_at)`,
  `create index early_changes_session on early_changes (session_id, created_at)`,
  `create index early_changes_person on early_changes (session_id, from_number, created_at)`,
  `create table removed_placeholders (
    session_id text not null, network_id text not null, from_number text not null, account_id text not null,
    created_at bigint not null, primary key (session_id, network_id, from_number))`,
  `create index removed_placeholders_age on removed_placeholders (created_at)`,
  `create index removed_placeholders_person on removed_placeholders (session_id, from_number)`,

  `create table batches (
    account_id text not null, batch_id text not null, session_id text not null, status text not null,
    type text not null, accepted integer not null, refused integer not null, duplicates integer not null,
    interval_ms bigint not null, ends_at bigint not null, check_at bigint, key_id text,
    created_at bigint not null, updated_at bigint not null,
    primary key (account_id, batch_id))`,
  `create index batches_session on batches (session_id, batch_id)`,
  `create index batches_check on batches (check_at) where check_at is not null`,
];
