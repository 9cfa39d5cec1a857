import { DatabaseSync, type SQLInputValue, type StatementSync } from 'node:sqlite';
import { cacheOf } from '../../cache.ts';
import type { Connection, Result } from '../dialect.ts';

const STATEMENTS_KEPT = 500;

interface Prepared {
  readonly statement: StatementSync;
  readonly returnsRows: boolean;
}

/**
 * Settings of a new file, before it has a table. `auto_vacuum` lets it shrink when events are pruned. A commit writes
 * whole pages, and most change a few rows in each: with 2 KiB instead of 4, a send that is made alone writes 93 kB of
 * log instead of 164.
 */
export const NEW_FILE = 'pragma page_size = 2048; pragma auto_vacuum = incremental';

/** Opens a file with the settings that all connections share. */
export function openFile(file: string): DatabaseSync {
  // The whole process blocks while SQLite waits for a lock, so it waits briefly; `commit` retries.
  const database = new DatabaseSync(file, { timeout: 50 });
  database.exec('pragma foreign_keys = off; pragma temp_store = memory; pragma cache_size = -65536;');
  return database;
}

/**
 * Runs queries on an open database, with prepared statements.
 * @param toError maps the errors of SQLite
 */
export function connectionOn(database: DatabaseSync, toError = (error: unknown) => error): Connection {
  const statements = cacheOf<Prepared>(STATEMENTS_KEPT);
  const prepared = (text: string): Prepared => {
    let found = statements.get(text);
    if (found === undefined) {
      found = prepare(database, text);
      statements.set(text, found);
    }
    return found;
  };
  return {
    async query<R>(text: string, parameters: readonly unknown[]): Promise<Result<R>> {
      try {
        return run<R>(prepared(text), parameters);
      } catch (error) {
        throw toError(error);
      }
    },
    async queryEach<R>(text: string, lists: readonly (readonly unknown[])[]): Promise<R[]> {
      try {
        const statement = prepared(text);
        const found: R[] = [];
        for (const parameters of lists) found.push(...run<R>(statement, parameters).rows);
        return found;
      } catch (error) {
        throw toError(error);
      }
    },
  };
}

function run<R>({ statement, returnsRows }: Prepared, parameters: readonly unknown[]): Result<R> {
  // Our own queries bind only text, numbers and null.
  const values = parameters as readonly SQLInputValue[];
  if (returnsRows) return { rows: statement.all(...values) as R[], changed: 0 };
  return { rows: [], changed: Number(statement.run(...values).changes) };
}

function prepare(database: DatabaseSync, text: string): Prepared {
  const statement = database.prepare(text);
  const returnsRows = statement.columns().length > 0;
  // `run` returns the id of the last inserted row. In the search index that id can exceed the range of a number, and
  // every later change would throw.
  if (!returnsRows) statement.setReadBigInts(true);
  return { statement, returnsRows };
}
