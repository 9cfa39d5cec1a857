import { createHash } from 'node:crypto';
import type { Queryable } from './dialect.ts';

/** A column, an index or the options of a table. */
export interface SchemaPart {
  readonly table: string;
  /** The name for operators: `column email`, `index messages_from`. */
  readonly part: string;
  /** Parts are equal if their definitions are. */
  readonly definition: string;
  /** Whether inserts that do not know this part can fail: a required column, a unique index. */
  readonly binding: number | boolean;
}

export async function readShape({ connection, dialect }: Queryable): Promise<SchemaPart[]> {
  const { rows } = await connection.query<SchemaPart>(dialect.shape.parts, []);
  // Spacing and case of a table's SQL do not matter.
  return rows.map((row) => ({ ...row, definition: row.definition.replaceAll(/\s+/g, ' ').trim().toLowerCase() }));
}

const nameOf = ({ table, part }: SchemaPart) => `${table}: ${part}`;

/** Two databases with the same fingerprint have the same tables. */
export function fingerprintOf(shape: readonly SchemaPart[]): string {
  const parts = shape.map((part) => `${nameOf(part)} ${part.definition}`).sort();
  return createHash('sha256').update(parts.join('\n')).digest('base64url');
}

/**
 * Describes how a database differs from the expected shape, one phrase per difference; empty if it is usable. Tables,
 * columns and indexes that an operator added count only if they can make inserts fail.
 */
export function differences(expected: readonly SchemaPart[], actual: readonly SchemaPart[]): string[] {
  const tables = new Set(actual.map(({ table }) => table));
  const found = new Map(actual.map((part) => [nameOf(part), part.definition]));
  const changed = expected.flatMap((part) => {
    const [name, definition] = [nameOf(part), found.get(nameOf(part))];
    if (!tables.has(part.table)) return `table ${part.table} is missing`;
    if (definition === undefined) return `${name} is missing`;
    return definition === part.definition ? [] : `${name} is "${definition}", not "${part.definition}"`;
  });
  const known = new Set(expected.flatMap((part) => [part.table, nameOf(part)]));
  const unexpected = actual.filter((part) => part.binding && known.has(part.table) && !known.has(nameOf(part)));
  const added = unexpected.map((part) => `${nameOf(part)} is unexpected (${part.definition})`);
  return [...new Set([...changed, ...added])].sort();
}
