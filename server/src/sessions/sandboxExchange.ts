import { LRUCache } from 'lru-cache';
import { sleep } from '../async.ts';
import type { Clock } from '../clock.ts';
import type { Cluster } from '../cluster/cluster.ts';
import type { NetworkEvent, NetworkGroup } from '../connectors/connector.ts';
import { concernedBy } from '../connectors/sandbox/alone.ts';
import type { Exchange, GroupStep, Parcel, Phone } from '../connectors/sandbox/exchange.ts';
import { createHanding, deliveredReceipt, numberInUse, RETRY_MS } from '../connectors/sandbox/handing.ts';
import type { LateTx, LateWriter, Tx } from '../db/commit.ts';
import type { Database } from '../db/database.ts';
import { FencedError } from '../db/dialect.ts';
import { AppError } from '../errors.ts';
import type { Log } from '../log.ts';
import type { Media } from '../media/media.ts';
import { insertGroups, lockGroup, readGroup, readGroupByInvite, updateGroup } from './sandboxGroups.ts';
import {
  addressOf,
  type DueReceipt,
  dropOldCounts,
  dropOldPost,
  dropPost,
  type Kept,
  ownerOf,
  postOf,
  putPost,
  readEvent,
  readSignedUp,
  readWaiting,
  signOff,
  signUp,
  takePost,
} from './sandboxPost.ts';

/*
 * The exchange of the sandbox networks whose sessions live on several nodes. Each scope has a network of its own, and
 * here a number is an address, which is one of all of them (see `addressOf`). What goes to phones that are all here is
 * handed to them as on one node, and the database hears nothing of it. Everything else goes through the sorting, a
 * round at a time: who of them has signed up is one query, what they get is one transaction. Then the nodes are woken
 * that have them. A node takes what waits for its phones in order; while it does, what would overtake that goes through
 * the sorting as well.
 */
export interface SandboxExchange {
  /** The exchange of the network of a scope. */
  of(scope: string): Exchange;
  /** As `settlePost` of the inbox. */
  settle(tx: Tx, postId: string): Promise<boolean>;
  start(): void;
  /** Keeps what is still on its way. Call it once the phones have left. */
  stop(): Promise<void>;
}

/** A phone that is online here. */
interface Line {
  readonly phone: Phone;
  readonly address: string;
  /** Resolves when it has begun to take what waits for it, or has left. */
  readonly begun: PromiseWithResolvers<void>;
  hasBegun: boolean;
  /** Something may wait for it. */
  mustLook: boolean;
  /** Under way while it takes what waits for it. */
  looking: Promise<void> | undefined;
}

/** A parcel before the sorting. */
interface Unsorted {
  readonly parcel: Parcel;
  readonly done: () => void;
  readonly fail: (error: unknown) => void;
}

const SORTED_AT_ONCE = 500;
const TAKEN_AT_ONCE = 100;
/** What fails this often, with the database there, will not pass: it must not hold up what is behind it for ever. */
const ATTEMPTS = 5;
/** Wake-ups may get lost. */
const POLL_MS = 10_000;
const CLEAN_UP_MS = 3_600_000;
const KEPT_DAYS = 30;
const VIRTUAL_REMEMBERED = 100_000;
const GROUPS_REMEMBERED = 1000;

