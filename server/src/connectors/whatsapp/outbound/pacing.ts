import { KeyedQueue, sleep } from '../../../async.ts';
import type { Clock } from '../../../clock.ts';
import type { SessionStore } from '../../connector.ts';
import { rateLimited } from '../link/errors.ts';

export interface PacingOptions {
  /** The average pause between two messages; 0 for none. */
  readonly pauseMs: number;
  /** How many chats the session can start in 24 hours. */
  readonly newChatsPerDay: number;
}

/** A send waits half a minute for the network's answer; the queue may take this much of that time. */
const MAX_WAIT_MS = 15_000;
const DAY_MS = 24 * 3600 * 1000;
const CHATS_BEGUN = 'chats-begun';

/**
 * Keeps a number from being banned. WhatsApp bans numbers that write faster than people do, and above all those that
 * write to many people who have never written to them. So messages go out one after the other with pauses of varying
 * length, and the number of new chats per day is limited.
 */
export class Pacing {
  readonly #options: PacingOptions;
  readonly #clock: Clock;
  readonly #random: () => number;
  readonly #store: SessionStore;
  readonly #counting = new KeyedQueue();
  #nextAt = 0;

  constructor(
    options: PacingOptions,
    { clock, random, store }: { clock: Clock; random: () => number; store: SessionStore },
  ) {
    this.#options = options;
    this.#clock = clock;
    this.#random = random;
    this.#store = store;
  }

  /** @throws {AppError} `rate_limited` if the next message could go out only too late for the caller */
  async wait(): Promise<void> {
    const { pauseMs } = this.#options;
    if (pauseMs === 0) return;
    // Not the time of day: after that was set back, nothing would go out until it caught up.
    const now = this.#clock.elapsed();
    const at = Math.max(now, this.#nextAt);
    const waitMs = at - now;
    if (waitMs > MAX_WAIT_MS)
      throw rateLimited(
        'Too many messages are waiting to be sent by this session; wait before the next one',
        waitMs - MAX_WAIT_MS,
      );
    this.#nextAt = at + pauseMs * (0.5 + this.#random());
    if (waitMs > 0) await sleep(this.#clock, waitMs);
  }

  /** @throws {AppError} `rate_limited` if the session started enough chats in the last 24 hours */
  beginChat(): Promise<void> {
    return this.#counting.run(CHATS_BEGUN, () => this.#count());
  }

  async #count(): Promise<void> {
    const { newChatsPerDay } = this.#options;
    const now = this.#clock.now();
    const begun: number[] = JSON.parse((await this.#store.get(CHATS_BEGUN)) ?? '[]');
    const recent = begun.filter((at) => at > now - DAY_MS);
    if (recent.length >= newChatsPerDay)
      throw rateLimited(
        `The session has reached its limit of ${newChatsPerDay} new chats per day; WhatsApp bans numbers that start many`,
        (recent[0] ?? now) + DAY_MS - now,
      );
    await this.#store.set(CHATS_BEGUN, JSON.stringify([...recent, now]));
  }
}
