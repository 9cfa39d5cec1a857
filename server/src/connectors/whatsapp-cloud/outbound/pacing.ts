import { sleep } from '../../../async.ts';
import type { Clock } from '../../../clock.ts';
import { AppError } from '../../../errors.ts';

/** A sending rate: a burst at once, and then one message per interval. */
interface Rate {
  readonly burst: number;
  readonly everyMs: number;
}

/** WhatsApp's limit for one recipient, as observed: a burst of 45, then one every six seconds (error 131056). */
const PER_RECIPIENT: Rate = { burst: 45, everyMs: 6000 };
const PRUNE_FROM = 1000;

/**
 * The network penalizes numbers that reach its limits, overall or for one recipient. The generic cell rate algorithm
 * stores for each limit only the moment at which the burst is available again.
 */
export class Pacing {
  readonly #overall: Rate;
  readonly #clock: Clock;
  readonly #closed: AbortSignal;
  #numberFreeAt = 0;
  readonly #freeAt = new Map<string, number>();

  /** @param closed ends all waits when it is aborted */
  constructor(perSecond: number, clock: Clock, closed: AbortSignal) {
    this.#overall = { burst: perSecond, everyMs: 1000 / perSecond };
    this.#clock = clock;
    this.#closed = closed;
  }

  /**
   * Waits until a message to this recipient may be sent.
   * @param until in the time of `clock.elapsed()`, so that setting the time of day delays nothing
   * @throws {AppError} `rate_limited` immediately if that is not before `until`, without counting the message
   */
  async turn(recipient: string, until: number): Promise<void> {
    const now = this.#clock.elapsed();
    this.#prune(now);
    const ofRecipient = this.#freeAt.get(recipient) ?? 0;
    const sendAt = Math.max(now, earliest(this.#numberFreeAt, this.#overall), earliest(ofRecipient, PER_RECIPIENT));
    if (sendAt > until)
      throw new AppError('rate_limited', 'WhatsApp limits how fast messages are sent; wait before the next one', {
        retryAfterSeconds: Math.ceil((sendAt - now) / 1000),
      });
    this.#numberFreeAt = Math.max(this.#numberFreeAt, now) + this.#overall.everyMs;
    this.#freeAt.set(recipient, Math.max(ofRecipient, now) + PER_RECIPIENT.everyMs);
    if (sendAt > now) await sleep(this.#clock, sendAt - now, this.#closed);
  }

  /** Pauses sending to this recipient, or to everybody, because the network asked to slow down. */
  hold(recipient: string | null, ms: number): void {
    const now = this.#clock.elapsed();
    const used = (rate: Rate) => now + ms + (rate.burst - 1) * rate.everyMs;
    if (recipient === null) this.#numberFreeAt = Math.max(this.#numberFreeAt, used(this.#overall));
    else this.#freeAt.set(recipient, Math.max(this.#freeAt.get(recipient) ?? 0, used(PER_RECIPIENT)));
  }

  #prune(now: number): void {
    if (this.#freeAt.size < PRUNE_FROM) return;
    for (const [recipient, at] of this.#freeAt) if (at <= now) this.#freeAt.delete(recipient);
  }
}

function earliest(freeAt: number, { burst, everyMs }: Rate): number {
  return freeAt - (burst - 1) * everyMs;
}
