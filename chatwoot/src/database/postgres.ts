import pg from 'pg';
import { type Database, DatabaseError, type Row, type Statement, type Value } from './database.ts';

/** Keeps the tables apart from the ones of Switchboard in the same database. */
const SCHEMA = 'switchboard_chatwoot';
/** Arbitrary key of the lock that one bridge holds. */
const LOCK = 7_204_611_093;
/** Arbitrary key of the lock that a transaction holds. */
const WRITE_LOCK = 7_204_611_094;
/** OID of BIGINT, which the driver returns as text by default. All of our numbers are below 2^53. */
const BIGINT = 20;

/**
 * Deadline of a statement in milliseconds. The server enforces it too, and the client if the server is not reachable.
 */
const STATEMENT_MS = 30_000;

/** Connects to PostgreSQL. @throws {DatabaseError} */
export async function openPostgres(url: string): Promise<Database> {
  const types = new pg.TypeOverrides();
  types.setTypeParser(BIGINT, Number);
  const pool = new pg.Pool({
    connectionString: url,
    max: 8,
    types,
    options: `-c search_path=${SCHEMA}`,
    connectionTimeoutMillis: STATEMENT_MS,
    statement_timeout: STATEMENT_MS,
    query_timeout: STATEMENT_MS + 5000,
    keepAlive: true,
  });
  pool.on('error', () => {}); // an idle connection ended; the next query opens another
  let holder: pg.PoolClient | undefined;
  try {
    holder = await pool.connect();
    const { lost } = await lockedBy(holder);
    return new PostgresDatabase(pool, holder, lost);
  } catch (cause) {
    holder?.release(true);
    await pool.end();
    if (cause instanceof DatabaseError) throw cause;
    throw new DatabaseError(`Cannot open PostgreSQL: ${cause instanceof Error ? cause.message : cause}`, { cause });
  }
}

/**
 * Takes the lock and creates the schema.
 * @returns `lost`, which resolves when the connection ends, and the lock with it
 */
async function lockedBy(holder: pg.PoolClient): Promise<{ readonly lost: Promise<Error> }> {
  const lost = new Promise<Error>((resolve) => holder.on('error', resolve));
  const { rows } = await holder.query<{ held: boolean }>('SELECT pg_try_advisory_lock($1) AS held', [LOCK]);
  if (rows[0]?.held !== true)
    throw new DatabaseError('Another process is using this database. Stop the other bridge first.');
  await holder.query(`CREATE SCHEMA IF NOT EXISTS ${SCHEMA}`);
  return { lost };
}

class PostgresDatabase implements Database {
  readonly lost: Promise<Error>;
  readonly #pool: pg.Pool;
  /** Its connection holds the lock. */
  readonly #holder: pg.PoolClient;
  #isClosed = false;

  constructor(pool: pg.Pool, holder: pg.PoolClient, lost: Promise<Error>) {
    this.#pool = pool;
    this.#holder = holder;
    this.lost = lost;
  }

  async all(sql: string, ...values: Value[]): Promise<Row[]> {
    return (await this.#pool.query<Row>(numbered(sql), values)).rows;
  }

  async batch(statements: readonly Statement[]): Promise<number[]> {
    const client = await this.#pool.connect();
    let failure: Error | undefined;
    try {
      // Transactions that change the same lane must see each other. They are short, and one process makes them.
      await client.query(`BEGIN; SELECT pg_advisory_xact_lock(${WRITE_LOCK})`);
      const changes: number[] = [];
      for (const [sql, ...values] of statements)
        changes.push((await client.query(numbered(sql), values)).rowCount ?? 0);
      await client.query('COMMIT');
      return changes;
    } catch (error) {
      await client.query('ROLLBACK').catch((cause: Error) => {
        failure = cause;
      });
      throw error;
    } finally {
      client.release(failure);
    }
  }

  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    // PostgreSQL notices the end of a connection some time later, and the next bridge may start before.
    await this.#holder.query('SELECT pg_advisory_unlock($1)', [LOCK]).catch(() => {});
    this.#holder.release(true);
    await this.#pool.end();
  }
}

/** Replaces each `?` by `$1`, `$2`, … */
function numbered(sql: string): string {
  let count = 0;
  return sql.replace(/\?/g, () => `$${++count}`);
}
