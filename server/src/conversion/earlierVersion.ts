import { sql } from 'kysely';
import type { Queryable } from '../db/dialect.ts';
import { foundation } from '../db/migrations/0050-foundation.ts';

/** Returns the recorded schema version if it is from before the first release. The table of versions must exist. */
export async function readEarlierVersion({ kysely }: Queryable): Promise<number | undefined> {
  const { rows } = await sql<{ version: number | null }>`select max(version) as version from schema_versions`.execute(
    kysely,
  );
  const version = rows[0]?.version ?? 0;
  return version >= 1 && version < foundation.version ? version : undefined;
}
