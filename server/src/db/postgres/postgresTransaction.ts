import type { Kysely } from 'kysely';
import pg from 'pg';
import { allEnded } from '../../async.ts';
import { thrownCode } from '../../thrown.ts';
import {
  type Connection,
  type Dialect,
  FencedError,
  type Limits,
  type Membership,
  type OpenTransaction,
  queryable,
  UnknownCommitError,
} from '../dialect.ts';
import type { Schema } from '../schema.ts';
import type { FirstStatistics } from './firstStatistics.ts';
import { connectionOn, deadline, isStale, QUERY_MS } from './postgresConnection.ts';
import { fence } from './postgresFence.ts';

const BEGIN_MS = 5000;
/**
 * The duration of a lease: a node whose commits take longer loses its leases. Includes the time of statements that are
 * not answered yet.
 */
const COMMIT_MS = 8000;
/** Limits how long a stalled process blocks the others; shorter than a lease. */
const IDLE_TRANSACTION_MS = 2500;
/**
 * Ends a statement in the database, and so keeps the connection, before `QUERY_MS` ends it here. A process that died
 * does not end it.
 */
const STATEMENT_MS = 25_000;
/** Longer than our transactions take. A lock that lasts longer belongs to an operator or another program. */
const LOCK_MS = 3000;
/** A statement came after one that failed. */
const IN_FAILED_TRANSACTION = '25P02';

interface Options {
  readonly dialect: Dialect;
  readonly mayPrepare: boolean;
  /** Undefined for migrations and nodes that join. */
  readonly as: Membership | undefined;
  readonly limits: Limits | undefined;
  /** Further settings of a transaction, as statements. */
  readonly settings: string;
  readonly statistics: FirstStatistics;
  /** Called after a statement failed that other connections have prepared as well. */
  readonly onStale: () => void;
}

/**
 * A transaction on a connection of its own, which is released when it ends. Statements may be sent before earlier ones
 * are answered. If one fails, those after it fail with its error.
 */
export class PostgresTransaction implements OpenTransaction {
  readonly dialect: Dialect;
  readonly kysely: Kysely<Schema>;
  readonly connection: Connection;
  readonly #client: pg.PoolClient;
  readonly #options: Options;
  #lastError: unknown;
  #isStale = false;
  #hasEnded = false;

  private constructor(client: pg.PoolClient, options: Options) {
    this.#client = client;
    this.#options = options;
    const queryMs = options.limits?.statementMs === 0 ? undefined : QUERY_MS;
    const connection = connectionOn(client, options.mayPrepare, queryMs);
    const on = queryable(options.dialect, {
      query: (text, parameters, name) =>
        connection.query<never>(text, parameters, name).catch((error: unknown) => {
          if (thrownCode(error) !== IN_FAILED_TRANSACTION) this.#lastError = error;
          this.#isStale ||= isStale(error);
          throw this.#lastError ?? error;
        }),
    });
    this.dialect = on.dialect;
    this.kysely = on.kysely;
    this.connection = on.connection;
  }

  /**
   * Begins on a connection of the pool. After an error the connection is closed.
   * @throws {FencedError} if the row of the node is gone
   */
  static async begin(client: pg.PoolClient, options: Options): Promise<PostgresTransaction> {
    const { as } = options;
    const begin = `begin; ${limitsOf(options.limits)}${options.settings}`;
    // The fence saves a round trip here.
    const text = as === undefined ? begin : `${begin}; ${BY_INDEX}; ${fence(as)}`;
    try {
      // Several statements in one text return a list of results.
      const results = (await client.query({ text, ...deadline(BEGIN_MS) })) as unknown as pg.QueryResult[];
      if (as !== undefined && results.at(-1)?.rowCount !== 1) throw new FencedError();
    } catch (error) {
      client.release(true);
      throw error;
    }
    return new PostgresTransaction(client, options);
  }

  /** Sends `commit` without waiting for these answers. If a statement has failed, PostgreSQL rolls back instead. */
  async commit(unanswered: readonly Promise<unknown>[] = []): Promise<void> {
    const [statements, end] = await Promise.allSettled([allEnded(...unanswered), this.#end('commit')]);
    // PostgreSQL works in order, so it did not commit after this error, even if the answer is lost.
    if (statements.status === 'rejected' && isAnswer(statements.reason)) throw statements.reason;
    if (end.status === 'rejected') throw this.#isRefusal(end.reason) ? end.reason : new UnknownCommitError(end.reason);
    if (end.value === 'ROLLBACK') throw this.#lastError;
    // It never reached PostgreSQL, which is a bug. The rest is committed, so the work must not run again.
    if (statements.status === 'rejected') throw new UnknownCommitError(statements.reason);
    this.#options.statistics.committed();
  }

  async rollback(): Promise<void> {
    if (!this.#hasEnded) await this.#end('rollback');
  }

  /** Returns the command that PostgreSQL has run. */
  async #end(text: string): Promise<string> {
    this.#hasEnded = true;
    try {
      const limit = deadline(this.#options.as === undefined ? QUERY_MS : COMMIT_MS);
      const { command } = await this.#client.query({ text, ...limit });
      this.#client.release(this.#isStale);
      if (this.#isStale) this.#options.onStale();
      return command;
    } catch (error) {
      this.#client.release(true); // its state is unknown: close it
      throw error;
    }
  }

  /** Whether PostgreSQL has answered that it does not commit. */
  #isRefusal(error: unknown): boolean {
    return isAnswer(error) && this.#options.dialect.faultOf(error) !== 'away';
  }
}

/** These apply even if this process has died or hangs. */
function limitsOf({ lockMs = LOCK_MS, statementMs = STATEMENT_MS }: Limits = {}): string {
  return `set local idle_in_transaction_session_timeout = ${IDLE_TRANSACTION_MS};
    set local statement_timeout = ${statementMs}; set local lock_timeout = ${lockMs}`;
}

const isAnswer = (error: unknown): boolean => error instanceof pg.DatabaseError;

/**
 * Statements look their rows up, whatever the size of a table when they are planned. Before PostgreSQL 18, a scan that
 * is unavoidable nevertheless counts as so expensive that it would be compiled.
 */
const BY_INDEX = 'set local enable_seqscan = off; set local jit = off';
