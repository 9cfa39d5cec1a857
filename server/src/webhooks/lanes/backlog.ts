import type { Due, Known } from '../queue/due.ts';

/** Deliveries of one conversation that wait behind another one. They go out one at a time, so more would not help. */
const MAX_BEHIND = 16;

/**
 * The deliveries of a lane that are in memory, from the time they are read until they are settled: ready to start,
 * waiting behind an earlier one of their conversation, in flight, or about to be settled.
 *
 * The first attempts of one conversation start one at a time, in order, and so do those after an outage. A retry does
 * not wait for its conversation, unless the order is strict: then the queue returns nothing behind a retry, and all
 * attempts take turns.
 */
export class Backlog {
  /** Whether retries take turns with their conversation. Applies to the deliveries that are added from now on. */
  isStrict = false;
  readonly #ids = new Set<string>();
  /** Those that do not take turns. */
  readonly #apart = new Set<string>();
  #ready: Due[] = [];
  /** Conversation whose turn is ready or in flight → the deliveries behind it, in order. */
  readonly #behind = new Map<string, Due[]>();
  /** Conversations with later deliveries that were left in the database. */
  #incomplete = new Set<string>();

  get size(): number {
    return this.#ids.size;
  }

  get readyCount(): number {
    return this.#ready.length;
  }

  /**
   * Call it before a read of everything that is due.
   * @returns what must not be read: the deliveries in the backlog, and the conversations that have no room, because
   * reading more of their deliveries would crowd out those of others
   */
  beginRead(): Known {
    const full = [...this.#behind].filter(([, behind]) => behind.length >= MAX_BEHIND);
    this.#incomplete = new Set(full.map(([conversation]) => conversation));
    return { deliveryIds: [...this.#ids], conversations: [...this.#incomplete] };
  }

  has(deliveryId: string): boolean {
    return this.#ids.has(deliveryId);
  }

  /** Adds a delivery that was read, if its conversation has room for it. */
  add(due: Due): void {
    const isApart = due.attempts > 0 && due.dueAt > 0 && !this.isStrict;
    const behind = isApart ? undefined : this.#behind.get(due.conversation);
    if (behind !== undefined && behind.length >= MAX_BEHIND) {
      this.#incomplete.add(due.conversation);
      return;
    }
    this.#ids.add(due.deliveryId);
    if (behind !== undefined) behind.push(due);
    else {
      this.#ready.push(due);
      if (isApart) this.#apart.add(due.deliveryId);
      else this.#behind.set(due.conversation, []);
    }
  }

  /**
   * Adds a new delivery, provided that the backlog contains what was due before it. If earlier ones of its conversation
   * were left in the database, so is this one; `moveUp` says when to read them.
   */
  append(due: Due): void {
    if (!this.#incomplete.has(due.conversation)) this.add(due);
  }

  takeReady(): Due | undefined {
    return this.#ready.shift();
  }

  /** Whether no other delivery of its conversation waits behind this one. */
  isLast({ conversation }: Due): boolean {
    return (this.#behind.get(conversation)?.length ?? 0) === 0;
  }

  /** Makes the next delivery of the conversation ready. Returns whether the conversation has room again. */
  moveUp(ended: Due): boolean {
    if (this.#apart.has(ended.deliveryId)) return false;
    const behind = this.#behind.get(ended.conversation);
    const next = behind?.shift();
    if (next !== undefined) this.#ready.push(next);
    else this.#behind.delete(ended.conversation);
    return behind?.length === MAX_BEHIND / 2;
  }

  /** Forgets the deliveries behind this one, which have to wait for its retry, and frees the conversation. */
  forgetBehind({ conversation, deliveryId }: Due): void {
    // It began before the order was strict: another one has the turn.
    if (this.#apart.has(deliveryId)) return;
    for (const due of this.#behind.get(conversation) ?? []) this.remove(due);
    this.#behind.delete(conversation);
  }

  remove({ deliveryId }: Pick<Due, 'deliveryId'>): void {
    this.#ids.delete(deliveryId);
    this.#apart.delete(deliveryId);
  }

  /** Forgets the deliveries that have not started. They are still pending in the database. */
  forgetWaiting(): void {
    const freed = this.#ready.filter(({ deliveryId }) => !this.#apart.has(deliveryId));
    for (const due of [...this.#ready, ...[...this.#behind.values()].flat()]) this.remove(due);
    for (const conversation of this.#behind.keys()) this.#behind.set(conversation, []);
    for (const due of freed) this.#behind.delete(due.conversation);
    this.#ready = [];
  }
}
