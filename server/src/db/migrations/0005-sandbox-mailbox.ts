import type { Migration } from './migration.ts';

/**
 * Adds one mailbox table for all sandbox networks. It stores the waiting events of sessions, whatever their number.
 * Before, a process on SQLite kept numbers, groups and waiting events in memory. Its numbers are added here under both
 * addresses that `SANDBOX_SHARED` can require. Groups are restored when their sessions connect.
 */
export const sandboxMailbox: Migration = {
  version: 5,
  name: 'sandbox mailbox',
  breaksOlder: 'it replaces the tables through which their sandbox sessions reach one another',
  statements: ({ counted }) => [
    `alter table sandbox_numbers add column profile text`,
    `insert into sandbox_numbers (number, session_id)
      select linked.number, linked.session_id
      from (
        select account_id || '/' || phone_number as number, session_id, connector, status from sessions
        union all
        select phone_number, session_id, connector, status from sessions
      ) as linked
      where linked.connector = 'sandbox' and linked.number is not null
        and linked.status not in ('created', 'logged_out', 'failed')
        and not exists (select 1 from sandbox_numbers n where n.session_id = linked.session_id)
      order by linked.session_id
      on conflict do nothing`,
    `update sandbox_numbers set profile = (
        select p.state from sandbox_profiles p
        where p.number = sandbox_numbers.number and p.session_id = sandbox_numbers.session_id)`,

    `create table sandbox_mailbox (
      mail_id ${counted}, session_id text not null, event text not null, direct_from text, sent_at bigint,
      message_id text, receipt_to text, confirms text, created_at bigint not null)`,
    `create index sandbox_mailbox_session on sandbox_mailbox (session_id, mail_id)`,
    // A sender that reconnects repeats unconfirmed messages. A message that is already waiting is not stored twice.
    `create unique index sandbox_mailbox_message on sandbox_mailbox (message_id, session_id)
      where message_id is not null`,
    `insert into sandbox_mailbox (session_id, event, direct_from, sent_at, message_id, receipt_to, created_at)
      select n.session_id, p.event, p.direct_from, p.sent_at, p.message_id, sender.session_id, p.created_at
      from sandbox_post p join sandbox_numbers n on n.number = p.number
      left join sandbox_numbers sender on sender.number = p.receipt_to
      where true order by p.post_id
      on conflict do nothing`,
    // The mail of a change is removed after the change is stored, and dispatched again if the server dies in between.
    `alter table groups add column last_change_id text`,

    `drop table sandbox_post`,
    `drop table sandbox_receipts`,
    `drop table sandbox_profiles`,
  ],
};
