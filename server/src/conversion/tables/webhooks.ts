import type { Names, TableDescription } from '../description.ts';
import { idHash, idTime } from './ids.ts';

/** Types of most events, which indexes leave out. */
const USUAL = `('message.incoming', 'message.sent', 'message.delivered', 'message.read')`;
/** Positions of the event log on PostgreSQL start here since version 4. Before, they were ids of transactions. */
const FIRST_DRAWN = 2 ** 40;
/** Positions of events that have none, or share it with others. */
const POSITIONS = 'conversion_positions';

/**
 * Events without a position of their own get one behind the cursors of all events before them, in the order of the log:
 * on SQLite in the millisecond of their id, which is where a cursor without a position continues, and on PostgreSQL
 * after the last id of a transaction.
 */
function positions(names: Names): string {
  const events = names.source('events');
  if (names.database === 'sqlite') {
    const time = idTime(names, 'event_id');
    return `
      select account_id, event_id, ${time} * 1000 + row_number() over (partition by ${time} order by event_id) - 1 as position
      from ${events} where position = 0`;
  }
  return `
    select account_id, event_id,
      (select max(position) from ${events} where position < ${FIRST_DRAWN})
        + row_number() over (order by position, event_id) as position
    from ${events} where position < ${FIRST_DRAWN}`;
}

/** Joins the row of an event `e` with its position. */
const positionOf = ({ target }: Names) => `
  left join ${target(POSITIONS)} p on p.account_id = e.account_id and p.event_id = e.event_id`;

/** Joins a delivery `d` with its event `e`, its webhook `r` and its account `a`. */
const delivery = (names: Names) => `
  join ${names.source('events')} e on e.account_id = d.account_id and e.event_id = d.event_id
  join ${names.target('receivers')} r on r.webhook_id = d.webhook_id
  join ${names.target('accounts')} a on a.account_id = d.account_id
  ${positionOf(names)}`;

const POSITION = 'coalesce(p.position, e.position)';

/** Due immediately in versions without positions, unless it waits for a retry. */
const dueAt = ({ version }: Names) =>
  version < 3 ? 'case when s.attempts = 0 and s.due_at <= s.created_at then 0 else s.due_at end' : 's.due_at';

const asDelivery = (names: Names) => delivery(names).replaceAll(/\bd\./g, 's.');

/** Joins the event of the delivery that a delivery waits for. */
const heldBehind = (names: Names) =>
  names.version < 10
    ? ''
    : `
  left join ${names.source('deliveries')} h on h.account_id = s.account_id and h.delivery_id = s.held_behind
  left join ${names.source('events')} he on he.account_id = h.account_id and he.event_id = h.event_id
  left join ${names.target(POSITIONS)} hp on hp.account_id = he.account_id and hp.event_id = he.event_id`;

export const webhookTables: readonly TableDescription[] = [
  {
    table: 'webhooks',
    key: ['account_id', 'webhook_id'],
    added: {
      metadata: `'{}'`,
      paused: '0',
      ordering: `'best_effort'`,
      deaths: '0',
      accept_redirects: '0',
      inline_media_bytes: '0',
    },
  },
  { table: 'webhook_minutes', key: ['webhook_id', 'minute'] },
  {
    table: 'receivers',
    key: [],
    changes: [
      {
        // Removed webhooks too, as long as there are deliveries of them.
        rows: ({ source }) => `
          select row_number() over (order by webhook_id) as seq, webhook_id from (
            select webhook_id from ${source('webhooks')}
            union select webhook_id from ${source('deliveries')}) as known`,
      },
    ],
  },
  {
    table: 'events',
    key: ['account_id', 'event_id'],
    changes: [
      {
        helper: { table: POSITIONS, as: positions },
        join: (names) => `
          join ${names.target('accounts')} a on a.account_id = s.account_id
          left join ${names.target(POSITIONS)} p on p.account_id = s.account_id and p.event_id = s.event_id`,
        columns: (names) => ({
          account: 'a.seq',
          position: 'coalesce(p.position, s.position)',
          message_hash: `case when s.message_id is not null then ${idHash(names, 's.message_id')} end`,
        }),
      },
    ],
  },
  {
    table: 'deliveries',
    key: ['account_id', 'delivery_id'],
    changes: [
      {
        join: asDelivery,
        columns: () => ({
          event: POSITION,
          webhook: 'r.seq',
          account: 'a.seq',
          kind: `case when s.kind not in ${USUAL} then s.kind end`,
          undelivered: `case when s.state in ('failed', 'expired', 'cancelled') then s.state end`,
        }),
      },
    ],
  },
  {
    table: 'queue',
    source: 'deliveries',
    key: ['account_id', 'delivery_id'],
    changes: [
      {
        join: asDelivery,
        where: (names) => `s.state = 'pending' and ${dueAt(names)} = 0`,
        columns: () => ({
          event: POSITION,
          webhook: 'r.seq',
          conversation: 'case when s.conversation <> e.conversation then s.conversation end',
        }),
      },
    ],
  },
  {
    table: 'waiting',
    source: 'deliveries',
    key: ['account_id', 'delivery_id'],
    changes: [
      {
        join: (names) => `${asDelivery(names)} ${heldBehind(names)}`,
        where: (names) => `s.state = 'pending' and ${dueAt(names)} <> 0`,
        columns: (names) => ({
          event: POSITION,
          webhook: 'r.seq',
          due_at: dueAt(names),
          held_behind: names.version < 10 ? 'null' : 'coalesce(hp.position, he.position)',
        }),
      },
    ],
  },
  {
    table: 'attempts',
    key: ['account_id', 'delivery_id', 'number'],
    changes: [
      {
        join: (names) => `
          join ${names.source('deliveries')} d on d.account_id = s.account_id and d.delivery_id = s.delivery_id
          ${delivery(names)}`,
        columns: () => ({ event: POSITION, webhook: 'r.seq' }),
      },
    ],
  },
  {
    table: 'log_epochs',
    key: ['epoch'],
    since: 29,
    unchecked: ['written_by'],
    changes: [
      {
        below: 29,
        rows: () => `
          select '' as epoch, '0.evt_00000000000000000000000000' as starts_after, cast(null as text) as server,
            cast(null as text) as written_by, 0 as created_at`,
      },
      {
        // An epoch is recognized by the transaction that wrote its row; see `webhooks/log/logEpochs.ts`. The conversion
        // writes its own transaction there, so the epoch goes on, and readers continue at their cursors.
        columns: ({ database }) => ({
          written_by:
            database === 'sqlite'
              ? 's.written_by'
              : 'case when s.written_by = s.xmin::text then pg_current_xact_id()::xid::text else s.written_by end',
        }),
      },
    ],
  },
];
