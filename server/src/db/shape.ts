/** The tables of a database, by name. */
export type Shape = ReadonlyMap<string, TableShape>;
/** The columns, indexes and options of a table, under names for operators: `column email`, `index messages_from`. */
export type TableShape = ReadonlyMap<string, Part>;

export interface Part {
  /** Parts are equal if their definitions are. */
  readonly definition: string;
  /** Whether inserts that do not know this part can fail: a required column, a unique index. */
  readonly isBinding: boolean;
}

/** A row of the query with which a dialect describes its tables. */
export interface PartRow {
  readonly table: string;
  readonly part: string;
  readonly definition: string;
  readonly binding: number | boolean;
}

export function toShape(rows: readonly PartRow[]): Shape {
  const byTable = Map.groupBy(rows, ({ table }) => table);
  return new Map(
    [...byTable].map(([table, parts]) => [
      table,
      new Map(
        parts.map(({ part, definition, binding }) => [part, { definition: plain(definition), isBinding: !!binding }]),
      ),
    ]),
  );
}

/** Spacing and case of a table's SQL do not matter. */
const plain = (definition: string) => definition.replaceAll(/\s+/g, ' ').trim().toLowerCase();

/**
 * Describes how a database differs from the expected shape, one phrase per difference; empty if it is usable. Tables,
 * columns and indexes that an operator added count only if they can make inserts fail.
 */
export function differences(expected: Shape, actual: Shape): string[] {
  const found = [...expected].flatMap(([table, parts]) => {
    const shape = actual.get(table);
    return shape === undefined ? [`table ${table} is missing`] : [...differencesOf(table, parts, shape)];
  });
  return found.sort();
}

function* differencesOf(table: string, expected: TableShape, actual: TableShape): Generator<string> {
  for (const [part, { definition }] of expected) {
    const found = actual.get(part);
    if (found === undefined) yield `${table}: ${part} is missing`;
    else if (found.definition !== definition) yield `${table}: ${part} is "${found.definition}", not "${definition}"`;
  }
  for (const [part, { definition, isBinding }] of actual) {
    if (isBinding && !expected.has(part)) yield `${table}: ${part} is unexpected (${definition})`;
  }
}
