import pg from 'pg';
import type { Connection } from '../dialect.ts';

// Times and counts are bigint columns with values far below 2^53, so they are read as numbers.
export const getTypeParser: typeof pg.types.getTypeParser = (oid: number, format?: 'text' | 'binary') =>
  oid === pg.types.builtins.INT8 && format !== 'binary' ? Number : pg.types.getTypeParser(oid, format as 'text');

/** Queries are sent without waiting for the answers to earlier ones. The types of `pg` lack the option. */
export const PIPELINED: object = { pipeline: true };

/** `pg` accepts a timeout per query, which its types lack. */
export const deadline = (ms: number): object => ({ query_timeout: ms });

/** The code of an error of PostgreSQL or of a socket; empty if it has none. */
export function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : '';
}

/**
 * Whether a prepared statement is unknown, or no longer fits the tables, on its connection: another node has changed the
 * schema, or a pooler has changed the connection. It fails there again and again, and succeeds on a new connection.
 */
export function isStale(error: unknown): boolean {
  const code = codeOf(error);
  if (['26000', '42P05'].includes(code)) return true;
  return code === '0A000' && error instanceof Error && /cached plan/.test(error.message);
}

/** A database that vanished does not close its connections, so they time out. */
export const QUERY_MS = 30_000;

export function connectionOn(
  client: pg.Pool | pg.PoolClient,
  mayPrepare: boolean,
  timeoutMs: number | undefined,
): Connection {
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
