import { foundation } from './0050-foundation.ts';
import type { Migration } from './migration.ts';

/** Fingerprints of the tables that all migrations together create. A test computes them. */
export const newestShape = {
  sqlite: '2_eArmrBFJ9s-3SuFL7sW23k9dOZ8une46EEl67qfZg',
  postgres: 'EeqZlkG0Kapn_6Mog5gq3A0_5LZqEkxbe16nqx0xrVI',
};

/** Every migration, oldest first. A released one never changes; a new one is added below. */
export const migrations: readonly Migration[] = [foundation];
