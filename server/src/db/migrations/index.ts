import { foundation } from './0050-foundation.ts';
import type { Migration } from './migration.ts';

/** Fingerprints of the tables that all migrations together create. A test computes them. */
export const newestShape = {
  sqlite: 'LrApaTHJluR3zAH_2A0hwt4RcsNrxHwu-WiVt_30LbQ',
  postgres: 'TP-S8dEOAPhvDxX52n9AWRovdDzYC1dGLYPHoATgLjA',
};

/** Every migration, oldest first. A released one never changes; a new one is added below. */
export const migrations: readonly Migration[] = [foundation];
