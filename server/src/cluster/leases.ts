import type { Database } from '../db/database.ts';
import { AppError } from '../errors.ts';
import type { Log } from '../log.ts';
import { type Leasable, LeaseRows } from './leaseRows.ts';
import { freeOrphans, type Member } from './members.ts';
import type { Peers } from './peers.ts';
import type { Signals } from './signals.ts';

/** The owner of a session or webhook. `nobody`: it is free, or its owner cannot be reached. */
export type Owner = 'here' | 'nobody' | Member;

/** Another node has just acquired the session or webhook of the call. Nothing was done; callers get a 503. */
export class MovedError extends AppError {
  constructor() {
    super('session_unavailable', 'Another node owns this session or webhook; try again', { retryAfterSeconds: 1 });
    this.name = 'MovedError';
  }
}

/** The sessions, or the webhooks, that this node owns. Each has one owner at a time. */
export interface Leases {
  /** Whether this node owns the lease and is not releasing it. */
  owns(id: string): boolean;
  /** Whether this node may still write its state: it owns the lease, or stops work before it releases the lease. */
  mayWrite(id: string): boolean;
  ownerOf(id: string): Promise<Owner>;
  /** Like `ownerOf`; if it is free and this node does not accept work, returns a node that does. */
  nodeFor(id: string): Promise<Owner>;
  /** Acquires it, without `LeaseWorker.onAcquired`, if it is free and this node accepts work. Returns its owner. */
  acquire(id: string): Promise<Owner>;
  /** Frees it. None of its work may still be running. */
  release(id: string): Promise<void>;
  /** Frees everything and acquires nothing more. None of the work may still be running. */
  releaseAll(): Promise<void>;
}

export interface LeaseWorker {
  /** Starts work on acquired leases. Resolves once it has begun. */
  onAcquired(ids: readonly string[]): Promise<void>;
  /** Stops work on a lease that moves to another node. Resolves once none of it is running. */
  onReleasing(id: string): Promise<void>;
}

const ACQUIRED_AT_ONCE = 500;
const RELEASED_AT_ONCE = 50;
/** The fraction of its share that a node may have in excess before anything is moved. */
const MAX_IMBALANCE = 0.2;

interface Options {
  readonly database: Database;
  readonly peers: Peers;
  readonly acceptsWork: boolean;
  readonly signals: Signals;
  readonly log: Log;
}

export class NodeLeases implements Leases {
  readonly #table: Leasable['table'];
  readonly #rows: LeaseRows;
  readonly #options: Options;
  readonly #nodeId: string;
  readonly #owned = new Set<string>();
  readonly #acquiring = new Set<string>();
  /** Leases that move to another node, until they are free in the database. */
  readonly #leaving = new Map<string, 'stopping' | 'stopped' | 'freeing'>();
  readonly #beginning = new Set<Promise<void>>();
  #worker: LeaseWorker | undefined;
  #freeing: Promise<void> | undefined;
  #isReleasing = false;
  #isEnding = false;
  /** Counts how often all leases were lost. Work that began in an earlier generation must not change anything. */
  #generation = 0;

  constructor(kind: Leasable, options: Options) {
    this.#options = options;
    this.#nodeId = options.peers.nodeId;
    this.#table = kind.table;
    this.#rows = new LeaseRows(kind, this.#nodeId);
  }

  get count(): number {
    return this.#owned.size;
  }

  /** Sets the worker of the leases. Only `acquire` works before this. */
  start(worker: LeaseWorker): void {
    this.#worker = worker;
  }

  owns(id: string): boolean {
    return this.#owned.has(id);
  }

  mayWrite(id: string): boolean {
    return this.#owned.has(id) || this.#leaving.get(id) === 'stopping';
  }

