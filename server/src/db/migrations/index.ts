import { foundation } from './0050-foundation.ts';
import type { Migration } from './migration.ts';

/** Fingerprints of the tables that all migrations together create. A test computes them. */
export const newestShape = {
  sqlite: '4ru8HBbppDv83gYaK7GmtSMSlF_erz9vPTuQ0BPA3Os',
  postgres: '7DDu3LWRN7H5MwcMcPAnVlZ8slbTTbiffoxVICtkgMY',
};

/** Every migration, oldest first. A released one never changes; a new one is added below. */
export const migrations: readonly Migration[] = [foundation];
