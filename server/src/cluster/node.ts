import { sleep, withTimeout } from '../async.ts';
import { systemClock } from '../clock.ts';
import type { Database } from '../db/database.ts';
import type { Membership, Shared } from '../db/dialect.ts';
import { SteadyTimeSync } from '../db/steadyTime.ts';
import type { Log } from '../log.ts';
import type { SteadyClock } from '../steadyClock.ts';
import { version } from '../version.ts';
import { Channel } from './channel.ts';
import { type Cluster, forAWhile } from './cluster.ts';
import { createLeases } from './leases.ts';
import {
  announce,
  beat,
  buryDead,
  CopiedFolderError,
  join,
  leasable,
  leave,
  type Member,
  OtherSecretError,
  shortenLeases,
} from './members.ts';
import type { Signals } from './signals.ts';

/*
 * The nodes of a deployment share one PostgreSQL and divide its sessions and webhooks among themselves. A session or
 * webhook names its owner in `lease_owner`. All leases of a node depend on its one row in `nodes`, which it renews four
 * times per lease. The other nodes evict a node that has not renewed for a whole lease (`LEASE_SECONDS`): its row goes,
 * its leases are free, and from that moment none of its transactions commits (see `Membership`). A node that was
 * evicted, or cannot renew in time, releases everything and rejoins.
 *
 * Leases use real time, whatever clock the rest of the server has, because nodes agree on them with other machines.
 */

const BEAT_RETRY_MS = 250;
/** Unevenness that grows slowly is looked for this often. */
const BALANCE_MS = 30_000;
const SUSPECT_MS = 3000;
/** A clock that is off by more is told of: signatures and the times that people see are. */
const SKEW_MS = 1000;

