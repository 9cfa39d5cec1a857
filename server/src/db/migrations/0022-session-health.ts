import type { Migration } from './migration.ts';

/**
 * Keeps what a network could ban a session's number for. A node of the previous release neither reads nor writes it, so
 * what such a node sends is not counted.
 */
export const sessionHealth: Migration = {
  version: 22,
  name: 'session health',
  statements: ({ clustered }) => [
    `create table session_health (
      account_id text not null, session_id text not null, phone_number text not null, linked_at bigint not null,
      risk text not null, reasons text not null, standing text,
      primary key (session_id)) ${clustered}`,
    `insert into session_health (account_id, session_id, phone_number, linked_at, risk, reasons)
      select account_id, session_id, phone_number, created_at, 'low', '[]' from sessions where phone_number is not null`,
    `create index session_health_risk on session_health (risk) where risk <> 'low'`,

    `create table session_activity (
      account_id text not null, session_id text not null, at bigint not null, sent integer not null,
      failed integer not null, unreachable integer not null, peak integer not null, look_ups integer not null,
      block_reports integer not null, spam_limits integer not null, restrictions integer not null,
      primary key (session_id, at)) ${clustered}`,
    `create index session_activity_age on session_activity (at)`,

    `create table started_chats (
      account_id text not null, session_id text not null, chat_id text not null, started_at bigint not null,
      answered_at bigint,
      primary key (session_id, chat_id)) ${clustered}`,
    `create index started_chats_time on started_chats (session_id, started_at)`,
    `create index started_chats_age on started_chats (started_at)`,
  ],
};
