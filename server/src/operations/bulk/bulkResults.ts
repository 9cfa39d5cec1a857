import { type Static, Type } from 'typebox';
import { isoTime } from '../../clock.ts';
import { integer, list, named, object, onlyTrue, optional, orNull, string, time } from '../../invoke/input/fields.ts';
import { batchIdOf, batchMessageId } from '../../messages/messages/batchChecks.ts';
import type { NewRow } from '../../messages/store.ts';
import { MessageId } from '../messages/messages.ts';
import { BatchId } from './fields.ts';
import type { Recipient } from './recipients.ts';

/* The result of a bulk send. */

const BulkResult = named('BulkResult', {
  to: string('Recipient as you passed it.'),
  messageId: orNull(MessageId, 'Id of the message, the first one of an album; null if it was refused.'),
  messageIds: optional(Type.Array(MessageId, { description: 'Ids of all messages of an album.' })),
  sendAt: orNull(time(), 'When the message will be sent; null if it was refused.'),
  error: optional(string('Why the message was refused, as a sentence.')),
  duplicateOf: optional(
    integer('Present if the same person or group comes earlier in `to`, which gets the message: its position, from 0.'),
  ),
});

export const BulkOutput = object({
  batchId: orNull(BatchId, 'Id of the batch; null if no message was accepted.'),
  accepted: integer('Number of messages that were scheduled. In an album, each file is one.'),
  refused: integer('Number of recipients that cannot be sent to, duplicates included.'),
  duplicates: integer('Number of recipients that come earlier in `to`, in the same or another form.'),
  pendingApproval: optional(onlyTrue('Present if the accepted messages wait for approval.')),
  results: list(BulkResult, 'One entry per recipient, in the order of `to`.'),
});

type Result = Static<typeof BulkResult>;

/**
 * Returns the ids of a recipient's messages.
 * @param place of the recipient in the request
 * @param count messages per recipient
 */
export const messageIdsOf = (id: string, place: number, count: number): string[] =>
  Array.from({ length: count }, (_, index) => batchMessageId(id, place * count + index));

interface Outcome {
  /** Id of the request. */
  readonly id: string;
  readonly recipients: readonly Recipient[];
  /** Stored messages by id. */
  readonly stored: ReadonlyMap<string, NewRow>;
  /** Messages per recipient. */
  readonly perRecipient: number;
  readonly isPending: boolean;
}

/** Returns the output of the operation, with a result for each recipient. */
export function bulkOutput({ id, recipients, stored, perRecipient, isPending }: Outcome) {
  const results = recipients.map((recipient, place): Result => {
    const rows = messageIdsOf(id, place, perRecipient).flatMap((messageId) => stored.get(messageId) ?? []);
    return resultOf(recipient, rows, perRecipient > 1);
  });
  return {
    batchId: stored.size === 0 ? null : batchIdOf(id),
    accepted: stored.size,
    refused: results.filter(({ messageId }) => messageId === null).length,
    duplicates: results.filter(({ duplicateOf }) => duplicateOf !== undefined).length,
    ...(isPending && { pendingApproval: true as const }),
    results,
  };
}

function resultOf({ given, error, duplicateOf }: Recipient, rows: readonly NewRow[], isAlbum: boolean): Result {
  const [first] = rows;
  if (first === undefined)
    return { to: given, messageId: null, sendAt: null, error, ...(duplicateOf !== undefined && { duplicateOf }) };
  return {
    to: given,
    messageId: first.message_id,
    ...(isAlbum && { messageIds: rows.map(({ message_id }) => message_id) }),
    sendAt: isoTime(first.scheduled_at ?? first.timestamp),
  };
}
