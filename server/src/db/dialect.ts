import { chmodSync, closeSync, openSync } from 'node:fs';
import { DatabaseSync, type SQLInputValue, type StatementSync } from 'node:sqlite';
import {
  type CompiledQuery,
  type DatabaseConnection,
  type Driver,
  Kysely,
  PostgresAdapter,
  PostgresIntrospector,
  PostgresQueryCompiler,
  type QueryResult,
  type RawBuilder,
  SqliteAdapter,
  SqliteIntrospector,
  SqliteQueryCompiler,
  sql,
} from 'kysely';
import pg from 'pg';
import { AppError } from '../errors.ts';
import type { Schema } from './schema.ts';

/** Everything that SQLite and PostgreSQL do differently. No other file asks which of the two it talks to. */
export interface Dialect {
  readonly name: 'sqlite' | 'postgres';
  /** Ends a `create table` whose rows are small and found by primary key: stores them inside its index. */
  readonly clustered: string;
  /** Type of a primary key that the database counts up. */
  readonly counted: string;
  /**
   * Full-text search in the table `message_words`. Words come in as one text, separated by spaces, lower case and
   * free of marks: what a word is, both databases are told and not asked.
   */
  readonly search: {
    readonly tables: readonly string[];
    /** Whether the index gives rows in the order of their `rowid`, as far as they are wanted. */
    readonly isOrdered: boolean;
    /** The value that is stored for such a text. */
    stored(words: RawBuilder<unknown>): RawBuilder<unknown>;
    /** Whether a row of `message_words`, under this alias, has all that `terms` asks for. */
    matches(alias: string, terms: string): RawBuilder<boolean>;
    /** Asks for all of the words, the last of which may be the beginning of one when it has some letters. */
    terms(words: readonly string[]): string;
  };
  /** Lets one transaction at a time do a thing, until it ends. Undefined where writers wait for one another anyway. */
  readonly oneAtATime: ((thing: 'migrate' | 'register') => string) | undefined;
  /**
   * Whether a statement takes many rows at once, as a JSON list: that spares PostgreSQL a round trip for each. SQLite
   * has none to spare, and runs a statement again faster than it reads JSON.
   */
  readonly takesLists: boolean;
  /**
   * The rows of a batch as a table: one row of values, or a JSON list of them where `takesLists`.
   * @param columns name → type
   * @param value gives the parameter that stands for a column's value, or for the list under the name `list`
   */
  recordset(columns: Columns, value: (name: string) => unknown): RawBuilder<unknown>;
  /** A JSON list of texts as a list to compare with by `in`. */
  texts(json: unknown): RawBuilder<string>;
  /**
   * How a log of rows that several transactions append to is read so that nothing is passed over: `position` is the
   * column's default, `isSettled` holds for rows before which none can appear any more, `order` is their order.
   */
  readonly log: {
    readonly position: string;
    readonly isSettled: RawBuilder<boolean>;
    readonly order: readonly ('position' | 'event_id')[];
  };
  /** Gives pages that deleting has freed back to the file system. */
  readonly reclaim: string | undefined;
  /** Whether the error means that a row with this key exists already. */
  isUniqueViolation(error: unknown): boolean;
  /** Whether the error says that the database cannot work now: full, locked, restarting. A caller may try again. */
  isUnavailable(error: unknown): boolean;
  /** Whether the transaction lost a race with another one and would pass if it were run again. */
  isConflict(error: unknown): boolean;
}

/** The columns of a batch of rows: name → type. */
export type Columns = Readonly<Record<string, 'text' | 'bigint'>>;

export interface Result<R> {
  readonly rows: R[];
  /** Rows that an insert, update or delete touched. */
  readonly changed: number;
}

/** One connection, or a pool of them, that runs SQL. */
export interface Connection {
  /** @param name set for a query that comes again and again: PostgreSQL then prepares it once per connection. */
  query<R>(text: string, parameters: readonly unknown[], name?: string): Promise<Result<R>>;
}

/** What queries run on: `kysely` for those built on the spot, `connection` for prepared ones. */
export interface Queryable {
  readonly dialect: Dialect;
  readonly kysely: Kysely<Schema>;
  readonly connection: Connection;
}

export interface OpenTransaction extends Queryable {
  commit(): Promise<void>;
  rollback(): Promise<void>;
}

