import { Type } from 'typebox';
import { isoTime } from '../../clock.ts';
import type { WebhookTable } from '../../db/schema.ts';
import {
  entries,
  integer,
  named,
  number,
  object,
  oneOf,
  orNull,
  record,
  string,
  time,
} from '../../invoke/input/fields.ts';
import type { Context } from '../../invoke/operation.ts';
import { countReleased, resetBreaker } from '../../webhooks/endpoints/destinations.ts';
import { type Breaker, newBreaker, thresholds, windowTotals } from '../../webhooks/queue/breaker.ts';
import { readHeld } from '../../webhooks/queue/queue.ts';
import { add, type Figures, minuteOf, noFigures, percentile, readFigures } from '../../webhooks/queue/stats.ts';
import { onAnyWebhook } from './anyWebhook.ts';
import { Class } from './webhookRecord.ts';

const Count = (description: string) => integer(description, { minimum: 0 });
const State = oneOf(
  ['closed', 'open', 'half_open'],
  '`closed`: deliveries go out. `open`: they are held. `half_open`: one goes out at a time, as a probe.',
);

const Window = object({
  attempts: Count('Number of attempts.'),
  successRate: orNull(
    Type.Number({ minimum: 0, maximum: 1 }),
    'Share of attempts that succeeded, from 0 to 1; null without attempts.',
  ),
  latencyMs: object('Duration of attempts in milliseconds.', {
    p50: orNull(Type.Integer(), 'Median; null without attempts.'),
    p95: orNull(Type.Integer(), '95th percentile; null without attempts.'),
    p99: orNull(Type.Integer(), '99th percentile; null without attempts.'),
  }),
  byClass: record(Type.Integer({ minimum: 0 }), 'Number of attempts by outcome class.'),
  byState: record(Type.Integer({ minimum: 0 }), 'Number of deliveries by final state.'),
});

const WebhookStats = named('WebhookStats', {
  pending: Count('Number of deliveries that are not settled.'),
  held: Count('Number of pending deliveries while the circuit breaker is open or half open.'),
  oldestPendingAgeMs: orNull(
    Type.Integer(),
    'Age of the oldest pending delivery in milliseconds; null if none is pending.',
  ),
  windows: object('Totals by period.', { '1h': Window, '24h': Window, '7d': Window }),
  series: entries('Minutes of the last hour with at least one attempt, oldest first.', {
    minute: time('Start of the minute.'),
    attempts: Count('Number of attempts.'),
    delivered: Count('Number of attempts that succeeded.'),
    failedAttempts: Count('Number of attempts that failed.'),
    p95Ms: orNull(Type.Integer(), '95th percentile of the duration in milliseconds.'),
  }),
});

const CircuitBreaker = named('CircuitBreaker', {
  state: State,
  since: orNull(time(), 'When the circuit breaker entered this state; null if no webhook is set.'),
  reason: orNull(Type.String(), 'Why the circuit breaker entered this state.'),
  lastError: orNull(
    object({
      class: Class,
      status: orNull(Type.Integer(), 'HTTP status of the response; null if there was none.'),
      message: string('Error as a sentence.'),
      at: time('When the attempt failed.'),
    }),
    'Last attempt that failed; null if none has.',
  ),
  failuresInARow: Count('Number of attempts that failed since the last success.'),
  window: object('Recent attempts, which determine the failure rate.', {
    seconds: Count('Length of the window.'),
    attempts: Count('Number of attempts in the window.'),
    failures: Count('Number of failed attempts in the window.'),
  }),
  openUntil: orNull(time(), 'When the open period ends; null if the circuit breaker is not open.'),
  nextProbeAt: orNull(
    time(),
    'When the next held delivery goes out as a probe; null unless the breaker is open and holds deliveries.',
  ),
  held: object('Deliveries that wait until the circuit breaker closes.', {
    count: Count('Number of held deliveries.'),
    oldestAt: orNull(time(), 'Time of the oldest held delivery; null unless the breaker is open and holds deliveries.'),
  }),
  thresholds: object('Rules by which the circuit breaker opens and closes.', {
    failuresInARow: Count('Failed attempts in a row that open the circuit breaker.'),
    windowSeconds: Count('Length of the window for the failure rate.'),
    windowAttempts: Count('Minimum attempts in the window before the failure rate applies.'),
    windowFailureRate: number('Failure rate in the window that opens it, from 0 to 1.'),
    successesToClose: Count('Successful probes in a row that close it.'),
    openSeconds: Count('Length of the first open period, and of every other one in the first part of an outage.'),
    steadySeconds: Count('Length of the first part of an outage. After it, each failed probe doubles the open period.'),
    longestOpenSeconds: Count('Length of the longest open period.'),
  }),
  transitions: entries(
    'Latest changes of the state, newest first. Of several failed probes in a row only the last one is listed.',
    {
      at: time('When the state changed.'),
      from: State,
      to: State,
      reason: string('Why the state changed.'),
    },
  ),
});

