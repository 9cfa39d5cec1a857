import type { Kysely } from 'kysely';
import pg from 'pg';
import { allEnded } from '../async.ts';
import {
  type Connection,
  type Dialect,
  FencedError,
  type Membership,
  type OpenTransaction,
  queryable,
  UnknownCommitError,
} from './dialect.ts';
import type { FirstStatistics } from './firstStatistics.ts';
import { codeOf, connectionOn, deadline, QUERY_MS } from './postgresConnection.ts';
import type { Schema } from './schema.ts';

const BEGIN_MS = 5000;
/**
 * The duration of a lease: a node whose commits take longer loses its leases. Includes the time of statements that are
 * not answered yet.
 */
const COMMIT_MS = 8000;
/** Limits how long a stalled process blocks the others; shorter than a lease. */
const IDLE_TRANSACTION_MS = 2500;
/** A statement came after one that failed. */
const IN_FAILED_TRANSACTION = '25P02';

interface Options {
  readonly dialect: Dialect;
  readonly mayPrepare: boolean;
  /** Undefined for migrations and nodes that join. */
  readonly as: Membership | undefined;
  readonly statistics: FirstStatistics;
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
  #hasEnded = false;

  private constructor(client: pg.PoolClient, options: Options) {
    this.#client = client;
    this.#options = options;
    // Migrations have no time limit.
    const connection = connectionOn(client, options.mayPrepare, options.as && QUERY_MS);
    const on = queryable(options.dialect, {
      query: (text, parameters, name) =>
        connection.query<never>(text, parameters, name).catch((error: unknown) => {
          if (codeOf(error) !== IN_FAILED_TRANSACTION) this.#lastError = error;
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
    const begin = `begin; set local idle_in_transaction_session_timeout = ${IDLE_TRANSACTION_MS}`;
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
      this.#client.release();
      return command;
    } catch (error) {
      this.#client.release(true); // its state is unknown: close it
      throw error;
    }
  }

  /** Whether PostgreSQL has answered that it does not commit. */
  #isRefusal(error: unknown): boolean {
    return isAnswer(error) && !this.#options.dialect.isUnavailable(error);
  }
}

const isAnswer = (error: unknown): boolean => error instanceof pg.DatabaseError;

/**
 * Statements look their rows up, whatever the size of a table when they are planned. Before PostgreSQL 18, a scan that
 * is unavoidable nevertheless counts as so expensive that it would be compiled.
 */
const BY_INDEX = 'set local enable_seqscan = off; set local jit = off';

/** Finds the node's own row, and keeps it from being deleted. */
const fence = ({ nodeId, epoch }: Membership) =>
  `select from nodes where node_id = ${pg.escapeLiteral(nodeId)} and epoch = ${epoch} for key share`;
