import type { JointWork } from '../../db/commit.ts';
import { storeSteadyTime } from '../../db/steadyTime.ts';
import type { Breaker, BreakerState } from '../queue/breaker.ts';
import { type Settlement, settle } from '../queue/queue.ts';
import { addFigures, count, type MinuteFigures } from '../queue/stats.ts';
import { release } from '../queue/strictOrder.ts';
import { storeBreakers } from './webhook.ts';

/** The attempts of one lane that have ended, and the breaker that they led to. */
export interface LaneOutcomes {
  readonly webhookId: string;
  readonly settlements: readonly Settlement[];
  /** The conversations whose next deliveries may be held and are due now. */
  readonly released: readonly string[];
  /** The minute to which the attempts count. */
  readonly minute: number;
  /** Undefined if the webhook was removed. */
  readonly breaker: Breaker | undefined;
  /** State and generation of the stored breaker, as the lane knows it. */
  readonly from: BreakerState;
  readonly generation: number;
  /** The moment of steady time. */
  readonly steadyMs: number;
}

export interface Settled {
  /** Whether the breaker was stored: a reset or a new URL in the meantime wins. */
  readonly isStored: boolean;
  /** Whether deliveries that were held back are due now. */
  readonly hasReleased: boolean;
}

/**
 * Creates the work that settles the attempts of lanes, at most one entry for each, in a few statements for all of them.
 */
export const createSettleLanes =
  (options: Parameters<typeof storeBreakers>[0]): JointWork<LaneOutcomes, Settled> =>
  async (tx, lanes) => {
    const settlements = lanes.flatMap((lane) => lane.settlements);
    await settle(tx, settlements);
    const released = await release(
      tx,
      lanes.flatMap(({ webhookId, released: some }) => some.map((conversation) => ({ webhookId, conversation }))),
    );
    // Nodes that share a database store it with their heartbeats.
    if (!tx.dialect.hasConcurrentWriters && lanes.some(hasMoments))
      await storeSteadyTime(tx, Math.max(...lanes.map(({ steadyMs }) => steadyMs)));
    await addFigures(tx, lanes.filter((lane) => lane.settlements.length > 0).map(figuresOf));
    const changes = lanes.flatMap(({ webhookId, breaker, ...before }) =>
      breaker === undefined ? [] : { webhookId, breaker, from: before.from, generation: before.generation },
    );
    const stored = await storeBreakers(options, tx, changes);
    return lanes.map(({ webhookId, breaker }) => ({
      isStored: breaker === undefined || stored.has(webhookId),
      hasReleased: released.has(webhookId),
    }));
  };

/** Whether the outcomes store a moment of steady time: when a retry is due, or when the breaker changed. */
function hasMoments({ breaker, generation, settlements }: LaneOutcomes): boolean {
  const isQuiet = breaker?.state === 'closed' && breaker.generation === generation && breaker.pausedUntil === null;
  return !isQuiet || settlements.some(({ state }) => state !== 'delivered');
}

function figuresOf({ webhookId, minute, settlements }: LaneOutcomes): MinuteFigures {
  return { webhookId, minute, figures: count(settlements) };
}
