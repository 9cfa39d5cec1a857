import {
  type CompiledQuery,
  type DatabaseConnection,
  type Driver,
  Kysely,
  type Dialect as KyselyDialect,
  type QueryResult,
  type RawBuilder,
} from 'kysely';
import { AppError } from '../errors.ts';
import type { Schema } from './schema.ts';
import type { Shape } from './shape.ts';

/** What only one process does at a time. */
export type OneAtATime = 'migrate' | 'nodes' | 'register';

/** Everything that SQLite and PostgreSQL do differently. No other file asks which of the two it talks to. */
export interface Dialect {
  readonly name: 'sqlite' | 'postgres';
  /** How Kysely writes its SQL. */
  readonly kysely: Omit<KyselyDialect, 'createDriver'>;
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
    /**
     * How the words of messages that are gone leave the index, where deleting a row does not remove them at once:
     * `step` does some of it, while `isDue` finds a row.
     */
    readonly purge: { readonly isDue: string; readonly step: string } | undefined;
    /** Asks for all of the words, the last of which may be the beginning of one when it has some letters. */
    terms(words: readonly string[]): string;
  };
  /** Lets one transaction at a time do a thing, until it ends. Undefined where writers wait for one another anyway. */
  readonly oneAtATime: ((thing: OneAtATime) => string) | undefined;
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
   * How a log of rows that several transactions append to is read so that nothing is passed over: `order` is their
   * order, and up to the position that `horizon` resolves with no row can appear any more. Rows that are read by it
   * are to be read by a later statement.
   */
  readonly log: {
    readonly order: readonly ('position' | 'event_id')[];
    horizon(connection: Connection): Promise<number>;
    /** What the first migration made positions of. */
    readonly tables: readonly string[];
    position(shift: number): string;
  };
  /** Gives events the positions that `log` rests on; empty where ids are in order already. */
  readonly logPositions: readonly string[];
  /** How the tables that are there are compared with those that the migrations make. */
  readonly shape: {
    read(db: Queryable): Promise<Shape>;
    /** Runs `work` where there are no tables yet; what it makes is gone afterwards. */
    inScratch<T>(tx: Queryable, work: (scratch: Queryable) => Promise<T>): Promise<T>;
  };
  /**
   * Numbers deliveries as they are stored, in the order of the transactions of a conversation. Empty where ids are in
   * that order, because one process makes all of them.
   */
  readonly deliveryPositions: readonly string[];
  /** The database's own clock, which all who share it have in common: milliseconds since 1970. */
  readonly now: RawBuilder<number>;
  /** Gives pages that deleting has freed back to the file system. */
  readonly reclaim: string | undefined;
  /** Whether the error means that a row with this key exists already. */
  isUniqueViolation(error: unknown): boolean;
  /** Whether the error says that the database cannot work now: full, locked, restarting. A caller may try again. */
  isUnavailable(error: unknown): boolean;
  /** Whether the error says that rows cannot be added, while a transaction that adds none passes: a full disk. */
  isFull(error: unknown): boolean;
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

/**
 * As whom a process writes where several do: a transaction fails unless the row in `nodes` is there, and while it is
 * open nobody can take that row away. So what somebody does whom the others have given up changes nothing.
 */
export interface Membership {
  readonly nodeId: string;
  readonly epoch: number;
}

/** The others have given this process up. */
export class FencedError extends AppError {
  constructor() {
    super('storage_unavailable', 'This node lost its leases and is rejoining; try again', { retryAfterSeconds: 1 });
  }
}

/** What a database has that several processes may share. */
export interface Shared {
  /**
   * Opens a connection that hears what others notify on a channel.
   * @param onEnd it broke: nothing is heard any more
   */
  listen(channel: string, onPayload: (payload: string) => void, onEnd: () => void): Promise<Listening>;
  /** As `Listening.notify`, by a connection of the pool. */
  notify(channel: string, payload: string): Promise<void>;
  /** A connection for what must not wait behind anything else, with a deadline of its own. */
  readonly heart: Queryable;
}

export interface Listening {
  /** @param payload less than 8,000 bytes @throws {Error} also when there is no answer soon */
  notify(payload: string): Promise<void>;
  /** @throws {Error} when there is no answer soon */
  ping(): Promise<void>;
  /** Ends it at once, without a word to the database: it may not answer. */
  close(): void;
}

/** How the connections of a pool are used. */
export interface PoolUse {
  readonly total: number;
  readonly idle: number;
  /** Queries that wait for a connection. */
  readonly waiting: number;
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
  /** @throws {FencedError} when `as` is no member any more */
  begin(as?: Membership): Promise<OpenTransaction>;
  /** Undefined where one process has the database to itself. */
  readonly shared: Shared | undefined;
  /** Undefined where there is no pool. */
  readonly poolUse: (() => PoolUse) | undefined;
  /** Rewrites the secrets' files, so that no former value stays readable in them. Only one process may run. */
  rewrite(): Promise<void>;
  /** Removes what was deleted from the log of writes, if nobody uses it just now. */
  trimLog(): void;
  /** Begins to check the files after an unclean end. Call it once the server has started. */
  startCheck(): void;
  close(): Promise<void>;
}
/** The beginnings of words with one or two letters are too many to go through. */
const SHORTEST_BEGINNING = 3;
export const isBeginning = (words: readonly string[]) => (words.at(-1)?.length ?? 0) >= SHORTEST_BEGINNING;
/** A connection for reads: a database that is away is an error that callers can act on. */
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
  return new Kysely<Schema>({ dialect: { createDriver: () => driver, ...dialect.kysely } });
}
