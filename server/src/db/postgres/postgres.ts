import { type BinaryOperationNode, PostgresAdapter, PostgresIntrospector, PostgresQueryCompiler, sql } from 'kysely';
import pg from 'pg';
import { thrownCode } from '../../thrown.ts';
import {
  answering,
  type Connection,
  type Dialect,
  FencedError,
  type Listening,
  queryable,
  type SerializedWork,
  type Store,
} from '../dialect.ts';
import { comparedWithNothing } from '../emptyLists.ts';
import { FirstStatistics } from './firstStatistics.ts';
import {
  connect,
  connectionOf,
  deadline,
  getTypeParser,
  isStale,
  isUnconnected,
  PIPELINED,
  QUERY_MS,
} from './postgresConnection.ts';
import { endTransactions, nodeFence } from './postgresFence.ts';
import { eventPositions, readNewest, readServer, readState } from './postgresLog.ts';
import { PostgresTransaction } from './postgresTransaction.ts';
import { rowTrigger } from './postgresTriggers.ts';

/** Keys of PostgreSQL's advisory locks, which are shared by everybody who uses the database. */
const locks: Readonly<Record<SerializedWork, number>> = { migrate: 727_274, nodes: 727_275, register: 727_276 };

/** Transactions hold it shared to change messages, and exclusively to index them. */
const INDEXING_LOCK = 727_277;
const SINCE = 'pg_postmaster_start_time()::text as since';

/**
 * An insert locks the table before it numbers its rows, until its transaction ends, and a transaction is visible before
 * its locks are released. Once the transactions that are listed after a number was drawn have ended, nothing can appear
 * below that number.
 */
const MESSAGE_WRITERS = `
  select l.virtualtransaction as writer, ${SINCE} from (values (1)) as one left join pg_locks l
    on l.locktype = 'relation' and l.relation = 'messages'::regclass and l.mode = 'RowExclusiveLock' and l.granted
    and l.database = (select oid from pg_database where datname = current_database())`;

/** The tables beside `schema_versions` and itself. Indexes made by constraints are identified by their columns. */
const PARTS = `
  with tables as (
    select c.oid, c.relname as name from pg_class c
    where c.relkind in ('r', 'p')
      and c.relnamespace = (select relnamespace from pg_class where oid = to_regclass('schema_versions'))),
  indexes as (
    select t.name as table_name, c.relname as name, i.indisunique, o.contype, pg_get_expr(i.indpred, i.indrelid) as predicate,
      m.amname || ' (' || (select string_agg(pg_get_indexdef(i.indexrelid, k, true) ||
        case when (i.indoption[k - 1] & 1) = 1 then ' desc' else '' end, ', ' order by k)
        from generate_series(1, i.indnkeyatts::int) k) || ')' as columns
    from tables t join pg_index i on i.indrelid = t.oid and i.indisvalid join pg_class c on c.oid = i.indexrelid
      join pg_am m on m.oid = c.relam left join pg_constraint o on o.conindid = i.indexrelid and o.contype in ('p', 'u'))
  select name as table, 'options' as part, '' as definition, false as binding from tables
  union all
  select t.name, 'column ' || a.attname, format_type(a.atttypid, a.atttypmod)
      || case when a.attnotnull then ' not null' else '' end
      || case when a.atthasdef or a.attidentity <> '' then ' with default' else '' end,
    a.attnotnull and not a.atthasdef and a.attidentity = ''
    from tables t join pg_attribute a on a.attrelid = t.oid and a.attnum > 0 and not a.attisdropped
  union all
  select table_name,
    case contype when 'p' then 'primary key ' || columns when 'u' then 'unique ' || columns else 'index ' || name end,
    case when indisunique then 'unique ' else '' end || columns || coalesce(' where ' || predicate, ''), indisunique
    from indexes
  union all
  select t.name, 'trigger ' || g.tgname, p.prosrc, false
    from tables t join pg_trigger g on g.tgrelid = t.oid and not g.tgisinternal join pg_proc p on p.oid = g.tgfoid`;

/** PostgreSQL looks for deadlocks after a second, unless `deadlock_timeout` is set. */
const TABLE_LOCK_MS = 800;

