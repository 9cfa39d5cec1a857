import { foundation } from './0050-foundation.ts';
import type { Migration } from './migration.ts';

/** Fingerprints of the tables that all migrations together create. A test computes them. */
export const newestShape = {
  sqlite: 'WviG_ZjGy454bGlak8EeukWbTVgQ5m_xWi7kKnAAAbE',
  postgres: 'ui6JV5Xwh1pXSYIAHH6otKyvf8mNcS2z61U_IbksvrM',
};

/** Every migration, oldest first. A released one never changes; a new one is added below. */
export const migrations: readonly Migration[] = [foundation];
