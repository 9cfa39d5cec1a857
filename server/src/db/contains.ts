import { type RawBuilder, sql } from 'kysely';

/** Selects rows whose column contains the text, in upper or lower case. */
export function contains(column: string, text: string): RawBuilder<boolean> {
  const pattern = `%${text.toLowerCase().replace(/[\\%_]/g, (mark) => `\\${mark}`)}%`;
  return sql<boolean>`lower(${sql.ref(column)}) like ${pattern} escape '\\'`;
}
