import type { Migration } from './migration.ts';

/**
 * Everything the product stores. Primary keys start with the account, which makes a query that forgets the account
 * a slow one as well as a wrong one, and spares a second index for its lists: ids sort by time.
 */
export const foundation: Migration = {
  version: 1,
  name: 'foundation',
  statements: ({ clustered, counted, log, search }) => [
    `create table accounts (
      account_id text primary key, email text not null unique, name text, password_hash text not null,
      token_version integer not null, created_at bigint not null)`,

    `create table api_keys (
      account_id text not null, key_id text not null unique, name text not null, permissions text not null,
      key_hash text not null, created_at bigint not null, last_used_at bigint, expires_at bigint,
      primary key (account_id, key_id))`,

    `create table sessions (
      account_id text not null, session_id text not null unique, name text, connector text not null,
      phone_number text, status text not null, wanted integer not null, connected_at bigint,
      disconnected_at bigint, will_reconnect integer not null, last_event_at bigint, error text, options text not null, metadata text not null,
      created_at bigint not null, lease_owner text, lease_generation integer not null,
      primary key (account_id, session_id))`,
    `create index sessions_wanted on sessions (session_id) where wanted = 1`,
    `create index sessions_free on sessions (session_id) where wanted = 1 and lease_owner is null`,
    `create index sessions_held on sessions (lease_owner, session_id) where lease_owner is not null`,

    `create table session_history (
      account_id text not null, session_id text not null, entry_id text not null, status text not null,
      reason text, at bigint not null,
      primary key (session_id, entry_id)) ${clustered}`,

    `create table session_store (
      session_id text not null, key text not null, value text not null,
      primary key (session_id, key)) ${clustered}`,

    `create table chats (
      account_id text not null, session_id text not null, chat_id text not null, type text not null,
      last_message_id text, last_message_at bigint, unread_count integer not null, archived integer not null,
      pinned integer not null, muted_until bigint,
      primary key (session_id, chat_id)) ${clustered}`,

    `create table messages (
      seq ${counted}, account_id text not null, message_id text not null, session_id text not null, chat_id text not null,
      network_id text not null, direction text not null, type text not null, from_number text not null,
      to_id text not null, body text not null, content text, reply_to text, status text not null, error text,
      timestamp bigint not null, created_at bigint not null, scheduled_at bigint, sent_at bigint,
      delivered_at bigint, read_at bigint, failed_at bigint, edited_at bigint, deleted_at bigint, sent_elsewhere bigint,
      unique (account_id, message_id))`,
    // A network redelivers: the same message of a session is stored once. Who sends may choose its id, so it is one
    // message only from the same sender in the same chat.
    `create unique index messages_network on messages (session_id, network_id, chat_id, from_number)`,
    `create index messages_chat on messages (account_id, chat_id, message_id)`,
    // What a session that comes back has to look at again: not sent yet, or not confirmed yet.
    `create index messages_queued on messages (session_id, message_id) where status = 'queued'`,
    `create index messages_sent on messages (session_id, message_id) where status = 'sent'`,
    // Filters of the list. Whoever wrote it is found among millions; so is a status that few messages have. What was
    // delivered or read is most of them, and found by walking back: that spares two index entries per message.
    // What was sent at a time that was set: its id is older.
    `create index messages_planned on messages (account_id, sent_at) where scheduled_at is not null`,
    `create index messages_from on messages (account_id, from_number, message_id)`,
    `create index messages_status on messages (account_id, status, message_id)
      where status in ('queued', 'scheduled', 'sent', 'failed')`,
    // What a chat that is marked read has to look at.
    `create index messages_unread on messages (session_id, chat_id, message_id)
      where direction = 'incoming' and status = 'delivered'`,
    // What is to be sent later, in the order of its time.
    `create index messages_scheduled on messages (scheduled_at) where status = 'scheduled'`,
    ...search.tables,

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

    `create table contacts (
      account_id text not null, session_id text not null, phone_number text not null, name text,
      blocked integer not null, on_network integer, checked_at bigint,
      primary key (session_id, phone_number)) ${clustered}`,

    `create table groups (
      account_id text not null, session_id text not null, group_id text not null, network_id text not null,
      subject text not null, description text, created_by text not null, announce integer not null,
      locked integer not null, join_approval integer not null, invite_code text, picture_media_id text, created_at bigint not null,
      left_at bigint,
      primary key (account_id, group_id), unique (session_id, network_id))`,

    `create table group_participants (
      account_id text not null, group_id text not null, phone_number text not null, role text not null,
      joined_at bigint not null,
      primary key (account_id, group_id, phone_number)) ${clustered}`,

    `create table media (
      account_id text not null, media_id text not null, hash text not null, mime_type text not null,
      size bigint not null, file_name text, created_at bigint not null,
      primary key (account_id, media_id))`,
    `create unique index media_hash on media (hash, account_id)`,

    `create table webhooks (
      account_id text not null, webhook_id text not null unique, is_default integer not null, url text not null,
      events text not null, secret text, previous_secret text, previous_secret_until bigint,
      enabled integer not null, max_in_flight integer not null, breaker_state text not null,
      breaker_generation integer not null, breaker text not null, created_at bigint not null,
      updated_at bigint not null, lease_owner text, lease_generation integer not null,
      primary key (account_id, webhook_id))`,
    `create unique index webhooks_default on webhooks (account_id) where is_default = 1`,
    `create index webhooks_free on webhooks (webhook_id) where lease_owner is null`,
    `create index webhooks_held on webhooks (lease_owner, webhook_id) where lease_owner is not null`,

    `create table webhook_minutes (
      webhook_id text not null, minute bigint not null, figures text not null,
      primary key (webhook_id, minute)) ${clustered}`,

    ...log.tables,
    `create table events (
      account_id text not null, event_id text not null, kind text not null, conversation text not null,
      message_id text, body text not null, trace text, is_test integer not null, created_at bigint not null,
      position bigint not null default (${log.position(0)}),
      primary key (account_id, event_id))`,
    ...(log.order.includes('position')
      ? ['create index events_position on events (account_id, position, event_id)']
      : []),
    `create index events_message on events (account_id, message_id) where message_id is not null`,

    `create table deliveries (
      account_id text not null, delivery_id text not null, webhook_id text not null, event_id text not null,
      kind text not null, conversation text not null, state text not null, due_at bigint not null,
      attempts integer not null, steps integer not null, last_class text, last_message text, is_test integer not null,
      created_at bigint not null, settled_at bigint,
      primary key (account_id, delivery_id)) ${clustered}`,
    `create index deliveries_event on deliveries (account_id, event_id)`,
    // The queue: what a lane reads, in order. A row leaves it when it is settled.
    `create index deliveries_due on deliveries (webhook_id, due_at, delivery_id) where state = 'pending'`,

    `create table attempts (
      account_id text not null, delivery_id text not null, number integer not null, webhook_id text not null,
      class text not null, status integer, duration_ms integer not null, message text not null, response text,
      started_at bigint not null,
      primary key (account_id, delivery_id, number)) ${clustered}`,

    `create table nodes (
      node_id text primary key, epoch bigint not null, instance text not null unique, url text, version text not null,
      carries integer not null, jwt_fingerprint text, file_store text, joined_at bigint not null,
      expires_at bigint not null)`,

    // The sandbox network between nodes. Where one process has the database to itself these stay empty: its memory does
    // the same.
    `create table sandbox_numbers (number text primary key, session_id text not null) ${clustered}`,
    `create table sandbox_post (
      post_id ${counted}, number text not null, event text not null, direct_from text, sent_at bigint, message_id text,
      receipt_to text, is_counted integer not null, created_at bigint not null)`,
    `create index sandbox_post_number on sandbox_post (number, post_id)`,
    // A sender that reconnects sends again what was not confirmed: what waits already is not put there twice.
    `create unique index sandbox_post_message on sandbox_post (number, message_id) where message_id is not null`,
    `create table sandbox_receipts (message_id text primary key, missing integer not null, created_at bigint not null)
      ${clustered}`,
    `create table sandbox_groups (network_id text primary key, invite_code text, state text not null) ${clustered}`,
    `create unique index sandbox_groups_invite on sandbox_groups (invite_code) where invite_code is not null`,
    // This one is used on every deployment: profiles outlive a restart.
    `create table sandbox_profiles (number text primary key, session_id text not null, state text not null) ${clustered}`,

    `create table idempotency_keys (
      account_id text not null, idempotency_key text not null, request_hash text not null, owner text not null,
      answer text, resource_id text not null, created_at bigint not null,
      primary key (account_id, idempotency_key))`,
    `create index idempotency_keys_age on idempotency_keys (created_at)`,

    `create table login_buckets (bucket text primary key, full_at bigint not null)`,
    `create index login_buckets_full on login_buckets (full_at)`,

    `create table secrets (name text primary key, value text not null)`,
  ],
};
