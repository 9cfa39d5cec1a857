import type { Clock } from '../../clock.ts';
import { AppError } from '../../errors.ts';

/** How fast messages may go: so many at once, and then one every so often. */
interface Rate {
  readonly burst: number;
  readonly everyMs: number;
}

export interface Pacing {
  /**
   * Waits until a message to this recipient may go.
   * @param until in the time of `clock.elapsed()`: setting the time of day must hold nothing back
   * @throws {AppError} `rate_limited` when that is not before `until`: it has not waited then, and taken no turn
   */
  turn(recipient: string, until: number): Promise<void>;
  /** The network finds it too fast: nothing more to this recipient, or to anybody, for a while. */
  hold(recipient: string | null, ms: number): void;
}

/** WhatsApp's limit for one recipient, as observed: 45 at once, then one in six seconds (error 131056). */
const PER_RECIPIENT: Rate = { burst: 45, everyMs: 6000 };
const PRUNE_FROM = 1000;

/**
 * Keeps a number below the limits of the network, which punishes who runs into them: over all recipients, and for each
 * of them. By the generic cell rate algorithm: of each there is only the moment at which it will have used up nothing.
 */
export function createPacing(perSecond: number, clock: Clock, wait: (ms: number) => Promise<void>): Pacing {
  const overall: Rate = { burst: perSecond, everyMs: 1000 / perSecond };
  let numberFreeAt = 0;
  const freeAt = new Map<string, number>();

  function prune(now: number): void {
    if (freeAt.size < PRUNE_FROM) return;
    for (const [recipient, at] of freeAt) if (at <= now) freeAt.delete(recipient);
  }

  return {
    async turn(recipient, until) {
      const now = clock.elapsed();
      prune(now);
      const ofRecipient = freeAt.get(recipient) ?? 0;
      const goesAt = Math.max(now, earliest(numberFreeAt, overall), earliest(ofRecipient, PER_RECIPIENT));
      if (goesAt > until)
        throw new AppError('rate_limited', 'WhatsApp limits how fast messages are sent; wait before the next one', {
          retryAfterSeconds: Math.ceil((goesAt - now) / 1000),
        });
      numberFreeAt = Math.max(numberFreeAt, now) + overall.everyMs;
      freeAt.set(recipient, Math.max(ofRecipient, now) + PER_RECIPIENT.everyMs);
      if (goesAt > now) await wait(goesAt - now);
    },
    hold(recipient, ms) {
      const now = clock.elapsed();
      const used = (rate: Rate) => now + ms + (rate.burst - 1) * rate.everyMs;
      if (recipient === null) numberFreeAt = Math.max(numberFreeAt, used(overall));
      else freeAt.set(recipient, Math.max(freeAt.get(recipient) ?? 0, used(PER_RECIPIENT)));
    },
  };
}

function earliest(freeAt: number, { burst, everyMs }: Rate): number {
  return freeAt - (burst - 1) * everyMs;
}
