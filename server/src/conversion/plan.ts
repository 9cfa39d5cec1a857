import { OperatorError } from '../errors.ts';
import { changeOf, type Names, type TableDescription } from './description.ts';

/** The databases do not have the tables that the conversion expects. */
export class ConversionPlanError extends OperatorError {}

/** Columns by table. `required` are the columns that allow no null. */
export type Tables = ReadonlyMap<
  string,
  { readonly columns: readonly string[]; readonly required: ReadonlySet<string> }
>;

/** The work for one table. */
export interface TableStep {
  readonly table: string;
  /** Qualified name of the target. */
  readonly target: string;
  readonly columns: readonly string[];
  /** SQL per column, in the order of `columns`. */
  readonly values: readonly string[];
  /** Everything between `from` and the range of keys. */
  readonly from: string;
  /** Key columns of the source. Empty if all rows are copied in one step. */
  readonly key: readonly string[];
  /** The keys as SQL, of the source row. */
  readonly keyValues: readonly string[];
  /** Condition on the source row. */
  readonly where: string;
  readonly helper: { readonly name: string; readonly as: string } | undefined;
  /** Whether the rows are there once others are copied. */
  readonly isMaintained: boolean;
  /** Columns that are not compared. */
  readonly unchecked: readonly string[];
}

export interface Plan {
  readonly steps: readonly TableStep[];
  /** Tables and columns of the source that no description covers, which an operator may have added. */
  readonly uncovered: readonly string[];
}

interface PlanOptions {
  readonly version: number;
  readonly source: Tables;
  readonly target: Tables;
  readonly names: Names;
  readonly descriptions: readonly TableDescription[];
  /** Tables and columns of the source whose values go elsewhere. */
  readonly former: readonly string[];
  /** Tables of the target that are written later. */
  readonly later: readonly string[];
}

/**
 * Compares the descriptions with the tables of both databases.
 * @throws {ConversionPlanError} if a table or column has no rows or value to come from
 */
export function makePlan({ version, source, target, names, descriptions, former, later }: PlanOptions): Plan {
  const described = descriptions.filter(({ only = names.database }) => only === names.database);
  const known = new Set([...later, ...described.map(({ table }) => table)]);
  const unknown = [...target.keys()].filter((table) => !known.has(table));
  if (unknown.length > 0) throw new ConversionPlanError(`No description of the tables ${unknown.join(', ')}`);
  const used = new Set([...former, ...described.map(({ table, source: from = table }) => from)]);
  const steps = described.map((description) => stepOf(description, { version, source, target, names }));
  const uncovered = [...source].flatMap(([table, { columns }]) => {
    if (!used.has(table)) return [table];
    if (former.includes(table)) return [];
    const wanted = new Set(target.get(table)?.columns);
    return columns.filter((column) => !wanted.has(column)).map((column) => `${table}.${column}`);
  });
  return {
    steps: steps.filter((step) => step !== undefined),
    uncovered: uncovered.filter((name) => !former.includes(name)),
  };
}

function stepOf(
  description: TableDescription,
  { version, source, target, names }: Pick<PlanOptions, 'version' | 'source' | 'target' | 'names'>,
): TableStep | undefined {
  const {
    table,
    source: from = table,
    added = {},
    key,
    since = 1,
    unchecked = [],
    drawn = [],
    isMaintained = false,
  } = description;
  const wanted = target.get(table);
  if (wanted === undefined) throw new ConversionPlanError(`The current schema has no table ${table}`);
  const { rows, join, where = () => 'true', columns: changed, helper } = changeOf(description, version);
  const columns = wanted.columns.filter((column) => !drawn.includes(column));
  const shared = { table, target: names.target(table), columns, unchecked, isMaintained, where: where(names) };
  const values = columns.map((column) => `s.${column}`);
  if (rows !== undefined)
    return { ...shared, values, from: `(${rows(names)}) s`, key: [], keyValues: [], helper: undefined };
  if (version < since) return undefined;
  const found = source.get(from);
  if (found === undefined)
    throw new ConversionPlanError(
      `The database records schema version ${version}, but has no table ${from}. It was changed by hand, or belongs to something else. Restore a backup.`,
    );
  const replaced = changed?.(names) ?? {};
  const valueFor = (column: string) => {
    if (column in replaced) return replaced[column] ?? 'null';
    if (found.columns.includes(column)) return `s.${column}`;
    if (column in added) return added[column] ?? 'null';
    if (!wanted.required.has(column)) return 'null';
    throw new ConversionPlanError(
      `The database records schema version ${version}, but ${from} has no column ${column}. It was changed by hand, or belongs to something else. Restore a backup.`,
    );
  };
  return {
    ...shared,
    values: columns.map(valueFor),
    from: `${names.source(from)} s ${join?.(names) ?? ''}`,
    key,
    keyValues: key.map((column) => `s.${column}`),
    helper: helper && { name: names.target(helper.table), as: helper.as(names) },
  };
}
