import { sleep } from '../../../async.ts';
import type { Clock } from '../../../clock.ts';
import { AppError } from '../../../errors.ts';
import type { SessionStore } from '../../connector.ts';

/*
 * Numbers that write faster than people do, or to many who have never written to them, get banned: that is what is
 * held against them most. So a session's messages go out one after the other with pauses of changing length, and only
 * so many of them begin a chat within a day.
 */

export interface PacingOptions {
  /** The pause between two messages, on average; 0 for none. */
  readonly pauseMs: number;
  /** How many chats may be begun in 24 hours. */
  readonly newChatsPerDay: number;
}

export interface Pacing {
  /**
   * Resolves when the next message may go out.
   * @throws {AppError} `rate_limited` when that would be too late for who waits
   */
  wait(): Promise<void>;
  /**
   * Counts a chat that is about to be begun.
   * @throws {AppError} `rate_limited` when there were enough today
   */
  beginChat(): Promise<void>;
}

/** Who sends waits half a minute for the network's answer; this much of it may be the queue. */
const LONGEST_WAIT_MS = 15_000;
const DAY_MS = 24 * 3600 * 1000;
const BEGUN = 'chats-begun';

export function createPacing(
  { pauseMs, newChatsPerDay }: PacingOptions,
  { clock, random, store }: { clock: Clock; random: () => number; store: SessionStore },
): Pacing {
  let nextAt = 0;
  let counting = Promise.resolve();

  async function count(): Promise<void> {
    const now = clock.now();
    const begun: number[] = JSON.parse((await store.get(BEGUN)) ?? '[]');
    const recent = begun.filter((at) => at > now - DAY_MS);
    const oldest = recent[0];
    if (recent.length >= newChatsPerDay) {
      const waitMs = (oldest ?? now) + DAY_MS - now;
      throw limited(
        `The session has reached its limit of ${newChatsPerDay} new chats per day; WhatsApp bans numbers that start many`,
        waitMs,
      );
    }
    await store.set(BEGUN, JSON.stringify([...recent, now]));
  }

  return {
    async wait() {
      if (pauseMs === 0) return;
      // Not the time of day: after it was set back, nothing would go out until it caught up.
      const now = clock.elapsed();
      const at = Math.max(now, nextAt);
      const waitMs = at - now;
      if (waitMs > LONGEST_WAIT_MS)
        throw limited(
          'Too many messages are waiting to be sent by this session; wait before the next one',
          waitMs - LONGEST_WAIT_MS,
        );
      nextAt = at + pauseMs * (0.5 + random());
      if (waitMs > 0) await sleep(clock, waitMs);
    },
    beginChat() {
      const mine = counting.then(count);
      counting = mine.catch(() => {});
      return mine;
    },
  };
}

function limited(words: string, waitMs: number): AppError {
  return new AppError('rate_limited', words, { retryAfterSeconds: Math.max(1, Math.ceil(waitMs / 1000)) });
}
