import type { Dialect } from '../dialect.ts';

/** One step of the schema. A released migration never changes; a new one is added behind it. */
export interface Migration {
  readonly version: number;
  readonly name: string;
  readonly statements: (dialect: Dialect) => readonly string[];
  /**
   * Why a Switchboard of the release before cannot work with the database after this step: such nodes must be stopped
   * first. Undefined when it can, as steps are meant to be: what is removed in one release was unused in the one before.
   */
  readonly breaksOlder?: string;
}
