import { sql } from 'kysely';
import type { Queryable } from '../../db/dialect.ts';
import type { Seal } from '../../seal.ts';
import type { AccountTable, Value, Values } from './accountTables.ts';

const ROWS_AT_ONCE = 500;

/** Reads the account's rows of a table, with secrets in clear and without values of the deployment. */
export async function* readRows(
  { kysely }: Queryable,
  seal: Seal,
  table: AccountTable,
  accountId: string,
): AsyncGenerator<Values[], void, undefined> {
  const { columns, joined, joins, key, owner } = table;
  const selected = columns.map((name) => `${joined[name] ?? `t.${name}`} as "${name}"`);
  const places = key.map((expression, index) => `${expression} as "place_${index}"`);
  const keys = sql.raw(key.join(', '));
  let after: readonly Value[] | undefined;
  for (;;) {
    const isLater = after === undefined ? sql`true` : sql`(${keys}) > (${sql.join([...after])})`;
    const { rows } = await sql<Values>`
      select ${sql.raw([...selected, ...places].join(', '))} from ${sql.table(table.table)} t ${sql.raw(joins)}
      where ${sql.raw(owner.before)}${accountId}${sql.raw(owner.after)} and ${isLater}
      order by ${keys} limit ${sql.lit(ROWS_AT_ONCE)}`.execute(kysely);
    if (rows.length > 0) yield rows.map((row) => opened(row, seal, table));
    const last = rows.at(-1);
    if (last === undefined || rows.length < ROWS_AT_ONCE) return;
    after = key.map((_, index) => last[`place_${index}`] ?? null);
  }
}

function opened(row: Values, seal: Seal, { columns, sealed, reset, about }: AccountTable): Values {
  return Object.fromEntries(
    columns.map((name) => {
      const value = row[name] ?? null;
      if (reset.includes(name)) return [name, null];
      return [name, sealed.includes(name) && typeof value === 'string' ? seal.open(value, about(row)) : value];
    }),
  );
}

/** Encrypts the secrets of a row for the database that it goes to. */
export function sealedRow(row: Values, seal: Seal, { sealed, about }: AccountTable): Values {
  if (sealed.every((name) => row[name] === null)) return row;
  return Object.fromEntries(
    Object.entries(row).map(([name, value]) => [
      name,
      sealed.includes(name) && typeof value === 'string' ? seal.close(value, about(row)) : value,
    ]),
  );
}

/** A row as a line of the file. */
export const valuesOf = ({ columns }: AccountTable, row: Values): Value[] => columns.map((name) => row[name] ?? null);
