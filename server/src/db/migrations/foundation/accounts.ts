import type { Dialect } from '../../dialect.ts';

/** Accounts, their credentials, and what limits and records the use of these. */
export const accountTables = ({ counted }: Dialect): readonly string[] => [
  // The event log refers to accounts by their number.
  `create table accounts (
    seq ${counted}, account_id text not null unique, email text not null unique, name text, password_hash text not null,
    token_version integer not null, created_at bigint not null, link_salt text)`,

  `create table api_keys (
    account_id text not null, key_id text not null unique, name text not null, permissions text not null,
    key_hash text not null, created_at bigint not null, last_used_at bigint, expires_at bigint, session_ids text,
    allowed_ips text, allowed_recipients text, send_quota bigint, oauth_client_id text, oauth_client text,
    confirm text, requires_approval integer,
    primary key (account_id, key_id))`,
  `create index api_keys_by_oauth_client on api_keys (oauth_client_id) where oauth_client_id is not null`,
  `create table key_sends (
    key_id text not null, day bigint not null, sends bigint not null,
    primary key (key_id, day))`,
  `create table key_media (
    account_id text not null, key_id text not null, media_id text not null,
    primary key (account_id, key_id, media_id))`,

  `create table used_confirmations (
    account_id text not null, confirmation_id text not null, expires_at bigint not null,
    primary key (account_id, confirmation_id))`,
  `create index used_confirmations_age on used_confirmations (expires_at)`,

  `create table tool_calls (
    account_id text not null, call_id text not null, key_id text not null, tool text not null,
    arguments text not null, outcome text not null, duration_ms bigint not null, client_name text,
    client_version text, request_id text not null, created_at bigint not null,
    primary key (account_id, call_id))`,
  `create index tool_calls_key on tool_calls (account_id, key_id, call_id)`,

  `create table oauth_records (
    model text not null, record_id text not null, key_id text, payload text not null,
    created_at bigint not null, expires_at bigint not null, consumed_at bigint,
    primary key (model, record_id))`,
  `create index oauth_records_by_key on oauth_records (key_id) where key_id is not null`,
  `create index oauth_records_by_expiry on oauth_records (expires_at)`,

  `create table idempotency_keys (
    account_id text not null, idempotency_key text not null, request_hash text not null, sent_hash text,
    credential text, owner text not null, answer text, resource_id text not null, created_at bigint not null,
    primary key (account_id, idempotency_key))`,
  `create index idempotency_keys_age on idempotency_keys (created_at)`,

  `create table login_buckets (bucket text primary key, full_at bigint not null)`,
  `create index login_buckets_full on login_buckets (full_at)`,
];
