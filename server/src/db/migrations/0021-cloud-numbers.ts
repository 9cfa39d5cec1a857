import type { Migration } from './migration.ts';

/**
 * Stores what business networks report about numbers, templates and prices, receipts that arrive before their message,
 * and which sessions a callback concerns. A node of the previous release leaves all of it empty.
 */
export const cloudNumbers: Migration = {
  version: 21,
  name: 'cloud numbers',
  statements: () => [
    `alter table sessions add column number_state text`,
    `alter table messages add column pricing text`,

    `create table template_states (
      session_id text not null, template_id text not null, account_id text not null, state text not null,
      updated_at bigint not null,
      primary key (session_id, template_id))`,

    `create table early_receipts (
      session_id text not null, network_id text not null, status text not null, account_id text not null,
      receipt text not null, created_at bigint not null,
      primary key (session_id, network_id, status))`,
    `create index early_receipts_age on early_receipts (session_id, created_at)`,

    `create table callback_keys (
      session_id text not null, callback_key text not null, account_id text not null, connector text not null,
      primary key (session_id, callback_key))`,
    `create index callback_keys_key on callback_keys (callback_key)`,
  ],
};