/** A home of the data: SQLite or PostgreSQL. */
export interface Store {
  readonly dialect: Dialect;
  /** For reads outside a transaction; sees what is committed. */
  readonly reader: Queryable;
  /** How many transactions may be open at a time. */
  readonly writers: number;
  begin(): Promise<OpenTransaction>;
  /**
   * Claims the database for this process, until it is closed or the process ends.
   * @param onLost somebody else has got it, while the connection that held the claim was broken
   * @returns whether nobody else has it
   */
  claim(onLost: () => void): Promise<boolean>;
  close(): Promise<void>;
}

const STATEMENTS_KEPT = 500;

const sqlite: Dialect = {
  name: 'sqlite',
  clustered: 'without rowid',
  counted: 'integer primary key',
  search: {
    // It keeps the index alone, not the text. Words are told apart by spaces and nothing else.
    tables: [
      `create virtual table message_words using fts5
        (words, content = '', contentless_delete = 1, detail = none, tokenize = 'ascii')`,
    ],
    isOrdered: true,
    stored: (words) => words,
    // The hidden column that bears the table's name: the others cannot be asked without the positions of words.
    matches: (alias, terms) => sql<boolean>`${sql.ref(`${alias}.message_words`)} match ${terms}`,
    terms: (words) => `${words.map((word) => `"${word}"`).join(' AND ')}${isBeginning(words) ? ' *' : ''}`,
  },
  oneAtATime: undefined, // `begin immediate` excludes every other writer already
  takesLists: false,
  recordset: (columns, value) => {
    const list = Object.keys(columns).map((name) => sql`${value(name)} as ${sql.ref(name)}`);
    return sql`(select ${sql.join(list)})`;
  },
  texts: (json) => sql<string>`(select value from json_each(${json}))`,
  // One writer: rows become visible in the order in which their ids were made.
  log: { position: '0', isSettled: sql<boolean>`1 = 1`, order: ['event_id'] },
  reclaim: 'pragma incremental_vacuum(1000)',
  // The second half of an extended result code: SQLITE_CONSTRAINT_PRIMARYKEY, _UNIQUE, _ROWID
  isUniqueViolation: (error) => [1555, 2067, 2579].includes(sqliteCode(error)),
  // SQLITE_BUSY, LOCKED, READONLY, IOERR, FULL, CANTOPEN
  isUnavailable: (error) => [5, 6, 8, 10, 13, 14].includes(sqliteCode(error) & 0xff),
  isConflict: () => false,
};

/** The beginnings of words with one or two letters are too many to go through. */
const SHORTEST_BEGINNING = 3;
const isBeginning = (words: readonly string[]) => (words.at(-1)?.length ?? 0) >= SHORTEST_BEGINNING;

function sqliteCode(error: unknown): number {
  return error instanceof Error && 'errcode' in error && typeof error.errcode === 'number' ? error.errcode : 0;
}

const postgres: Dialect = {
  name: 'postgres',
  clustered: '',
  counted: 'bigint generated always as identity primary key',
  search: {
    tables: [
      'create table message_words (rowid bigint primary key, words tsvector not null)',
      'create index message_words_words on message_words using gin (words)',
    ],
    isOrdered: false,
    stored: (words) => sql`array_to_tsvector(string_to_array(${words}, ' '))`,
    matches: (alias, terms) => sql<boolean>`${sql.ref(`${alias}.words`)} @@ ${terms}::tsquery`,
    terms: (words) => `${words.map((word) => `'${word}'`).join(' & ')}${isBeginning(words) ? ':*' : ''}`,
  },
  oneAtATime: (thing) => `select pg_advisory_xact_lock(${thing === 'migrate' ? 727_274 : 727_276})`,
  takesLists: true,
  recordset: (columns, value) => {
    const list = Object.entries(columns).map(([name, type]) => sql`${sql.ref(name)} ${sql.raw(type)}`);
    return sql`(select * from json_to_recordset(${value('list')}::json) as recordset(${sql.join(list)}))`;
  },
  texts: (json) => sql<string>`(select json_array_elements_text(${json}::json))`,
  // Writers commit in any order: a row counts once every transaction that began before its own has ended.
  log: {
    position: 'pg_current_xact_id()::text::bigint',
    isSettled: sql<boolean>`position < pg_snapshot_xmin(pg_current_snapshot())::text::bigint`,
    order: ['position', 'event_id'],
  },
  reclaim: undefined, // autovacuum does it
  isUniqueViolation: (error) => postgresCode(error) === '23505',
  isUnavailable: (error) => {
    const code = postgresCode(error);
    // Connection exceptions, out of resources, and an administrator's stop; or a socket that never got an answer.
    return (
      /^(08|53|57P|25006)/.test(code) ||
      /^(ECONN|EPIPE|ETIMEDOUT|ENOTFOUND|EAI_)/.test(code) ||
      isBrokenConnection(error)
    );
  },
  isConflict: (error) => ['40001', '40P01'].includes(postgresCode(error)),
};