const BreakerReset = named('BreakerReset', {
  previousState: State,
  state: State,
  released: integer('Number of deliveries that were held and now go out.', { minimum: 0 }),
});

/** Source: `GET /webhooks/stats` of the contract. */
export const [webhookStats, endpointStats] = onAnyWebhook(
  {
    name: 'stats',
    permission: 'webhooks:metadata',
    effect: 'read',
    fields: {},
    output: WebhookStats,
    needsWebhook: false,
    acceptsSubscriptions: true,
    uses: ['engine'],
    run: async (ctx, find) => {
      await ctx.engine.flush(ctx.accountId);
      return statsOf(ctx, await find(ctx.database.reader));
    },
  },
  {
    route: 'GET /webhooks/stats',
    tool: true,
    summary: 'Get webhook statistics',
    description:
      'Get attempts, success rate and latency of the default webhook over 1 h, 24 h and 7 d, and its pending deliveries. Tests are not counted.',
  },
  {
    route: 'GET /webhooks/endpoints/{webhookId}/stats',
    summary: 'Get the statistics of a webhook',
    description:
      'Get attempts, success rate and latency of a webhook over 1 h, 24 h and 7 d, and per minute for the last hour. Tests are not counted.',
  },
);

/** Source: `GET /webhooks/circuit-breaker` of the contract. */
export const [getCircuitBreaker, getEndpointBreaker] = onAnyWebhook(
  {
    name: 'get_circuit_breaker',
    permission: 'webhooks:metadata',
    effect: 'read',
    thirdPartyText: true,
    fields: {},
    output: CircuitBreaker,
    needsWebhook: false,
    acceptsSubscriptions: true,
    run: async (ctx, find) => breakerOf(ctx, await find(ctx.database.reader)),
  },
  {
    route: 'GET /webhooks/circuit-breaker',
    tool: true,
    summary: 'Get the circuit breaker',
    description:
      "Get the state of the default webhook's circuit breaker, the last error, the held deliveries and the next probe. `open` means that deliveries are held because the receiver fails.",
  },
  {
    route: 'GET /webhooks/endpoints/{webhookId}/circuit-breaker',
    summary: 'Get the circuit breaker of a webhook',
    description:
      'Get the state of the circuit breaker of a webhook, with the reason, the last error, the held deliveries and the next probe.',
  },
);

/** Source: `POST /webhooks/circuit-breaker/reset` of the contract. */
export const [resetCircuitBreaker, resetEndpointBreaker] = onAnyWebhook(
  {
    name: 'reset_circuit_breaker',
    permission: 'webhooks:operate',
    effect: 'write',
    isRepeatable: true,
    uses: ['emit', 'engine'],
    fields: {},
    output: BreakerReset,
    needsWebhook: false,
    acceptsSubscriptions: true,
    async run(ctx, find) {
      const held = await countReleased(ctx, await find(ctx.database.reader));
      return ctx.database.commit(async (tx) => resetBreaker(ctx, tx, await find(tx), held), ctx.accountId);
    },
  },
  {
    route: 'POST /webhooks/circuit-breaker/reset',
    tool: true,
    summary: 'Reset the circuit breaker',
    description:
      'Close the circuit breaker of the default webhook, so that held deliveries go out in order, slowly at first. Use it once the receiver works again.',
  },
  {
    route: 'POST /webhooks/endpoints/{webhookId}/circuit-breaker/reset',
    summary: 'Reset the circuit breaker of a webhook',
    description:
      'Close the circuit breaker of a webhook, so that held deliveries go out in order, slowly at first. Use it once the receiver works again.',
  },
);

