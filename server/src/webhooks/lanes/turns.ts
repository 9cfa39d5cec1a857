import type { OutgoingConnections } from '../../egress/outgoing.ts';

/** The part of a lane that takes turns. */
interface Starter {
  /** Undefined until its webhook was read, and after it was removed. */
  readonly accountId: string | undefined;
  readonly canStart: boolean;
  /** Starts the next delivery. */
  startOne(): void;
}

/**
 * Attempts that start in one turn of the event loop. In the next one, connections of those that ended can be reused.
 */
const STARTED_AT_ONCE = 64;

interface Options {
  readonly outgoing: OutgoingConnections;
  readonly isMember: () => boolean;
}

/**
 * Decides which lane starts the next delivery. Accounts take turns, and so do the lanes of an account, so that none
 * waits for the queue of another one to empty. An account that has used up its share of the connections keeps its turn
 * until any connection is released.
 */
export class Turns<L extends Starter> {
  readonly #options: Options;
  /** Lanes that may start a delivery, by account. Maps and sets keep the order in which entries were added. */
  readonly #waiting = new Map<string, Set<L>>();
  #inFlight = 0;
  #startedAtOnce = 0;
  #isTaking = false;
  #isPaused = false;

  constructor(options: Options) {
    this.#options = options;
    options.outgoing.on('released', () => this.#take());
  }

  get inFlight(): number {
    return this.#inFlight;
  }

  has(lane: L): boolean {
    return this.#waiting.get(lane.accountId ?? '')?.has(lane) ?? false;
  }

  /** The lane has something to start. */
  offer(lane: L): void {
    this.#add(lane);
    this.#take();
  }

  remove(lane: L): void {
    const { accountId = '' } = lane;
    const lanes = this.#waiting.get(accountId);
    lanes?.delete(lane);
    if (lanes?.size === 0) this.#waiting.delete(accountId);
  }

  clear(): void {
    this.#waiting.clear();
  }

  /** An attempt has ended: its connection is free. */
  release(accountId: string): void {
    this.#inFlight--;
    this.#options.outgoing.release(accountId);
  }

  #add(lane: L): void {
    const { accountId } = lane;
    if (accountId === undefined) return;
    const lanes = this.#waiting.get(accountId);
    if (lanes === undefined) this.#waiting.set(accountId, new Set([lane]));
    else lanes.add(lane);
  }

  #take(): void {
    if (this.#isTaking || this.#isPaused) return;
    this.#isTaking = true;
    const { outgoing, isMember } = this.#options;
    for (const [accountId, lanes] of this.#waiting) {
      if (outgoing.isFull || !isMember() || this.#isPaused) break;
      const lane = nextOf(lanes);
      if (lane === undefined) this.#waiting.delete(accountId);
      else if (outgoing.take(accountId)) this.#start(lane, accountId, lanes);
    }
    this.#isTaking = false;
  }

  /** Starts a delivery of the lane, and puts the lane and its account behind the others. */
  #start(lane: L, accountId: string, lanes: Set<L>): void {
    lanes.delete(lane);
    this.#waiting.delete(accountId);
    if (lanes.size > 0) this.#waiting.set(accountId, lanes);
    this.#inFlight++;
    this.#pauseAfterMany();
    lane.startOne();
    if (lane.canStart) this.#add(lane);
  }

  #pauseAfterMany(): void {
    if (this.#startedAtOnce++ === 0)
      setImmediate(() => {
        const wasPaused = this.#isPaused;
        this.#startedAtOnce = 0;
        this.#isPaused = false;
        if (wasPaused) this.#take();
      });
    this.#isPaused = this.#startedAtOnce >= STARTED_AT_ONCE;
  }
}

/** Returns the first lane that can still start a delivery, and removes those before it. */
function nextOf<L extends Starter>(lanes: Set<L>): L | undefined {
  for (const lane of lanes) {
    if (lane.canStart) return lane;
    lanes.delete(lane);
  }
  return undefined;
}