/** Makes this process a node beside others. */
export function createNode({
  database,
  shared,
  nodeId,
  carries,
  instance,
  former,
  jwtFingerprint,
  fileStore,
  leaseMs,
  steady,
  log,
}: {
  database: Database;
  shared: Shared;
  nodeId: string;
  /** Whether it takes sessions and webhooks, or only answers requests. */
  carries: boolean;
  /** Whoever runs on the same data folder next has the same one, and knows by it that this one is gone. */
  instance: string;
  /** Nodes that ran on the same data folder before; undefined if nobody can tell. */
  former?: ReadonlySet<string> | undefined;
  /** Of the secret that signs login tokens: nodes run beside one another only with the same one. */
  jwtFingerprint: string;
  /** What tells the place where it keeps files from others; null when that is not known. */
  fileStore: string | null;
  /** How long this node holds what it has without renewing it. It renews four times as often. */
  leaseMs: number;
  steady: SteadyClock;
  log: Log;
}): Cluster {
  const beatMs = leaseMs / 4;
  /** The lease ends here before it ends for the others. */
  const marginMs = leaseMs / 16;
  const channel = new Channel(shared, nodeId, log);
  const own = { database, nodeId, carries, signals: channel, log, reach };
  /** What this node tells the others, when there are any. */
  const signals: Signals = {
    send(topic, id) {
      if (members.length > 1) channel.send(topic, id);
    },
    on: (topic, listener) => channel.on(topic, listener),
    onGap: (listener) => channel.onGap(listener),
  };
  const kinds = {
    sessions: createLeases(leasable.sessions, own),
    webhooks: createLeases(leasable.webhooks, own),
  };
  const time = new SteadyTimeSync(shared.heart, steady);
  const lostListeners: (() => void)[] = [];
  const suspects = new Map<string, number>();
  /** Other places of files than this node's that the log has told of: a node that comes back is no news. */
  const toldStores = new Set<string | null>();
  const lives = new Map<string, AbortController>();
  /** How far the time of day here is ahead of the database's clock. */
  let skewMs = 0;
  let membership: Membership | undefined;
  /** Of its last attempt to join. No two memberships of a node are the same, not even to a transaction long forgotten. */
  let epoch = 0;
  let url: string | null = null;
  let members: readonly Member[] = [];
  /** Until when, by this process's own clock, what it holds is surely its own. */
  let validUntil = 0;
  /** Since when it has renewed without a gap: one that was cut off itself does not judge the others. */
  let steadySince = 0;
  let balancedAt = 0;
  let isChanged = true;
  let isFree = false;
  let balancing: Promise<void> | undefined;
  let mustBalance = false;
  let isStopped = false;
  let beatTimer: NodeJS.Timeout | undefined;

  const isMember = () => membership !== undefined && performance.now() < validUntil;
  const carriers = () => members.filter((member) => member.carries);
  const withOtherFiles = () =>
    members.filter((member) => fileStore !== null && member.fileStore !== null && member.fileStore !== fileStore);

  function reach(id?: string): Member | undefined {
    const now = performance.now();
    const reachable = members.filter(
      (member) => member.nodeId !== nodeId && member.url !== null && (suspects.get(member.nodeId) ?? 0) < now,
    );
    if (id !== undefined) return reachable.find((member) => member.nodeId === id);
    const candidates = reachable.filter((member) => member.carries);
    return candidates[Math.floor(Math.random() * candidates.length)];
  }

  async function joinOthers(): Promise<void> {
    const sentAt = performance.now();
    const joining = { nodeId, epoch: ++epoch, instance, former, url, version, carries, jwtFingerprint, fileStore };
    membership = await database.join((tx) => join(tx, joining, leaseMs), lose);
    validUntil = sentAt + leaseMs - marginMs;
    steadySince = sentAt;
    isChanged = true;
    channel.send('nodes', nodeId);
  }

  /**
   * Joins once nobody else is on this data folder. A node there that does not renew its lease is dead, and waited for.
   * @throws {CopiedFolderError} when one renews it
   */
  async function joinAtStart(): Promise<void> {
    for (let expiresAt = Number.POSITIVE_INFINITY; ; ) {
      try {
        return await joinOthers();
      } catch (error) {
        if (!(error instanceof CopiedFolderError) || error.expiresAt > expiresAt) throw error;
        if (error.expiresAt !== expiresAt) log.info('waiting for the lease of another node on this data folder to end');
        ({ expiresAt } = error);
      }
      await sleep(systemClock, BEAT_RETRY_MS);
    }
  }

  /** Puts down everything at once, and joins anew. */
  function lose(): void {
    if (membership === undefined || isStopped) return;
    membership = undefined;
    database.shutOut();
    log.warn('lost its leases; rejoining');
    for (const leases of Object.values(kinds)) leases.drop();
    for (const listener of lostListeners) {
      try {
        listener();
      } catch (error) {
        log.error({ err: error }, 'failed to stop work on lost leases'); // rejoining must not depend on it
      }
    }
    void rejoin();
  }

  async function rejoin(): Promise<void> {
    let isTold = false;
    while (!isStopped && membership === undefined) {
      await joinOthers().catch((error) => {
        // All others were started anew with another secret while this one was cut off: nobody can mend that but people.
        const isNews = (error instanceof OtherSecretError || error instanceof CopiedFolderError) && !isTold;
        if (isNews) log.error(`node cannot join: ${error.message}`);
        else log.debug({ err: error }, 'failed to join; trying again');
        isTold ||= isNews;
      });
      if (membership === undefined) await sleep(systemClock, BEAT_RETRY_MS);
    }
    await beatOnce().catch(() => {}); // the next one is due soon
    nudge();
  }

  async function beatOnce(): Promise<void> {
    const mine = membership;
    if (mine === undefined) return;
    const sentAt = performance.now();
    const heard = await beat(shared.heart, mine, leaseMs);
    if (membership !== mine) return;
    if (!heard.isMember) {
      lose();
      return;
    }
    if (sentAt - (validUntil - leaseMs + marginMs) > leaseMs / 2) steadySince = sentAt;
    const wasMember = isMember();
    validUntil = sentAt + leaseMs - marginMs;
    takeNote(heard.members.filter(({ isAlive }) => isAlive));
    isFree = heard.isFree.sessions || heard.isFree.webhooks;
    // What it was told meanwhile it could not act upon.
    if (!wasMember) channel.noteGap();
    if (heard.isClockBack) await database.commit((tx) => shortenLeases(tx, leaseMs));
    await syncTime();
    const isSteady = sentAt - steadySince >= leaseMs;
    if (isSteady && heard.members.some(({ isAlive }) => !isAlive)) await bury();
  }

  /** The next beat tries again: what else a beat does must not depend on it. */
  async function syncTime(): Promise<void> {
    try {
      noteSkew(await time.sync());
    } catch (error) {
      log.debug({ err: error }, 'failed to store steady time; trying again');
    }
  }

  function noteSkew(measuredMs: number): void {
    const [was, is] = [skewMs, measuredMs].map((ms) => Math.abs(ms) > SKEW_MS);
    skewMs = measuredMs;
    if (is === was) return;
    const seconds = Math.round(measuredMs / 100) / 10;
    if (is) log.warn({ seconds }, 'clock differs from the clock of the database; synchronize both');
    else log.info('clock agrees with the clock of the database again');
  }

  async function bury(): Promise<void> {
    const dead = await database.commit(buryDead);
    if (dead.length === 0) return;
    log.warn({ nodes: dead }, 'removed nodes that did not renew their leases');
    isFree = true;
    channel.send('nodes', nodeId);
  }

  function takeNote(alive: readonly Member[]): void {
    const ids = (list: readonly Member[]) =>
      list.map((member) => `${member.nodeId} ${member.carries} ${member.url}`).join();
    if (ids(alive) !== ids(members)) isChanged = true;
    if (ids(alive) !== ids(members)) warnOfTwins(alive);
    members = alive;
    warnOfOtherFiles();
    for (const id of suspects.keys()) if (!alive.some((member) => member.nodeId === id)) suspects.delete(id);
    for (const [id, life] of lives) {
      if (alive.some((member) => member.nodeId === id)) continue;
      life.abort();
      lives.delete(id);
    }
  }

  function warnOfTwins(alive: readonly Member[]): void {
    const twins = alive.filter((member) => member.nodeId !== nodeId && url !== null && member.url === url);
    for (const twin of twins) log.warn({ node: twin.nodeId, url }, 'another node has the same address; set NODE_URL');
  }

  /** Not refused: who sends no files can do without sharing them. */
  function warnOfOtherFiles(): void {
    const news = withOtherFiles().filter((member) => !toldStores.has(member.fileStore));
    if (news.length === 0) return;
    for (const member of news) toldStores.add(member.fileStore);
    log.warn(
      { nodes: news.map((member) => member.url ?? member.nodeId) },
      'other nodes keep files elsewhere: no node can open the files of the others, and messages with such a file fail. Set MEDIA_DIR to one folder that all nodes share, or MEDIA_S3_URL and MEDIA_S3_BUCKET to the same store',
    );
  }

  /** Renews again and again, and puts everything down when that did not work in time. */
  function keepBeating(delayMs: number): void {
    if (isStopped) return;
    beatTimer = setTimeout(async () => {
      let next = beatMs;
      try {
        await withTimeout(systemClock, beatMs, beatOnce());
        if (isChanged || isFree || performance.now() - balancedAt > BALANCE_MS) nudge();
      } catch (error) {
        log.debug({ err: error }, 'failed to renew the leases; trying again');
        next = BEAT_RETRY_MS;
      }
      if (membership !== undefined && !isMember()) lose();
      keepBeating(next);
    }, delayMs);
  }

  /** Balances, now or after the one under way. */
  function nudge(): void {
    mustBalance = true;
    balancing ??= balance()
      .catch((error) => log.debug({ err: error }, 'failed to balance the leases; trying again'))
      .finally(() => (balancing = undefined));
  }

  async function balance(): Promise<void> {
    while (mustBalance && isMember() && !isStopped) {
      mustBalance = false;
      const wasChanged = isChanged;
      isChanged = false;
      balancedAt = performance.now();
      try {
        await Promise.all(Object.values(kinds).map((leases) => leases.balance(carriers(), wasChanged)));
      } catch (error) {
        isChanged = isChanged || wasChanged;
        throw error;
      }
    }
  }

  channel.on('nodes', () => {
    beatOnce()
      .then(nudge)
      .catch(() => {}); // the next beat finds the same
  });

  return {
    nodeId,
    signals,
    sessions: kinds.sessions,
    webhooks: kinds.webhooks,
    isMember,
    hasOthers: () => members.length > 1,
    suspect: (id) => suspects.set(id, performance.now() + SUSPECT_MS),
    lifeOf(id) {
      const life = lives.get(id) ?? new AbortController();
      lives.set(id, life);
      return life.signal;
    },
    counts: () => ({
      nodes: members.length,
      nodesWithOtherFiles: withOtherFiles().length,
      sessions: kinds.sessions.count(),
      webhooks: kinds.webhooks.count(),
      isListening: channel.isListening,
      clockSkewMs: skewMs,
    }),
    onLost: (listener) => lostListeners.push(listener),
    async start() {
      await channel.start();
      await joinAtStart();
      keepBeating(beatMs);
      await beatOnce();
      nudge();
      await balancing;
      await forAWhile(Promise.all(Object.values(kinds).map((leases) => leases.takenUp())));
    },
    async listensAt(at) {
      url = at;
      const mine = membership;
      if (mine !== undefined) await database.commit((tx) => announce(tx, mine, at));
      channel.send('nodes', nodeId);
    },
    async stop() {
      isStopped = true;
      clearTimeout(beatTimer);
      await balancing;
      const mine = membership;
      // The next start goes on behind the ids of this one, however much the clocks differ.
      if (mine !== undefined) await withTimeout(systemClock, beatMs, time.sync()).catch(() => {});
      // What cannot be given back now is free when the lease ends.
      if (mine !== undefined) await database.commit((tx) => leave(tx, mine)).catch(() => {});
      channel.send('nodes', nodeId);
      await channel.stop();
    },
  };
}
