import type { Dialect } from '../../dialect.ts';

/** Sessions, what their networks report about them, and how likely a network is to ban them. */
export const sessionTables = ({ clustered }: Dialect): readonly string[] => [
  `create table sessions (
    account_id text not null, session_id text not null unique, name text, connector text not null,
    phone_number text, status text not null, wanted integer not null, connected_at bigint,
    disconnected_at bigint, will_reconnect integer not null, last_event_at bigint, error text, options text not null,
    metadata text not null, created_at bigint not null, history text, lease_owner text,
    lease_generation integer not null, number_state text, call_text_key text, deleting_at bigint,
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

  `create table callback_keys (
    session_id text not null, callback_key text not null, account_id text not null, connector text not null,
    primary key (session_id, callback_key))`,
  `create index callback_keys_key on callback_keys (callback_key)`,
  `create table template_states (
    session_id text not null, template_id text not null, account_id text not null, state text not null,
    updated_at bigint not null,
    primary key (session_id, template_id))`,

  `create table session_health (
    account_id text not null, session_id text not null, phone_number text not null, linked_at bigint not null,
    risk text not null, reasons text not null, standing text,
    primary key (session_id)) ${clustered}`,
  `create index session_health_risk on session_health (risk) where risk <> 'low'`,
  `create table session_activity (
    account_id text not null, session_id text not null, at bigint not null, sent integer not null,
    failed integer not null, unreachable integer not null, peak integer not null, look_ups integer not null,
    block_reports integer not null, spam_limits integer not null, restrictions integer not null,
    new_chats integer not null default 0, answered_chats integer not null default 0,
    unreadable integer not null default 0,
    primary key (session_id, at)) ${clustered}`,
  `create index session_activity_age on session_activity (at)`,
  `create table started_chats (
    account_id text not null, session_id text not null, chat_id text not null, started_at bigint not null,
    answered_at bigint,
    primary key (session_id, chat_id)) ${clustered}`,
  `create index started_chats_age on started_chats (started_at)`,
];