const LOCK_HOLDERS = `
  select format('%s (pid %s, for %s s)', coalesce(nullif(application_name, ''), usename, backend_type), pid,
    coalesce(extract(epoch from clock_timestamp() - xact_start)::int, 0)) as holder
  from pg_stat_activity
  where pid <> pg_backend_pid() and pid in (
    select pid from pg_locks l join pg_class c on c.oid = l.relation
    where l.granted and l.database = (select oid from pg_database where datname = current_database())
      and c.relnamespace = (select relnamespace from pg_class where oid = to_regclass('schema_versions')))
  order by xact_start nulls last limit 5`;

class Compiler extends PostgresQueryCompiler {
  protected override visitBinaryOperation(node: BinaryOperationNode): void {
    const constant = comparedWithNothing(node);
    if (constant === undefined) super.visitBinaryOperation(node);
    else this.append(constant);
  }
}

export const postgres: Dialect = {
  name: 'postgres',
  kysely: {
    createAdapter: () => new PostgresAdapter(),
    createQueryCompiler: () => new Compiler(),
    createIntrospector: (db) => new PostgresIntrospector(db),
  },
  clustered: '',
  fillfactor: (percent) => `with (fillfactor = ${percent})`,
  counted: 'bigint generated always as identity primary key',
  numbered: 'bigint primary key',
  search: {
    tables: [
      'create table message_words (rowid bigint primary key, words tsvector not null)',
      'create index message_words_words on message_words using gin (words)',
    ],
    buckets: undefined,
    purge: undefined,
    stored: (words) => sql`array_to_tsvector(string_to_array(${words}, ' '))`,
    matches: (terms) => sql<boolean>`message_words.words @@ ${terms}::tsquery`,
    terms: (words, isPrefix) => `${words.map((word) => `'${word}'`).join(' & ')}${isPrefix ? ':*' : ''}`,
    concurrency: {
      writers: MESSAGE_WRITERS,
      exclude: `select pg_advisory_xact_lock_shared(${INDEXING_LOCK})`,
      claim: `select pg_try_advisory_xact_lock(${INDEXING_LOCK}) as "isClaimed", ${SINCE}`,
    },
  },
  hasConcurrentWriters: true,
  lockStatement: (work) => `select pg_advisory_xact_lock(${locks[work]})`,
  tableLocks: {
    async limit(connection) {
      await connection.query(`set local lock_timeout = ${TABLE_LOCK_MS}`, []);
    },
    async take(connection, tables) {
      await this.limit(connection);
      for (const { name, isReadable } of tables)
        await connection.query(`lock table ${name} in ${isReadable ? 'share' : 'access exclusive'} mode`, []);
    },
    async holders(connection) {
      const { rows } = await connection.query<{ holder: string }>(LOCK_HOLDERS, []);
      return rows.map(({ holder }) => holder);
    },
  },
  // PostgreSQL expects a hundred rows of any list, and rather than look up a hundred rows it scans a table that is
  // small when the statement is planned, and goes on scanning it when it has grown. It expects one row of a range whose
  // column it knows nothing about.
  recordset: (columns, list) => {
    const names = sql.join(Object.keys(columns).map((name) => sql.ref(name)));
    const typed = sql.join(Object.entries(columns).map(([name, type]) => sql`${sql.ref(name)} ${sql.raw(type)}`));
    return sql`(
      select * from rows from (json_to_recordset(${list}::json) as (${typed})) with ordinality as recordset(${names}, nth)
      where nth > 0 and nth < ${sql.lit(Number.MAX_SAFE_INTEGER)}
    )`;
  },
  texts: (json) => sql<string>`(select json_array_elements_text(${json}::json))`,
  integers: (json) => sql<number>`(select json_array_elements_text(${json}::json)::bigint)`,
  startsWith: (column, prefix) => sql<boolean>`starts_with(${sql.ref(column)}, ${prefix})`,
  log: {
    drawsPositions: true,
    state: readState,
    newest: readNewest,
    server: readServer,
    writer: 'xmin::text',
    transaction: sql<string | null>`pg_current_xact_id()::xid::text`,
    lockEpochs: ['lock table log_epochs in exclusive mode'],
  },
  positions: eventPositions,
  nodeFence,
  rowTrigger,
  endTransactions,
  shape: {
    parts: PARTS,
    async inScratch(tx, work) {
      const run = (text: string) => tx.connection.query<{ allowed: boolean }>(text, []);
      const { rows } = await run(`select has_database_privilege(current_database(), 'create') as allowed`);
      // On a busy machine, a start may pause between statements for longer than a working node may.
      await run(`set local idle_in_transaction_session_timeout to '${SCRATCH_PAUSE_MS}ms'`);
      await run('savepoint scratch');
      // Uses temporary tables if the operator withheld the right to create schemas. The right to create temporary
      // tables is separate, and rarely withheld.
      if (rows[0]?.allowed) await run('create schema switchboard_scratch');
      await run(`set local search_path to ${rows[0]?.allowed ? 'switchboard_scratch' : 'pg_temp'}`);
      const result = await work(tx);
      await run('rollback to savepoint scratch');
      await run('release savepoint scratch');
      return result;
    },
  },
  through: () => sql``,
  now: sql<number>`(extract(epoch from clock_timestamp()) * 1000)::bigint`,
  reclaim: undefined, // autovacuum reclaims space
  isUniqueViolation: (error) => thrownCode(error) === '23505',
  faultOf(error) {
    const code = thrownCode(error);
    // A stale statement shares its code with features that PostgreSQL lacks.
    if (isStale(error) || CONFLICT.test(code)) return 'conflict';
    if (isUnconnected(error) || AWAY.test(code) || isBrokenConnection(error)) return 'away';
    if (ROW.test(code)) return 'row';
    return /^[\dA-Z]{5}$/.test(code) ? 'other' : undefined;
  },
  isFull: (error) => ['53100', '58030'].includes(thrownCode(error)),
};

