import { sql } from 'kysely';
import { systemClock } from '../../clock.ts';
import type { Settings } from '../../config.ts';
import { type Database, openDatabase } from '../../db/database.ts';
import type { Limits, Queryable, Store } from '../../db/dialect.ts';
import { OperatorError } from '../../errors.ts';

/** The account cannot be exported or imported now; the message explains what to do. */
export class AccountMoveError extends OperatorError {}

/** Work on one account takes as long as its size requires. */
export const UNLIMITED: Limits = { lockMs: 0, statementMs: 0 };

export interface OfflineDatabase {
  readonly database: Database;
  readonly store: Store;
}

/**
 * Opens the database while no server runs.
 * @throws {DataInUseError} if a server uses the data folder
 * @throws {AccountMoveError} if nodes are running
 */
export async function openOffline(settings: Settings): Promise<OfflineDatabase> {
  let store: Store | undefined;
  const database = await openDatabase(settings, systemClock, {
    wrapStore: (opened) => {
      store = opened;
      return opened;
    },
  });
  try {
    if (store === undefined) throw new Error('openDatabase opened no store');
    if (store.shared !== undefined) await requireNoNodes(store.reader);
    return { database, store };
  } catch (error) {
    await database.close();
    throw error;
  }
}

/** @throws {AccountMoveError} */
export async function requireNoNodes({ kysely, dialect }: Queryable): Promise<void> {
  const { rows } = await sql<{ id: string }>`
    select node_id as id from nodes where expires_at > ${dialect.now} order by node_id`.execute(kysely);
  if (rows.length === 0) return;
  throw new AccountMoveError(
    `Nodes are running on this database: ${rows.map(({ id }) => id).join(', ')}. Stop them, and try again. A node that was killed counts as running until its lease ends (LEASE_SECONDS).`,
  );
}
