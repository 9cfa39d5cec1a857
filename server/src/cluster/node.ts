import { EventEmitter } from 'node:events';
import { sleep, withTimeout } from '../async.ts';
import { systemClock } from '../clock.ts';
import type { Database } from '../db/database.ts';
import type { Membership, Shared } from '../db/dialect.ts';
import { SteadyTimeSync } from '../db/steadyTime.ts';
import { OperatorError } from '../errors.ts';
import type { Log } from '../log.ts';
import type { ClusterCounts } from '../metrics.ts';
import type { SteadyClock } from '../steadyClock.ts';
import { version } from '../version.ts';
import { Balancer } from './balancer.ts';
import { Channel } from './channel.ts';
import { begunSoon, type Cluster, type Workers } from './cluster.ts';
import { leasable } from './leaseRows.ts';
import { NodeLeases } from './leases.ts';
import { LeaseTerm } from './leaseTerm.ts';
import {
  announce,
  beat,
  CopiedFolderError,
  evictDead,
  type Joining,
  join,
  leave,
  NodesInUseError,
  shortenLeases,
} from './members.ts';
import { Peers } from './peers.ts';

/*
 * The nodes of a deployment share one PostgreSQL and divide its sessions and webhooks among themselves. A session or
 * webhook names its owner in `lease_owner`. All leases of a node depend on its one row in `nodes`, which it renews four
 * times per lease. The other nodes evict a node that has not renewed for a whole lease (`LEASE_SECONDS`): its row is
 * deleted, its leases are free, and from that moment none of its transactions commits (see `Membership`). A node that
 * was evicted, or cannot renew in time, releases everything and rejoins.
 *
 * Leases use real time, even if the rest of the server uses another clock, because all machines must agree on when a
 * lease ends.
 */

const RETRY_MS = 250;
/** Time limit of a start for rows of nodes that others have locked. */
const LOCKS_FOR_MS = 60_000;
/** Beyond this, signatures and visible times are noticeably off. */
const TOLERATED_SKEW_MS = 1000;

interface Options extends Omit<Joining, 'epoch' | 'url' | 'version'> {
  readonly database: Database;
  readonly shared: Shared;
  /** How long leases last without being renewed. They are renewed four times as often. */
  readonly leaseMs: number;
  readonly steady: SteadyClock;
  readonly log: Log;
}

export class ClusterNode extends EventEmitter<{ lost: [] }> implements Cluster {
  readonly nodeId: string;
  readonly signals: Channel;
  readonly sessions: NodeLeases;
  readonly webhooks: NodeLeases;
  readonly #options: Options;
  readonly #peers: Peers;
  readonly #term: LeaseTerm;
  readonly #balancer: Balancer;
  readonly #time: SteadyTimeSync;
  readonly #heartbeatMs: number;
  #membership: Membership | undefined;
  /** Epoch of the last attempt to join. No two memberships of a node share one. */
  #epoch = 0;
  #url: string | null = null;
  /** How far the time of day here is ahead of the database's clock. */
  #skewMs = 0;
  #isStopped = false;
  #timer: NodeJS.Timeout | undefined;

