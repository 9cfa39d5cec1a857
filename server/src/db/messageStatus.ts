import { type RawBuilder, sql } from 'kysely';
import type { MessageStatus } from './tables/messages.ts';

/** Few messages have one of these for long. Exactly the list of the index `messages_status`. */
export const RARE_STATUSES = ['queued', 'scheduled', 'sent', 'failed'] as const satisfies readonly MessageStatus[];

/**
 * Finds the messages of an account with a rare status. In literals, and with the whole list: without both, SQLite reads
 * all messages of the account.
 * @param alias of the table
 */
export function hasRareStatus(status: (typeof RARE_STATUSES)[number], alias = 'messages'): RawBuilder<boolean> {
  const column = sql.ref(`${alias}.status`);
  const rare = sql.join(RARE_STATUSES.map((one) => sql.lit(one)));
  return sql`${column} = ${sql.lit(status)} and ${column} in (${rare})`;
}
