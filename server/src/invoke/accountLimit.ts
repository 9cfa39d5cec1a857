import { type RawBuilder, sql } from 'kysely';
import { lockAccount } from '../db/accountLock.ts';
import type { Tx } from '../db/commit.ts';
import { AppError } from '../errors.ts';

/**
 * Checks that an account may have one more row, which the transaction then inserts. Transactions that do so are
 * serialized, on SQLite like all that write.
 *
 * @param advice the name of the rows, their setting and what to do, such as `sessions (MAX_SESSIONS); delete one first`
 * @param which a condition on the rows that count; all by default
 * @throws {AppError} `too_many`
 */
export async function requireBelowLimit(
  tx: Tx,
  accountId: string,
  table: 'api_keys' | 'sessions' | 'webhooks',
  most: number,
  advice: string,
  which: RawBuilder<unknown> = sql`true`,
): Promise<void> {
  await lockAccount(tx, accountId);
  const rows = sql<{
    count: number;
  }>`select count(*) as count from ${sql.table(table)} where account_id = ${accountId} and ${which}`;
  const [present] = (await rows.execute(tx.kysely)).rows;
  if (Number(present?.count) >= most)
    throw new AppError('too_many', `The account has reached its limit of ${most} ${advice}`);
}
