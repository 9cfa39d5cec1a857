import type { ArrivedMessage } from '../../connectors/contract/messageKey.ts';
import type { Tx } from '../../db/commit.ts';
import type { MessageRow } from '../../db/schema.ts';
import { addressPart, contentColumn, contentOf } from '../content.ts';

interface Acknowledged {
  readonly message: Pick<MessageRow, 'account_id' | 'message_id'>;
  readonly accepted: ArrivedMessage;
}

/** Stores the addresses where the network has accepted messages, for later references to them. */
export async function keepSentAddresses({ kysely }: Tx, items: readonly Acknowledged[]): Promise<void> {
  for (const { message, accepted } of items) {
    const part = addressPart(accepted);
    if (part.address === undefined) continue;
    const { account_id: accountId, message_id: messageId } = message;
    const row = await kysely
      .selectFrom('messages')
      .select('content')
      .where('account_id', '=', accountId)
      .where('message_id', '=', messageId)
      .executeTakeFirst();
    if (row === undefined || contentOf(row).address === part.address) continue;
    await kysely
      .updateTable('messages')
      .set({ content: contentColumn({ ...contentOf(row), ...part }) })
      .where('account_id', '=', accountId)
      .where('message_id', '=', messageId)
      .execute();
  }
}
