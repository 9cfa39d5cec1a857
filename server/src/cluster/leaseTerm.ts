/** Tracks how long this node's leases last without being renewed, by its own clock. */
export class LeaseTerm {
  readonly leaseMs: number;
  /** Leases end this much earlier here than for the other nodes. */
  readonly #marginMs: number;
  #renewedAt = Number.NEGATIVE_INFINITY;
  #steadySince = Number.NEGATIVE_INFINITY;

  constructor(leaseMs: number) {
    this.leaseMs = leaseMs;
    this.#marginMs = leaseMs / 16;
  }

  /** Whether the leases are certain not to have expired. */
  get isValid(): boolean {
    return performance.now() < this.#renewedAt + this.leaseMs - this.#marginMs;
  }

  /** @param sentAt when the request was sent, by `performance.now()` */
  begin(sentAt: number): void {
    this.#renewedAt = sentAt;
    this.#steadySince = sentAt;
  }

  renew(sentAt: number): void {
    if (sentAt - this.#renewedAt > this.leaseMs / 2) this.#steadySince = sentAt;
    this.#renewedAt = sentAt;
  }

  /** Whether the leases were renewed without a gap for a whole term. A node that was cut off does not evict others. */
  isSteadyAt(at: number): boolean {
    return at - this.#steadySince >= this.leaseMs;
  }

  end(): void {
    this.#renewedAt = Number.NEGATIVE_INFINITY;
  }
}
