import type { Static, TObject } from 'typebox';
import { callerKeyId } from '../../auth/authenticate.ts';
import { invalidField } from '../../errors.ts';
import type { MessageType } from '../../events/networkTypes.ts';
import { integer, list, optional } from '../../invoke/input/fields.ts';
import { type Context, defineOperation, type SessionContext } from '../../invoke/operation.ts';
import { batchIdOf } from '../../messages/messages/batchChecks.ts';
import { findMessages, type NewRow } from '../../messages/store.ts';
import { AnyRecipient, envelope, keyToApprove, quotaOf, SendAt, sendOperation } from '../messages/send.ts';
import { FILE_DEADLINE_MS, fileErrors } from '../messages/sending.ts';
import { futureTime } from '../shared/futureTime.ts';
import { OptionalSessionId } from '../shared/sessionFields.ts';
import { type NewBatch, storeBatch } from './batches.ts';
import {
  contentFields,
  contentMaker,
  isValidWithoutValues,
  kindOf,
  mentionsEverybody,
  typesOf,
} from './bulkContent.ts';
import { BulkOutput, bulkOutput, messageIdsOf } from './bulkResults.ts';
import { contentsFor, invalidValues } from './placeholders.ts';
import { findRecipients, type Recipient } from './recipients.ts';

const DEFAULT_INTERVAL_MS = 1000;
const MAX_MESSAGES = 1000;

const bulkInput = {
  sessionId: OptionalSessionId,
  // Not `To`: an invalid recipient is reported in its result and does not affect the others.
  to: list(AnyRecipient, 'Recipients. Each gets a result, in this order.', { minItems: 1, maxItems: MAX_MESSAGES }),
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
};

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
  uses: ['sender', 'media', 'preparation', 'targets', 'linkPreviews'],
  summary: 'Send a message to many recipients',
  description:
    'Schedule the same content for up to 1,000 recipients, sent `intervalMs` apart: pass exactly one of `message`, `media`, `location`, `contact`, `poll`, `event`, `album`, `template` and `interactive`. `values` fills in placeholders such as `{{name}}` for each recipient. All messages are stored before the response, so a restart loses none. An invalid recipient or one that is named twice gets an `error` in its result and does not affect the others. `batchId` shows the progress, and pauses, resumes or cancels the rest.',
  status: 202,
  input: bulkInput,
  output: BulkOutput,
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
    const order = await orderOf(ctx, input);
    const { id, found, types, isPending } = order;
    const shared = { id, recipients: found, perRecipient: types.length, isPending };
    const drafts = await draftsOf(ctx, input, order);
    if (drafts.length === 0) return bulkOutput({ ...shared, stored: new Map() });
    const batch = batchOf(ctx, order, drafts);
    const rows = await storeBatch(ctx, batch, () => store(ctx, drafts));
    if (rows === undefined) return storedOutput(ctx, input);
    return bulkOutput({ ...shared, stored: new Map(rows.map((row) => [row.message_id, row])) });
  },
  async readStored(ctx, input) {
    const output = await storedOutput(ctx, input);
    return output.batchId === null ? undefined : output;
  },
});

/** Returns the output for the messages that an interrupted run has stored. */
async function storedOutput(ctx: Context, input: Input) {
  const id = idOf(ctx);
  const perRecipient = typesOf(kindOf(input), input).length;
  const messageIds = input.to.flatMap((_, place) => messageIdsOf(id, place, perRecipient));
  const stored = await findMessages(ctx.database.reader, ctx.accountId, messageIds);
  const isPending = [...stored.values()].some(({ status }) => status === 'pending_approval');
  const recipients = input.to.map((given) => ({ given, error: INTERRUPTED }));
  return bulkOutput({ id, recipients, stored, perRecipient, isPending });
}

const INTERRUPTED =
  'The request was interrupted before this message was stored, and can no longer be continued; send it again';

type BulkContext = SessionContext<'sender' | 'media' | 'preparation' | 'targets' | 'linkPreviews'>;
type Input = Static<TObject<typeof bulkInput>>;

/** A checked request, before its files are fetched. */
interface Order {
  readonly id: string;
  readonly found: readonly Recipient[];
  /** Content of each recipient; undefined if it is the same for all. */
  readonly own: readonly (Input | undefined)[] | undefined;
  /** Types of a recipient's messages. */
  readonly types: readonly MessageType[];
  readonly isPending: boolean;
  readonly startsAt: number;
  readonly intervalMs: number;
}

