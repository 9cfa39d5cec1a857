import type { Tx } from '../db/commit.ts';
import { query } from '../db/query.ts';

/** Makes transactions that count what an account has, before they add to it, take turns. On SQLite they do anyway. */
export async function lockAccount(tx: Tx, accountId: string): Promise<void> {
  if (tx.dialect.oneAtATime !== undefined) await lockedAccount.first(tx, { accountId });
}

const lockedAccount = query((db, p: { accountId: string }) =>
  db.selectFrom('accounts').select('account_id').where('account_id', '=', p.accountId).forUpdate(),
);