function postgresCode(error: unknown): string {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : '';
}

// pg reports these without a code.
function isBrokenConnection(error: unknown): boolean {
  return (
    error instanceof Error &&
    /Connection terminated|timeout exceeded when trying to connect|not queryable|Client was closed/.test(error.message)
  );
}

/**
 * SQLite in a file. Two connections: one writes, one reads what is committed meanwhile (WAL). `synchronous=FULL`:
 * a commit that returned survives a power cut.
 */
export function openSqlite(file: string): Store {
  // Secrets are in it: it is the owner's alone, and what SQLite puts beside it gets the same mode.
  closeSync(openSync(file, 'a', 0o600));
  chmodSync(file, 0o600);
  const writing = openFile(file);
  // `auto_vacuum` lets the file shrink again when events are pruned; it has to come first. A log of 16 MiB before it is
  // written back spares writing the same pages many times over.
  writing.exec('pragma auto_vacuum = incremental; pragma journal_mode = wal; pragma synchronous = full;');
  writing.exec('pragma wal_autocheckpoint = 4000');
  const reading = openFile(file);
  reading.exec('pragma query_only = on');
  const writer = queryable(sqlite, new SqliteConnection(writing));

  const run = (text: string) => async () => {
    writing.exec(text);
  };
  const rollback = async () => {
    // SQLite ends a transaction by itself after some errors, a full disk among them.
    if (writing.isTransaction) writing.exec('rollback');
  };
  return {
    dialect: sqlite,
    reader: queryable(sqlite, answering(sqlite, new SqliteConnection(reading))),
    writers: 1,
    async begin() {
      writing.exec('begin immediate');
      return { ...writer, commit: run('commit'), rollback };
    },
    claim: async () => true, // its folder is locked
    async close() {
      reading.close();
      writing.close();
    },
  };
}

function openFile(file: string): DatabaseSync {
  // The whole process stands still while SQLite waits for a lock, so it waits briefly; `commit` retries.
  const database = new DatabaseSync(file, { timeout: 50 });
  database.exec('pragma foreign_keys = off; pragma temp_store = memory; pragma cache_size = -65536;');
  return database;
}

class SqliteConnection implements Connection {
  readonly #database: DatabaseSync;
  readonly #statements = new Map<string, { statement: StatementSync; returnsRows: boolean }>();

  constructor(database: DatabaseSync) {
    this.#database = database;
  }

  async query<R>(text: string, parameters: readonly unknown[]): Promise<Result<R>> {
    const { statement, returnsRows } = this.#prepare(text);
    // Parameters come from our own queries, which bind text, numbers and null.
    const values = parameters as readonly SQLInputValue[];
    if (returnsRows) return { rows: statement.all(...values) as R[], changed: 0 };
    return { rows: [], changed: Number(statement.run(...values).changes) };
  }

  #prepare(text: string) {
    let prepared = this.#statements.get(text);
    if (prepared === undefined) {
      const statement = this.#database.prepare(text);
      prepared = { statement, returnsRows: statement.columns().length > 0 };
      // `run` tells the id of the row inserted last, wanted or not. The search index leaves ids there beyond what a
      // number holds, and from then on every change would throw.
      if (!prepared.returnsRows) statement.setReadBigInts(true);
      if (this.#statements.size >= STATEMENTS_KEPT) this.#statements.delete(this.#statements.keys().next().value ?? '');
      this.#statements.set(text, prepared);
    }
    return prepared;
  }
}

/** A connection for reads: a database that is away is an error that callers can act on. */
function answering(dialect: Dialect, connection: Connection): Connection {
  return {
    query: (text, parameters, name) =>
      connection.query<never>(text, parameters, name).catch((error: unknown) => {
        if (!dialect.isUnavailable(error)) throw error;
        throw new AppError('storage_unavailable', undefined, { retryAfterSeconds: 2, cause: error });
      }),
  };
}

const CLAIM_RETRY_MS = 200;

