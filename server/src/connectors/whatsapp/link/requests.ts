import type { WASocket } from 'baileys';
import type { Clock } from '../../../clock.ts';
import { AppError } from '../../../errors.ts';
import { boomOf } from './link.ts';

/**
 * Questions to the server, each with an end. Baileys waits a minute and then takes no answer for an empty one, which
 * looks like a yes; and of a connection that was given up it does not notice that there will be none.
 */
export interface Asking {
  /**
   * Waits for what is asked over this socket.
   * @param work gets a signal that is aborted when nobody waits any more
   * @throws {LostSocketError} the socket is no longer the session's
   * @throws {AppError} `send_failed` when it takes too long
   */
  inTime<T>(socket: WASocket, work: (signal: AbortSignal) => Promise<T>, limitMs?: number): Promise<T>;
  /** The session has lost its socket: what was asked over it will not be answered. */
  onLost(): void;
}

/** What was asked will not be answered, for its socket is no longer the session's. */
export class LostSocketError extends AppError {
  constructor() {
    super('session_not_connected');
  }
}

const ANSWER_MS = 20_000;

/** @param newest the socket that the session has now, open or not */
export function createAsking(newest: () => WASocket | undefined, clock: Clock): Asking {
  const waiting = new Set<(why: AppError) => void>();

  return {
    async inTime(socket, work, limitMs = ANSWER_MS) {
      if (newest() !== socket) throw new LostSocketError();
      const stop = new AbortController();
      const { promise: givenUp, reject } = Promise.withResolvers<never>();
      const giveUp = (why: AppError) => {
        reject(why);
        stop.abort();
      };
      const cancel = clock.after(limitMs, () =>
        giveUp(
          new AppError(
            'send_failed',
            'WhatsApp did not answer in time; check whether the change was made before you try again',
          ),
        ),
      );
      waiting.add(giveUp);
      const answer = work(stop.signal).catch((cause: unknown) => {
        const isBroken = newest() !== socket || !socket.ws.isOpen;
        if (cause instanceof AppError || !isBroken) throw cause;
        // Baileys throws whatever the WebSocket has said of it, such as the number 1006. The session knows in a moment.
        return givenUp;
      });
      return Promise.race([answer, givenUp]).finally(() => {
        cancel();
        waiting.delete(giveUp);
      });
    },
    onLost() {
      for (const giveUp of waiting) giveUp(new LostSocketError());
    },
  };
}

/**
 * Asks the server, and says in our words what it says no with.
 * @param missing what to say when that which was asked for is not there
 * @param forbidden what to say when the session may not
 */
export async function asked<T>(
  ask: () => Promise<T>,
  missing?: string,
  forbidden = 'Only an admin of the group can do this',
): Promise<T> {
  try {
    return await ask();
  } catch (cause) {
    if (cause instanceof AppError) throw cause;
    switch (boomOf(cause).statusCode) {
      case 401:
      case 403:
        throw new AppError('network_denied', forbidden, { cause });
      case 404:
      case 410:
        throw new AppError('not_found', missing ?? 'The group does not exist on WhatsApp', { cause });
      case 406:
        // Of what is made or changed it says that this cannot be; of what is looked up, that it is not there.
        if (missing !== undefined) throw new AppError('not_found', missing, { cause });
        throw new AppError('send_failed', 'WhatsApp did not accept the request', { cause });
      case 428:
        throw new AppError('session_not_connected', undefined, { cause });
      case 429:
        throw new AppError('rate_limited', 'WhatsApp limits the requests of this session; wait before the next one', {
          cause,
          retryAfterSeconds: 60,
        });
      default: {
        const words = cause instanceof Error ? cause.message : String(cause);
        throw new AppError('send_failed', `WhatsApp did not accept the request: ${words}`, { cause });
      }
    }
  }
}
