import pg from 'pg';
import { type Queryable, queryable } from '../db/dialect.ts';
import { postgres } from '../db/postgres/postgres.ts';
import { getTypeParser } from '../db/postgres/postgresConnection.ts';
import { OperatorError } from '../errors.ts';
import type { ConversionDatabase } from './conversionDatabase.ts';
import { readEarlierVersion } from './earlierVersion.ts';
import type { Digest } from './rowSum.ts';
import { type ColumnRow, tablesOf } from './sqliteConversion.ts';

/** The database cannot be converted now; the message explains what to do. */
export class ConversionRefusedError extends OperatorError {}

const COPY = 'switchboard_upgrade';
/** The lock that a start takes before it migrates, here for the whole session. */
const MIGRATION_LOCK = 727_274;
/** Positions of the event log were transaction ids before version 4. Later ones start above all of them. */
const BEYOND_TRANSACTION_IDS = 2 ** 40;

const TABLES = `
  select c.relname as "table", a.attname as "column", a.attnotnull as required
  from pg_class c join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
  where c.relkind in ('r', 'p') and c.relnamespace = $1::regnamespace and c.relname <> 'schema_versions'
    and c.relname not like 'conversion%'
  order by c.relname, a.attnum`;

/**
 * Connects to the database, excludes starting nodes, and creates its copy or continues one.
 * @param check throws if the source cannot be used
 * @returns undefined if it has no earlier schema
 * @throws {ConversionRefusedError}
 */
export async function openPostgresConversion(
  url: string,
  check: (source: Queryable) => Promise<void>,
): Promise<ConversionDatabase | undefined> {
  const client = new pg.Client({
    connectionString: url,
    application_name: 'switchboard upgrade',
    connectionTimeoutMillis: 5000,
    keepAlive: true,
    types: { getTypeParser },
  });
  client.on('error', () => {}); // its query fails too
  await client.connect();
  try {
    const conversion = await open(client, check);
    if (conversion === undefined) await client.end();
    return conversion;
  } catch (error) {
    await client.end();
    throw error;
  }
}

async function open(
  client: pg.Client,
  check: (source: Queryable) => Promise<void>,
): Promise<ConversionDatabase | undefined> {
  const rowsOf = async <R extends pg.QueryResultRow>(text: string, values: unknown[] = []) =>
    (await client.query<R>(text, values)).rows;
  await client.query('set statement_timeout = 0; set idle_in_transaction_session_timeout = 0; set lock_timeout = 0');
  const [found] = await rowsOf<{ schema: string | null; quoted: string; table: string | null }>(
    `select current_schema() as schema, quote_ident(current_schema()) as quoted, to_regclass('schema_versions') as table`,
  );
  if (found === undefined || found.schema === null || found.table === null) return undefined;
  const { quoted } = found;
  const on = queryable(postgres, {
    query: async (text, parameters) => {
      const { rows, rowCount } = await client.query(text, [...parameters]);
      return { rows, changed: rowCount ?? 0 };
    },
  });
  const version = await readEarlierVersion(on);
  if (version === undefined) return undefined;
  await check(on);
  const kept = `switchboard_schema_${version}`;
  await excludeNodes(client, quoted);
  const [clash] = await rowsOf(`select from pg_namespace where nspname = $1`, [kept]);
  if (clash !== undefined)
    throw new ConversionRefusedError(
      `The schema ${kept} exists already, from an earlier upgrade. Rename or drop it, and try again.`,
    );
  await client.query(`create schema if not exists ${COPY}`).catch((cause: unknown) => {
    throw new ConversionRefusedError(
      `The database user cannot create the schema ${COPY}, where the upgrade makes its copy. Nothing was changed. Grant it: grant create on database … to …`,
      { cause },
    );
  });
  await client.query(`set search_path to ${COPY}`);
  const tables = async (name: string) => tablesOf(await rowsOf<ColumnRow>(TABLES, [name]));
  let earlier: readonly string[] = [];
  return {
    on,
    version,
    names: {
      source: (table) => `${quoted}.${table}`,
      target: (table) => `${COPY}.${table}`,
      version,
      database: 'postgres',
    },
    copyName: `the schema ${COPY}`,
    discardAdvice: 'run switchboard upgrade --restart',
    async sourceTables() {
      const found = await tables(quoted);
      earlier = [...found.keys()];
      return found;
    },
    targetTables: () => tables(COPY),
    async transaction(work) {
      await client.query('begin');
      try {
        const result = await work();
        await client.query('commit');
        return result;
      } catch (error) {
        await client.query('rollback').catch(() => {}); // the connection may be broken
        throw error;
      }
    },
    async digest(query) {
      const [digest] = await rowsOf<Digest>(
        `select count(*) as rows, concat(sum(hashtextextended(t, 0)::numeric), ' ', sum(hashtextextended(t, 1)::numeric)) as hash
          from (${query}) as texts(t)`,
      );
      if (digest === undefined) throw new Error('an aggregate gave no row');
      return digest;
    },
    rowText: (values) => `json_build_array(${values.join(', ')})::text`,
    finish: () => carrySequences(client, quoted, version),
    async discard() {
      await client.query(`drop schema ${COPY} cascade`);
      await client.end();
    },
    async swap() {
      await swapSchemas(client, { quoted, kept, earlier });
      await client.end();
      return `the schema ${kept}`;
    },
    close: () => client.end(),
  };
}

