import type { Dialect } from '../dialect.ts';

/** One step of the schema. A released migration never changes; new ones are appended. */
export interface Migration {
  readonly version: number;
  readonly name: string;
  readonly statements: (dialect: Dialect) => readonly string[];
  /**
   * Why the previous release cannot use the database after this migration, so that its nodes must be stopped first.
   * Undefined if it can, which is the rule: a release only removes what the one before no longer used.
   */
  readonly breaksOlder?: string;
}
