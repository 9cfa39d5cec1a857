import type { Database } from '../db/database.ts';
import type { Log } from '../log.ts';
import { countHeld, giveBack, type Leasable, type Member, readOwn, readOwner, takeFree, takeOne } from './members.ts';
import type { Signals } from './signals.ts';

/** Who works on a thing: this node, another one, or nobody that could be reached now. */
export type Holder = 'here' | 'nobody' | Member;

/** What this node holds of one kind: sessions, or webhooks. Each is held by one node at a time. */
export interface Leases {
  /** Whether this node has it, and is to go on working on it. */
  holds(id: string): boolean;
  /** Whether what becomes of it is this node's to store: also while another node is to have it and it is put down. */
  isOurs(id: string): boolean;
  holderOf(id: string): Promise<Holder>;
  /** Takes it if it is free: whoever calls it works on it then, `onGain` is not told. @returns who has it now */
  take(id: string): Promise<Holder>;
  /** Frees it. Nothing of it may run here any more. */
  giveUp(id: string): Promise<void>;
  /** Frees all of it, and takes nothing more. Nothing of it may run here any more. */
  giveUpAll(): Promise<void>;
  /** Calls `listener` with what this node has got: it is to work on it from now on. */
  onGain(listener: (ids: readonly string[]) => Promise<void>): void;
  /** Calls `listener` with what another node is to have. Once it resolves nothing of it may run here any more. */
  onLetGo(listener: (id: string) => Promise<void>): void;
}

export interface ManagedLeases extends Leases {
  /** Takes what is free up to this node's share, and lets go of what it has beyond it. */
  balance(carriers: readonly Member[], isChanged: boolean): Promise<void>;
  /** How many this node holds. */
  count(): number;
  /** Resolves when work on all that was taken has begun. */
  takenUp(): Promise<void>;
  /** Forgets all of it: others may have it now. */
  drop(): void;
}

const TAKEN_AT_ONCE = 500;
const LET_GO_AT_ONCE = 50;

