import { Condition, settledWithin } from '../async.ts';
import { type Clock, systemClock } from '../clock.ts';
import type { Cluster } from '../cluster/cluster.ts';
import { ElsewhereError } from '../cluster/forward.ts';
import type { Database } from '../db/database.ts';
import { isAway } from '../errors.ts';
import { timeOfId } from '../ids.ts';
import type { Log } from '../log.ts';
import type { Metrics, Totals } from '../metrics.ts';
import type { OutgoingConnections } from '../outgoing.ts';
import type { SteadyClock } from '../steadyClock.ts';
import type { BreakerPolicy } from './breaker.ts';
import type { Deliver } from './deliver.ts';
import { Lane } from './lane.ts';
import { countBreakers, countPending, readHalted, readLanes } from './queue.ts';
import type { RetryPolicy } from './retry.ts';

export interface Engine {
  start(): void;
  /** There is something new for this webhook. */
  wake(webhookId: string): void;
  /** The webhook itself was changed or removed. */
  reload(webhookId: string): void;
  /** @throws {ElsewhereError} another node delivers to this webhook */
  requireHere(webhookId: string): Promise<void>;
  /** The webhook was removed. Once this resolves, this node makes no request to it. */
  retire(webhookId: string): Promise<void>;
  /** Attempts that this node waits for the answer of. */
  inFlight(): number;
  /** How deliveries are doing, as monitoring asks. */
  totals(): Promise<Omit<Totals, 'sessions'>>;
  /** Starts nothing more, waits `graceMs` for what is in flight, and leaves the rest pending. */
  stop(graceMs: number): Promise<void>;
}

/** How long a lane that goes to another node may take for what it has in flight; the rest is sent again there. */
const LET_GO_MS = 5000;
/** Finds what a lost wake-up left behind. A safety net, not the mechanism. */
const POLL_MS = 1000;
/** So many polls later a lane also looks whether its webhook is what it was. */
const RELOAD_EVERY = 30;

/**
 * Runs the lanes: one per webhook that has something pending and that this node holds. Lanes that may start a
 * delivery take turns, so that none waits for another one's queue to empty.
 */
export function createEngine(options: {
  database: Database;
  cluster: Cluster;
  clock: Clock;
  steady: SteadyClock;
  log: Log;
  metrics: Metrics;
  deliver: Deliver;
  outgoing: OutgoingConnections;
  retry: RetryPolicy;
  breaker: BreakerPolicy;
}): Engine {
  const { database, cluster, clock, steady, log, deliver, outgoing } = options;
  const leases = cluster.webhooks;
  const lanes = new Map<string, Lane>();
  const turns = new Set<Lane>();
  let inFlight = 0;
  const released = new Condition();
  let isRunning = false;
  let isTaking = false;
  let cancelPoll = () => {};
  let polls = 0;

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

  function release(accountId: string): void {
    inFlight--;
    released.notify();
    outgoing.release(accountId);
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
      if (outgoing.isFull || !cluster.isMember()) break;
      const { accountId } = lane;
      if (accountId === undefined || !lane.canStart) {
        turns.delete(lane);
        continue;
      }
      // An account that has its share keeps its turn, and waits until something of anybody's is released.
      if (!outgoing.take(accountId)) continue;
      turns.delete(lane);
      inFlight++;
      lane.startOne();
      if (lane.canStart) turns.add(lane);
    }
    isTaking = false;
  }

  async function poll(): Promise<void> {
    cancelPoll();
    try {
      const now = steady.now();
      for (const { webhook_id, due_at } of await readLanes(database.reader))
        if (due_at <= now && leases.holds(webhook_id)) laneOf(webhook_id).wake();
      if (++polls % RELOAD_EVERY === 0) for (const lane of lanes.values()) lane.reload();
    } catch (error) {
      log[isAway(error) ? 'warn' : 'error']({ err: error }, 'looking for due deliveries failed; trying again');
    }
    cancelPoll();
    if (isRunning) cancelPoll = clock.after(POLL_MS, () => void poll());
  }

  function wakeHere(webhookId: string): void {
    if (isRunning && leases.holds(webhookId)) laneOf(webhookId).wake();
  }

  function reloadHere(webhookId: string): void {
    if (isRunning && leases.holds(webhookId)) laneOf(webhookId).reload();
  }

  /** A new webhook has no owner: this node acquires it, or has the nodes that accept work divide it among them. */
  async function reloadAnywhere(webhookId: string): Promise<void> {
    if ((await leases.take(webhookId)) === 'here') return reloadHere(webhookId);
    const hasOwner = (await leases.holderOf(webhookId)) !== 'nobody';
    cluster.signals.send(hasOwner ? 'webhook' : 'nodes', webhookId);
  }

  async function letGo(webhookId: string): Promise<void> {
    const lane = lanes.get(webhookId);
    if (lane === undefined) return;
    lanes.delete(webhookId);
    turns.delete(lane);
    await lane.drain(LET_GO_MS);
  }

  leases.onGain(async (webhookIds) => {
    for (const webhookId of webhookIds) wakeHere(webhookId);
  });
  leases.onLetGo(letGo);
  cluster.onLost(() => {
    for (const lane of lanes.values()) lane.abandon();
    lanes.clear();
    turns.clear();
  });
  cluster.signals.on('lane', wakeHere);
  cluster.signals.on('webhook', reloadHere);
  cluster.signals.onGap(() => {
    for (const lane of lanes.values()) lane.reload();
    if (isRunning) void poll();
  });

  return {
    start() {
      if (isRunning) return;
      isRunning = true;
      void poll();
    },
    wake(webhookId) {
      if (leases.holds(webhookId)) wakeHere(webhookId);
      else cluster.signals.send('lane', webhookId);
    },
    reload(webhookId) {
      if (leases.holds(webhookId)) reloadHere(webhookId);
      else
        reloadAnywhere(webhookId).catch((error) =>
          log.warn(
            { err: error, webhook: webhookId },
            'failed to reload a webhook; its change takes effect within 30 s',
          ),
        );
    },
    async requireHere(webhookId) {
      const holder = await leases.holderOf(webhookId);
      if (typeof holder === 'object') throw new ElsewhereError(holder);
    },
    async retire(webhookId) {
      const lane = lanes.get(webhookId);
      if (lane === undefined) return;
      lanes.delete(webhookId);
      turns.delete(lane);
      await lane.cut();
    },
    inFlight: () => inFlight,
    async totals() {
      const { reader } = database;
      const waiting = await readLanes(reader);
      const halted = await readHalted(reader);
      const moving = waiting.filter(({ webhook_id }) => !halted.has(webhook_id));
      // Since when it could have gone out: one that never waited for a retry since it was stored.
      const waitingMs = ({ delivery_id, due_at }: { delivery_id: string; due_at: number }) =>
        steady.now() - (due_at === 0 ? timeOfId(delivery_id) : due_at);
      return {
        breakers: await countBreakers(reader),
        lanes: { moving: moving.length, held: waiting.length - moving.length },
        pending: await countPending(reader),
        lagMs: moving.reduce((most, row) => Math.max(most, waitingMs(row)), 0),
      };
    },
    async stop(graceMs) {
      if (!isRunning) return;
      isRunning = false;
      cancelPoll();
      turns.clear();
      const all = [...lanes.values()];
      const stopping = Promise.all(all.map((lane) => lane.stop()));
      await settledWithin(
        systemClock,
        graceMs,
        released.until(() => inFlight === 0),
      );
      await deliver.close();
      await stopping;
      await Promise.all(all.map((lane) => lane.stop()));
      await leases.giveUpAll();
    },
  };
}
