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
import { connectionOn, deadline, QUERY_MS } from './postgresConnection.ts';
import type { Schema } from './schema.ts';

const BEGIN_MS = 5000;
/** The duration of a lease: a node whose commits take longer loses its leases. */
const COMMIT_MS = 8000;
/** Limits how long a stalled process blocks the others; shorter than a lease. */
const IDLE_TRANSACTION_MS = 2500;

interface Options {
  readonly dialect: Dialect;
  readonly mayPrepare: boolean;
  /** Undefined for migrations and joining nodes. */
  readonly as: Membership | undefined;
  /** Called before the error is thrown, if the transaction could not begin. */
  onBroken(): Promise<void>;
  onCommit(): void;
}

/**
 * A transaction on a connection of its own, which is released when it ends. It begins together with its first statement,
 * which saves a round trip, so that errors of its beginning are those of a statement or of the commit.
 */
export class PostgresTransaction implements OpenTransaction {
  readonly dialect: Dialect;
  readonly kysely: Kysely<Schema>;
  readonly connection: Connection;
  readonly #client: pg.PoolClient;
  readonly #options: Options;
  readonly #begun: Promise<void>;

  constructor(client: pg.PoolClient, options: Options) {
    this.#client = client;
    this.#options = options;
    this.#begun = this.#begin();
    this.#begun.catch(() => {}); // thrown by what comes next
    // Migrations have no time limit.
    const connection = connectionOn(client, options.mayPrepare, options.as && QUERY_MS);
    const on = queryable(options.dialect, {
      query: (text, parameters, name) =>
        connection.query<never>(text, parameters, name).catch(async (error: unknown) => {
          await this.#begun; // the statement failed because the transaction did
          throw error;
        }),
    });
    this.dialect = on.dialect;
    this.kysely = on.kysely;
    this.connection = on.connection;
  }

  async commit(): Promise<void> {
    await this.#begun;
    await this.#end('commit').catch((error) => this.#asUnknown(error));
    this.#options.onCommit();
  }

  async rollback(): Promise<void> {
    try {
      await this.#begun;
    } catch (error) {
      this.#client.release(true);
      if (!(error instanceof FencedError)) await this.#options.onBroken();
      return;
    }
    await this.#end('rollback');
  }

  async #begin(): Promise<void> {
    const { as } = this.#options;
    const begin = `begin; set local idle_in_transaction_session_timeout = ${IDLE_TRANSACTION_MS}`;
    const text = as === undefined ? begin : `${begin}; ${BY_INDEX}; ${fence(as)}`;
    // Several statements in one text return a list of results.
    const results = (await this.#client.query({ text, ...deadline(BEGIN_MS) })) as unknown as pg.QueryResult[];
    if (as !== undefined && results.at(-1)?.rowCount !== 1) throw new FencedError();
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

/** Statements look their rows up, whatever the size of a table when they are planned. */
const BY_INDEX = 'set local enable_seqscan = off; set local jit = off';

/** Finds the node's own row, and keeps it from being deleted. */
const fence = ({ nodeId, epoch }: Membership) =>
  `select from nodes where node_id = ${pg.escapeLiteral(nodeId)} and epoch = ${epoch} for key share`;
