import { createHash } from 'node:crypto';
import { type CompiledQuery, type Kysely, type RawBuilder, sql } from 'kysely';
import type { Columns, Connection, Dialect, Queryable } from './dialect.ts';
import type { Schema } from './schema.ts';

/** A query that is built once and runs many times with different parameters. */
export interface Query<P, R> {
  all(on: Queryable, parameters: P): Promise<R[]>;
  first(on: Queryable, parameters: P): Promise<R | undefined>;
  /** Runs an insert, update or delete and returns the number of changed rows. */
  run(on: Queryable, parameters: P): Promise<number>;
}

interface Compiles<R> {
  compile(db: Kysely<Schema>): CompiledQuery<R>;
}

/**
 * Declares a query by name. Building a query with Kysely and compiling it costs about as much as SQLite takes to run it
 * (some 10 µs each), so queries that run for every message are compiled once.
 *
 * @param build receives `p`, whose members are placeholders: use them only as values, because the actual values are not
 * known when the query is built.
 */
export function query<P extends object, R>(
  build: (db: Kysely<Schema>, p: P, dialect: Dialect) => Compiles<R>,
): Query<P, R> {
  const statementFor = compiledOnce(build);

  function run(on: Queryable, parameters: P) {
    const statement = statementFor(on);
    return on.connection.query<R>(statement.text, valuesOf(statement, parameters), statement.name);
  }

  return {
    all: async (on, parameters) => (await run(on, parameters)).rows,
    first: async (on, parameters) => (await run(on, parameters)).rows[0],
    run: async (on, parameters) => (await run(on, parameters)).changed,
  };
}

export interface Batch<C extends Columns, R> {
  run(on: Queryable, rows: readonly Row<C>[]): Promise<void>;
  all(on: Queryable, rows: readonly Row<C>[]): Promise<R[]>;
}

type Row<C extends Columns> = {
  readonly [name in keyof C]: (C[name] extends 'text' ? string : number) | null;
};

/**
 * The rows of a batch in its statement: a table on PostgreSQL, the parameters of a statement for each row on SQLite.
 */
export interface BatchRows<C extends Columns> {
  /** The values of a row. */
  readonly row: { readonly [name in keyof C]: RawBuilder<unknown> };
  /** Goes where a `from` clause without other tables goes. */
  readonly from: RawBuilder<unknown>;
  /** Goes behind another table of a `from` clause. */
  readonly join: RawBuilder<unknown>;
  /** Goes behind the table of a `delete`. */
  readonly using: RawBuilder<unknown>;
  readonly dialect: Dialect;
}

/** Declares a statement that handles batches of any size and is prepared once. */
export function batch<C extends Columns, R = unknown>(
  columns: C,
  build: (rows: BatchRows<C>) => Compiles<R>,
): Batch<C, R> {
  const statementFor = compiledOnce<Record<string, unknown>, R>((_, p, dialect) => build(rowsOf(columns, p, dialect)));
  const names = Object.keys(columns);
  // Sends the statement at once, or throws: see `LateTx.endWith`.
  const all: Batch<C, R>['all'] = (on, rows) => {
    if (rows.length === 0) return Promise.resolve([]);
    const { connection, dialect } = on;
    const statement = statementFor(on);
    const { text, name } = statement;
    if (dialect.recordset !== undefined) {
      const values = valuesOf(statement, { list: listOf(names, rows) });
      return connection.query<R>(text, values, name).then((answer) => answer.rows);
    }
    const lists = rows.map((row) => valuesOf(statement, row));
    return connection.queryEach?.<R>(text, lists) ?? queryEach(connection, statement, lists);
  };
  return { all, run: (on, rows) => all(on, rows).then(() => {}) };
}

async function queryEach<R>(connection: Connection, { text, name }: Statement, lists: readonly unknown[][]) {
  const found: R[] = [];
  for (const values of lists) found.push(...(await connection.query<R>(text, values, name)).rows);
  return found;
}

/** The rows as JSON, without other fields than these. Columns that are left out are null, and cost nothing. */
function listOf(names: readonly string[], rows: readonly Readonly<Record<string, unknown>>[]): string {
  const short = rows.map((row) => {
    const values: Record<string, unknown> = {};
    for (const name of names) if (row[name] !== null) values[name] = row[name];
    return values;
  });
  return JSON.stringify(short);
}

function rowsOf<C extends Columns>(columns: C, p: Record<string, unknown>, dialect: Dialect): BatchRows<C> {
  const table = dialect.recordset?.(columns, p['list']);
  const value = (name: string) => (table === undefined ? sql`${p[name]}` : sql.ref(`r.${name}`));
  return {
    // The names are those of the columns.
    row: Object.fromEntries(Object.keys(columns).map((name) => [name, value(name)])) as BatchRows<C>['row'],
    from: table === undefined ? sql`` : sql`from ${table} as r`,
    join: table === undefined ? sql`` : sql`cross join ${table} as r`,
    using: table === undefined ? sql`` : sql`using ${table} as r`,
    dialect,
  };
}

/**
 * A text column in a condition that only checks the row, or in an order of few rows. PostgreSQL would rather read a
 * small partial index from end to end than look a row up by its id, and between two vacuums that index has an entry for
 * each row that was ever in it. SQLite, without statistics, takes the index that has the order.
 */
export const unindexed = (column: string) => sql<string>`${sql.ref(column)} || ''`;

/**
 * A text column as the indexes of lists have it. Without statistics, SQLite prefers an index that has the order of a
 * query, even if others find fewer rows; queries without this expression cannot use it.
 */
export const listed = (column: string) => sql<string>`substr(${sql.ref(column)}, 1)`;

/** Returns a function that compiles a query for a dialect when it is first used. */
function compiledOnce<P extends object, R>(build: (db: Kysely<Schema>, p: P, dialect: Dialect) => Compiles<R>) {
  const compiled = new Map<Dialect['name'], Statement>();
  return ({ kysely, dialect }: Queryable): Statement => {
    let statement = compiled.get(dialect.name);
    if (statement === undefined) {
      statement = compile(build(kysely, placeholders<P>(), dialect).compile(kysely));
      compiled.set(dialect.name, statement);
    }
    return statement;
  };
}

/** The parameters of a statement, in order. */
function valuesOf<P extends object>({ slots }: Statement, parameters: P): unknown[] {
  return slots.map((slot) => {
    const value = slot instanceof Placeholder ? parameters[slot.name as keyof P] : slot;
    return value === undefined ? null : value;
  });
}

interface Statement {
  readonly text: string;
  readonly name: string;
  /** A value or a placeholder for each parameter of the text. */
  readonly slots: readonly unknown[];
}

class Placeholder {
  readonly name: string;
  constructor(name: string) {
    this.name = name;
  }
}

function placeholders<P extends object>(): P {
  // Every member is a placeholder that Kysely carries through to the list of parameters, whatever its type.
  return new Proxy({} as P, { get: (_, name) => new Placeholder(String(name)) });
}

function compile({ sql: text, parameters }: CompiledQuery): Statement {
  return { text, name: createHash('sha256').update(text).digest('base64url').slice(0, 22), slots: parameters };
}