/** @throws {AppError} `validation_failed` */
async function orderOf(ctx: BulkContext, input: Input): Promise<Order> {
  const { to, values, sendAt, intervalMs = DEFAULT_INTERVAL_MS } = input;
  const kind = kindOf(input);
  const types = typesOf(kind, input);
  if (values !== undefined && values.length !== to.length)
    throw invalidField('values', `must have one entry per recipient: ${to.length}, not ${values.length}`, 'length');
  if (to.length * types.length > MAX_MESSAGES)
    throw invalidField(
      'to',
      `has ${to.length} recipients of ${types.length} files each, which is more than ${MAX_MESSAGES} messages`,
      'maxItems',
    );
  const startsAt = sendAt === undefined ? ctx.clock.now() : futureTime(ctx, 'sendAt', sendAt);
  const found = await findRecipients(ctx, to, { onlyGroups: mentionsEverybody(input) });
  const own = values && contentsFor(input, kind, values, (place) => found[place]?.to !== undefined);
  return { id: idOf(ctx), found, own, types, isPending: keyToApprove(ctx) !== undefined, startsAt, intervalMs };
}

type Drafts = Parameters<BulkContext['sender']['schedule']>[1][number][];

/**
 * Makes the messages of all recipients that are not refused.
 * @throws {AppError} what `requireSendable` throws before a file is fetched, and the errors of the content
 */
async function draftsOf(ctx: BulkContext, input: Input, order: Order): Promise<Drafts> {
  const { session } = ctx;
  const { id, found, own, types, isPending, startsAt, intervalMs } = order;
  const contentFor = (place: number) => own?.[place] ?? input;
  const firstPlace = found.findIndex(({ to }) => to !== undefined);
  const to = found[firstPlace]?.to;
  if (to === undefined) return [];
  const [messageId = ''] = messageIdsOf(id, firstPlace, types.length);
  const later = isPending ? 'pending_approval' : 'scheduled';
  for (const type of new Set(types))
    await ctx.sender.requireSendable(session, { messageId, to, type }, later, quotaOf(ctx));
  const make = await contentMaker(ctx, session, { to, content: contentFor(firstPlace) });
  const makeContent = async (content: Input, albumId: string, place: number) => {
    try {
      return await make(content, albumId);
    } catch (error) {
      throw own !== undefined && isValidWithoutValues(input) ? invalidValues(place, error) : error;
    }
  };
  const drafts: Drafts = [];
  let dueAt = startsAt;
  for (const [place, recipient] of found.entries()) {
    if (recipient.to === undefined) continue;
    const ids = messageIdsOf(id, place, types.length);
    const made = await makeContent(contentFor(place), `msg_${id}_a${place}`, place);
    for (const [index, content] of made.entries())
      drafts.push({
        ...content,
        messageId: ids[index] ?? '',
        to: recipient.to,
        sendAt: dueAt + index, // keeps the order of an album
        replyTo: null,
        keyId: callerKeyId(ctx),
      });
    dueAt += intervalMs;
  }
  return drafts;
}

function batchOf(ctx: BulkContext, { id, found, types: [type = 'text'], intervalMs }: Order, drafts: Drafts): NewBatch {
  return {
    account_id: ctx.accountId,
    batch_id: batchIdOf(id),
    session_id: ctx.session.sessionId,
    type,
    accepted: drafts.length,
    refused: found.filter(({ to }) => to === undefined).length,
    duplicates: found.filter(({ duplicateOf }) => duplicateOf !== undefined).length,
    interval_ms: intervalMs,
    ends_at: drafts.at(-1)?.sendAt ?? ctx.clock.now(),
    key_id: callerKeyId(ctx),
  };
}

function store(ctx: BulkContext, drafts: Drafts): Promise<NewRow[]> {
  const heldFor = keyToApprove(ctx);
  return heldFor === undefined
    ? ctx.sender.schedule(ctx.session, drafts, quotaOf(ctx))
    : ctx.sender.holdForApproval(ctx.session, drafts, heldFor, quotaOf(ctx));
}

/** Returns the id of a request's batch and messages, the same one if it is repeated with its idempotency key. */
function idOf({ resourceId, newId }: Context): string {
  return resourceId ?? newId('msg').slice('msg_'.length);
}
