import { KeyedQueue, sleep } from '../../../async.ts';
import type { Clock } from '../../../clock.ts';
import type { SessionStore } from '../../contract/host.ts';
import { SendBudget, type SendBudgetOptions } from '../../sendBudget.ts';
import { rateLimited } from '../link/errors.ts';

export interface PacingOptions extends SendBudgetOptions {
  /** The average pause between two messages; 0 for none. */
  readonly pauseMs: number;
}

/** A send waits half a minute for the network's answer; the queue may take this much of that time. */
const MAX_WAIT_MS = 15_000;

/**
 * Keeps a number from being banned. WhatsApp bans numbers that write faster than people do, and above all those that
 * write to many people who have never written to them. So messages go out one after the other with pauses of varying
 * length, and the number of new chats per day is limited.
 */
export class Pacing {
  readonly budget: SendBudget;
  readonly #options: PacingOptions;
  readonly #clock: Clock;
  readonly #random: () => number;
  readonly #reserving = new KeyedQueue();
  #nextAt = 0;

  constructor(
    options: PacingOptions,
    { clock, random, store }: { clock: Clock; random: () => number; store: SessionStore },
  ) {
    this.#options = options;
    this.#clock = clock;
    this.#random = random;
    this.budget = new SendBudget(options, { clock, store });
  }

  /** @throws {AppError} `rate_limited` if the next message could go out only too late for the caller, or not today */
  async wait(): Promise<void> {
    if (this.#options.pauseMs === 0) return this.budget.countMessage();
    const waitMs = await this.#reserving.run('', () => this.#reserve());
    if (waitMs > 0) await sleep(this.#clock, waitMs);
  }

  /** Takes the next place in the queue, which a refused message does not. Returns how long to wait, in ms. */
  async #reserve(): Promise<number> {
    // Not the time of day: after that was set back, nothing would go out until it caught up.
    const now = this.#clock.elapsed();
    const at = Math.max(now, this.#nextAt);
    const waitMs = at - now;
    if (waitMs > MAX_WAIT_MS)
      throw rateLimited(
        'Too many messages are waiting to be sent by this session; wait before the next one',
        waitMs - MAX_WAIT_MS,
      );
    await this.budget.countMessage();
    this.#nextAt = at + this.#options.pauseMs * (0.5 + this.#random());
    return waitMs;
  }

  /** @throws {AppError} `rate_limited` if the session started enough chats in the last 24 hours */
  beginChat(): Promise<void> {
    return this.budget.beginChat();
  }

  /** How long a message that is sent now would wait beyond what a caller waits, in ms; 0 if it goes out in time. */
  excessMs(): number {
    return Math.max(0, this.#nextAt - this.#clock.elapsed() - MAX_WAIT_MS);
  }
}
