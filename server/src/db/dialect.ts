import {
  type CompiledQuery,
  type DatabaseConnection,
  DummyDriver,
  Kysely,
  type Dialect as KyselyDialect,
  type QueryResult,
  type RawBuilder,
} from 'kysely';
import { AppError } from '../errors.ts';
import { namedColumns } from './namedColumns.ts';
import type { Schema } from './schema.ts';

/**
 * Work that only one process does at a time. With `nodes`, two nodes that evict the same one do not deadlock, nor a
 * node and its successor.
 */
export type SerializedWork = 'migrate' | 'nodes' | 'register';

/** Everything that SQLite and PostgreSQL do differently. No other file asks which of the two it uses. */
export interface Dialect {
  readonly name: 'sqlite' | 'postgres';
  readonly kysely: Omit<KyselyDialect, 'createDriver'>;
  /** Ends a `create table` whose rows are small and found by primary key: stores the rows in the index. */
  readonly clustered: string;
  /**
   * Ends a `create table` whose rows are updated soon after they are inserted. PostgreSQL fills its pages with new rows
   * to that percentage: an update that finds room on the page of its row changes no index.
   */
  fillfactor(percent: number): string;
  /** Type of an auto-incremented primary key. */
  readonly counted: string;
  /** Type of a primary key of integers that the writer may choose. */
  readonly numbered: string;
  /**
   * Full-text search in a table with a row for each message. The input is one text of lower-case words without
   * diacritics, separated by spaces: we split words ourselves, so that both databases agree on them.
   */
  readonly search: {
    /** The statements that create the tables. */
    readonly tables: readonly string[];
    readonly buckets: WordBuckets | undefined;
    stored(words: RawBuilder<unknown>): RawBuilder<unknown>;
    /** Whether a row of `message_words` contains all `terms`. */
    matches(terms: unknown): RawBuilder<boolean>;
    /**
     * Removes the words of deleted messages from the index, if deleting a row does not. `isDue` returns a row as long
     * as there is work left, and each `step` does some of it: its parameter is the number of pages to write.
     */
    readonly purge: { readonly isDue: string; readonly step: string } | undefined;
    /** Searches for all words, the last one as a prefix if `isPrefix`. */
    terms(words: readonly string[], isPrefix: boolean): string;
    /** Undefined without concurrent writers. */
    readonly concurrency: SearchConcurrency | undefined;
  };
  /** Whether transactions that write can overlap; otherwise the database serializes them. */
  readonly hasConcurrentWriters: boolean;
  /** A statement that locks `work` until the transaction ends; undefined without concurrent writers. */
  lockStatement(work: SerializedWork): string | undefined;
  /** Locks that a migration takes before it changes tables; undefined without concurrent writers. */
  readonly tableLocks: TableLocks | undefined;
  /**
   * The rows of a JSON list as a table, which saves PostgreSQL round trips. Undefined if a statement for each row is
   * faster.
   * @param columns name → type
   */
  readonly recordset: ((columns: Columns, list: unknown) => RawBuilder<unknown>) | undefined;
  /** A JSON list of texts as the right-hand side of `in`. */
  texts(json: unknown): RawBuilder<string>;
  /** A JSON list of integers as the right-hand side of `in`. */
  integers(json: unknown): RawBuilder<number>;
  /** Whether a text column begins with a text. SQLite finds such rows through an index of the column. */
  startsWith(column: string, prefix: unknown): RawBuilder<boolean>;
  /**
   * Reads a log of rows that several transactions append to, without skipping any. No row can appear any later at or
   * below the position that `horizon` returns. Read the rows with a later statement.
   */
  readonly log: {
    /** Whether the database draws the positions of events; otherwise their writer does, by steady time. */
    readonly drawsPositions: boolean;
    state(connection: Connection): Promise<LogState>;
    /** The last position that was drawn, which may be beyond the horizon. */
    newest(connection: Connection): Promise<number>;
    /** Identifies the server, its timeline and the database; null if a file is the database. */
    server(connection: Connection): Promise<string | null>;
    /** The transaction that wrote a row, as SQL; the present one, as an expression. */
    readonly writer: string;
    readonly transaction: RawBuilder<string | null>;
    /** Statements that keep other nodes from changing epochs until the transaction ends. */
    readonly lockEpochs: readonly string[];
  };
  /**
   * The statements that give new events the positions on which `log` relies. They follow the statements that create the
   * tables.
   */
  readonly positions: readonly string[];
  /** The statements that create what keeps the row of a node from being deleted during its transactions. */
  readonly nodeFence: readonly string[];
  /** A statement that creates a trigger. */
  rowTrigger(trigger: RowTrigger): string;
  /** A statement that ends the transactions of other nodes, by a condition on their rows `n`. */
  endTransactions(condition: RawBuilder<unknown>): RawBuilder<unknown>;
  readonly shape: {
    /** A query of the parts of all tables, as `SchemaPart`. */
    readonly parts: string;
    /** Runs `work` in an empty schema and drops everything it creates. */
    inScratch<T>(tx: Queryable, work: (scratch: Queryable) => Promise<T>): Promise<T>;
  };
  /**
   * Goes behind a table and its alias: SQLite reads it through this index. Without statistics it prefers the primary
   * key of a table that is stored in it, even if that has to pass every row of the account.
   * @param index null for the integer primary key
   */
  through(index: string | null): RawBuilder<unknown>;
  /** The database's clock, shared by all nodes, in milliseconds since the epoch. */
  readonly now: RawBuilder<number>;
  /** Returns the pages of deleted rows to the file system. */
  readonly reclaim: string | undefined;
  isUniqueViolation(error: unknown): boolean;
  /** Returns what an error is about; undefined if it does not come from the database. */
  faultOf(error: unknown): Fault | undefined;
  /** Whether the disk is full. A transaction that adds no rows may still succeed. */
  isFull(error: unknown): boolean;
}