export function createLeases(
  kind: Leasable,
  {
    database,
    nodeId,
    carries,
    signals,
    log,
    reach,
  }: {
    database: Database;
    nodeId: string;
    carries: boolean;
    signals: Signals;
    log: Log;
    /** The node with this id, if it lives and is not this one; or any that carries, without an id. */
    reach: (nodeId?: string) => Member | undefined;
  },
): ManagedLeases {
  const held = new Set<string>();
  /** What is being taken one by one just now. */
  const taking = new Set<string>();
  const takingUp = new Set<Promise<void>>();
  let gain = async (_: readonly string[]) => {};
  let letGo = async (_: string) => {};
  /** What another node is to have, and this one has not put down yet. */
  const leaving = new Set<string>();
  /** Of these, what `onLetGo` is at. */
  const puttingDown = new Set<string>();
  /** Of these, what is put down, and is to be free in the database. */
  const putDown = new Set<string>();
  let freeing: Promise<void> | undefined;
  let isLettingGo = false;
  let isEnding = false;
  /** Raised when all was dropped: what began before has nothing to add. */
  let era = 0;

  function toHolder(id: string, owner: string | null | undefined): Holder {
    // Not taken up yet, or not put down yet, is nobody's.
    if (owner === nodeId) return held.has(id) ? 'here' : 'nobody';
    return (typeof owner === 'string' ? reach(owner) : undefined) ?? 'nobody';
  }

  async function take(id: string): Promise<Holder> {
    if (held.has(id)) return 'here';
    if (!carries) return sendOn(id);
    const began = era;
    taking.add(id);
    try {
      const owner = await database.commit((tx) => takeOne(tx, kind, nodeId, id));
      if (owner === nodeId && began === era && !leaving.has(id)) held.add(id);
      return toHolder(id, owner);
    } finally {
      taking.delete(id);
    }
  }

  /** What this node does not take, another one may. */
  async function sendOn(id: string): Promise<Holder> {
    const owner = await readOwner(database.reader, kind, id);
    return owner === null ? (reach() ?? 'nobody') : toHolder(id, owner);
  }

  async function takeShare(missing: number): Promise<void> {
    for (let left = missing; left > 0 && !isEnding; ) {
      const began = era;
      const limit = Math.min(left, TAKEN_AT_ONCE);
      const ids = await database.commit((tx) => takeFree(tx, kind, nodeId, limit));
      if (began !== era || ids.length === 0) return;
      takeUp(ids);
      left -= ids.length;
    }
  }

  /** Work on it begins; how long that takes holds up nothing else. */
  function takeUp(ids: readonly string[]): void {
    for (const id of ids) held.add(id);
    log.info({ [kind.table]: ids.length }, 'acquired leases');
    const gaining = gain(ids).catch((error) => log.error({ err: error }, 'failed to start work on acquired leases'));
    takingUp.add(gaining);
    void gaining.finally(() => takingUp.delete(gaining));
  }

  /** Some at a time; each is free as soon as it is put down, so that one which takes long keeps no other waiting. */
  async function letGoOf(surplus: number): Promise<void> {
    if (isLettingGo) return;
    isLettingGo = true;
    log.info({ [kind.table]: surplus }, 'releasing surplus leases');
    const began = era;
    const waiting = [...held].slice(-surplus).values();
    const letGoNext = async () => {
      for (const id of waiting) {
        if (began !== era || isEnding || !held.delete(id)) continue;
        leaving.add(id);
        puttingDown.add(id);
        await letGo(id).catch((error) => log.warn({ err: error, id }, 'failed to release lease'));
        if (began !== era) return;
        puttingDown.delete(id);
        putDown.add(id);
        void freePutDown();
      }
    };
    await Promise.all(Array.from({ length: LET_GO_AT_ONCE }, letGoNext));
    isLettingGo = false;
  }

  /** What cannot be freed now, with the database away, is freed with the next balance. */
  function freePutDown(): Promise<void> {
    freeing ??= (async () => {
      while (putDown.size > 0) {
        const ids = [...putDown];
        await database.commit((tx) => giveBack(tx, kind, nodeId, ids));
        for (const id of ids) {
          putDown.delete(id);
          leaving.delete(id);
        }
        signals.send('nodes', nodeId);
      }
    })()
      .catch((error) => log.debug({ err: error }, 'failed to free leases; trying again'))
      .finally(() => (freeing = undefined));
    return freeing;
  }

  /**
   * Makes good what the database and this node think differently of: a commit whose answer was lost has taken
   * something that nobody works on, and what was deleted is not held any more.
   */
  async function reconcile(): Promise<void> {
    const [before, began] = [new Set(held), era];
    const own = new Set(await readOwn(database.reader, kind, nodeId));
    if (began !== era) return;
    for (const id of before) if (!own.has(id)) held.delete(id);
    const unknown = [...own].filter((id) => !held.has(id) && !leaving.has(id) && !before.has(id) && !taking.has(id));
    if (unknown.length > 0) takeUp(unknown);
  }

  return {
    holds: (id) => held.has(id),
    isOurs: (id) => held.has(id) || puttingDown.has(id),
    holderOf: async (id) => (held.has(id) ? 'here' : toHolder(id, await readOwner(database.reader, kind, id))),
    take,
    async giveUp(id) {
      held.delete(id);
      leaving.add(id);
      try {
        await database.commit((tx) => giveBack(tx, kind, nodeId, [id]));
        leaving.delete(id);
      } catch (error) {
        putDown.add(id);
        throw error;
      }
    },
    async giveUpAll() {
      isEnding = true;
      for (const id of [...held, ...leaving]) putDown.add(id);
      held.clear();
      await freePutDown();
    },
    onGain: (listener) => (gain = listener),
    onLetGo: (listener) => (letGo = listener),
    count: () => held.size,
    async takenUp() {
      await Promise.all(takingUp);
    },
    async balance(carriers, isChanged) {
      await freePutDown();
      if (isEnding) return;
      const counts = await countHeld(database, kind);
      const mine = counts.get(nodeId) ?? 0;
      if (mine !== held.size + leaving.size) await reconcile();
      const share = shareOf(nodeId, carriers, counts);
      const free = counts.get(null) ?? 0;
      const surplus = held.size - share;
      if (mine < share && free > 0) await takeShare(Math.min(share - mine, free));
      // Moving a session breaks its connection for a moment: only a node that comes or goes is worth it at once.
      else if (surplus > (isChanged ? 0 : Math.max(2, share * UNEVEN))) void letGoOf(surplus);
    },
    drop() {
      held.clear();
      leaving.clear();
      puttingDown.clear();
      putDown.clear();
      era++;
    },
  };
}

/** A node may have this much more than its share without anything being moved. */
const UNEVEN = 0.2;

/**
 * How many a node is to hold: all the same number, and one more those that have the most now when it does not divide,
 * so that nothing is moved which need not be.
 * @param counts who holds how many; under null, what nobody holds
 */
export function shareOf(
  nodeId: string,
  carriers: readonly Member[],
  counts: ReadonlyMap<string | null, number>,
): number {
  const place = carriers.findIndex((member) => member.nodeId === nodeId);
  if (place === -1) return 0;
  const heldBy = (member: Member | undefined) => counts.get(member?.nodeId ?? '') ?? 0;
  const mine = heldBy(carriers[place]);
  const ahead = carriers.filter((other, index) => {
    const theirs = heldBy(other);
    return theirs > mine || (theirs === mine && index < place);
  });
  const total = [...counts.values()].reduce((sum, count) => sum + count, 0);
  return Math.floor(total / carriers.length) + (ahead.length < total % carriers.length ? 1 : 0);
}
