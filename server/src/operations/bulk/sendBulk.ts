import type { Static } from 'typebox';
import { callerKeyId } from '../../auth/authenticate.ts';
import { isoTime } from '../../clock.ts';
import { isUserId } from '../../connectors/contract/people.ts';
import { AppError, invalidField } from '../../errors.ts';
import { integer, list, named, object, onlyTrue, optional, orNull, string, time } from '../../invoke/input/fields.ts';
import { recipientOf } from '../../invoke/input/phoneNumbers.ts';
import { recipientFinder, requireNamed } from '../../invoke/networkIds.ts';
import { type Context, defineOperation, type SessionContext } from '../../invoke/operation.ts';
import { requirePerson } from '../../invoke/recipients.ts';
import { numberFinder } from '../../invoke/typedNumbers.ts';
import { chatOf } from '../../messages/messages/outgoing.ts';
import { findMessages, type NewRow } from '../../messages/store.ts';
import { MessageId } from '../messages/messages.ts';
import { AnyRecipient, envelope, keyToApprove, quotaOf, SendAt, sendOperation } from '../messages/send.ts';
import { FILE_DEADLINE_MS, fileErrors } from '../messages/sending.ts';
import { futureTime } from '../shared/futureTime.ts';
import { OptionalSessionId } from '../shared/sessionFields.ts';
import { batchIdOf, hasBatch, messageIdOf, storeBatch } from './batches.ts';
import { contentFields, contentMaker, contentsFor, kindOf, typeOf } from './bulkContent.ts';
import { BatchId } from './fields.ts';

const BulkResult = named('BulkResult', {
  to: string('Recipient as you passed it.'),
  messageId: orNull(MessageId, 'Id of the message; null if it was refused.'),
  sendAt: orNull(time(), 'When the message will be sent; null if it was refused.'),
  error: optional(string('Why the message was refused, as a sentence.')),
  duplicateOf: optional(
    integer('Present if the same person or group comes earlier in `to`, which gets the message: its position, from 0.'),
  ),
});

const DEFAULT_INTERVAL_MS = 1000;

export const sendBulk = defineOperation({
  ...sendOperation,
  id: 'messages.send_bulk',
  route: 'POST /messages/send-bulk',
  approval: 'held',
  owner: { field: 'sessionId' }, // its connection knows the other form of a number
  deadlineMs: FILE_DEADLINE_MS,
  recipients: 'each',
  messageContent: undefined, // the output contains no message content
  receipt: undefined,
  uses: ['sender', 'media', 'preparation', 'targets'],
  summary: 'Send a message to many recipients',
  description:
    'Schedule the same content for up to 1,000 recipients, sent `intervalMs` apart: pass exactly one of `message`, `media`, `location`, `contact`, `poll`, `template` and `interactive`. `values` fills in placeholders such as `{{name}}` for each recipient. All messages are stored before the response, so a restart loses none. An invalid recipient or one that is named twice gets an `error` in its result and does not affect the others. `batchId` shows the progress, and pauses, resumes or cancels the rest.',
  status: 202,
  input: {
    sessionId: OptionalSessionId,
    // Not `To`: an invalid recipient is reported in its result and does not affect the others.
    to: list(AnyRecipient, 'Recipients. Each gets a result, in this order.', { minItems: 1, maxItems: 1000 }),
    ...contentFields,
    intervalMs: optional(
      integer(`Milliseconds between two messages; ${DEFAULT_INTERVAL_MS} by default.`, {
        minimum: 0,
        maximum: 3_600_000,
        default: DEFAULT_INTERVAL_MS,
      }),
    ),
    sendAt: SendAt,
    idempotencyKey: envelope.idempotencyKey,
  },
  output: object({
    batchId: orNull(
      BatchId,
      'Id of the batch; null if no message was accepted, or if the request was interrupted before it.',
    ),
    accepted: integer('Number of messages that were scheduled.'),
    refused: integer('Number of recipients that cannot be sent to, duplicates included.'),
    duplicates: integer('Number of recipients that come earlier in `to`, in the same or another form.'),
    pendingApproval: optional(onlyTrue('Present if the accepted messages wait for approval.')),
    results: list(BulkResult, 'One entry per recipient, in the order of `to`.'),
  }),
  errors: [
    'not_found',
    'session_required',
    'session_not_connected',
    'not_supported',
    'too_many',
    'quota_exceeded',
    ...fileErrors,
  ],
  example: {
    to: ['491707654321', '491701112223'],
    message: 'Hello {{name}}',
    values: [{ name: 'Ada' }, { name: 'Ben' }],
    intervalMs: 2000,
  },
  async run(ctx, input) {
    const { session } = ctx;
    const kind = kindOf(input);
    if (input.values !== undefined && input.values.length !== input.to.length)
      throw invalidField(
        'values',
        `must have one entry per recipient: ${input.to.length}, not ${input.values.length}`,
        'length',
      );
    const startsAt = input.sendAt === undefined ? ctx.clock.now() : futureTime(ctx, 'sendAt', input.sendAt);
    const intervalMs = input.intervalMs ?? DEFAULT_INTERVAL_MS;
    const id = idOf(ctx);
    const found = await findRecipients(ctx, input.to);
    const isAccepted = (place: number) => found[place]?.to !== undefined;
    const own = input.values && contentsFor(input, kind, input.values, isAccepted);
    const heldFor = keyToApprove(ctx);
    const firstPlace = found.findIndex(({ to }) => to !== undefined);
    const first = found[firstPlace];
    if (first?.to === undefined) return bulkOutput(id, found.map(refusalOf), heldFor !== undefined);
    const draft = { messageId: messageIdOf(id, firstPlace), to: first.to, type: typeOf(kind, input) };
    const later = heldFor === undefined ? 'scheduled' : 'pending_approval';
    // Before a file is fetched and stored.
    await ctx.sender.requireSendable(session, draft, later, quotaOf(ctx));
    const makeContent = await contentMaker(ctx, session, input);
    const drafts = [];
    for (const [place, { to }] of found.entries()) {
      if (to === undefined) continue;
      drafts.push({
        ...(await makeContent(own?.[place] ?? input)),
        messageId: messageIdOf(id, place),
        to,
        sendAt: startsAt + drafts.length * intervalMs,
        replyTo: null,
        keyId: callerKeyId(ctx),
      });
    }
    const rows =
      heldFor === undefined
        ? await ctx.sender.schedule(session, drafts, quotaOf(ctx))
        : await ctx.sender.holdForApproval(session, drafts, heldFor, quotaOf(ctx));
    const duplicates = found.filter(({ duplicateOf }) => duplicateOf !== undefined).length;
    const now = ctx.clock.now();
    const endsAt = startsAt + (drafts.length - 1) * intervalMs;
    const batch = {
      account_id: ctx.accountId,
      batch_id: batchIdOf(id),
      session_id: session.sessionId,
      status: 'running' as const,
      type: draft.type,
      accepted: rows.length,
      refused: found.length - rows.length,
      duplicates,
      interval_ms: intervalMs,
      ends_at: endsAt,
      check_at: endsAt,
      key_id: callerKeyId(ctx),
      created_at: now,
      updated_at: now,
    };
    // After the messages, because a batch without messages would be wrong. If the server dies in between, they go out, and
    // a repeated request stores the batch.
    await ctx.database.commit((tx) => storeBatch(tx, batch), session.sessionId);
    const stored = new Map(rows.map((row) => [row.message_id, row]));
    const results = found.map((one, place) => {
      const row = stored.get(messageIdOf(id, place));
      return row === undefined ? refusalOf(one) : acceptance(one.given, row);
    });
    return bulkOutput(id, results, heldFor !== undefined);
  },
  async readStored(ctx, { to }) {
    const id = idOf(ctx);
    const messageIds = to.map((_, place) => messageIdOf(id, place));
    const stored = await findMessages(ctx.database.reader, ctx.accountId, messageIds);
    if (stored.size === 0) return undefined;
    const isHeld = [...stored.values()].some(({ status }) => status === 'pending_approval');
    const results = to.map((given, place) => {
      const row = stored.get(messageIds[place] ?? '');
      return row === undefined ? refusalOf({ given, error: INTERRUPTED }) : acceptance(given, row);
    });
    const output = bulkOutput(id, results, isHeld);
    return (await hasBatch(ctx.database.reader, ctx.accountId, batchIdOf(id))) ? output : { ...output, batchId: null };
  },
});

