import type { Migration } from './migration.ts';

/**
 * Bounds what is read for one session. With the index of the account's chats alone, a session passed the messages that
 * all others had exchanged with the same person, and its figures counted all chats that it had started in a week.
 * Messages that are due at one moment are read in their order, without sorting all of them, and groups are found by
 * their address without asking each session of the account. SQLite uses the index of chats only for queries with its
 * expression; it would prefer it to the index of unread messages. Nodes of the previous version do not count the chats
 * that they start.
 */
export const sessionReads: Migration = {
  version: 37,
  name: 'reads of one session',
  statements: () => [
    'create index messages_of_chat on messages (substr(session_id, 1), chat_id, message_id)',
    'drop index messages_scheduled',
    `create index messages_scheduled on messages (scheduled_at, message_id) where status = 'scheduled'`,

    'alter table session_activity add column new_chats integer not null default 0',
    'alter table session_activity add column answered_chats integer not null default 0',
    // Without a condition, SQLite would take `on conflict` for the `on` that follows a joined table.
    `insert into session_activity (account_id, session_id, at, sent, failed, unreachable, peak, look_ups,
        block_reports, spam_limits, restrictions, new_chats, answered_chats)
      select account_id, session_id, started_at - started_at % 600000, 0, 0, 0, 0, 0, 0, 0, 0, count(*), count(answered_at)
      from started_chats where true group by account_id, session_id, started_at - started_at % 600000
      on conflict (session_id, at) do update
        set new_chats = excluded.new_chats, answered_chats = excluded.answered_chats`,
    'drop index started_chats_time',

    'create index groups_address on groups (account_id, network_id)',
  ],
};
