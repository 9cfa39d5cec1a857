import { query } from '../../db/query.ts';
import type { MessageRow } from '../../db/schema.ts';

/* The ids of a bulk send: its batch is `bat_<id>`, and its messages are `msg_<id>_<number>`. */

export const BATCH_PREFIX = 'bat_';
const MESSAGE_ID = /^msg_(.+)_\d+$/;

export const batchIdOf = (id: string) => `${BATCH_PREFIX}${id}`;
export const batchMessageId = (id: string, number: number) => `msg_${id}_${number}`;

/** Returns the id of the batch that a message can belong to. Files of albums have such ids without a batch. */
export function batchOfMessage(messageId: string): string | undefined {
  const id = MESSAGE_ID.exec(messageId)?.[1];
  return id === undefined ? undefined : batchIdOf(id);
}

/** Makes `BatchWatch` look at the batch of a message that has ended before its time. */
export const checkBatchNow = query(
  (db, p: Pick<MessageRow, 'account_id'> & { readonly batchId: string; readonly now: number }) =>
    db
      .updateTable('batches')
      .set({ check_at: p.now })
      .where('account_id', '=', p.account_id)
      .where('batch_id', '=', p.batchId)
      .where('status', '=', 'running')
      .where('check_at', '>', p.now),
);
