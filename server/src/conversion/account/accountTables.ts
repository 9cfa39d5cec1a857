import { columns } from '../../db/columns.ts';
import { aboutFile, aboutOptions, aboutStored, aboutWebhook } from '../../db/sealing.ts';
import { tableDescriptions } from '../tables/index.ts';

export type Value = string | number | null;
/** Values by column. */
export type Values = Readonly<Record<string, Value>>;

/** A table with rows of accounts, as a file has them. */
export interface AccountTable {
  readonly table: string;
  /** Columns of the file. */
  readonly columns: readonly string[];
  /** Columns of the file whose values come from a joined table, as SQL. */
  readonly joined: Readonly<Record<string, string>>;
  /** Joins to the row `t`. */
  readonly joins: string;
  /** SQL that rows are read in the order of. */
  readonly key: readonly string[];
  /** SQL condition for the account with the id `?`. */
  readonly owner: { readonly before: string; readonly after: string };
  /** Columns that are null in the file, because they belong to the deployment. */
  readonly reset: readonly string[];
  /** Columns with positions of events. */
  readonly positions: readonly string[];
  /** Encrypted columns, and the context that a row's value is bound to. */
  readonly sealed: readonly string[];
  readonly about: (row: Values) => string;
}

/** Tables without the id of the account: through the id of another table. */
const VIA: Readonly<Record<string, { readonly table: string; readonly id: string }>> = {
  session_store: { table: 'sessions', id: 'session_id' },
  webhook_minutes: { table: 'webhooks', id: 'webhook_id' },
  key_sends: { table: 'api_keys', id: 'key_id' },
  oauth_records: { table: 'api_keys', id: 'key_id' },
};

/** Rows of the deployment and of the sandbox networks, and those that triggers and the search write. */
const NOT_EXPORTED: readonly string[] = [
  'nodes',
  'secrets',
  'steady_time',
  'log_epochs',
  'login_buckets',
  'unused_contents',
  'sandbox_numbers',
  'sandbox_mailbox',
  'sandbox_groups',
  'sandbox_channels',
  'message_words',
  'search_cursor',
  'outbox',
  'unread_messages',
  'receivers',
];

/** Tables of the event log, which have numbers in place of ids. */
const LOG: Readonly<Record<string, Pick<AccountTable, 'joins' | 'key' | 'positions'>>> = {
  events: { joins: 'join accounts a on a.seq = t.account', key: ['t.position'], positions: ['position'] },
  deliveries: {
    joins: 'join accounts a on a.seq = t.account join receivers r on r.seq = t.webhook',
    key: ['t.event', 't.webhook'],
    positions: ['event'],
  },
  ...Object.fromEntries(
    Object.entries({ queue: ['event'], waiting: ['event', 'held_behind'], attempts: ['event'] }).map(
      ([table, positions]) => [
        table,
        {
          joins: `join deliveries d on d.event = t.event and d.webhook = t.webhook
            join accounts a on a.seq = d.account join receivers r on r.seq = t.webhook`,
          key: ['t.event', 't.webhook', ...(table === 'attempts' ? ['t.number'] : [])],
          positions,
        },
      ],
    ),
  ),
};
const WEBHOOK = { webhook_id: 'r.webhook_id' };
/** Their rows are in the file without these. */
const NUMBERS = ['account', 'webhook'];

const RESET: Readonly<Record<string, readonly string[]>> = {
  sessions: ['lease_owner'],
  webhooks: ['lease_owner', 'in_flight_by'],
};

const text = (row: Values, column: string) => String(row[column]);
const SEALED: Readonly<Record<string, Pick<AccountTable, 'sealed' | 'about'>>> = {
  webhooks: {
    sealed: ['secret', 'previous_secret', 'headers', 'credentials'],
    about: (row) => aboutWebhook(text(row, 'webhook_id')),
  },
  sessions: { sealed: ['options'], about: (row) => aboutOptions(text(row, 'session_id')) },
  session_store: { sealed: ['value'], about: (row) => aboutStored(text(row, 'session_id'), text(row, 'key')) },
  messages: {
    sealed: ['file_reference'],
    about: (row) => aboutFile(text(row, 'session_id'), text(row, 'network_id')),
  },
};

/** The tables with rows of accounts, owners before what belongs to them. */
export const accountTables: readonly AccountTable[] = Object.entries(columns)
  .filter(([table]) => !NOT_EXPORTED.includes(table))
  .map(([table, names]): AccountTable => {
    const { sealed, about } = SEALED[table] ?? { sealed: [], about: () => '' };
    const shared = { table, reset: RESET[table] ?? [], sealed, about };
    const log = LOG[table];
    if (log !== undefined) {
      const hasWebhook = names.some((name) => name === 'webhook');
      const own = names.filter((name) => !NUMBERS.includes(name));
      return {
        ...shared,
        ...log,
        columns: hasWebhook ? [...own, 'webhook_id'] : own,
        joined: WEBHOOK,
        owner: { before: 'a.account_id = ', after: '' },
      };
    }
    const via = VIA[table];
    if (via === undefined && !names.some((name) => name === 'account_id'))
      throw new Error(`${table} has no account, and no way to one`);
    const key = tableDescriptions.find((one) => one.table === table)?.key ?? [];
    return {
      ...shared,
      columns: table === 'accounts' ? names.filter((name) => name !== 'seq') : names,
      joined: {},
      joins: '',
      positions: [],
      key: key.map((name) => `t.${name}`),
      owner:
        via === undefined
          ? { before: 't.account_id = ', after: '' }
          : { before: `t.${via.id} in (select ${via.id} from ${via.table} where account_id = `, after: ')' },
    };
  })
  .toSorted((a, b) => rank(a) - rank(b));

/** Rows are checked against the ids of the tables before them. */
function rank({ table }: AccountTable): number {
  const first = ['accounts', 'sessions', 'webhooks', 'api_keys', 'messages', 'events', 'deliveries'].indexOf(table);
  return first === -1 ? Number.MAX_SAFE_INTEGER : first;
}

export const isLog = ({ positions }: AccountTable): boolean => positions.length > 0;