/** Statements that keep the indexing of new messages apart from transactions that change messages. */
export interface SearchConcurrency {
  /** Lists the open transactions that may add messages, as `OpenWriter`. */
  readonly writers: string;
  /** Excludes indexing until the transaction ends. */
  readonly exclude: string;
  /** Excludes changes until the transaction ends, unless one is open: returns an `IndexTurn`. */
  readonly claim: string;
}

export interface OpenWriter {
  /** Null in the only row if no transaction is open. */
  readonly writer: string | null;
  /** Changes when another server answers, or the same one has restarted. */
  readonly since: string;
}

export interface IndexTurn {
  readonly isClaimed: boolean;
  /** As in `OpenWriter`. */
  readonly since: string;
}

/**
 * Division of the search index into buckets of messages with adjacent `seq`. Each word is stored with the number of its
 * bucket in front, so that no list of messages with a word is longer than a bucket: FTS5 merges such a list as a whole,
 * and merges all lists of a prefix in memory.
 *
 * A step of a merge ends only after it has written some pages, so deleted messages are no end: with a million of them,
 * one step takes a second. Each bucket therefore has markers, a row that is never deleted, whose words fill a page
 * each.
 */
export interface WordBuckets {
  /** Messages per bucket. */
  readonly size: number;
  /** Returns a word as it is stored for messages of a bucket. */
  word(word: string, bucket: number): string;
  /** Words of the markers, before they get the bucket. */
  readonly markers: readonly string[];
  /** Merges some of what was written, if it is due: its parameter is the number of pages to write. */
  readonly merge: string;
}

/** Statements that run after each change of a row, which they know as `old` and `new`. */
export interface RowTrigger {
  readonly name: string;
  readonly after: 'insert' | 'delete' | `update of ${string}`;
  readonly table: string;
  readonly when: string;
  readonly statements: readonly string[];
}