export function createSandboxExchange({
  database,
  cluster,
  media,
  clock,
  log,
}: {
  database: Database;
  cluster: Cluster;
  media: Media;
  clock: Clock;
  log: Log;
}): SandboxExchange {
  const { reader, commit } = database;
  const { signals } = cluster;
  const { hand, counting } = createHanding(clock, deliver);
  const lines = new Map<string, Line>();
  const unsorted: Unsorted[] = [];
  let sorting: Promise<void> | undefined;
  /** How many parcels for a number are before the sorting or in it. */
  const pending = new Map<string, number>();
  /** What nobody else can change while there is no other node: numbers that have not signed up, and groups. */
  const virtual = new LRUCache<string, true>({ max: VIRTUAL_REMEMBERED });
  const groups = new LRUCache<string, NetworkGroup>({ max: GROUPS_REMEMBERED });
  /** Raised when this node has lost its sessions: what they had on its way is not to be brought any more. */
  let era = 0;
  let isStopped = false;
  let cancelPoll = () => {};
  let cleanUpAt = 0;

  async function deliver(parcel: Parcel): Promise<void> {
    if (parcel.to.every((number) => isFree(number) || isVirtual(number))) return handOver(parcel, parcel.to);
    return sort(parcel);
  }

  /** Whether it surely has not signed up. Where there are other nodes only the database knows. */
  function isVirtual(number: string): boolean {
    return isAlone() && virtual.has(number);
  }

  function isAlone(): boolean {
    if (!cluster.hasOthers()) return true;
    forgetAll();
    return false;
  }

  function forgetAll(): void {
    virtual.clear();
    groups.clear();
  }

  /** Whether it is here, and has nothing coming that would be overtaken. */
  function isFree(number: string): boolean {
    return isCaughtUp(number) && !pending.has(number);
  }

  function isCaughtUp(number: string): boolean {
    const line = lines.get(number);
    return line?.hasBegun === true && line.looking === undefined;
  }

  /** Hands a parcel to those of the numbers that are here; the others have it by being sent it. */
  async function handOver(parcel: Parcel, numbers: readonly string[]): Promise<void> {
    if (parcel.to.length === 0) return;
    const here = numbers.flatMap((number) => lines.get(number) ?? []);
    const arrived = counting(parcel, Math.max(1, here.length));
    if (here.length === 0) arrived();
    await Promise.all(here.map((line) => handTo(line, parcel, arrived)));
  }

  function handTo({ phone, address }: Line, parcel: Parcel, arrived: () => void): Promise<void> {
    const began = era;
    return hand(phone, parcel, arrived, () => {
      if (began !== era) return;
      const line = lines.get(address);
      // A session that has moved has taken its number along.
      if (line === undefined || !isFree(address)) deliver({ ...parcel, to: [address] }).catch(noteGivenUp);
      else void handTo(line, parcel, arrived);
    });
  }

  function sort(parcel: Parcel): Promise<void> {
    return new Promise((done, fail) => {
      for (const number of parcel.to) pending.set(number, (pending.get(number) ?? 0) + 1);
      unsorted.push({ parcel, done, fail });
      sorting ??= sortAll();
    });
  }

  async function sortAll(): Promise<void> {
    // What comes in this moment goes together.
    await new Promise((resolve) => setImmediate(resolve));
    while (unsorted.length > 0) {
      const round = unsorted.splice(0, SORTED_AT_ONCE);
      await sortRound(round).catch((error) => {
        for (const { fail } of round) fail(error);
      });
      noLongerPending(round);
    }
    sorting = undefined;
  }

  function noLongerPending(some: readonly Unsorted[]): void {
    for (const number of some.flatMap(({ parcel }) => parcel.to)) {
      const left = (pending.get(number) ?? 1) - 1;
      if (left === 0) pending.delete(number);
      else pending.set(number, left);
    }
  }

  /** Others may have all sessions of this node already, and they bring what was not confirmed. */
  function giveUpAll(): void {
    era++;
    const all = unsorted.splice(0);
    for (const { fail } of all) fail(new FencedError());
    noLongerPending(all);
  }

  function noteGivenUp(error: unknown): void {
    log.warn({ err: error }, 'dropped a sandbox event');
  }

  async function sortRound(round: readonly Unsorted[]): Promise<void> {
    const numbers = new Set(round.flatMap(({ parcel }) => parcel.to));
    const signedUp = await keepTrying(() => findSignedUp([...numbers]));
    const kept: Parcel[] = [];
    const behind = new Set<string>();
    const waiting: Pick<Unsorted, 'parcel' | 'done'>[] = [];
    for (const { parcel, done, fail } of round) {
      const to = parcel.to.filter((number) => signedUp.has(number));
      if (to.every((number) => isCaughtUp(number) && !behind.has(number))) {
        handOver(parcel, to).then(done, fail);
        continue;
      }
      for (const number of to) behind.add(number);
      const rest = { ...parcel, to };
      kept.push(rest);
      waiting.push({ parcel: rest, done });
    }
    if (kept.length > 0) await keepTrying(() => commit((tx) => keep(tx, kept)));
    for (const { parcel, done } of waiting) void allTaken(parcel.to).then(done);
  }

  async function findSignedUp(numbers: readonly string[]): Promise<Set<string>> {
    const elsewhere = numbers.filter((number) => !lines.has(number));
    const found = new Set(numbers.filter((number) => lines.has(number)));
    for (const number of await readSignedUp(reader, elsewhere)) found.add(number);
    if (isAlone()) for (const number of elsewhere) if (!found.has(number)) virtual.set(number, true);
    return found;
  }

  /** Puts parcels into the post, in the transaction of what they tell of, and wakes who is to take them. */
  async function keep(tx: LateTx, parcels: readonly Parcel[]): Promise<void> {
    const numbers = await putPost(tx, parcels, clock.now());
    tx.afterCommit(() => {
      for (const number of numbers) {
        if (lines.has(number)) wake(number);
        else signals.send('post', number);
      }
    });
  }

  /** Those of the numbers that are here have taken what waited for them. */
  async function allTaken(numbers: readonly string[]): Promise<void> {
    for (const number of numbers) {
      const line = lines.get(number);
      await line?.begun.promise;
      await line?.looking;
    }
  }

  function wake(number: string): void {
    const line = lines.get(number);
    if (line === undefined) return;
    line.mustLook = true;
    if (line.hasBegun) line.looking ??= takeWaiting(line);
  }

  async function takeWaiting(line: Line): Promise<void> {
    const { sessionId } = line.phone;
    try {
      while (line.mustLook && isOnline(line)) {
        line.mustLook = false;
        const waiting = await keepTrying(() => postOf.all(reader, { sessionId, limit: TAKEN_AT_ONCE }));
        await takeAll(line, waiting);
        if (waiting.length === TAKEN_AT_ONCE) line.mustLook = true;
      }
    } catch (error) {
      log.warn({ err: error, session: sessionId }, 'failed to deliver waiting sandbox events to a session');
    }
    line.looking = undefined;
  }

  /**
   * What is handed in together is stored in this order, in few transactions. A file has to be put away first: nothing
   * behind it is handed in until it is.
   */
  async function takeAll(line: Line, waiting: readonly Kept[]): Promise<void> {
    let together: Promise<void>[] = [];
    for (const kept of waiting) {
      const event = readEvent(kept.event, media);
      together.push(take(line, kept, event));
      if (!bringsFile(event)) continue;
      await Promise.all(together);
      together = [];
    }
    await Promise.all(together);
  }

  async function take(line: Line, kept: Kept, event: NetworkEvent): Promise<void> {
    const { phone } = line;
    const { post_id: postId, direct_from: from, sent_at: sentAt } = kept;
    const drop = () => keepTrying(() => commit((tx) => dropPost.run(tx, { postId })));
    if (from !== null && phone.refuses(from, sentAt ?? 0)) {
      await drop();
      return;
    }
    for (let failures = 0; isOnline(line) && !isStopped; ) {
      try {
        return await phone.receive(event, sentAt ?? undefined, String(postId));
      } catch (error) {
        if (!isPassing(error)) failures++;
        if (failures === ATTEMPTS) {
          log.error({ err: error, session: phone.sessionId }, 'dropped a sandbox event that cannot be stored');
          await drop();
          return;
        }
      }
      await pause();
    }
  }

  const isOnline = (line: Line) => lines.get(line.address) === line;
  const pause = () => sleep(clock, RETRY_MS);

  /** A network does not give up. @throws what went wrong last, when the server stops or this node has lost its sessions */
  async function keepTrying<T>(action: () => Promise<T>): Promise<T> {
    const began = era;
    for (;;) {
      try {
        return await action();
      } catch (error) {
        if (isStopped || began !== era) throw error;
        log.debug({ err: error }, 'sandbox network is waiting for the database');
        await pause();
      }
    }
  }

  async function changeGroup(
    scope: string,
    networkId: string,
    change: (group: NetworkGroup) => GroupStep | undefined,
  ): Promise<NetworkGroup> {
    const id = addressOf(scope, networkId);
    const { group, concerned } = await commit(async (tx) => {
      const before = await lockGroup(tx, id, media);
      if (before === undefined) throw new AppError('not_found', 'The group does not exist on the network');
      const step = change(before);
      if (step === undefined) return { group: before, concerned: [] };
      await updateGroup(tx, scope, step.group);
      const to = concernedBy(step.group, before).map((number) => addressOf(scope, number));
      await keep(tx, [{ to, event: step.event }]);
      return { group: step.group, concerned: to };
    }, id);
    remember(id, group);
    await allTaken(concerned);
    return group;
  }

  function remember(id: string, group: NetworkGroup): void {
    if (isAlone()) groups.set(id, group);
  }

  const writeReceipts: LateWriter<DueReceipt> = async (tx, due) => {
    const parcels = [...Map.groupBy(due, ({ to }) => to)].map(([to, some]): Parcel => {
      const messageIds = some.map(({ messageId }) => messageId);
      return { to: [to], event: deliveredReceipt(messageIds, clock.now()) };
    });
    await keep(tx, parcels);
  };

  async function poll(): Promise<void> {
    const online = [...lines.values()];
    const sessionIds = online.map(({ phone }) => phone.sessionId);
    const waiting = await readWaiting(reader, sessionIds);
    for (const { phone, address } of online) if (waiting.has(phone.sessionId)) wake(address);
    if (clock.now() < cleanUpAt) return;
    cleanUpAt = clock.now() + CLEAN_UP_MS;
    const before = clock.now() - KEPT_DAYS * 86_400_000;
    await commit(async (tx) => {
      await dropOldPost.run(tx, { before });
      await dropOldCounts.run(tx, { before });
    });
  }

  function schedulePoll(): void {
    cancelPoll = clock.after(POLL_MS, () => {
      poll()
        .catch((error) => log.debug({ err: error }, 'failed to look for waiting sandbox events; trying again'))
        .finally(() => !isStopped && schedulePoll());
    });
  }

  async function join(phone: Phone, address: string): Promise<void> {
    const { number, sessionId } = phone;
    const owner =
      (await ownerOf.first(reader, { number: address }))?.session_id ??
      (await commit((tx) => signUp(tx, address, sessionId)));
    if (owner !== sessionId) throw numberInUse(number);
    virtual.delete(address);
    const begun = Promise.withResolvers<void>();
    lines.set(address, { phone, address, begun, hasBegun: false, mustLook: true, looking: undefined });
  }

  async function groupAt(id: string): Promise<NetworkGroup | undefined> {
    const known = isAlone() ? groups.get(id) : undefined;
    if (known !== undefined) return known;
    const group = await readGroup(reader, id, media);
    if (group !== undefined) remember(id, group);
    return group;
  }

  function exchangeOf(scope: string): Exchange {
    const at = (number: string) => addressOf(scope, number);
    const lineOf = (phone: Phone) => {
      const line = lines.get(at(phone.number));
      return line?.phone === phone ? line : undefined;
    };
    return {
      remember: () => {}, // the database does
      async signedUp(numbers) {
        const found = await findSignedUp(numbers.map(at));
        return new Set(numbers.filter((number) => found.has(at(number))));
      },
      join: (phone) => join(phone, at(phone.number)),
      catchUp(phone) {
        const line = lineOf(phone);
        if (line === undefined) return;
        line.hasBegun = true;
        wake(line.address);
        line.begun.resolve();
      },
      leave(phone) {
        const line = lineOf(phone);
        if (line === undefined) return;
        lines.delete(line.address);
        line.begun.resolve();
      },
      forget: (_, sessionId) => commit((tx) => signOff(tx, sessionId)),
      deliver: ({ to, receiptTo, ...parcel }) =>
        deliver({ ...parcel, to: to.map(at), ...(receiptTo !== undefined && { receiptTo: at(receiptTo) }) }),
      group: (networkId) => groupAt(at(networkId)),
      groupByInvite: (code) => readGroupByInvite(reader, at(code), media),
      async restoreGroups(known) {
        if (known.length > 0) await commit((tx) => insertGroups(tx, scope, known));
      },
      async addGroup({ group, event }) {
        const to = concernedBy(group, undefined).map(at);
        await commit(async (tx) => {
          await insertGroups(tx, scope, [group]);
          await keep(tx, [{ to, event }]);
        });
        remember(at(group.networkId), group);
        await allTaken(to);
      },
      changeGroup: (networkId, change) => changeGroup(scope, networkId, change),
    };
  }

  cluster.on('lost', giveUpAll);
  signals.on('post', wake);
  signals.on('nodes', forgetAll);
  signals.on('gap', () => {
    poll().catch((error) => log.debug({ err: error }, 'failed to look for waiting sandbox events; trying again'));
  });

  return {
    of: exchangeOf,
    async settle(tx, postId) {
      const taken = await takePost(tx, postId);
      if (taken?.receipt !== undefined) tx.writeLater(writeReceipts, taken.receipt);
      return taken !== undefined;
    },
    start: schedulePoll,
    async stop() {
      isStopped = true;
      cancelPoll();
      await sorting;
    },
  };
}

function bringsFile(event: NetworkEvent): boolean {
  return (
    (event.type === 'message' && event.content.media !== undefined) ||
    (event.type === 'group_updated' && event.change.type === 'picture')
  );
}

/** Whether an error says nothing about the event: the database is away, or the session is no longer this node's. */
function isPassing(error: unknown): boolean {
  const passing = ['storage_unavailable', 'session_not_connected', 'shutting_down'];
  return error instanceof AppError && passing.includes(error.code);
}