/** PostgreSQL through a pool of connections. */
export function openPostgres(url: string, poolSize = 10): Store {
  const pool = new pg.Pool({
    connectionString: url,
    max: poolSize,
    connectionTimeoutMillis: 5000,
    types: { getTypeParser },
  });
  let holder: pg.Client | undefined;
  let isClosed = false;

  /** The claim lives as long as its connection: one that breaks is made anew at once, before anybody else comes. */
  async function take(onLost: () => void): Promise<boolean> {
    const client = new pg.Client({ connectionString: url });
    client.on('error', () => {}); // it ends then
    await client.connect();
    const { rows } = await client.query<{ mine: boolean }>('select pg_try_advisory_lock(727275) as mine');
    if (rows[0]?.mine !== true || isClosed) {
      await client.end();
      return false;
    }
    holder = client;
    client.once('end', () => {
      if (!isClosed) void takeAgain(onLost);
    });
    return true;
  }

  async function takeAgain(onLost: () => void): Promise<void> {
    while (!isClosed) {
      const isMine = await take(onLost).catch(() => undefined); // not reachable: neither is it for anybody else
      if (isMine === true) return;
      if (isMine === false && !isClosed) {
        onLost();
        return;
      }
      await new Promise((resolve) => setTimeout(resolve, CLAIM_RETRY_MS));
    }
  }
  // An idle connection that breaks is replaced by the pool; without a listener it would end the process.
  pool.on('error', () => {});
  return {
    dialect: postgres,
    reader: queryable(postgres, answering(postgres, new PostgresConnection(pool))),
    writers: Math.max(1, Math.floor(poolSize / 2)),
    async begin() {
      const client = await pool.connect();
      const connection = new PostgresConnection(client);
      const end = async (text: string) => {
        try {
          await client.query(text);
          client.release();
        } catch (error) {
          client.release(true); // its state is unknown: close it
          throw error;
        }
      };
      try {
        await client.query('begin');
      } catch (error) {
        client.release(true);
        throw error;
      }
      return {
        ...queryable(postgres, connection),
        commit: () => end('commit').catch(asUnknown),
        rollback: () => end('rollback'),
      };
    },
    claim: take,
    async close() {
      isClosed = true;
      await holder?.end().catch(() => {});
      await pool.end();
    },
  };
}

/**
 * A connection that breaks during a commit leaves open whether it took place. Running the work again could do it twice.
 * @throws {AppError} `storage_unavailable`, which is not tried again
 */
function asUnknown(error: unknown): never {
  if (!postgres.isUnavailable(error)) throw error;
  throw new AppError(
    'storage_unavailable',
    'The connection to the database broke during the commit: the change may have been made or not',
    { retryAfterSeconds: 2, cause: error },
  );
}

// Times and counts are bigint columns: far below 2^53, so they are read as numbers.
const getTypeParser: typeof pg.types.getTypeParser = (oid: number, format?: 'text' | 'binary') =>
  oid === pg.types.builtins.INT8 && format !== 'binary' ? Number : pg.types.getTypeParser(oid, format as 'text');

class PostgresConnection implements Connection {
  readonly #client: pg.Pool | pg.PoolClient;

  constructor(client: pg.Pool | pg.PoolClient) {
    this.#client = client;
  }

  async query<R>(text: string, parameters: readonly unknown[], name?: string): Promise<Result<R>> {
    const { rows, rowCount } = await this.#client.query({ text, values: [...parameters], ...(name && { name }) });
    return { rows: rows as R[], changed: rowCount ?? 0 };
  }
}

function queryable(dialect: Dialect, connection: Connection): Queryable {
  return { dialect, connection, kysely: kyselyOn(dialect, connection) };
}

/** Kysely builds and runs queries on the connection it is given; it opens none and begins no transactions. */
function kyselyOn(dialect: Dialect, connection: Connection): Kysely<Schema> {
  const single: DatabaseConnection = {
    async executeQuery<R>({ sql: text, parameters }: CompiledQuery): Promise<QueryResult<R>> {
      const { rows, changed } = await connection.query<R>(text, parameters);
      return { rows, numAffectedRows: BigInt(changed) };
    },
    streamQuery() {
      throw new Error('results are read whole, in pages');
    },
  };
  const refuse = async () => {
    throw new Error('transactions are begun by commit.ts');
  };
  const nothing = async () => {};
  const driver: Driver = {
    init: nothing,
    acquireConnection: async () => single,
    releaseConnection: nothing,
    beginTransaction: refuse,
    commitTransaction: refuse,
    rollbackTransaction: refuse,
    destroy: nothing,
  };
  const isSqlite = dialect.name === 'sqlite';
  return new Kysely<Schema>({
    dialect: {
      createDriver: () => driver,
      createAdapter: () => (isSqlite ? new SqliteAdapter() : new PostgresAdapter()),
      createQueryCompiler: () => (isSqlite ? new SqliteQueryCompiler() : new PostgresQueryCompiler()),
      createIntrospector: (db) => (isSqlite ? new SqliteIntrospector(db) : new PostgresIntrospector(db)),
    },
  });
}