/**
 * The subject of a database error. Only `row` justifies giving up on an item; all others describe the state of
 * the database, and the same work succeeds once that has changed.
 * - `row`: values that the database refuses, and would refuse again
 * - `conflict`: this transaction was broken off, by another one, a time limit or a schema change
 * - `away`: the database cannot work now: full, locked, restarting, unreachable
 * - `other`: anything else, such as a missing table or permission, or a bug in a statement
 */
export type Fault = 'row' | 'conflict' | 'away' | 'other';

/** An existing table that a migration changes. */
export interface ChangedTable {
  readonly name: string;
  /** Whether others can read it during the change, because it only gets indexes. */
  readonly isReadable: boolean;
}

export interface TableLocks {
  /**
   * Limits each wait for a lock in the transaction to less than the time after which PostgreSQL looks for a deadlock,
   * so that this transaction gives up instead of one of a running node.
   */
  limit(connection: Connection): Promise<void>;
  /** Locks tables until the transaction ends, in this order. Each wait is limited. */
  take(connection: Connection, tables: readonly ChangedTable[]): Promise<void>;
  /** Describes the connections that hold locks on tables, the oldest first. */
  holders(connection: Connection): Promise<string[]>;
}

export type Columns = Readonly<Record<string, 'text' | 'bigint'>>;

export interface Result<R> {
  readonly rows: R[];
  readonly changed: number;
}

/** One connection, or a pool of them, that runs SQL. */
export interface Connection {
  /** @param name of a statement that runs often: PostgreSQL prepares it once per connection. */
  query<R>(text: string, parameters: readonly unknown[], name?: string): Promise<Result<R>>;
  /** Runs a statement for each list of parameters, and returns the rows of all. Undefined if `query` is as fast. */
  queryEach?<R>(text: string, lists: readonly (readonly unknown[])[]): Promise<R[]>;
}

/** Runs queries: `kysely` those built on the spot, `connection` prepared ones. */
export interface Queryable {
  readonly dialect: Dialect;
  readonly kysely: Kysely<Schema>;
  readonly connection: Connection;
}

/**
 * The identity under which a node writes to a shared database. A transaction fails unless the node's row in `nodes`
 * exists, and nobody can delete that row while the transaction is open. A node that was evicted can therefore change
 * nothing. `postgresFence.ts` has the proof.
 */
export interface Membership {
  readonly nodeId: string;
  readonly epoch: number;
}

/** The other nodes have evicted this one. */
export class FencedError extends AppError {
  constructor() {
    super('storage_unavailable', 'This node lost its leases and is rejoining; try again', { retryAfterSeconds: 1 });
  }
}

/**
 * The connection broke, or the disk failed, during a commit, so nobody knows whether it happened. Running the work
 * again could do it twice.
 */
export class UnknownCommitError extends AppError {
  constructor(cause: unknown) {
    super(
      'storage_unavailable',
      'The database did not confirm the change; check whether it was made before you repeat it',
      { cause },
    );
  }
}

/** Features of a database that several processes may share. */
export interface Shared {
  /** @param onEnd called when the connection breaks */
  listen(channel: string, onPayload: (payload: string) => void, onEnd: () => void): Promise<Listening>;
  /** Like `Listening.notify`, on a connection of the pool. */
  notify(channel: string, payload: string): Promise<void>;
  /** A connection for queries that must not wait behind others, with its own deadline. */
  readonly heartbeat: Queryable;
}

export interface Listening {
  /**
   * @param payload less than 8,000 bytes
   * @throws {Error} also on a timeout
   */
  notify(payload: string): Promise<void>;
  /** @throws {Error} also on a timeout */
  ping(): Promise<void>;
  /** Closes the connection without waiting for the database, which may not answer. */
  close(): void;
}

export interface PoolUse {
  readonly total: number;
  readonly idle: number;
  readonly waiting: number;
}

