import type { Clock } from '../clock.ts';
import type { Database } from '../db/database.ts';
import type { Log } from '../log.ts';
import type { Metrics, Totals } from '../metrics.ts';
import type { BreakerPolicy } from './breaker.ts';
import type { Deliver } from './deliver.ts';
import { Lane } from './lane.ts';
import { countBreakers, readLanes } from './queue.ts';
import type { RetryPolicy } from './retry.ts';

export interface Engine {
  start(): void;
  /** There is something new for this webhook. */
  wake(webhookId: string): void;
  /** The webhook itself was changed or removed. */
  reload(webhookId: string): void;
  /** How it is doing, as monitoring asks. */
  totals(): Promise<Pick<Totals, 'breakers' | 'lanes' | 'lagMs'>>;
  /** Starts nothing more, waits `graceMs` for what is in flight, and leaves the rest pending. */
  stop(graceMs: number): Promise<void>;
}

/** Requests in flight over all lanes: the sockets that a process can reasonably keep. */
const MOST_IN_FLIGHT = 4096;
/** Finds what a lost wake-up left behind. A safety net, not the mechanism. */
const POLL_MS = 1000;

/**
 * Runs the lanes: one per webhook that has something pending. Lanes that may start a delivery take turns, so that
 * none waits for another one's queue to empty.
 */
export function createEngine(options: {
  database: Database;
  clock: Clock;
  log: Log;
  metrics: Metrics;
  deliver: Deliver;
  retry: RetryPolicy;
  breaker: BreakerPolicy;
}): Engine {
  const { database, clock, log, deliver } = options;
  const lanes = new Map<string, Lane>();
  const turns = new Set<Lane>();
  let inFlight = 0;
  let isRunning = false;
  let isTaking = false;
  let cancelPoll = () => {};

  function laneOf(webhookId: string): Lane {
    let lane = lanes.get(webhookId);
    if (lane === undefined) {
      lane = new Lane(webhookId, { ...options, offer, release, idle });
      lanes.set(webhookId, lane);
    }
    return lane;
  }

  function offer(lane: Lane): void {
    turns.add(lane);
    takeTurns();
  }

  function release(): void {
    inFlight--;
    takeTurns();
  }

  function idle(lane: Lane): void {
    if (!turns.has(lane)) lanes.delete(lane.webhookId);
  }

  /** One start per lane and turn. A set keeps the order in which lanes were added to it. */
  function takeTurns(): void {
    if (isTaking) return;
    isTaking = true;
    for (const lane of turns) {
      if (inFlight >= MOST_IN_FLIGHT) break;
      turns.delete(lane);
      if (!lane.canStart) continue;
      inFlight++;
      lane.startOne();
      if (lane.canStart) turns.add(lane);
    }
    isTaking = false;
  }

  async function poll(): Promise<void> {
    try {
      const now = clock.now();
      for (const { webhook_id, due_at } of await readLanes(database.reader))
        if (due_at <= now) laneOf(webhook_id).wake();
    } catch (error) {
      log.error({ err: error }, 'looking for due deliveries failed; trying again');
    }
    if (isRunning) cancelPoll = clock.after(POLL_MS, () => void poll());
  }

  return {
    start() {
      if (isRunning) return;
      isRunning = true;
      void poll();
    },
    wake(webhookId) {
      if (isRunning) laneOf(webhookId).wake();
    },
    reload(webhookId) {
      if (isRunning) laneOf(webhookId).reload();
    },
    async totals() {
      const pending = await readLanes(database.reader);
      const firstDue = Math.min(...pending.map(({ due_at }) => due_at));
      return {
        breakers: await countBreakers(database.reader),
        lanes: pending.length,
        lagMs: pending.length === 0 ? 0 : Math.max(0, clock.now() - firstDue),
      };
    },
    async stop(graceMs) {
      if (!isRunning) return;
      isRunning = false;
      cancelPoll();
      turns.clear();
      const all = [...lanes.values()];
      const stopping = Promise.all(all.map((lane) => lane.stop()));
      const deadline = performance.now() + graceMs;
      while (inFlight > 0 && performance.now() < deadline) await new Promise((resolve) => setTimeout(resolve, 10));
      await deliver.close();
      await stopping;
      await Promise.all(all.map((lane) => lane.stop()));
    },
  };
}
