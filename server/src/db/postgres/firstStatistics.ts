import type { Connection } from '../dialect.ts';

/** Number of write transactions before the first check. It doubles with each check. */
const FIRST_CHECK = 16;
/** Autovacuum has analyzed the tables by then. */
const LAST_CHECK = FIRST_CHECK * 2 ** 12;

/**
 * Analyzes the tables that every message adds rows to as soon as they have some. PostgreSQL does so within a minute,
 * and until then knows nothing about their columns: it takes any index whose first column is in the condition, even if
 * all rows have the same value in it, and keeps that plan while the tables grow.
 */
export class FirstStatistics {
  readonly #connection: Connection;
  #transactions = 0;
  #nextCheck = FIRST_CHECK;

  /** @param connection outside a transaction */
  constructor(connection: Connection) {
    this.#connection = connection;
  }

  /** Call it at the end of each write transaction. */
  committed(): void {
    if (++this.#transactions !== this.#nextCheck || this.#nextCheck > LAST_CHECK) return;
    this.#nextCheck *= 2;
    void this.#check().catch(() => {}); // autovacuum will do it
  }

  async #check(): Promise<void> {
    const { rows } = await this.#connection.query<{ name: string }>(UNKNOWN, []);
    for (const { name } of rows) await this.#connection.query(`analyze ${name}`, []);
  }
}

/** The tables that had no rows when they were last analyzed, if ever, and have some now. */
const UNKNOWN = `
  select c.oid::regclass::text as name from pg_class c
  where c.oid in (to_regclass('messages'), to_regclass('chats'), to_regclass('events'), to_regclass('deliveries'))
    and c.reltuples <= 0 and pg_relation_size(c.oid) > 0`;