export interface OpenTransaction extends Queryable {
  /**
   * Commits, unless one of the statements that are not answered yet fails.
   * @throws {UnknownCommitError} if the connection breaks
   */
  commit(unanswered?: readonly Promise<unknown>[]): Promise<void>;
  rollback(): Promise<void>;
}

/** Time limits of a transaction on a database that several processes share, if they differ from the usual ones. */
export interface Limits {
  /** Longest wait for a lock in ms. */
  readonly lockMs?: number;
  /** Duration of a statement in ms; 0 for no limit. */
  readonly statementMs?: number;
  /** Runs on a connection that is kept for work of the cluster. */
  readonly isUrgent?: boolean;
}

/** State of the log and its server at a moment. */
export interface LogState {
  readonly horizon: number;
  readonly newest: number;
  /** Changes when another server answers, or the same one has restarted. */
  readonly since: string;
}

export interface Store {
  readonly dialect: Dialect;
  /** Reads committed data outside a transaction. */
  readonly reader: Queryable;
  /** Like `reader`, for queries that may take long, such as lists and searches: on SQLite they block nothing else. */
  readonly longReader: Queryable;
  /** Maximum number of concurrent transactions. */
  readonly writers: number;
  /** @throws {FencedError} if the row of `as` is gone */
  begin(as?: Membership, limits?: Limits): Promise<OpenTransaction>;
  /** Undefined if one process has the database to itself. */
  readonly shared: Shared | undefined;
  /** Undefined without a connection pool. */
  readonly poolUse: (() => PoolUse) | undefined;
  /** Rewrites files with secrets, so that no former value stays readable. No other process may run. */
  rewrite(): Promise<void>;
  /** Whether a backup or an older copy was put in place of the database's files. Undefined if it has none. */
  readonly wasReplaced: (() => boolean) | undefined;
  /** Call it once that has been noted in the database. */
  keptEpoch(): void;
  /** Shrinks the write-ahead log if nobody uses it at the moment. */
  trimLog(): Promise<void>;
  /** Starts checking the files after an unclean exit. Call it once the server has started. */
  startCheck(): void;
  close(): Promise<void>;
}

/** Turns an error about the state of the database into one that callers can act on, and leaves all others. */
export function asUnavailable(dialect: Dialect, error: unknown): unknown {
  const fault = dialect.faultOf(error);
  if (fault === undefined || fault === 'row') return error;
  return new AppError('storage_unavailable', undefined, { cause: error });
}

/** Wraps a connection for reads: a failing database becomes an error that callers can act on. */
export function answering(dialect: Dialect, connection: Connection): Connection {
  return {
    query: (text, parameters, name) =>
      connection.query<never>(text, parameters, name).catch((error: unknown) => {
        throw asUnavailable(dialect, error);
      }),
  };
}

export function queryable(dialect: Dialect, connection: Connection): Queryable {
  return { dialect, connection, kysely: kyselyOn(dialect, connection) };
}

function kyselyOn(dialect: Dialect, connection: Connection): Kysely<Schema> {
  return new Kysely<Schema>({
    dialect: { createDriver: () => new ConnectionDriver(connection), ...dialect.kysely },
    plugins: [namedColumns],
  });
}

class ConnectionDriver extends DummyDriver implements DatabaseConnection {
  readonly #connection: Connection;

  constructor(connection: Connection) {
    super();
    this.#connection = connection;
  }

  async executeQuery<R>({ sql: text, parameters }: CompiledQuery): Promise<QueryResult<R>> {
    const { rows, changed } = await this.#connection.query<R>(text, parameters);
    return { rows, numAffectedRows: BigInt(changed) };
  }

  streamQuery(): never {
    throw new Error('results are read whole, in pages');
  }

  override async acquireConnection(): Promise<DatabaseConnection> {
    return this;
  }

  override async beginTransaction(): Promise<void> {
    throw new Error('transactions are begun by commit.ts');
  }
}
