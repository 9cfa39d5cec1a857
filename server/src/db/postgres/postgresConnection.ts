import pg from 'pg';
import { allEnded } from '../../async.ts';
import { thrownCode } from '../../thrown.ts';
import type { Connection } from '../dialect.ts';

// Times and counts are bigint columns with values far below 2^53, so they are read as numbers.
export const getTypeParser: typeof pg.types.getTypeParser = (oid: number, format?: 'text' | 'binary') =>
  oid === pg.types.builtins.INT8 && format !== 'binary' ? Number : pg.types.getTypeParser(oid, format as 'text');

/** Queries are sent without waiting for the answers to earlier ones. The types of `pg` lack the option. */
export const PIPELINED: object = { pipeline: true };

/** `pg` accepts a timeout per query, which its types lack. */
export const deadline = (ms: number): object => ({ query_timeout: ms });

/**
 * Whether a prepared statement is unknown, or no longer fits the tables, on its connection: another node has changed
 * the schema, or a pooler has changed the connection. It fails there again and again, and succeeds on a new connection.
 */
export function isStale(error: unknown): boolean {
  const code = thrownCode(error);
  if (['26000', '42P05'].includes(code)) return true;
  return code === '0A000' && error instanceof Error && /cached plan/.test(error.message);
}

/** A database that vanished does not close its connections, so they time out. */
export const QUERY_MS = 30_000;
/** PostgreSQL ends a statement this long before it times out here. */
const SOONER_MS = 500;

/** The errors of connections that could not be made: of a socket, of TLS or of a login. Their codes do not matter. */
const unconnected = new WeakSet<object>();

/** Whether an error is about the connection and not about a statement. */
export function isUnconnected(error: unknown): boolean {
  return error instanceof Error && (unconnected.has(error) || 'syscall' in error);
}

/** @throws an error that `isUnconnected` recognizes */
export async function connect(pool: pg.Pool): Promise<pg.PoolClient> {
  try {
    return await pool.connect();
  } catch (error) {
    if (error instanceof Error) unconnected.add(error);
    throw error;
  }
}

export function connectionOn(client: pg.PoolClient, mayPrepare: boolean, timeoutMs: number | undefined): Connection {
  return {
    async query(text, parameters, name) {
      const { rows, rowCount } = await client.query({
        text,
        values: [...parameters],
        ...(mayPrepare && name && { name }),
        ...(timeoutMs !== undefined && deadline(timeoutMs)),
      });
      return { rows, changed: rowCount ?? 0 };
    },
  };
}

/** Runs each query on any connection of the pool. A connection whose query has failed is closed. */
export function connectionOf(pool: pg.Pool, mayPrepare: boolean, timeoutMs: number): Connection {
  return {
    async query(text, parameters, name) {
      const client = await connect(pool);
      try {
        const query = () => connectionOn(client, mayPrepare, timeoutMs).query<never>(text, parameters, name);
        const result = await (mayPrepare ? query() : limited(client, timeoutMs, query));
        client.release();
        return result;
      } catch (error) {
        client.release(true);
        throw error;
      }
    },
  };
}

/** A pooler shares the session, so a limit holds for one transaction. The three statements are sent together. */
async function limited<T>(client: pg.PoolClient, timeoutMs: number, query: () => Promise<T>): Promise<T> {
  const limit = `begin; set local statement_timeout = ${timeoutMs - SOONER_MS}`;
  const [, result] = await allEnded(
    client.query({ text: limit, ...deadline(timeoutMs) }),
    query(),
    client.query({ text: 'commit', ...deadline(timeoutMs) }),
  );
  return result;
}
