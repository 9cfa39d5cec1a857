import type { Tx } from '../db/commit.ts';
import { query } from '../db/query.ts';

/**
 * Serializes transactions that count an account's resources before they add one. On SQLite all writers are serialized
 * anyway.
 */
export async function lockAccount(tx: Tx, accountId: string): Promise<void> {
  if (tx.dialect.oneAtATime !== undefined) await lockedAccount.first(tx, { accountId });
}

const lockedAccount = query((db, p: { accountId: string }) =>
  db.selectFrom('accounts').select('account_id').where('account_id', '=', p.accountId).forUpdate(),
);
