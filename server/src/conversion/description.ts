/** Describes the source of a table's rows in an earlier schema version. */
export interface TableDescription {
  readonly table: string;
  /** The only database with the table. */
  readonly only?: 'sqlite' | 'postgres';
  /** Source table, if its name differs. */
  readonly source?: string;
  /** Key columns of the source: rows are copied in this order. */
  readonly key: readonly string[];
  /** First version with the source table. Earlier versions have no rows for it, except through `changes`. */
  readonly since?: number;
  /** SQL for columns that the source can lack. If omitted, a missing column must allow null, and is null. */
  readonly added?: Readonly<Record<string, string>>;
  /** Columns with another value than in the source, in versions below a limit. The lowest limit that applies counts. */
  readonly changes?: readonly TableChange[];
  /** Columns whose values are not compared, because they refer to the transaction that writes them. */
  readonly unchecked?: readonly string[];
  /** Columns whose values the database draws. They are neither copied nor compared. */
  readonly drawn?: readonly string[];
  /** Whether triggers write the rows when another table is copied. They are compared alone. */
  readonly isMaintained?: boolean;
}

export interface TableChange {
  /** Applies to sources of a version below this one. Undefined applies to all. */
  readonly below?: number;
  /** SQL per target column. `s` is the row of the source. */
  readonly columns?: (names: Names) => Readonly<Record<string, string>>;
  /** Joins to the source row `s`. At most one row may match. */
  readonly join?: (names: Names) => string;
  /** Condition on the source row. */
  readonly where?: (names: Names) => string;
  /** Replaces the source table by a query that returns the columns of the target. All rows are copied in one step. */
  readonly rows?: (names: Names) => string;
  /** Creates a helper table in the target before the first row is copied. */
  readonly helper?: { readonly table: string; readonly as: (names: Names) => string };
}

/** Returns qualified table names. */
export interface Names {
  readonly source: (table: string) => string;
  readonly target: (table: string) => string;
  /** Version of the source. */
  readonly version: number;
  readonly database: 'sqlite' | 'postgres';
}

/** Returns the change that applies to a source of this version, if any. */
export function changeOf({ changes = [] }: TableDescription, version: number): TableChange {
  const applicable = changes.filter(({ below = Number.POSITIVE_INFINITY }) => version < below);
  const [first] = applicable.toSorted(
    (a, b) => (a.below ?? Number.POSITIVE_INFINITY) - (b.below ?? Number.POSITIVE_INFINITY),
  );
  return first ?? {};
}
