import type { Log } from '../log.ts';
import type { NodeLeases } from './leases.ts';
import type { LeaseTerm } from './leaseTerm.ts';
import type { Peers } from './peers.ts';

/** How often to look for a share that has slowly become uneven. */
const INTERVAL_MS = 30_000;

/** Keeps the leases of this node at its share, one round at a time. */
export class Balancer {
  readonly #leases: readonly NodeLeases[];
  readonly #peers: Peers;
  readonly #term: LeaseTerm;
  readonly #log: Log;
  /** Nodes came or went since the last round: leases move even if the shares are only slightly uneven. */
  #isChanged = true;
  /** Leases of nodes that are gone could not be freed, and wait for the next heartbeat. */
  #hasOrphans = false;
  #lastRoundAt = 0;
  #mustRun = false;
  #running: Promise<void> | undefined;
  #isStopped = false;

  constructor(leases: readonly NodeLeases[], peers: Peers, term: LeaseTerm, log: Log) {
    this.#leases = leases;
    this.#peers = peers;
    this.#term = term;
    this.#log = log;
  }

  noteChange(): void {
    this.#isChanged = true;
  }

  get isDue(): boolean {
    return this.#isChanged || this.#hasOrphans || performance.now() - this.#lastRoundAt > INTERVAL_MS;
  }

  /** Runs a round now, or after the current one. Resolves when no round is left to run. */
  run(): Promise<void> {
    this.#mustRun = true;
    this.#running ??= this.#rounds()
      .catch((error) => this.#log.debug({ err: error }, 'failed to balance the leases; trying again'))
      .finally(() => (this.#running = undefined));
    return this.#running;
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    await this.#running;
  }

  async #rounds(): Promise<void> {
    while (this.#mustRun && this.#term.isValid && !this.#isStopped) {
      this.#mustRun = false;
      const wasChanged = this.#isChanged;
      this.#isChanged = false;
      this.#lastRoundAt = performance.now();
      try {
        const left = await Promise.all(this.#leases.map((leases) => leases.balance(this.#peers.workers, wasChanged)));
        this.#hasOrphans = left.includes(true);
      } catch (error) {
        this.#isChanged ||= wasChanged;
        throw error;
      }
    }
  }
}