  async ownerOf(id: string): Promise<Owner> {
    if (this.#owned.has(id)) return 'here';
    return this.#toOwner(id, await this.#rows.ownerOf(this.#options.database.reader, id));
  }

  async nodeFor(id: string): Promise<Owner> {
    const { acceptsWork, database, peers } = this.#options;
    if (acceptsWork) return this.ownerOf(id);
    const owner = await this.#rows.ownerOf(database.reader, id);
    return owner === null ? (peers.anyWorker() ?? 'nobody') : this.#toOwner(id, owner);
  }

  async acquire(id: string): Promise<Owner> {
    if (this.#owned.has(id)) return 'here';
    const { acceptsWork, database } = this.#options;
    if (!acceptsWork) return this.ownerOf(id);
    const generation = this.#generation;
    this.#acquiring.add(id);
    try {
      const owner = await database.commit((tx) => this.#rows.acquire(tx, id));
      if (owner === this.#nodeId && generation === this.#generation && !this.#leaving.has(id)) this.#owned.add(id);
      return this.#toOwner(id, owner);
    } finally {
      this.#acquiring.delete(id);
    }
  }

  async release(id: string): Promise<void> {
    const generation = this.#generation;
    this.#owned.delete(id);
    this.#leaving.set(id, 'freeing');
    try {
      await this.#options.database.commit((tx) => this.#rows.free(tx, [id]));
      this.#leaving.delete(id);
    } catch (error) {
      if (generation === this.#generation) this.#leaving.set(id, 'stopped');
      throw error;
    }
  }

  async releaseAll(): Promise<void> {
    this.#isEnding = true;
    for (const id of [...this.#owned, ...this.#leaving.keys()]) this.#leaving.set(id, 'stopped');
    this.#owned.clear();
    await this.#freeStopped();
  }

  /** Forgets all leases at once, because other nodes may own them now. */
  lose(): void {
    this.#owned.clear();
    this.#leaving.clear();
    this.#generation++;
  }

  /**
   * Acquires free leases up to this node's share, and releases its surplus.
   * @param isChanged whether nodes came or went
   * @returns whether leases of nodes that are gone are left, because something else has locked their rows
   */
  async balance(workers: readonly Member[], isChanged: boolean): Promise<boolean> {
    await this.#freeStopped();
    if (this.#isEnding) return false;
    const { reader } = this.#options.database;
    let counts = await this.#rows.count(reader);
    if (this.#hasOrphans(counts)) {
      await this.#freeOrphans();
      counts = await this.#rows.count(reader);
    }
    await this.#settleShare(workers, counts, isChanged);
    return this.#hasOrphans(counts);
  }

  async #settleShare(
    workers: readonly Member[],
    counts: ReadonlyMap<string | null, number>,
    isChanged: boolean,
  ): Promise<void> {
    const mine = counts.get(this.#nodeId) ?? 0;
    if (mine !== this.#owned.size + this.#leaving.size) await this.#reconcile();
    const share = shareOf(this.#nodeId, workers, counts);
    const free = counts.get(null) ?? 0;
    const surplus = this.#owned.size - share;
    if (mine < share && free > 0) await this.#acquireShare(Math.min(share - mine, free));
    // Moving a session interrupts its connection, so small differences are only settled when a node comes or goes.
    else if (surplus > (isChanged ? 0 : Math.max(2, share * MAX_IMBALANCE))) void this.#releaseSurplus(surplus);
  }

  /** Resolves when work on everything acquired so far has begun. */
  async begun(): Promise<void> {
    await Promise.all(this.#beginning);
  }

  /** Whether some owners of leases may be gone. */
  #hasOrphans(counts: ReadonlyMap<string | null, number>): boolean {
    const { peers } = this.#options;
    return [...counts.keys()].some((owner) => owner !== null && !peers.knows(owner));
  }

  async #freeOrphans(): Promise<void> {
    const { database, signals } = this.#options;
    if (await database.commitNow(freeOrphans)) signals.send('nodes', this.#nodeId);
  }

  #toOwner(id: string, owner: string | null | undefined): Owner {
    // A lease of this node on which work has not begun, or has ended, has no owner.
    if (owner === this.#nodeId) return this.#owned.has(id) ? 'here' : 'nobody';
    return (typeof owner === 'string' ? this.#options.peers.find(owner) : undefined) ?? 'nobody';
  }

  async #acquireShare(missing: number): Promise<void> {
    for (let left = missing; left > 0 && !this.#isEnding; ) {
      const generation = this.#generation;
      const limit = Math.min(left, ACQUIRED_AT_ONCE);
      const ids = await this.#options.database.commitNow((tx) => this.#rows.acquireFree(tx, limit));
      if (generation !== this.#generation || ids.length === 0) return;
      this.#begin(ids);
      left -= ids.length;
    }
  }

  /** Begins work on leases without waiting for it. */
  #begin(ids: readonly string[]): void {
    const { log } = this.#options;
    for (const id of ids) this.#owned.add(id);
    log.info({ [this.#table]: ids.length }, 'acquired leases');
    const beginning = (async () => this.#worker?.onAcquired(ids))().catch((error) =>
      log.error({ err: error }, 'failed to start work on acquired leases'),
    );
    this.#beginning.add(beginning);
    void beginning.finally(() => this.#beginning.delete(beginning));
  }

  /** Frees each lease as soon as work on it has stopped, so that a slow one does not delay others. */
  async #releaseSurplus(surplus: number): Promise<void> {
    if (this.#isReleasing) return;
    this.#isReleasing = true;
    this.#options.log.info({ [this.#table]: surplus }, 'releasing surplus leases');
    const waiting = [...this.#owned].slice(-surplus).values();
    const generation = this.#generation;
    const releaseNext = async () => {
      for (const id of waiting) {
        if (generation !== this.#generation || this.#isEnding || !this.#owned.delete(id)) continue;
        this.#leaving.set(id, 'stopping');
        await this.#worker
          ?.onReleasing(id)
          .catch((error) => this.#options.log.warn({ err: error, id }, 'failed to release lease'));
        if (generation !== this.#generation) return;
        this.#leaving.set(id, 'stopped');
        void this.#freeStopped();
      }
    };
    await Promise.all(Array.from({ length: RELEASED_AT_ONCE }, releaseNext));
    this.#isReleasing = false;
  }

  /** Leases that cannot be freed while the database is unavailable are freed in the next round. */
  #freeStopped(): Promise<void> {
    this.#freeing ??= this.#freeAllStopped()
      .catch((error) => this.#options.log.debug({ err: error }, 'failed to free leases; trying again'))
      .finally(() => (this.#freeing = undefined));
    return this.#freeing;
  }

  async #freeAllStopped(): Promise<void> {
    const { database, signals } = this.#options;
    for (;;) {
      const ids = [...this.#leaving].flatMap(([id, stage]) => (stage === 'stopped' ? id : []));
      if (ids.length === 0) return;
      await database.commit((tx) => this.#rows.free(tx, ids));
      for (const id of ids) this.#leaving.delete(id);
      signals.send('nodes', this.#nodeId);
    }
  }

  /**
   * Settles differences between the database and this node: a commit whose answer was lost may have acquired a lease
   * without starting work, and deleted sessions and webhooks are no longer owned.
   */
  async #reconcile(): Promise<void> {
    const [before, generation] = [new Set(this.#owned), this.#generation];
    const stored = new Set(await this.#rows.owned(this.#options.database.reader));
    if (generation !== this.#generation) return;
    for (const id of before) if (!stored.has(id)) this.#owned.delete(id);
    const isUnknown = (id: string) =>
      ![this.#owned, this.#leaving, before, this.#acquiring].some((known) => known.has(id));
    const unknown = [...stored].filter(isUnknown);
    if (unknown.length > 0) this.#begin(unknown);
  }
}

/**
 * Returns the number of leases that a node should have: the same for all nodes. Nodes that have the most now get the
 * remainder, so that as few as possible move.
 * @param counts leases of each node; under null, the free ones
 */
export function shareOf(
  nodeId: string,
  workers: readonly Member[],
  counts: ReadonlyMap<string | null, number>,
): number {
  const place = workers.findIndex((member) => member.nodeId === nodeId);
  if (place === -1) return 0;
  const countOf = (member: Member | undefined) => counts.get(member?.nodeId ?? '') ?? 0;
  const mine = countOf(workers[place]);
  const ahead = workers.filter((other, index) => {
    const theirs = countOf(other);
    return theirs > mine || (theirs === mine && index < place);
  });
  const total = [...counts.values()].reduce((sum, count) => sum + count, 0);
  return Math.floor(total / workers.length) + (ahead.length < total % workers.length ? 1 : 0);
}