interface Recipient {
  readonly given: string;
  /** Digits, or the id of a group; undefined if it gets no message. */
  readonly to?: string;
  readonly error?: string;
  readonly duplicateOf?: number;
}

/** Looks up the recipients. Both forms of a number, and a number and a hidden one of the same person, are one. */
async function findRecipients(ctx: SessionContext, given: readonly string[]): Promise<Recipient[]> {
  const { session } = ctx;
  const groupOf = await recipientFinder(ctx, session, given);
  const numberOf = await numberFinder(ctx, session, given);
  const connection = ctx.liveSessions.find(session)?.connection;
  const places = new Map<string, number>();
  const found: Recipient[] = [];
  for (const [place, one] of given.entries()) {
    try {
      const to = recipientOf(numberOf(groupOf(one), 'to'));
      await requirePerson(ctx, session.sessionId, to, one);
      await chatOf(ctx.database.reader, session, to); // throws unless a group belongs to the session
      if (isUserId(one.trim())) await requireNamed(ctx.sessions.people, session, [one.trim()]);
      const key = connection?.numberOf?.(to) ?? to;
      const duplicateOf = places.get(key);
      if (duplicateOf !== undefined) {
        const error = `The same recipient is at position ${duplicateOf} of \`to\`, and gets the message once`;
        found.push({ given: one, error, duplicateOf });
        continue;
      }
      places.set(key, place);
      found.push({ given: one, to });
    } catch (error) {
      if (!(error instanceof AppError)) throw error;
      found.push({ given: one, error: error.message });
    }
  }
  return found;
}

const INTERRUPTED =
  'The request was interrupted before this message was stored, and can no longer be continued; send it again';

type Result = Static<typeof BulkResult>;

const acceptance = (to: string, { message_id: messageId, scheduled_at: at, timestamp }: NewRow): Result => ({
  to,
  messageId,
  sendAt: isoTime(at ?? timestamp),
});
const refusalOf = ({ given, error, duplicateOf }: Recipient): Result => ({
  to: given,
  messageId: null,
  sendAt: null,
  error,
  ...(duplicateOf !== undefined && { duplicateOf }),
});

function bulkOutput(id: string, results: Result[], isPending: boolean) {
  const accepted = results.filter(({ messageId }) => messageId !== null).length;
  return {
    batchId: accepted === 0 ? null : batchIdOf(id),
    accepted,
    refused: results.length - accepted,
    duplicates: results.filter(({ duplicateOf }) => duplicateOf !== undefined).length,
    ...(isPending && { pendingApproval: true as const }),
    results,
  };
}

/** Returns the id of a request's batch and messages, the same one if it is repeated with its idempotency key. */
function idOf({ resourceId, newId }: Context): string {
  return resourceId ?? newId('msg').slice('msg_'.length);
}
