import type { Dialect } from '../dialect.ts';

/** One step of the schema. A released migration never changes; a new one is added behind it. */
export interface Migration {
  readonly version: number;
  readonly name: string;
  readonly statements: (dialect: Dialect) => readonly string[];
}