/** Returns a closed breaker without failures if no webhook is set. */
async function breakerOf({ steady, database, settings }: Context, row: WebhookTable | undefined) {
  const now = steady.now();
  const shown = (at: number) => isoTime(steady.toWall(at));
  const breaker: Breaker = row === undefined ? newBreaker(now) : JSON.parse(row.breaker);
  const isHolding = row !== undefined && breaker.state !== 'closed';
  const held = isHolding ? await readHeld(database.longReader, row.webhook_id) : { count: 0, oldestAt: null };
  return {
    state: breaker.state,
    since: row === undefined ? null : shown(breaker.since),
    reason: breaker.reason,
    lastError: breaker.lastError && { ...breaker.lastError, at: shown(breaker.lastError.at) },
    failuresInARow: breaker.failures,
    window: { seconds: thresholds.windowMs / 1000, ...windowTotals(breaker, now) },
    openUntil: breaker.openUntil === null ? null : shown(breaker.openUntil),
    nextProbeAt: breaker.state === 'open' && held.count > 0 ? shown(Math.max(breaker.openUntil ?? now, now)) : null,
    held: { count: held.count, oldestAt: isoTime(held.oldestAt) },
    thresholds: {
      failuresInARow: thresholds.failuresInARow,
      windowSeconds: thresholds.windowMs / 1000,
      windowAttempts: thresholds.windowAttempts,
      windowFailureRate: thresholds.windowFailureRate,
      successesToClose: thresholds.successesToClose,
      openSeconds: settings.breakerOpenSeconds,
      steadySeconds: thresholds.steadyMs / 1000,
      longestOpenSeconds: thresholds.longestOpenMs / 1000,
    },
    transitions: breaker.transitions.map((transition) => ({ ...transition, at: shown(transition.at) })),
  };
}

const HOUR_MS = 3_600_000;
const WEEK_MS = 7 * 24 * HOUR_MS;

/** Reads only the figures per minute, not the delivery log. */
async function statsOf({ clock, database }: Context, row: WebhookTable | undefined) {
  const now = clock.now();
  const from = minuteOf(now - WEEK_MS);
  const minutes = row === undefined ? [] : await readFigures(database.longReader, row.webhook_id, from);
  const pending =
    row === undefined ? { count: 0, oldestAt: null } : await readHeld(database.longReader, row.webhook_id);
  const since = (lengthMs: number) => minutes.filter(({ minute }) => minute > now - lengthMs);
  const window = (lengthMs: number) =>
    summarize(since(lengthMs).reduce((sum, { figures }) => add(sum, figures), noFigures));
  return {
    pending: pending.count,
    held: row === undefined || row.breaker_state === 'closed' ? 0 : pending.count,
    oldestPendingAgeMs: pending.oldestAt === null ? null : Math.max(0, now - pending.oldestAt),
    windows: { '1h': window(HOUR_MS), '24h': window(24 * HOUR_MS), '7d': window(WEEK_MS) },
    series: since(HOUR_MS).map(({ minute, figures }) => {
      const { attempts, byClass, byState, latencyMs } = summarize(figures);
      return {
        minute: isoTime(minute),
        attempts,
        delivered: byState['delivered'] ?? 0,
        failedAttempts: attempts - (byClass['ok'] ?? 0),
        p95Ms: latencyMs.p95,
      };
    }),
  };
}

function summarize(figures: Figures) {
  const byClass: Record<string, number> = { ...figures.classes };
  const byState: Record<string, number> = { ...figures.states };
  const attempts = Object.values(byClass).reduce((sum, n) => sum + n, 0);
  return {
    attempts,
    successRate: attempts === 0 ? null : (byClass['ok'] ?? 0) / attempts,
    latencyMs: { p50: percentile(figures, 0.5), p95: percentile(figures, 0.95), p99: percentile(figures, 0.99) },
    byClass,
    byState,
  };
}
