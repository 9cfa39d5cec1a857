import type { Kysely } from 'kysely';
import pg from 'pg';
import { AppError } from '../errors.ts';
import {
  type Connection,
  type Dialect,
  FencedError,
  type Membership,
  type OpenTransaction,
  queryable,
} from './dialect.ts';
import type { FirstStatistics } from './firstStatistics.ts';
import { codeOf, connectionOn, deadline, QUERY_MS } from './postgresConnection.ts';
import type { Schema } from './schema.ts';

const BEGIN_MS = 5000;
/** The duration of a lease: a node whose commits take longer loses its leases. */
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

  async commit(): Promise<void> {
    await this.#end('commit').catch((error) => this.#asUnknown(error));
    this.#options.statistics.committed();
  }

  rollback(): Promise<void> {
    return this.#end('rollback');
  }

  async #end(text: string): Promise<void> {
    try {
      await this.#client.query({ text, ...deadline(this.#options.as === undefined ? QUERY_MS : COMMIT_MS) });
      this.#client.release();
    } catch (error) {
      this.#client.release(true); // its state is unknown: close it
      throw error;
    }
  }

  /**
   * If a connection breaks during a commit, nobody knows whether the commit happened. Running the work again could do it
   * twice.
   * @throws {AppError} `storage_unavailable`, which is not retried
   */
  #asUnknown(error: unknown): never {
    if (!this.#options.dialect.isUnavailable(error)) throw error;
    throw new AppError(
      'storage_unavailable',
      'The connection to the database was lost during the commit; check whether the change was made before you repeat it',
      { cause: error },
    );
  }
}

/**
 * Statements look their rows up, whatever the size of a table when they are planned. Before PostgreSQL 18, a scan that
 * is unavoidable nevertheless counts as so expensive that it would be compiled.
 */
const BY_INDEX = 'set local enable_seqscan = off; set local jit = off';

/** Finds the node's own row, and keeps it from being deleted. */
const fence = ({ nodeId, epoch }: Membership) =>
  `select from nodes where node_id = ${pg.escapeLiteral(nodeId)} and epoch = ${epoch} for key share`;
