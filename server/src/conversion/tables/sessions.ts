import type { TableDescription } from '../description.ts';

export const sessionTables: readonly TableDescription[] = [
  { table: 'sessions', key: ['account_id', 'session_id'] },
  { table: 'session_history', key: ['session_id', 'entry_id'] },
  { table: 'session_store', key: ['session_id', 'key'] },
  {
    table: 'session_health',
    key: ['session_id'],
    since: 22,
    changes: [
      {
        below: 22,
        // Earlier versions did not assess the risk, so each number starts with the lowest one.
        rows: ({ source }) => `
          select account_id, session_id, phone_number, created_at as linked_at, 'low' as risk, '[]' as reasons,
            null as standing
          from ${source('sessions')} where phone_number is not null`,
      },
    ],
  },
  {
    table: 'session_activity',
    key: ['session_id', 'at'],
    since: 22,
    added: { unreadable: '0' },
    changes: [
      { below: 22 },
      {
        below: 37,
        // Counted from the chats that sessions started, in slots of ten minutes.
        rows: ({ source }) => `
          select account_id, session_id, at, sum(sent) as sent, sum(failed) as failed, sum(unreachable) as unreachable,
            sum(peak) as peak, sum(look_ups) as look_ups, sum(block_reports) as block_reports,
            sum(spam_limits) as spam_limits, sum(restrictions) as restrictions, sum(new_chats) as new_chats,
            sum(answered_chats) as answered_chats, 0 as unreadable
          from (
            select account_id, session_id, at, sent, failed, unreachable, peak, look_ups, block_reports, spam_limits,
              restrictions, 0 as new_chats, 0 as answered_chats from ${source('session_activity')}
            union all
            select account_id, session_id, started_at - started_at % 600000, 0, 0, 0, 0, 0, 0, 0, 0, count(*),
              count(answered_at)
              from ${source('started_chats')} group by account_id, session_id, started_at - started_at % 600000
          ) as counted
          group by account_id, session_id, at`,
      },
    ],
  },
  { table: 'started_chats', key: ['session_id', 'chat_id'], since: 22 },
  { table: 'template_states', key: ['session_id', 'template_id'], since: 21 },
  { table: 'early_receipts', key: ['session_id', 'network_id', 'status'], since: 21 },
  { table: 'early_changes', key: ['session_id', 'network_id', 'kind', 'from_number'], since: 38 },
  { table: 'callback_keys', key: ['session_id', 'callback_key'], since: 21 },
  { table: 'deletions', key: ['resource_id'], since: 25 },
];
