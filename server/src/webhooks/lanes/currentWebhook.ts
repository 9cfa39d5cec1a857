import type { Log } from '../../log.ts';
import type { Metrics } from '../../metrics.ts';
import type { SteadyClock } from '../../steadyClock.ts';
import {
  type Breaker,
  type BreakerPolicy,
  beginProbe,
  clampToClock,
  onOutcome,
  type Permit,
  permit,
} from '../queue/breaker.ts';
import type { Outcome } from '../queue/outcome.ts';
import type { Webhook } from './webhook.ts';

interface Options {
  readonly steady: SteadyClock;
  readonly log: Log;
  readonly metrics: Metrics;
  readonly breaker: BreakerPolicy;
}

/**
 * The webhook of a lane: its settings as they were read, and its breaker. Outcomes move the breaker in memory first,
 * and it is stored with them.
 */
export class CurrentWebhook {
  readonly #options: Options;
  readonly #webhookId: string;
  #webhook: Webhook | undefined;
  #stored: Pick<Breaker, 'state' | 'generation'> = { state: 'closed', generation: 0 };
  /** Whether deliveries may wait for retries that an outage has made meaningless. */
  mayHaveFailed = false;

  constructor(webhookId: string, options: Options) {
    this.#webhookId = webhookId;
    this.#options = options;
  }

  /** Undefined until it was read, and after it was removed. */
  get value(): Webhook | undefined {
    return this.#webhook;
  }

  /** The stored breaker, as far as the lane knows. */
  get stored(): Pick<Breaker, 'state' | 'generation'> {
    return this.#stored;
  }

  /** Whether deliveries go out without a probe. */
  get isOpenForAll(): boolean {
    return this.#webhook?.isActive === true && this.#webhook.breaker.state === 'closed';
  }

  /** Whether its deliveries need preparation (order, added fields), so that none is added without being read. */
  get isPrepared(): boolean {
    return this.#webhook !== undefined && (this.#webhook.isStrict || this.#webhook.include.length > 0);
  }

  permit(): Permit {
    // Removed, disabled or paused: deliveries stay pending.
    if (!this.#webhook?.isActive) return { kind: 'go', limit: 0 };
    return permit(this.#webhook.breaker, this.#webhook.maxInFlight, this.#options.steady.now());
  }

  /** Whether nothing new starts before the breaker allows it. */
  isHalted(now: number): boolean {
    const breaker = this.#webhook?.breaker;
    return breaker !== undefined && (breaker.state !== 'closed' || (breaker.pausedUntil ?? 0) > now);
  }

  /** Whether its breaker has changed since it was this one, so that other deliveries may go out. */
  hasMovedSince({ breaker }: Webhook): boolean {
    const { generation, pausedUntil } = this.#webhook?.breaker ?? {};
    return generation !== breaker.generation || pausedUntil !== breaker.pausedUntil;
  }

  /** Attempts that ended during the read have moved the breaker in memory. It stays unless others changed theirs. */
  replace(found: Webhook | undefined): void {
    const breaker = this.#webhook?.breaker;
    if (found !== undefined && breaker !== undefined && found.breaker.generation <= this.#stored.generation) {
      this.#webhook = { ...found, breaker };
      return;
    }
    this.#webhook = found && { ...found, breaker: clampToClock(found.breaker, this.#options.steady.now()) };
    this.#stored = found?.breaker ?? { state: 'closed', generation: 0 };
    // Open, or closed so recently that the server may have stopped before it brought them forward.
    this.mayHaveFailed = found !== undefined && (found.breaker.state !== 'closed' || found.breaker.slowStart !== null);
  }

  /** Applies the outcome of an attempt that began under `generation`. Returns how the breaker has changed. */
  onOutcome(outcome: Outcome, generation: number): 'opened' | 'other state' | 'same state' {
    const webhook = this.#webhook;
    if (webhook === undefined) return 'same state';
    const { steady, breaker: policy, log, metrics } = this.#options;
    const breaker = onOutcome(webhook.breaker, outcome, generation, webhook.maxInFlight, steady.now(), policy);
    this.#webhook = { ...webhook, breaker };
    if (breaker.state === webhook.breaker.state) return 'same state';
    this.mayHaveFailed = true;
    if (breaker.state !== 'open') return 'other state';
    const fields = { webhook: this.#webhookId, reason: breaker.reason, error: outcome.message };
    if (webhook.breaker.state === 'half_open') log.debug(fields, 'probe failed');
    else {
      metrics.breakersOpened.inc();
      log.warn(fields, 'circuit breaker opened');
    }
    return 'opened';
  }

  beginProbe(): void {
    if (this.#webhook === undefined) return;
    this.#webhook = { ...this.#webhook, breaker: beginProbe(this.#webhook.breaker, this.#options.steady.now()) };
  }

  /**
   * Remembers the conversation of a failed probe, or clears it if the latest attempt was not a failed probe. Stored
   * with the breaker, because the lane may move to another node before the next probe.
   */
  noteProbe(failedProbe: string | null): void {
    const breaker = this.#webhook?.breaker;
    if (this.#webhook !== undefined && breaker !== undefined && (breaker.failedProbe ?? null) !== failedProbe)
      this.#webhook = { ...this.#webhook, breaker: { ...breaker, failedProbe } };
  }

  /** The breaker was stored. */
  onStored(breaker: Breaker): void {
    this.#stored = breaker;
  }
}