/**
 * Data exceptions, violated constraints, and 54000: a row exceeds a limit, such as the size of an index entry. The
 * other errors of class 54 are about the statement or the schema, such as 54001 (too deep a stack) and 54023 (too many
 * arguments), and would not pass for another row.
 */
const ROW = /^(22|23|54000)/;
/** Broken off: rolled back, not locked in time, canceled, idle or open for too long, or no longer in a transaction. */
const CONFLICT = /^(40|55P03|57014|25P)/;
/**
 * Connection exceptions, insufficient resources, operator intervention, a read-only standby; or an error of a socket.
 */
const AWAY = /^(08|53|57P|58|25006|ECONN|EPIPE|ETIMEDOUT|EAI_|ERR_SSL_)/;

// pg reports these without a code.
function isBrokenConnection(error: unknown): boolean {
  return (
    error instanceof Error &&
    /Connection terminated|timeout exceeded when trying to connect|Query read timeout|not queryable|Client was closed/.test(
      error.message,
    )
  );
}

/** How often PostgreSQL checks whether this process is still connected while it runs a statement. */
const CONNECTION_CHECK_MS = 2000;

/**
 * Ends abandoned statements, even outside a transaction. Not at the start of the connection, because
 * poolers refuse settings there. Some systems lack the check of the connection.
 */
function limitSession(client: pg.ClientBase): void {
  const limits = { statement_timeout: QUERY_MS, client_connection_check_interval: CONNECTION_CHECK_MS };
  for (const [name, ms] of Object.entries(limits)) {
    const text = `select set_config(name, '${ms}', false) from pg_settings where name = '${name}'`;
    client.query({ text, ...deadline(QUERY_MS) }).catch(() => {}); // the connection works without it
  }
}

/** Returns the statement that checks the connection during a transaction, or nothing if the system lacks the check. */
async function connectionCheck(pool: pg.Pool): Promise<string> {
  const connection = connectionOf(pool, false, QUERY_MS);
  const setting = `select from pg_settings where name = 'client_connection_check_interval'`;
  const { changed: rowCount } = await connection.query(setting, []);
  if (rowCount === 0) return '';
  const text = `; set local client_connection_check_interval = ${CONNECTION_CHECK_MS}`;
  return pool.query({ text: `begin${text}; rollback`, ...deadline(QUERY_MS) }).then(
    () => text,
    (error: unknown) => (thrownCode(error) === '' ? Promise.reject(error) : ''),
  );
}

/**
 * Repeats a query whose prepared statement is stale. The pool closes the connection after the error, but all of its
 * connections may have the statement.
 */
function fresh(connection: Connection, connections: number): Connection {
  return {
    async query(text, parameters, name) {
      for (let attempt = 0; ; attempt++) {
        try {
          return await connection.query<never>(text, parameters, name);
        } catch (error) {
          if (!isStale(error) || attempt > connections) throw error;
        }
      }
    },
  };
}

/** One for heartbeats, and one for a transaction that evicts a node while all other connections wait for locks. */
const URGENT_CONNECTIONS = 2;
const HEARTBEAT_QUERY_MS = 2000;
const NOTIFY_MS = 1500;
/** The limit while a start compares the tables, before other nodes use them. */
const SCRATCH_PAUSE_MS = 60_000;

