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
 * Lets deliveries that wait in strict order hold back what follows in a chat that continues under another id. Others
 * keep the former conversation. All in one transaction, because one that is still under the former id would not be held
 * back.
 */
export async function renameConversation({ kysely }: Tx, { accountId, sessionId, from, to }: Renamed): Promise<void> {
  await sql`
    update waiting set conversation = ${`${sessionId}/${to}`}
    where webhook in (select r.seq from webhooks w join receivers r on r.webhook_id = w.webhook_id
        where w.account_id = ${accountId} and w.ordering = 'strict')
      and conversation = ${`${sessionId}/${from}`}`.execute(kysely);
}
