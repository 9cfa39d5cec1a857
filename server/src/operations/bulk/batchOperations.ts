import { type Static, Type } from 'typebox';
import { callerKeyId } from '../../auth/authenticate.ts';
import { scopeOf } from '../../auth/keyScope.ts';
import { isoTime } from '../../clock.ts';
import type { BatchTable } from '../../db/schema.ts';
import { AppError } from '../../errors.ts';
import { BatchCounts, batchStatuses, PREPARING } from '../../events/batchEvents.ts';
import { integer, named, oneOf, optional, orNull, string, time } from '../../invoke/input/fields.ts';
import { type Context, defineOperation } from '../../invoke/operation.ts';
import { keysOf, pageInput, pageOf, readPage } from '../../invoke/pages.ts';
import { isOfSessions, ListedSessionId, listedSessions, SessionId } from '../shared/sessionFields.ts';
import { cancelBatch, findBatch, PAUSE_DAYS, pauseBatch, resumeBatch } from './batches.ts';
import { countsOf } from './batchMessages.ts';
import { BatchId } from './fields.ts';

const Batch = named('Batch', {
  batchId: BatchId,
  sessionId: SessionId,
  status: oneOf(
    [PREPARING, ...batchStatuses],
    '`preparing`: the messages are being stored. `completed`: no message waits any longer. `cancelling`: the rest is being cancelled.',
  ),
  type: string('Type of the messages, such as `text`.'),
  accepted: integer('Number of messages. In an album, each file is one.'),
  refused: integer('Number of recipients that were refused, duplicates included.'),
  duplicates: integer('Number of recipients that were named twice.'),
  intervalMs: integer('Milliseconds between two messages.'),
  endsAt: time('When the last message is due. While it is paused, the planned time.'),
  pausedUntil: orNull(time(), 'When the pause ends and the batch is cancelled; null if it is not paused.'),
  createdAt: time('When it was sent.'),
  updatedAt: time('When its status last changed.'),
  createdByKeyId: orNull(Type.String(), 'API key that sent it; null for a login.'),
});

const BatchWithCounts = named('BatchWithCounts', { ...Batch.properties, counts: BatchCounts });

const byId = { batchId: BatchId };

export const listBatches = defineOperation({
  id: 'batches.list',
  route: 'GET /batches',
  permission: 'messages:metadata',
  scope: 'filtered',
  effect: 'read',
  summary: 'List bulk sends',
  description: 'List the batches of `messages.send_bulk`, newest first. `batches.get` returns the progress of one.',
  input: {
    sessionId: ListedSessionId,
    status: optional(oneOf([PREPARING, ...batchStatuses], 'Only batches with this status.')),
    ...pageInput,
  },
  output: pageOf(Batch),
  errors: ['not_found'],
  async run(ctx, input) {
    const sessionIds = await listedSessions(ctx, input.sessionId);
    const own = ctx.database.longReader.kysely
      .selectFrom('batches')
      .where('account_id', '=', ctx.accountId)
      .where(isOfSessions(ctx, sessionIds));
    let present = own.selectAll();
    if (input.status !== undefined) present = present.where('status', '=', input.status);
    return readPage(
      'batches',
      present,
      'batch_id',
      input,
      (rows) => rows.map(toBatch),
      'desc',
      keysOf(own, 'batch_id'),
    );
  },
});

export const getBatch = defineOperation({
  id: 'batches.get',
  route: 'GET /batches/{batchId}',
  permission: 'messages:metadata',
  scope: 'batchId',
  effect: 'read',
  summary: 'Get a bulk send',
  description: 'Get a batch with the number of its messages in each status.',
  input: byId,
  output: BatchWithCounts,
  errors: ['not_found'],
  run: async (ctx, { batchId }) => withCounts(ctx, await findBatch(ctx.database.reader, ctx.accountId, batchId)),
});

const changing = {
  permission: 'messages:send',
  scope: 'batchId',
  effect: 'write',
  isRepeatable: true,
  uses: ['emit', 'sender'],
  input: byId,
  output: BatchWithCounts,
  errors: ['not_found', 'batch_state', 'permission_denied'],
} as const;

/**
 * Returns a batch that the caller may change. Keys with `allowedRecipients` or `requiresApproval` change only their
 * own, because a batch can have recipients and content beyond their limits.
 * @throws {AppError} `not_found`, `permission_denied`
 */
async function changeable(ctx: Context, batchId: string): Promise<BatchTable> {
  const batch = await findBatch(ctx.database.reader, ctx.accountId, batchId);
  const scope = scopeOf(ctx.caller);
  const isLimited = scope?.recipients !== undefined || scope?.requiresApproval === true;
  if (isLimited && batch.key_id !== callerKeyId(ctx))
    throw new AppError('permission_denied', 'This API key can change only the batches that it has sent');
  return batch;
}

const ONLY_OWN = 'A key with `allowedRecipients` or `requiresApproval` can change only its own batches.';

export const pauseBatchOperation = defineOperation({
  ...changing,
  id: 'batches.pause',
  route: 'POST /batches/{batchId}/pause',
  approval: 'free',
  stopsMessages: true,
  summary: 'Pause a bulk send',
  description: `Pause a batch: messages whose time has not come wait until \`batches.resume\`. Queued messages still go out. After ${PAUSE_DAYS} days, the batch is cancelled. ${ONLY_OWN}`,
  run: async (ctx, { batchId }) => withCounts(ctx, await pauseBatch(ctx, await changeable(ctx, batchId))),
});

export const resumeBatchOperation = defineOperation({
  ...changing,
  id: 'batches.resume',
  route: 'POST /batches/{batchId}/resume',
  summary: 'Resume a bulk send',
  description: `Resume a paused batch. The rest goes out with the same interval, beginning now if its time has passed. ${ONLY_OWN}`,
  run: async (ctx, { batchId }) => withCounts(ctx, await resumeBatch(ctx, await changeable(ctx, batchId))),
});

export const cancelBatchOperation = defineOperation({
  ...changing,
  id: 'batches.cancel',
  route: 'POST /batches/{batchId}/cancel',
  approval: 'free',
  effect: 'destructive',
  summary: 'Cancel a bulk send',
  description: `Cancel the messages of a batch that wait for their time or for approval. They stay in lists with the status \`failed\`. Queued messages still go out. This cannot be undone. ${ONLY_OWN}`,
  run: async (ctx, { batchId }) => withCounts(ctx, await cancelBatch(ctx, await changeable(ctx, batchId))),
});

async function withCounts({ database }: Context, batch: BatchTable) {
  return { ...toBatch(batch), counts: await countsOf(database.reader, batch) };
}

function toBatch(row: BatchTable): Static<typeof Batch> {
  return {
    batchId: row.batch_id,
    sessionId: row.session_id,
    status: row.status,
    type: row.type,
    accepted: row.accepted,
    refused: row.refused,
    duplicates: row.duplicates,
    intervalMs: Number(row.interval_ms),
    endsAt: isoTime(Number(row.ends_at)),
    pausedUntil: row.status === 'paused' && row.check_at !== null ? isoTime(Number(row.check_at)) : null,
    createdAt: isoTime(Number(row.created_at)),
    updatedAt: isoTime(Number(row.updated_at)),
    createdByKeyId: row.key_id,
  };
}
