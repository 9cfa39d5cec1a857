import type { Clock } from '../../clock.ts';

/** Longer than the pauses between the events of a webhook in use, shorter than the interval of reloads. */
const KEPT_MS = 15_000;
/** They count among the lanes that share the room for deliveries in memory. */
const MOST_KEPT = 128;

/**
 * The lanes that became idle last. A webhook with an event now and then would otherwise read its row, its first
 * deliveries and its next retry for each event, which takes longer than the delivery.
 */
export class IdleLanes<L> {
  readonly #clock: Clock;
  readonly #drop: (lane: L) => void;
  /** Time at which each lane became idle, in this order. */
  readonly #since = new Map<L, number>();

  /** @param drop removes a lane, unless it has work again */
  constructor(clock: Clock, drop: (lane: L) => void) {
    this.#clock = clock;
    this.#drop = drop;
  }

  add(lane: L): void {
    this.#since.delete(lane);
    this.#since.set(lane, this.#clock.elapsed());
    for (const [oldest] of this.#since) {
      if (this.#since.size <= MOST_KEPT) return;
      this.#remove(oldest);
    }
  }

  /** Drops the lanes that were idle for too long. */
  expire(): void {
    const before = this.#clock.elapsed() - KEPT_MS;
    for (const [lane, since] of this.#since) {
      if (since > before) return;
      this.#remove(lane);
    }
  }

  clear(): void {
    this.#since.clear();
  }

  #remove(lane: L): void {
    this.#since.delete(lane);
    this.#drop(lane);
  }
}
