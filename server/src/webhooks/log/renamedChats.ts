import { sql } from 'kysely';
import type { Tx } from '../../db/commit.ts';

interface Renamed {
  readonly accountId: string;
  readonly sessionId: string;
  /** Digits of the placeholder. */
  readonly from: string;
  /** Digits of the number. */
  readonly to: string;
}

/**
 * Lets filters go on with a chat that continues under another id, and deliveries that wait in strict order hold back
 * what follows there. Deliveries that do not wait keep the former conversation. All in one transaction, because one that
 * is still under the former id would not be held back.
 */
export async function renameChat({ kysely }: Tx, { accountId, sessionId, from, to }: Renamed): Promise<void> {
  const [former, present] = [JSON.stringify(from), JSON.stringify(to)];
  await sql`
    update webhooks set filters = replace(filters, ${former}, ${present})
    where account_id = ${accountId} and filters like ${`%${former}%`}`.execute(kysely);
  await sql`
    update deliveries set conversation = ${`${sessionId}/${to}`}
    where webhook_id in (select webhook_id from webhooks where account_id = ${accountId} and ordering = 'strict')
      and conversation = ${`${sessionId}/${from}`} and state = 'pending' and due_at <> 0`.execute(kysely);
}
