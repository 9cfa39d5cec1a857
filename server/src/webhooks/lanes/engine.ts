import { settledWithin } from '../../async.ts';
import { systemClock } from '../../clock.ts';
import type { Cluster } from '../../cluster/cluster.ts';
import { type LeaseWorker, MovedError } from '../../cluster/leases.ts';
import type { OutgoingConnections } from '../../egress/outgoing.ts';
import { isAway } from '../../errors.ts';
import { timeOfId } from '../../ids.ts';
import type { Totals } from '../../metrics.ts';
import type { Flights } from '../delivery/flights.ts';
import type { Emit } from '../log/emit.ts';
import type { Due } from '../queue/due.ts';
import { countPending, readLanes } from '../queue/queue.ts';
import { IdleLanes } from './idleLanes.ts';
import { Lane, type LaneDeps, type LaneOptions } from './lane.ts';
import { FIRST_DUE, LaneReader } from './laneReader.ts';
import { createSettleLanes } from './settling.ts';
import { Turns } from './turns.ts';
import { countBreakers, readHalted } from './webhook.ts';

interface Options extends LaneOptions {
  readonly cluster: Cluster;
  readonly outgoing: OutgoingConnections;
  readonly emit: Emit;
  readonly flights: Flights;
}

/** Time for deliveries in flight when a lane moves to another node, which sends the unfinished ones again. */
const MOVE_GRACE_MS = 5000;
/**
 * Deliveries that all lanes together keep in memory: those in flight, those that wait to be settled, and the next ones.
 */
const KEPT_BY_ALL = 16_384;
const MOST_KEPT = 1024;
/** Finds deliveries whose wake-up was lost. Only a fallback. */
const POLL_MS = 1000;
/** A read of the delivery log waits this long for the newest outcomes. */
const FLUSH_MS = 1000;
/** Every 30th poll also makes the lanes read their webhooks again. */
const RELOAD_EVERY = 30;

/**
 * Runs the lanes: one per webhook that has pending deliveries and that this node owns.
 */
export class Engine implements LeaseWorker {
  readonly #options: Options;
  readonly #leases: Cluster['webhooks'];
  readonly #laneDeps: LaneDeps;
  readonly #lanes = new Map<string, Lane>();
  /** They keep their webhook and what they know of their queue: a start reads both again. */
  readonly #idle: IdleLanes<Lane>;
  readonly #turns: Turns<Lane>;
  #isRunning = false;
  /** Whether what was in flight before the start, or before the leases were lost, is recovered. */
  #isRecovered = false;
  /** Acquired webhooks whose deliveries in another process are not recovered yet. */
  readonly #unrecovered = new Set<string>();
  #cancelPoll = () => {};
  #polls = 0;

