import { sql } from 'kysely';
import type { ArrivedMessage } from '../../connectors/contract/messageKey.ts';
import type { Tx } from '../../db/commit.ts';
import { batch } from '../../db/query.ts';
import type { MessageRow } from '../../db/schema.ts';
import { addressPart, contentColumn, contentOf } from '../content.ts';

interface Acknowledged {
  readonly message: Pick<MessageRow, 'account_id' | 'message_id'>;
  readonly accepted: ArrivedMessage;
}

/** Stores the addresses at which the network has accepted messages, for later references to them. */
export async function keepSentAddresses(tx: Tx, items: readonly Acknowledged[]): Promise<void> {
  const parts = new Map(
    items.flatMap(({ message, accepted }) => {
      const part = addressPart(accepted);
      return part.address === undefined ? [] : [[message.message_id, { message, part }] as const];
    }),
  );
  const rows = await contentsOf.all(
    tx,
    [...parts.values()].map(({ message }) => message),
  );
  await setContents.run(
    tx,
    rows.flatMap((row) => {
      const part = parts.get(row.message_id)?.part;
      const content = contentOf(row);
      return content.address === part?.address ? [] : [{ ...row, content: contentColumn({ ...content, ...part }) }];
    }),
  );
}

const contentsOf = batch(
  { account_id: 'text', message_id: 'text' },
  ({ row, join }) => sql<Pick<MessageRow, 'account_id' | 'message_id' | 'content'>>`
    select m.account_id, m.message_id, m.content from messages m ${join}
    where m.account_id = ${row.account_id} and m.message_id = ${row.message_id}`,
);

const setContents = batch(
  { account_id: 'text', message_id: 'text', content: 'text' },
  ({ row, from }) => sql`
    update messages set content = ${row.content}
    ${from}
    where messages.account_id = ${row.account_id} and messages.message_id = ${row.message_id}`,
);
