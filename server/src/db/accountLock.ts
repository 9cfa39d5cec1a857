import type { Tx } from './commit.ts';
import { query } from './query.ts';

/**
 * Serializes the transactions of an account that check a limit and then insert, so that together they stay within it.
 * On SQLite, all transactions are serialized.
 */
export async function lockAccount(tx: Tx, accountId: string): Promise<void> {
  if (tx.dialect.hasConcurrentWriters) await lockedAccount.first(tx, { accountId });
}

const lockedAccount = query((db, p: { accountId: string }) =>
  db.selectFrom('accounts').select('account_id').where('account_id', '=', p.accountId).forUpdate(),
);
