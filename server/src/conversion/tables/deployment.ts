import type { Names, TableDescription } from '../description.ts';

/** Nodes, time, and the sandbox networks. */
export const deploymentTables: readonly TableDescription[] = [
  { table: 'nodes', key: ['node_id'] },
  {
    table: 'steady_time',
    key: ['ms'],
    since: 3,
    changes: [{ below: 3, rows: () => 'select 0 as ms, 0 as at' }],
  },
  {
    table: 'sandbox_numbers',
    key: ['number'],
    changes: [
      { below: 2, rows: (names) => numbers(names, true) },
      { below: 5, rows: (names) => numbers(names, false) },
    ],
  },
  {
    table: 'sandbox_mailbox',
    key: ['mail_id'],
    since: 5,
    changes: [
      {
        below: 5,
        // Earlier versions stored waiting events by number.
        rows: ({ source, target }) => `
          with posts as (
            select p.*, n.session_id, sender.session_id as sender_id, row_number() over (
              partition by n.session_id, coalesce(p.message_id, cast(p.post_id as text)) order by p.post_id) as copy
            from ${source('sandbox_post')} p
              join ${target('sandbox_numbers')} n on n.number = p.number
              left join ${target('sandbox_numbers')} sender on sender.number = p.receipt_to)
          select row_number() over (order by post_id) as mail_id, session_id, event, direct_from, sent_at, message_id,
            sender_id as receipt_to, cast(null as text) as confirms, created_at
          from posts where copy = 1`,
      },
    ],
  },
  {
    table: 'sandbox_groups',
    key: ['network_id'],
    changes: [
      {
        below: 2,
        rows: ({ source }) => `
          select network_id, invite_code, state from ${source('sandbox_groups')}
          union
          select g.account_id || '/' || n.network_id, g.account_id || '/' || n.invite_code, n.state
          from ${source('sandbox_groups')} n join ${source('groups')} g on g.network_id = n.network_id
          where g.left_at is null`,
      },
    ],
  },
  { table: 'sandbox_channels', key: ['network_id'], since: 19 },
];

/** Tables and columns of earlier versions that are gone, or whose values are in others by now. */
export const former: readonly string[] = [
  'log_origin',
  'message_words',
  'sandbox_post',
  'sandbox_receipts',
  'sandbox_profiles',
  'events.account_id',
  ...[
    'account_id',
    'webhook_id',
    'event_id',
    'conversation',
    'due_at',
    'position',
    'held_behind',
    'is_test',
    'created_at',
  ].map((column) => `deliveries.${column}`),
  ...['account_id', 'delivery_id', 'webhook_id'].map((column) => `attempts.${column}`),
];

/**
 * The registered numbers with their profiles. Version 1 has no networks of accounts, so each number and profile is also
 * registered there. A process on SQLite kept the numbers in memory: they follow from the sessions, under both
 * addresses that `SANDBOX_SHARED` can require.
 */
function numbers({ source }: Names, isShared: boolean): string {
  const scoped = (table: string, columns: string) =>
    isShared
      ? `union all
        select s.account_id || '/' || n.number, n.session_id${columns}
        from ${source(table)} n join ${source('sessions')} s on s.session_id = n.session_id`
      : '';
  return `
    with registered as (
      select number, session_id from ${source('sandbox_numbers')} ${scoped('sandbox_numbers', '')}),
    profiles as (
      select number, session_id, state from ${source('sandbox_profiles')} ${scoped('sandbox_profiles', ', n.state')}),
    linked as (
      select number, min(session_id) as session_id from (
        select account_id || '/' || phone_number as number, session_id, connector, status from ${source('sessions')}
        union all
        select phone_number, session_id, connector, status from ${source('sessions')}) as addresses
      where connector = 'sandbox' and number is not null and status not in ('created', 'logged_out', 'failed')
        and session_id not in (select session_id from registered)
        and number not in (select number from registered)
      group by number)
    select number, session_id, (
        select p.state from profiles p where p.number = known.number and p.session_id = known.session_id) as profile
    from (select number, session_id from registered union all select number, session_id from linked) as known`;
}
