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
import type { Schema } from './schema.ts';

/**
 * Work that only one process does at a time. With `nodes`, two nodes that evict the same one do not deadlock, nor a node
 * and its successor.
 */
export type SerializedWork = 'migrate' | 'nodes' | 'register';

/** Everything that SQLite and PostgreSQL do differently. No other file asks which of the two it uses. */
export interface Dialect {
  readonly name: 'sqlite' | 'postgres';
  readonly kysely: Omit<KyselyDialect, 'createDriver'>;
  /** Ends a `create table` whose rows are small and found by primary key: stores the rows in the index. */
  readonly clustered: string;
  /** Type of an auto-incremented primary key. */
  readonly counted: string;
  /**
   * Full-text search in the table `message_words`. The input is one text of lower-case words without diacritics,
   * separated by spaces: we split words ourselves, so that both databases agree on them.
   */
  readonly search: {
    readonly tables: readonly string[];
    /** Whether a limited query can read rows from the index in the order of their `rowid`. */
    readonly isOrdered: boolean;
    stored(words: RawBuilder<unknown>): RawBuilder<unknown>;
    /** Whether a row of `message_words`, under this alias, contains all `terms`. */
    matches(alias: string, terms: string): RawBuilder<boolean>;
    /**
     * Removes the words of deleted messages from the index, if deleting a row does not. `isDue` returns a row as long
     * as there is work left, and each `step` does some of it.
     */
    readonly purge: { readonly isDue: string; readonly step: string } | undefined;
    /** Searches for all of the words. The last one also matches as a prefix if it is long enough. */
    terms(words: readonly string[]): string;
  };
  /** Whether transactions that write can overlap; otherwise the database serializes them. */
  readonly hasConcurrentWriters: boolean;
  /** A statement that locks `work` until the transaction ends; undefined without concurrent writers. */
  lockStatement(work: SerializedWork): string | undefined;
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
  /**
   * Reads a log of rows that several transactions append to, without skipping any. `order` is the order of the rows. No
   * row can appear any later at or below the position that `horizon` returns. Read the rows with a later statement.
   */
  readonly log: {
    readonly order: readonly ('position' | 'event_id')[];
    /** Whether the database draws the positions of events; otherwise their writer does. */
    readonly drawsPositions: boolean;
    horizon(connection: Connection): Promise<number>;
    /** The last position that was drawn, which may be beyond the horizon. */
    newest(connection: Connection): Promise<number>;
    /** The tables that the first migration adds positions to. */
    readonly tables: readonly string[];
    position(shift: number): string;
  };
  /** The migration that creates the event positions that `log` relies on; empty if ids are already ordered. */
  readonly logPositions: readonly string[];
  readonly shape: {
    /** A query of the parts of all tables, as `SchemaPart`. */
    readonly parts: string;
    /** Runs `work` in an empty schema and drops everything it creates. */
    inScratch<T>(tx: Queryable, work: (scratch: Queryable) => Promise<T>): Promise<T>;
  };
  /** Numbers deliveries in the order of their conversation's transactions; empty if ids have that order. */
  readonly deliveryPositions: readonly string[];
  /** The database's clock, shared by all nodes, in milliseconds since the epoch. */
  readonly now: RawBuilder<number>;
  /** Returns the pages of deleted rows to the file system. */
  readonly reclaim: string | undefined;
  isUniqueViolation(error: unknown): boolean;
  /** Whether the database cannot work now: full, locked, restarting. A caller may try again. */
  isUnavailable(error: unknown): boolean;
  /** Whether the disk is full. A transaction that adds no rows may still succeed. */
  isFull(error: unknown): boolean;
  /** Whether the transaction conflicted with another one and would succeed if repeated. */
  isConflict(error: unknown): boolean;
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
 * nothing.
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
 * The connection broke during a commit, so nobody knows whether it happened. Running the work again could do it twice.
 */
export class UnknownCommitError extends AppError {
  constructor(cause: unknown) {
    super(
      'storage_unavailable',
      'The connection to the database was lost during the commit; check whether the change was made before you repeat it',
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

export interface Store {
  readonly dialect: Dialect;
  /** Reads committed data outside a transaction. */
  readonly reader: Queryable;
  /** Like `reader`, for queries that may take long, such as lists and searches: on SQLite they block nothing else. */
  readonly longReader: Queryable;
  /** Maximum number of concurrent transactions. */
  readonly writers: number;
  /** @throws {FencedError} if the row of `as` is gone */
  begin(as?: Membership): Promise<OpenTransaction>;
  /** Undefined if one process has the database to itself. */
  readonly shared: Shared | undefined;
  /** Undefined without a connection pool. */
  readonly poolUse: (() => PoolUse) | undefined;
  /** Rewrites files with secrets, so that no former value stays readable. No other process may run. */
  rewrite(): Promise<void>;
  /** Shrinks the write-ahead log if nobody uses it at the moment. */
  trimLog(): void;
  /** Starts checking the files after an unclean exit. Call it once the server has started. */
  startCheck(): void;
  close(): Promise<void>;
}

/** A prefix of one or two letters matches too many words. */
const MIN_PREFIX_LENGTH = 3;
export const isBeginning = (words: readonly string[]) => (words.at(-1)?.length ?? 0) >= MIN_PREFIX_LENGTH;

/** Wraps a connection for reads: a failing database becomes an error that callers can act on. */
export function answering(dialect: Dialect, connection: Connection): Connection {
  return {
    query: (text, parameters, name) =>
      connection.query<never>(text, parameters, name).catch((error: unknown) => {
        if (!dialect.isUnavailable(error)) throw error;
        throw new AppError('storage_unavailable', undefined, { cause: error });
      }),
  };
}

export function queryable(dialect: Dialect, connection: Connection): Queryable {
  return { dialect, connection, kysely: kyselyOn(dialect, connection) };
}

function kyselyOn(dialect: Dialect, connection: Connection): Kysely<Schema> {
  return new Kysely<Schema>({ dialect: { createDriver: () => new ConnectionDriver(connection), ...dialect.kysely } });
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
