import type { Due } from '../queue/due.ts';

/**
 * A lane's view of its queue in the database, and the read in progress.
 *
 * ```text
 *            load               fill
 *   stale ─────────▶ behind ─────────▶ complete
 *     ▲                ▲                  │
 *     │ the webhook    │ something may    │
 *     │ has changed    │ be due           │
 *     └────────────────┴──────────────────┘
 * ```
 *
 * - `stale`: the webhook was never read, or has changed. Nothing starts before it is read again.
 * - `behind`: deliveries may be due that are not in the backlog. They are read once there is room and the breaker
 *   allows.
 * - `complete`: the backlog contains everything that is due. New deliveries can be added without a read.
 *
 * A read assumes when it begins that it will complete the knowledge. A change during the read sets it back, because the
 * read may not have seen it, and so does an error. A load that finds nothing it may start leaves the rest to a fill.
 */
export class QueueState {
  #knowledge: 'stale' | 'behind' | 'complete' = 'stale';
  #read: Read | undefined;
  /** Whether no delivery becomes due before the timer looks for it. */
  knowsNextRetry = false;

  get isStale(): boolean {
    return this.#knowledge === 'stale';
  }

  get isComplete(): boolean {
    return this.#knowledge === 'complete';
  }

  get isReading(): boolean {
    return this.#read !== undefined;
  }

  /** Whether nothing may start, because its webhook is being read or has to be. */
  get isLoading(): boolean {
    return this.isStale || this.#read?.of === 'webhook';
  }

  /** The webhook has changed. */
  becomeStale(): void {
    this.#knowledge = 'stale';
  }

  /** Something may be due that is not in the backlog. */
  fallBehind(): void {
    if (!this.isStale) this.#knowledge = 'behind';
  }

  /** Like `fallBehind`, if deliveries may also become due before the timer looks for them. */
  fallBehindWithRetries(): void {
    this.fallBehind();
    this.knowsNextRetry = false;
  }

  /** Begins to read what is missing. Returns whether that is the webhook, or its deliveries. */
  beginRead(): 'webhook' | 'deliveries' {
    const of = this.isStale ? 'webhook' : 'deliveries';
    this.#read = { of, settled: new Set(), retried: new Set() };
    this.#knowledge = 'complete';
    return of;
  }

  endRead(hasFailed: boolean): void {
    if (hasFailed && this.#read?.of === 'webhook') this.becomeStale();
    if (hasFailed) this.fallBehind();
    this.#read = undefined;
  }

  /**
   * Notes a delivery that was settled.
   * @param holdsBack whether its retry goes out before the later ones of its conversation
   */
  onSettled({ deliveryId, conversation }: Due, holdsBack: boolean): void {
    this.#read?.settled.add(deliveryId);
    if (holdsBack) this.#read?.retried.add(conversation);
  }

  /** Returns the deliveries of the read in progress that are still pending and not held back. */
  withoutSettled(due: readonly Due[]): Due[] {
    const { settled, retried } = this.#read ?? {};
    if (due.some(({ conversation }) => retried?.has(conversation))) this.fallBehind();
    return due.filter((one) => settled?.has(one.deliveryId) !== true && retried?.has(one.conversation) !== true);
  }
}

interface Read {
  readonly of: 'webhook' | 'deliveries';
  /** Settled during the read, which may still return them as pending. */
  readonly settled: Set<string>;
  /** Conversations whose retry was stored during the read, which may still return the deliveries that it holds back. */
  readonly retried: Set<string>;
}
