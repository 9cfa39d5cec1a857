import { PostgresAdapter, PostgresIntrospector, PostgresQueryCompiler, sql } from 'kysely';
import pg from 'pg';
import {
  answering,
  type Dialect,
  FencedError,
  isBeginning,
  type Listening,
  queryable,
  type SerializedWork,
  type Store,
} from './dialect.ts';
import { FirstStatistics } from './firstStatistics.ts';
import { codeOf, connectionOn, deadline, getTypeParser, PIPELINED, QUERY_MS } from './postgresConnection.ts';
import { logPositions, readHorizon, readNewest } from './postgresLog.ts';
import { PostgresTransaction } from './postgresTransaction.ts';

/** Keys of PostgreSQL's advisory locks, which are shared by everybody who uses the database. */
const locks: Readonly<Record<SerializedWork, number>> = { migrate: 727_274, nodes: 727_275, register: 727_276 };

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
    from indexes`;

const postgres: Dialect = {
  name: 'postgres',
  kysely: {
    createAdapter: () => new PostgresAdapter(),
    createQueryCompiler: () => new PostgresQueryCompiler(),
    createIntrospector: (db) => new PostgresIntrospector(db),
  },
  clustered: '',
  counted: 'bigint generated always as identity primary key',
  search: {
    tables: [
      'create table message_words (rowid bigint primary key, words tsvector not null)',
      'create index message_words_words on message_words using gin (words)',
    ],
    isOrdered: false,
    purge: undefined,
    stored: (words) => sql`array_to_tsvector(string_to_array(${words}, ' '))`,
    matches: (alias, terms) => sql<boolean>`${sql.ref(`${alias}.words`)} @@ ${terms}::tsquery`,
    terms: (words) => `${words.map((word) => `'${word}'`).join(' & ')}${isBeginning(words) ? ':*' : ''}`,
  },
  hasConcurrentWriters: true,
  lockStatement: (work) => `select pg_advisory_xact_lock(${locks[work]})`,
  // PostgreSQL expects a hundred rows of any list, and rather than look up a hundred rows it scans a table that is small
  // when the statement is planned, and goes on scanning it when it has grown. It expects one row of a range whose column
  // it knows nothing about.
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
  log: {
    order: ['position', 'event_id'],
    drawsPositions: true,
    horizon: readHorizon,
    newest: readNewest,
    tables: [
      'create table log_origin (cluster text not null, shift bigint not null)',
      `insert into log_origin values ('', 0)`,
    ],
    position: (shift) => `pg_current_xact_id()::text::bigint + ${shift}`,
  },
  logPositions,
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
  deliveryPositions: [
    'create sequence delivery_positions',
    // Separate from adding the column, which would otherwise rewrite the whole table.
    `alter table deliveries alter position set default nextval('delivery_positions')`,
  ],
  now: sql<number>`(extract(epoch from clock_timestamp()) * 1000)::bigint`,
  reclaim: undefined, // autovacuum reclaims space
  isUniqueViolation: (error) => codeOf(error) === '23505',
  isUnavailable: (error) => {
    const code = codeOf(error);
    // Connection exceptions, insufficient resources and operator intervention; or a socket error without a code.
    return (
      /^(08|53|57P|25006|25P03)/.test(code) ||
      /^(ECONN|EPIPE|ETIMEDOUT|ENOTFOUND|EHOSTUNREACH|ENETUNREACH|EAI_)/.test(code) ||
      isBrokenConnection(error)
    );
  },
  isFull: (error) => ['53100', '58030'].includes(codeOf(error)),
  isConflict: (error) => ['40001', '40P01'].includes(codeOf(error)),
};

// pg reports these without a code.
function isBrokenConnection(error: unknown): boolean {
  return (
    error instanceof Error &&
    /Connection terminated|timeout exceeded when trying to connect|Query read timeout|not queryable|Client was closed/.test(
      error.message,
    )
  );
}

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
    pool.on('connect', (client) => client.on('error', () => {}));
    return pool;
  };
  const pool = open(poolSize);
  const heartbeatPool = open(1);

  const mayPrepare = directUrl === url;

  /** If one connection breaks, the idle ones may be broken as well, and each would fail one more query. */
  async function discardIdle(): Promise<void> {
    for (let left = pool.idleCount; left > 0; left--) (await pool.connect()).release(true);
  }

  const pooled = connectionOn(pool, mayPrepare, QUERY_MS);
  const reader = queryable(postgres, answering(postgres, pooled));
  const statistics = new FirstStatistics(pooled);
  return {
    dialect: postgres,
    reader,
    longReader: reader,
    writers: Math.max(1, Math.floor(poolSize / 2)),
    async begin(as) {
      const client = await pool.connect();
      try {
        return await PostgresTransaction.begin(client, { dialect: postgres, mayPrepare, as, statistics });
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
      heartbeat: queryable(postgres, connectionOn(heartbeatPool, mayPrepare, HEARTBEAT_QUERY_MS)),
    },
    poolUse: () => ({ total: pool.totalCount, idle: pool.idleCount, waiting: pool.waitingCount }),
    async rewrite() {
      await pool.query('vacuum full secrets, webhooks, sessions, session_store');
    },
    startCheck() {}, // PostgreSQL checks its own files
    trimLog() {}, // the log belongs to the whole database cluster
    async close() {
      await Promise.all([pool.end(), heartbeatPool.end()]);
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
