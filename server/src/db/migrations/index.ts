import type { Migration } from '../migrate.ts';
import { foundation } from './0001-foundation.ts';

/** Every migration, oldest first. A released one never changes; a new one is added below. */
export const migrations: readonly Migration[] = [foundation];