  constructor(options: Options) {
    super();
    const { shared, nodeId, fileStore, leaseMs, steady, log } = options;
    this.#options = options;
    this.nodeId = nodeId;
    this.#heartbeatMs = leaseMs / 4;
    this.#peers = new Peers(nodeId, fileStore, log);
    this.#term = new LeaseTerm(leaseMs);
    this.signals = new Channel(shared, this.#peers, log);
    this.sessions = new NodeLeases(leasable.sessions, { ...options, peers: this.#peers, signals: this.signals });
    this.webhooks = new NodeLeases(leasable.webhooks, { ...options, peers: this.#peers, signals: this.signals });
    this.#balancer = new Balancer([this.sessions, this.webhooks], this.#peers, this.#term, log);
    this.#time = new SteadyTimeSync(shared.heartbeat, steady);
    this.signals.on('nodes', () => void this.#beatAndBalance());
    options.database.on('fenced', () => this.#lose());
  }

  isMember(): boolean {
    return this.#term.isValid;
  }

  hasOthers(): boolean {
    return this.#peers.hasOthers;
  }

  suspect(nodeId: string): void {
    this.#peers.suspect(nodeId);
  }

  lifeOf(nodeId: string): AbortSignal {
    return this.#peers.lifetimeOf(nodeId);
  }

  counts(): ClusterCounts {
    return {
      nodes: this.#peers.count,
      nodesWithOtherFiles: this.#peers.withOtherFiles.length,
      sessions: this.sessions.count,
      webhooks: this.webhooks.count,
      isListening: this.signals.isListening,
      clockSkewMs: this.#skewMs,
    };
  }

  async start(workers: Workers): Promise<void> {
    this.sessions.start(workers.sessions);
    this.webhooks.start(workers.webhooks);
    await this.signals.start();
    await this.#joinAtStart();
    this.#beatLater(this.#heartbeatMs);
    await this.#beat();
    await this.#balancer.run();
    await begunSoon(Promise.all([this.sessions.begun(), this.webhooks.begun()]));
  }

  async announce(url: string): Promise<void> {
    this.#url = url;
    const membership = this.#membership;
    if (membership !== undefined) await this.#options.database.commit((tx) => announce(tx, membership, url));
    this.signals.send('nodes', this.nodeId);
  }

  async stop(): Promise<void> {
    if (this.#isStopped) return;
    this.#isStopped = true;
    clearTimeout(this.#timer);
    await this.#balancer.stop();
    const membership = this.#membership;
    if (membership !== undefined) {
      // The next start continues after the ids of this one, however much the clocks differ.
      await withTimeout(systemClock, this.#heartbeatMs, this.#time.sync()).catch(() => {});
      // Leases that cannot be freed now expire.
      await this.#options.database.commit((tx) => leave(tx, membership)).catch(() => {});
    }
    this.signals.send('nodes', this.nodeId);
    await this.signals.stop();
  }

  async #join(): Promise<void> {
    const { database, leaseMs } = this.#options;
    const sentAt = performance.now();
    const joining = { ...this.#options, epoch: ++this.#epoch, url: this.#url, version };
    this.#membership = await database.join((tx) => join(tx, joining, leaseMs));
    this.#term.begin(sentAt);
    this.#balancer.noteChange();
    this.signals.send('nodes', this.nodeId);
  }

  /** Joins at the start, once others no longer lock the rows of nodes. */
  async #joinAtStart(): Promise<void> {
    const { dialect, connection } = this.#options.database.reader;
    const givesUpAt = performance.now() + LOCKS_FOR_MS;
    for (let isLogged = false; ; isLogged = true) {
      try {
        return await this.#joinOnOwnFolder();
      } catch (error) {
        if (dialect.faultOf(error) !== 'conflict') throw error;
        const holders = (await dialect.tableLocks?.holders(connection)) ?? [];
        if (performance.now() > givesUpAt) throw new NodesInUseError(holders, error);
        if (!isLogged) this.#options.log.warn({ holders }, 'waiting for rows that other connections have locked');
      }
      await sleep(systemClock, RETRY_MS);
    }
  }

  /**
   * Joins once no other node runs on this data folder. A node there that does not renew its lease is dead, so this
   * waits for the lease to end.
   * @param lastEnd when that lease was to end at the last attempt
   * @throws {CopiedFolderError} if a node there renews its lease
   */
  async #joinOnOwnFolder(lastEnd = Number.POSITIVE_INFINITY): Promise<void> {
    try {
      await this.#join();
    } catch (error) {
      if (!(error instanceof CopiedFolderError) || error.expiresAt > lastEnd) throw error;
      if (error.expiresAt !== lastEnd)
        this.#options.log.info('waiting for the lease of another node on this data folder to end');
      await sleep(systemClock, RETRY_MS);
      await this.#joinOnOwnFolder(error.expiresAt);
    }
  }

  /** Stops all work at once, and rejoins. */
  #lose(): void {
    if (this.#membership === undefined || this.#isStopped) return;
    const { database, log } = this.#options;
    this.#membership = undefined;
    this.#term.end();
    database.shutOut();
    log.warn('lost its leases; rejoining');
    this.sessions.lose();
    this.webhooks.lose();
    for (const listener of this.listeners('lost')) {
      try {
        listener();
      } catch (error) {
        // must not stop the other workers and the rejoin
        log.error({ err: error }, 'failed to stop work on lost leases');
      }
    }
    void this.#rejoin();
  }

  async #rejoin(): Promise<void> {
    const { log } = this.#options;
    let isLogged = false;
    while (!this.#isStopped && this.#membership === undefined) {
      await this.#join().catch((error) => {
        // For example, all other nodes were restarted with a new secret while this one was cut off.
        const needsOperator = error instanceof OperatorError;
        if (needsOperator && !isLogged) log.error(`node cannot join: ${error.message}`);
        else log.debug({ err: error }, 'failed to join; trying again');
        isLogged ||= needsOperator;
      });
      if (this.#membership === undefined) await sleep(systemClock, RETRY_MS);
    }
    await this.#beat().catch(() => {}); // the next heartbeat is due soon
    void this.#balancer.run();
  }

  /** Renews the leases periodically, and gives all of them up if that does not succeed in time. */
  #beatLater(delayMs: number): void {
    if (this.#isStopped) return;
    this.#timer = setTimeout(async () => {
      let nextMs = this.#heartbeatMs;
      try {
        const isFree = await withTimeout(systemClock, this.#heartbeatMs, this.#beat());
        if (isFree || this.#balancer.isDue) void this.#balancer.run();
      } catch (error) {
        this.#options.log.debug({ err: error }, 'failed to renew the leases; trying again');
        nextMs = RETRY_MS;
      }
      if (!this.#term.isValid) this.#lose();
      this.#beatLater(nextMs);
    }, delayMs);
  }

  /** Reacts to news of another node, which the next heartbeat would find as well. */
  async #beatAndBalance(): Promise<void> {
    try {
      await this.#beat();
      void this.#balancer.run();
    } catch (error) {
      this.#options.log.debug({ err: error }, 'failed to look for changes in the cluster');
    }
  }

  /** Renews the leases. Returns whether there are free ones. */
  async #beat(): Promise<boolean> {
    const { shared, database, leaseMs } = this.#options;
    const membership = this.#membership;
    if (membership === undefined) return false;
    const sentAt = performance.now();
    const heard = await beat(shared.heartbeat, membership, leaseMs);
    if (this.#membership !== membership) return false;
    if (!heard.isMember) {
      this.#lose();
      return false;
    }
    const wasValid = this.#term.isValid;
    this.#term.renew(sentAt);
    const alive = heard.members.filter(({ isAlive }) => isAlive);
    if (this.#peers.update(alive, this.#url)) this.#balancer.noteChange();
    // Signals that arrived meanwhile could not be acted on.
    if (!wasValid) this.signals.emit('gap');
    if (heard.isClockBack) await database.commitNow((tx) => shortenLeases(tx, leaseMs));
    await this.#syncTime();
    const hasDead = alive.length < heard.members.length;
    const hasEvicted = hasDead && this.#term.isSteadyAt(sentAt) && (await this.#evictDead());
    return heard.isFree || hasEvicted;
  }

  async #evictDead(): Promise<boolean> {
    const dead = await this.#options.database.commitNow(evictDead);
    if (dead.length === 0) return false;
    this.#options.log.warn({ nodes: dead }, 'removed nodes that did not renew their leases');
    this.signals.send('nodes', this.nodeId);
    return true;
  }

  /** A failure must not prevent the rest of a heartbeat. */
  async #syncTime(): Promise<void> {
    try {
      this.#noteSkew(await this.#time.sync());
    } catch (error) {
      this.#options.log.debug({ err: error }, 'failed to store steady time; trying again');
    }
  }

  #noteSkew(skewMs: number): void {
    const { log } = this.#options;
    const wasOff = Math.abs(this.#skewMs) > TOLERATED_SKEW_MS;
    const isOff = Math.abs(skewMs) > TOLERATED_SKEW_MS;
    this.#skewMs = skewMs;
    if (isOff === wasOff) return;
    const seconds = Math.round(skewMs / 100) / 10;
    if (isOff) log.warn({ seconds }, 'clock differs from the clock of the database; synchronize both');
    else log.info('clock agrees with the clock of the database again');
  }
}