/**
 * Opens PostgreSQL through a pool of connections.
 * @param directUrl bypasses a pooler in transaction mode: LISTEN needs a connection of its own. If it is set,
 * statements are not prepared, because the next one may run on another connection
 */
export function openPostgres(url: string, { directUrl = url, poolSize = 10, clientName = 'switchboard' } = {}): Store {
  const mayPrepare = directUrl === url;
  const open = (max: number) => {
    const pool = new pg.Pool({
      connectionString: url,
      max,
      application_name: clientName,
      connectionTimeoutMillis: 5000,
      keepAlive: true,
      types: { getTypeParser },
      ...PIPELINED,
    });
    // A broken connection fails its query or is replaced. Without a listener, its error would end the process.
    pool.on('error', () => {});
    pool.on('connect', (client) => {
      client.on('error', () => {});
      if (mayPrepare) limitSession(client);
    });
    return pool;
  };
  const pool = open(poolSize);
  const urgentPool = open(URGENT_CONNECTIONS);

  /** If one connection breaks, the idle ones may be broken as well, and each would fail one more query. */
  async function discardIdle(): Promise<void> {
    for (let left = pool.idleCount; left > 0; left--) (await connect(pool)).release(true);
  }

  const pooled = fresh(connectionOf(pool, mayPrepare, QUERY_MS), poolSize);
  const reader = queryable(postgres, answering(postgres, pooled));
  const statistics = new FirstStatistics(pooled);
  const onStale = () => void discardIdle().catch(() => {}); // broken ones fail their next query
  const shared = { dialect: postgres, mayPrepare, statistics, onStale };
  let settings: string | undefined;
  return {
    dialect: postgres,
    reader,
    longReader: reader,
    writers: Math.max(1, Math.floor(poolSize / 2)),
    async begin(as, limits) {
      // A pooler shares the session, so its settings hold for one transaction.
      if (!mayPrepare) settings ??= await connectionCheck(pool);
      const client = await connect(limits?.isUrgent === true ? urgentPool : pool);
      try {
        return await PostgresTransaction.begin(client, { ...shared, as, limits, settings: settings ?? '' });
      } catch (error) {
        if (!(error instanceof FencedError)) await discardIdle();
        throw error;
      }
    },
    shared: {
      listen: (channel, onPayload, onEnd) => listen(directUrl, channel, onPayload, onEnd),
      async notify(channel, payload) {
        await pool.query({ text: NOTIFY, values: [channel, payload], ...deadline(NOTIFY_MS) });
      },
      heartbeat: queryable(postgres, connectionOf(urgentPool, mayPrepare, HEARTBEAT_QUERY_MS)),
    },
    poolUse: () => ({ total: pool.totalCount, idle: pool.idleCount, waiting: pool.waitingCount }),
    async rewrite() {
      const client = await connect(pool);
      try {
        await client.query('set statement_timeout = 0');
        await client.query('vacuum full secrets, webhooks, sessions, session_store');
      } finally {
        client.release(true);
      }
    },
    startCheck() {}, // PostgreSQL checks its own files
    wasReplaced: undefined,
    keptEpoch() {},
    async trimLog() {}, // the log belongs to the whole database cluster
    async close() {
      await Promise.all([pool.end(), urgentPool.end()]);
    },
  };
}

const NOTIFY = 'select pg_notify($1, $2)';

async function listen(
  url: string,
  channel: string,
  onPayload: (payload: string) => void,
  onEnd: () => void,
): Promise<Listening> {
  const client = new pg.Client({
    connectionString: url,
    connectionTimeoutMillis: 5000,
    keepAlive: true,
    query_timeout: NOTIFY_MS,
  });
  client.on('error', () => {}); // an `end` event follows
  client.on('notification', ({ payload = '' }) => onPayload(payload));
  try {
    await client.connect();
    await client.query(`listen ${pg.escapeIdentifier(channel)}`);
  } catch (error) {
    client.connection.stream.destroy();
    throw error;
  }
  // Registered last, because `end` also follows a failed connect.
  client.once('end', onEnd);
  return {
    async notify(payload) {
      await client.query(NOTIFY, [channel, payload]);
    },
    async ping() {
      await client.query('select 1');
    },
    close() {
      client.off('end', onEnd);
      client.connection.stream.destroy();
    },
  };
}
