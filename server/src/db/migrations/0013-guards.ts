import type { Migration } from './migration.ts';

/**
 * Lets an API key ask its user before some calls, and lists the tool calls of each key. A node of the previous release
 * does not ask, and records nothing.
 */
export const guards: Migration = {
  version: 13,
  name: 'guards',
  statements: () => [
    `alter table api_keys add column confirm text`,

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
  ],
};