/**
 * Keeps nodes from starting until the connection ends.
 * @throws {ConversionRefusedError}
 */
async function excludeNodes(client: pg.Client, schema: string): Promise<void> {
  const { rows } = await client.query<{ held: boolean }>(`select pg_try_advisory_lock(${MIGRATION_LOCK}) as held`);
  if (!rows[0]?.held)
    throw new ConversionRefusedError(
      'A node is starting, or another upgrade runs on this database. Stop it, and try again.',
    );
  await requireNoNodes(client, schema);
}

/** @throws {ConversionRefusedError} */
async function requireNoNodes(client: pg.Client, schema: string): Promise<void> {
  const { rows } = await client.query<{ node_id: string }>(
    `select node_id from ${schema}.nodes where expires_at > (extract(epoch from clock_timestamp()) * 1000)::bigint order by node_id`,
  );
  if (rows.length === 0) return;
  const list = rows.map(({ node_id }) => node_id).join(', ');
  throw new ConversionRefusedError(
    `Nodes are running on this database: ${list}. Stop them, and try again. A node that was killed counts as running until its lease ends (LEASE_SECONDS).`,
  );
}

/** Lets each sequence go on after the numbers that it has drawn. */
async function carrySequences(client: pg.Client, schema: string, version: number): Promise<void> {
  const { rows } = await client.query<{ name: string; last: number }>(
    `select n.sequencename as name, e.last_value as last from pg_sequences n
      join pg_sequences e on e.sequencename = n.sequencename and quote_ident(e.schemaname) = $2
      where n.schemaname = $1 and e.last_value is not null`,
    [COPY, schema],
  );
  for (const { name, last } of rows) await client.query(`select setval('${COPY}.${name}', $1)`, [last]);
  if (version < 4)
    await client.query(
      `select setval('${COPY}.event_positions',
        ${BEYOND_TRANSACTION_IDS} + pg_current_xact_id()::text::bigint + (select max(shift) from ${schema}.log_origin))`,
    );
  const numbered = [['receivers', 'seq'], ...(version < 5 ? [['sandbox_mailbox', 'mail_id']] : [])];
  for (const [table, column] of numbered)
    await client.query(
      `select setval(pg_get_serial_sequence('${COPY}.${table}', '${column}'), max(${column}))
        from ${COPY}.${table} having count(*) > 0`,
    );
}

interface Swap {
  /** Schema of the server, quoted. */
  readonly quoted: string;
  /** New schema of the earlier tables. */
  readonly kept: string;
  readonly earlier: readonly string[];
}

/** Functions of earlier versions. */
const FUNCTIONS = ['next_event_position', 'event_horizon', 'await_node_fence'];

/** Moves the tables, sequences and functions of both schemas in one transaction. Additions of the operator stay. */
async function swapSchemas(client: pg.Client, { quoted, kept, earlier }: Swap): Promise<void> {
  const statementsFor = async (from: string, to: string, isOurs: (table: string) => boolean) => {
    const { rows } = await client.query<{ name: string; kind: string }>(
      `select quote_ident(c.relname) as name, case c.relkind when 'S' then 'sequence' else 'table' end as kind
        from pg_class c where c.relnamespace = $1::regnamespace and (c.relkind in ('r', 'p')
          or (c.relkind = 'S' and not exists (
            select from pg_depend d where d.objid = c.oid and d.classid = 'pg_class'::regclass and d.deptype in ('a', 'i'))))`,
      [from],
    );
    const { rows: functions } = await client.query<{ name: string }>(
      'select proname as name from pg_proc where pronamespace = $1::regnamespace',
      [from],
    );
    return [
      ...rows
        .filter(({ name }) => isOurs(name))
        .map(({ name, kind }) => `alter ${kind} ${from}.${name} set schema ${to}`),
      ...functions
        .filter(({ name }) => isOurs(name))
        .map(({ name }) => `alter function ${from}.${name}() set schema ${to}`),
    ];
  };
  const ours = new Set([...earlier, 'schema_versions', 'event_positions', 'delivery_positions', ...FUNCTIONS]);
  await client.query('begin');
  try {
    await client.query(`lock table ${quoted}.nodes in access exclusive mode`);
    await requireNoNodes(client, quoted);
    await client.query(
      `create schema ${kept}; drop table if exists ${COPY}.conversion_progress, ${COPY}.conversion_positions`,
    );
    for (const text of await statementsFor(quoted, kept, (name) => ours.has(name))) await client.query(text);
    for (const text of await statementsFor(COPY, quoted, () => true)) await client.query(text);
    await client.query(`drop schema ${COPY}`);
    await client.query('commit');
  } catch (error) {
    await client.query('rollback').catch(() => {});
    throw error;
  }
}
