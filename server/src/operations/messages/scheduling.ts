import type { Static } from 'typebox';
import { callerKeyId } from '../../auth/authenticate.ts';
import { isoTime } from '../../clock.ts';
import { isUserId } from '../../connectors/contract/people.ts';
import { AppError } from '../../errors.ts';
import { integer, list, named, object, onlyTrue, optional, orNull, string, time } from '../../invoke/input/fields.ts';
import { recipientOf } from '../../invoke/input/phoneNumbers.ts';
import { recipientFinder, requireNamed } from '../../invoke/networkIds.ts';
import { type Context, defineOperation } from '../../invoke/operation.ts';
import { requirePerson } from '../../invoke/recipients.ts';
import { requireMessage } from '../../invoke/resources.ts';
import { numberFinder } from '../../invoke/typedNumbers.ts';
import { chatOf } from '../../messages/messages/outgoing.ts';
import { isCancelled } from '../../messages/status.ts';
import { findMessages, type NewRow } from '../../messages/store.ts';
import { OptionalSessionId } from '../shared/sessionFields.ts';
import { Message, MessageId, toMessage } from './messages.ts';
import { AnyRecipient, envelope, futureTime, keyToApprove, quotaOf, SendAt, sendOperation, Text } from './send.ts';

const BulkResult = named('BulkResult', {
  to: string('Recipient as you passed it.'),
  messageId: orNull(MessageId, 'Id of the message; null if it was refused.'),
  sendAt: orNull(time(), 'When the message will be sent; null if it was refused.'),
  error: optional(string('Why the message was refused, as a sentence.')),
});

export const sendBulk = defineOperation({
  ...sendOperation,
  id: 'messages.send_bulk',
  route: 'POST /messages/send-bulk',
  approval: 'held',
  owner: undefined, // every node can schedule
  recipients: 'each',
  messageContent: undefined, // the output contains no message content
  receipt: undefined,
  uses: ['sender'],
  summary: 'Send a text to many recipients',
  description:
    'Schedule the same text for up to 1,000 recipients, sent `intervalMs` apart. All messages are stored before the response, so a restart loses none. An invalid recipient gets an `error` in its result and does not affect the others.',
  status: 202,
  input: {
    sessionId: OptionalSessionId,
    // Not `To`: an invalid recipient is reported in its result and does not affect the others.
    to: list(AnyRecipient, 'Recipients. Each gets a result, in this order.', { minItems: 1, maxItems: 1000 }),
    message: Text,
    intervalMs: optional(
      integer('Milliseconds between two messages; 1000 by default.', { minimum: 0, maximum: 3_600_000, default: 1000 }),
    ),
    sendAt: SendAt,
    idempotencyKey: envelope.idempotencyKey,
  },
  output: object({
    accepted: integer('Number of messages that were scheduled.'),
    refused: integer('Number of recipients that cannot be sent to.'),
    pendingApproval: optional(onlyTrue('Present if the accepted messages wait for approval.')),
    results: list(BulkResult, 'One entry per recipient, in the order of `to`.'),
  }),
  errors: ['not_found', 'session_required', 'session_not_connected', 'too_many', 'quota_exceeded'],
  example: { to: ['491707654321', '491701112223'], message: 'Hello', intervalMs: 2000 },
  async run(ctx, input) {
    const { session } = ctx;
    const startsAt = input.sendAt === undefined ? ctx.clock.now() : futureTime(ctx, input.sendAt);
    const intervalMs = input.intervalMs ?? 1000;
    const ids = bulkIds(ctx);
    const groupOf = await recipientFinder(ctx, session, input.to);
    const numberOf = await numberFinder(ctx, session, input.to);
    let place = 0;
    const plan = [];
    for (const given of input.to) {
      const messageId = ids();
      try {
        const to = recipientOf(numberOf(groupOf(given), 'to'));
        await requirePerson(ctx, session.sessionId, to, given);
        await chatOf(ctx.database.reader, session, to); // throws unless a group belongs to the session
        if (isUserId(given.trim())) await requireNamed(ctx.sessions.people, session, [given.trim()]);
        plan.push({ given, messageId, to, sendAt: startsAt + place++ * intervalMs });
      } catch (error) {
        if (!(error instanceof AppError)) throw error;
        plan.push({ given, error: error.message });
      }
    }
    const drafts = plan.flatMap((item) =>
      'error' in item
        ? []
        : [
            {
              ...item,
              type: 'text' as const,
              text: input.message,
              content: {},
              replyTo: null,
              keyId: callerKeyId(ctx),
            },
          ],
    );
    const heldFor = keyToApprove(ctx);
    const rows =
      heldFor === undefined
        ? await ctx.sender.schedule(session, drafts, quotaOf(ctx))
        : await ctx.sender.holdForApproval(session, drafts, heldFor, quotaOf(ctx));
    const stored = new Map(rows.map((row) => [row.message_id, row]));
    return bulkOutput(
      plan.map((item) => {
        const row = 'error' in item ? undefined : stored.get(item.messageId);
        return row === undefined ? refusal(item.given, item.error) : acceptance(item.given, row);
      }),
      heldFor !== undefined,
    );
  },
  async readStored(ctx, { to }) {
    const ids = bulkIds(ctx);
    const messageIds = to.map(() => ids());
    const stored = await findMessages(ctx.database.reader, ctx.accountId, messageIds);
    if (stored.size === 0) return undefined;
    const isHeld = [...stored.values()].some(({ status }) => status === 'pending_approval');
    const results = to.map((given, index) => {
      const row = stored.get(messageIds[index] ?? '');
      return row === undefined ? refusal(given, INTERRUPTED) : acceptance(given, row);
    });
    return bulkOutput(results, isHeld);
  },
});

