import type { Dialect } from '../../dialect.ts';

/** The sandbox network. */
export const sandboxTables = ({ clustered, counted }: Dialect): readonly string[] => [
  `create table sandbox_numbers (number text primary key, session_id text not null, profile text) ${clustered}`,
  // A session takes the mail of every address that it has.
  `create index sandbox_numbers_session on sandbox_numbers (session_id)`,
  `create table sandbox_mailbox (
    mail_id ${counted}, session_id text not null, event text not null, direct_from text, sent_at bigint,
    message_id text, receipt_to text, confirms text, created_at bigint not null)`,
  `create index sandbox_mailbox_session on sandbox_mailbox (session_id, mail_id)`,
  // A sender that reconnects repeats unconfirmed messages. A message that is already waiting is not stored twice.
  `create unique index sandbox_mailbox_message on sandbox_mailbox (message_id, session_id)
    where message_id is not null`,
  `create table sandbox_groups (network_id text primary key, invite_code text, state text not null) ${clustered}`,
  `create unique index sandbox_groups_invite on sandbox_groups (invite_code) where invite_code is not null`,
  `create table sandbox_channels (
    network_id text primary key, invite_code text not null, owner text not null, state text not null)`,
  `create index sandbox_channels_owner on sandbox_channels (owner)`,
  `create unique index sandbox_channels_invite on sandbox_channels (invite_code)`,
];