  constructor(options: Options) {
    const { cluster } = options;
    this.#options = options;
    this.#leases = cluster.webhooks;
    this.#turns = new Turns({ outgoing: options.outgoing, isMember: () => cluster.isMember() });
    this.#idle = new IdleLanes(options.clock, (lane) => this.#dropIdle(lane));
    const reader = new LaneReader(options.database, options.steady);
    this.#laneDeps = {
      ...options,
      settleLanes: createSettleLanes(options),
      readStart: (webhookId) => reader.read(webhookId),
      room: () => roomOf(this.#lanes.size),
      offer: (lane) => this.#turns.offer(lane),
      release: (accountId) => this.#turns.release(accountId),
      idle: (lane) => this.#idle.add(lane),
    };
    cluster.on('lost', () => this.#lose());
    // Lanes may lack deliveries, which later ones must not overtake.
    options.database.on('unanswered', () => {
      for (const lane of this.#lanes.values()) lane.wake();
    });
    cluster.signals.on('lane', (webhookId) => this.#wakeHere(webhookId));
    cluster.signals.on('webhook', (webhookId) => this.#reloadHere(webhookId));
    cluster.signals.on('gap', () => {
      this.#reloadAll();
      if (this.#isRunning) void this.#poll();
    });
  }

  start(): void {
    if (this.#isRunning) return;
    this.#isRunning = true;
    void this.#poll();
  }

  /** Starts nothing more, waits `graceMs` for deliveries in flight, and leaves the rest pending. */
  async stop(graceMs: number): Promise<void> {
    if (!this.#isRunning) return;
    this.#isRunning = false;
    this.#cancelPoll();
    this.#turns.clear();
    await Promise.all([...this.#lanes.values()].map((lane) => lane.drain(graceMs)));
    await this.#options.deliver.close();
    await this.#options.flights
      .stop()
      .catch((error) => this.#options.log.warn({ err: error }, 'failed to remove marks'));
    await this.#leases.releaseAll();
  }

  async onAcquired(webhookIds: readonly string[]): Promise<void> {
    if (this.#options.database.shared) for (const webhookId of webhookIds) this.#unrecovered.add(webhookId);
    await this.#recover();
    for (const webhookId of webhookIds) this.#wakeHere(webhookId);
  }

  async onReleasing(webhookId: string): Promise<void> {
    this.#unrecovered.delete(webhookId);
    await this.#detach(webhookId)?.drain(MOVE_GRACE_MS);
    await this.#options.flights.release(webhookId);
  }

  /**
   * Looks for new deliveries to this webhook, on the node that owns it.
   * @param stored those that a transaction has just added, in order
   */
  wake(webhookId: string, stored: readonly Due[] = []): void {
    if (this.#leases.owns(webhookId)) this.#wakeHere(webhookId, stored);
    else this.#options.cluster.signals.send('lane', webhookId);
  }

  /** Applies a change of the webhook itself, or its removal, on the node that owns it. */
  reload(webhookId: string): void {
    if (this.#leases.owns(webhookId)) this.#reloadHere(webhookId);
    else void this.#reloadAnywhere(webhookId);
  }

  /** Applies the removal of a webhook, of which this node may not be the owner. */
  removed(webhookId: string): void {
    if (this.#leases.owns(webhookId)) this.#reloadHere(webhookId);
    else this.#options.cluster.signals.send('webhook', webhookId);
  }

  /** @throws {MovedError} if another node delivers to this webhook */
  async requireOwner(webhookId: string): Promise<void> {
    if (typeof (await this.#leases.ownerOf(webhookId)) === 'object') throw new MovedError();
  }

  /** Stops delivering to a removed webhook. Once this resolves, this node makes no request to it. */
  async retire(webhookId: string): Promise<void> {
    await this.#detach(webhookId)?.abort();
  }

  /** Stores the outcomes of the account's attempts that have ended on this node, if the database answers in time. */
  async flush(accountId: string): Promise<void> {
    const lanes = [...this.#lanes.values()].filter((lane) => lane.accountId === accountId);
    await settledWithin(systemClock, FLUSH_MS, Promise.all(lanes.map((lane) => lane.flush())));
  }

  inFlight(): number {
    return this.#turns.inFlight;
  }

  async totals(): Promise<Omit<Totals, 'sessions' | 'risks'>> {
    const { database, steady } = this.#options;
    const { longReader: reader } = database;
    const waiting = await readLanes(reader);
    const halted = await readHalted(reader);
    const moving = waiting.filter(({ webhook_id }) => !halted.has(webhook_id));
    // A delivery that never waited for a retry has been due since it was stored.
    const waitingMs = ({ delivery_id, due_at }: { delivery_id: string; due_at: number }) =>
      steady.now() - (due_at === 0 ? timeOfId(delivery_id) : due_at);
    return {
      breakers: await countBreakers(reader),
      lanes: { moving: moving.length, held: waiting.length - moving.length },
      pending: await countPending(reader),
      lagMs: moving.reduce((most, row) => Math.max(most, waitingMs(row)), 0),
    };
  }

  #laneOf(webhookId: string): Lane {
    let lane = this.#lanes.get(webhookId);
    if (lane === undefined) {
      lane = new Lane(webhookId, this.#laneDeps);
      this.#lanes.set(webhookId, lane);
    }
    return lane;
  }

  #wakeHere(webhookId: string, stored: readonly Due[] = []): void {
    if (!this.#canDeliver(webhookId)) return;
    // Transactions of several writers do not end in the order of their deliveries, so the lane reads them in order.
    const { hasConcurrentWriters } = this.#options.database.reader.dialect;
    this.#laneOf(webhookId).wake(stored, !hasConcurrentWriters);
  }

  #reloadHere(webhookId: string): void {
    if (this.#canDeliver(webhookId)) this.#laneOf(webhookId).reload();
  }

  #canDeliver(webhookId: string): boolean {
    const isRecovered = this.#isRecovered && !this.#unrecovered.has(webhookId);
    return this.#isRunning && isRecovered && this.#leases.owns(webhookId);
  }

  /**
   * Recovers what was in flight in another process before the lanes start. On a shared database, other processes may
   * still be sending, so only acquired webhooks are recovered.
   */
  async #recover(): Promise<void> {
    const { database, cluster, flights } = this.#options;
    if (!cluster.isMember()) return;
    for (const webhookId of await flights.retract()) this.reload(webhookId);
    if (!database.shared && !this.#isRecovered) await flights.recover(undefined);
    this.#isRecovered = true;
    const acquired = [...this.#unrecovered];
    if (acquired.length === 0) return;
    await flights.recover(acquired);
    for (const webhookId of acquired) this.#unrecovered.delete(webhookId);
  }

  #reloadAll(): void {
    for (const lane of this.#lanes.values()) lane.reload();
  }

  /** A new webhook has no owner: this node acquires it, or the nodes that accept work divide it among them. */
  async #reloadAnywhere(webhookId: string): Promise<void> {
    const { cluster, log } = this.#options;
    try {
      if ((await this.#leases.acquire(webhookId)) === 'here') {
        await this.onAcquired([webhookId]);
        return this.#reloadHere(webhookId);
      }
      const hasOwner = (await this.#leases.ownerOf(webhookId)) !== 'nobody';
      cluster.signals.send(hasOwner ? 'webhook' : 'nodes', webhookId);
    } catch (error) {
      log.warn({ err: error, webhook: webhookId }, 'failed to reload a webhook; its change takes effect within 30 s');
    }
  }

  async #poll(): Promise<void> {
    const { database, clock, steady, log } = this.#options;
    this.#cancelPoll();
    this.#idle.expire();
    try {
      await this.#recover();
      const now = steady.now();
      for (const { webhook_id, due_at } of await readLanes(database.reader))
        if (due_at <= now && this.#canDeliver(webhook_id)) this.#laneOf(webhook_id).check();
      if (++this.#polls % RELOAD_EVERY === 0) this.#reloadAll();
    } catch (error) {
      log[isAway(error) ? 'warn' : 'error']({ err: error }, 'failed to look for due deliveries; retrying');
    }
    this.#cancelPoll();
    if (this.#isRunning) this.#cancelPoll = clock.after(POLL_MS, () => void this.#poll());
  }

  #lose(): void {
    this.#isRecovered = false;
    this.#unrecovered.clear();
    this.#options.flights.lose();
    for (const lane of this.#lanes.values()) lane.abandon();
    this.#lanes.clear();
    this.#idle.clear();
    this.#turns.clear();
  }

  #dropIdle(lane: Lane): void {
    const isKnown = this.#lanes.get(lane.webhookId) === lane;
    if (isKnown && lane.isIdle && !this.#turns.has(lane)) this.#lanes.delete(lane.webhookId);
  }

  #detach(webhookId: string): Lane | undefined {
    const lane = this.#lanes.get(webhookId);
    this.#lanes.delete(webhookId);
    if (lane !== undefined) this.#turns.remove(lane);
    return lane;
  }
}

/** Returns the share of one lane, but at least the deliveries that it starts with. */
const roomOf = (lanes: number): number => Math.max(FIRST_DUE, Math.min(MOST_KEPT, Math.floor(KEPT_BY_ALL / lanes)));
