import { Type } from 'typebox';
import { isoTime } from '../../clock.ts';
import { Pace } from '../../db/pace.ts';
import { invalidField, noSuch } from '../../errors.ts';
import {
  boolean,
  integer,
  list,
  object,
  oneOf,
  optional,
  orNull,
  string,
  time,
  unnumbered,
} from '../../invoke/input/fields.ts';
import { ref } from '../../invoke/input/references.ts';
import { parseTime } from '../../invoke/input/validate.ts';
import { type Context, defineOperation } from '../../invoke/operation.ts';
import { timeRange } from '../../invoke/timeRange.ts';
import { findReplayable } from '../../webhooks/log/replay.ts';
import { redeliver } from '../../webhooks/queue/queue.ts';
import { DeliveryId, EventTypes } from './deliveryRecord.ts';
import { acceptedKinds } from './eventTypes.ts';

const settledStates = ['delivered', 'failed', 'expired', 'cancelled'] as const;
const SettledState = oneOf(settledStates);

const MAX_REPLAYED = 100_000;

export const replayDeliveries = defineOperation({
  id: 'webhooks.replay',
  route: 'POST /webhooks/replay',
  permission: 'webhooks:operate',
  scope: 'account',
  effect: 'write',
  tool: true,
  uses: ['engine'],
  summary: 'Replay deliveries',
  description:
    'Send settled deliveries again, with the same `X-Webhook-Id`. Select them by `deliveryIds`, or by `afterTime` and `beforeTime`: failed and expired ones unless you pass `states`. Count them first with `dryRun`. At most 100,000 per call.',
  example: { afterTime: '2026-07-01T12:00:00Z', beforeTime: '2026-07-01T13:00:00Z', dryRun: true },
  input: {
    deliveryIds: optional(list(DeliveryId, 'Ids of deliveries, up to 1,000.', { minItems: 1, maxItems: 1000 })),
    ...timeRange,
    events: optional({ ...EventTypes, minItems: 1 }),
    states: optional(
      list(SettledState, 'Only deliveries in these states.', { minItems: 1, maxItems: 4, ...unnumbered }),
    ),
    webhookId: optional(string('Only deliveries of this webhook (`whk_…`).', { ...ref('webhook'), maxLength: 100 })),
    dryRun: optional(boolean('Only counts; sends nothing.', { default: false })),
    perSecond: optional(
      integer('Deliveries per second; 100 by default.', { minimum: 1, maximum: 10_000, default: 100 }),
    ),
  },
  output: object({
    matched: integer('Number of settled deliveries that match.'),
    replayed: integer('Number of deliveries that are sent again; 0 on a dry run.'),
    lastDueAt: orNull(time(), 'When the last of them is due; null if none is sent.'),
    notFound: optional(
      list(
        Type.String(),
        'Only with `deliveryIds`: those not selected because they are unknown, still pending, tests, of a deleted webhook, or excluded by another filter.',
      ),
    ),
  }),
  errors: ['not_found'],
  async run(ctx, input) {
    if (input.deliveryIds === undefined && (input.afterTime === undefined || input.beforeTime === undefined)) {
      throw invalidField('deliveryIds', 'is required unless both `afterTime` and `beforeTime` are given', 'required');
    }
    // Deliveries of a removed webhook cannot be replayed.
    if (input.webhookId !== undefined && !(await webhookIds(ctx)).includes(input.webhookId))
      throw noSuch('webhook', input.webhookId, 'webhookId');
    const ids = await findReplayable(ctx.database.longReader, ctx.steady, replayable(ctx, input), MAX_REPLAYED);
    const start = ctx.steady.now();
    const stepMs = 1000 / (input.perSecond ?? 100);
    const dueAt = (index: number) => Math.round(start + index * stepMs);
    await new Pace().inSlices(ctx.database.commit, input.dryRun ? [] : ids, async (tx, slice, from) => {
      const some = slice.map((id, index) => ({ id, dueAt: dueAt(from + index) }));
      await redeliver(tx, ctx.accountId, some);
      return some.length;
    });
    // Not of a time range: a set of its 100,000 ids would take 50 ms.
    const found = new Set(input.deliveryIds && ids);
    const replayed = input.dryRun ? 0 : ids.length;
    for (const webhookId of replayed > 0 ? await webhookIds(ctx) : []) ctx.engine.wake(webhookId);
    return {
      matched: ids.length,
      replayed,
      lastDueAt: replayed === 0 ? null : isoTime(ctx.steady.toWall(dueAt(replayed - 1))),
      ...(input.deliveryIds && { notFound: [...new Set(input.deliveryIds)].filter((id) => !found.has(id)) }),
    };
  },
});

type ReplayInput = Parameters<typeof replayDeliveries.run>[1];

function replayable(ctx: Context, { deliveryIds, states, events, webhookId, afterTime, beforeTime }: ReplayInput) {
  return {
    accountId: ctx.accountId,
    states: states ?? (deliveryIds === undefined ? (['failed', 'expired'] as const) : settledStates),
    deliveryIds,
    kinds: events && acceptedKinds(events),
    webhookId,
    from: afterTime === undefined ? undefined : parseTime('afterTime', afterTime),
    to: beforeTime === undefined ? undefined : parseTime('beforeTime', beforeTime),
  };
}

async function webhookIds(ctx: Context): Promise<string[]> {
  const rows = await ctx.database.reader.kysely
    .selectFrom('webhooks')
    .select('webhook_id')
    .where('account_id', '=', ctx.accountId)
    .execute();
  return rows.map(({ webhook_id }) => webhook_id);
}
