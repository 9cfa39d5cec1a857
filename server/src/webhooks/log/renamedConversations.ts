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
    update deliveries set conversation = ${`${sessionId}/${to}`}
    where webhook_id in (select webhook_id from webhooks where account_id = ${accountId} and ordering = 'strict')
      and conversation = ${`${sessionId}/${from}`} and state = 'pending' and due_at <> 0`.execute(kysely);
}
