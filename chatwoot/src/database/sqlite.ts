import { mkdirSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { DatabaseSync, type SQLInputValue } from 'node:sqlite';
import { type Database, DatabaseError, type Row, type Statement } from './database.ts';

/** Opens a file of SQLite for this process alone. @throws {DatabaseError} */
export async function openSqlite(path: string): Promise<Database> {
  const file = resolve(path);
  let connection: DatabaseSync;
  try {
    mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
    connection = new DatabaseSync(file);
    // The lock lasts until the process ends. FULL: an acknowledged webhook survives a power failure.
    connection.exec('PRAGMA locking_mode = EXCLUSIVE; PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;');
    connection.exec('BEGIN IMMEDIATE; COMMIT;');
  } catch (cause) {
    const isLocked = cause instanceof Error && /locked/.test(cause.message);
    throw new DatabaseError(
      isLocked
        ? `Another process is using ${file}. Stop the other bridge first.`
        : `Cannot open ${file}: ${cause instanceof Error ? cause.message : cause}`,
      { cause },
    );
  }
  return new SqliteDatabase(connection);
}

class SqliteDatabase implements Database {
  readonly #connection: DatabaseSync;
  readonly lost = new Promise<Error>(() => {});

  constructor(connection: DatabaseSync) {
    this.#connection = connection;
  }

  async all(sql: string, ...values: SQLInputValue[]): Promise<Row[]> {
    // The columns are text, integers and null.
    return this.#connection.prepare(sql).all(...values) as Row[];
  }

  async batch(statements: readonly Statement[]): Promise<number[]> {
    this.#connection.exec('BEGIN IMMEDIATE');
    try {
      const changes = statements.map(([sql, ...values]) =>
        Number(this.#connection.prepare(sql).run(...values).changes),
      );
      this.#connection.exec('COMMIT');
      return changes;
    } catch (error) {
      this.#connection.exec('ROLLBACK');
      throw error;
    }
  }

  async close(): Promise<void> {
    if (this.#connection.isOpen) this.#connection.close();
  }
}