const INTERRUPTED =
  'The request was interrupted before this message was stored, and can no longer be continued; send it again';

type Result = Static<typeof BulkResult>;

const acceptance = (to: string, { message_id: messageId, scheduled_at: at, timestamp }: NewRow): Result => ({
  to,
  messageId,
  sendAt: isoTime(at ?? timestamp),
});
const refusal = (to: string, error: string | undefined): Result => ({ to, messageId: null, sendAt: null, error });

function bulkOutput(results: Result[], isPending: boolean) {
  const accepted = results.filter(({ messageId }) => messageId !== null).length;
  return {
    accepted,
    refused: results.length - accepted,
    ...(isPending && { pendingApproval: true as const }),
    results,
  };
}

export const cancelMessage = defineOperation({
  id: 'messages.cancel',
  route: 'POST /messages/{messageId}/cancel',
  approval: 'free',
  permission: 'messages:send',
  scope: 'messageId',
  messageContent: 'messages',
  effect: 'destructive',
  uses: ['sender', 'media'],
  summary: 'Cancel a scheduled message',
  description:
    'Cancel a message that waits for its `sendAt` or for approval. It stays in lists with the status `failed`. Messages that are no longer `scheduled` or `pending_approval` cannot be cancelled. Repeating the call changes nothing.',
  input: { messageId: MessageId },
  output: Message,
  errors: ['not_found', 'message_state'],
  async run(ctx, { messageId }) {
    const row = await requireMessage(ctx, messageId);
    await ctx.sender.cancel(row);
    const now = await requireMessage(ctx, messageId);
    if (!isCancelled(now))
      throw new AppError(
        'message_state',
        `Only a message that is scheduled or waits for approval can be cancelled; this one is ${now.status}`,
      );
    return toMessage(ctx, now);
  },
});

/** Returns ids for the messages of one request, the same ones if it is repeated with its idempotency key. */
function bulkIds({ resourceId, newId }: Context): () => string {
  if (resourceId === undefined) return () => newId('msg');
  let count = 0;
  return () => `msg_${resourceId}_${count++}`;
}
