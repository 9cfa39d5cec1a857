import { sleep } from '../../async.ts';
import { systemClock } from '../../clock.ts';
import { AppError } from '../../errors.ts';
import { integer, optional } from '../../invoke/input/fields.ts';
import type { Context } from '../../invoke/operation.ts';

const MAX_WAIT_SECONDS = 30;
/** How late a waiting call notices an event whose announcement was missed. */
const POLL_MS = 1000;
/** Least time between two reads of a call: an account can have many events that the call does not wait for. */
const PAUSE_MS = 100;

/** The input field of a read that can wait. */
export const waitInput = (description: string) =>
  optional(integer(description, { minimum: 0, maximum: MAX_WAIT_SECONDS, default: 0 }));

interface Progress<T> {
  isEnough(found: T): boolean;
  /** Whether the next read goes on without waiting for an event. */
  isBehind?(found: T): boolean;
}

/**
 * Repeats a read with every event of the account, until it returns enough, the time is over or the caller hangs up.
 * Returns what was read last.
 * @throws {AppError} `too_many`, or why the credential has ended
 */
export async function readUntil<T>(
  ctx: Context<'waitingCalls' | 'feed'>,
  seconds: number,
  read: () => Promise<T>,
  { isEnough, isBehind }: Progress<T>,
): Promise<T> {
  if (seconds === 0) return read();
  const until = ctx.clock.elapsed() + seconds * 1000;
  const end = ctx.waitingCalls.begin(ctx.accountId);
  const signal = ctx.signal();
  try {
    for (;;) {
      // Before reading, so that an event between reading and waiting is noticed.
      const news = new AbortController();
      const next = ctx.feed.next(
        ctx.accountId,
        Math.min(POLL_MS, Math.max(0, until - ctx.clock.elapsed())),
        AbortSignal.any([signal, news.signal]),
      );
      const readAt = systemClock.elapsed();
      const found = await read();
      if (signal.reason instanceof AppError) throw signal.reason; // the credential has ended
      if (isEnough(found) || ctx.clock.elapsed() >= until || signal.aborted) {
        news.abort();
        return found;
      }
      if (isBehind?.(found)) news.abort();
      await next;
      await sleep(systemClock, readAt + PAUSE_MS - systemClock.elapsed());
    }
  } finally {
    end();
  }
}
