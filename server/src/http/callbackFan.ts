import type { Clock } from '../clock.ts';
import type { CallbackAnswer, CallbackRequest } from '../connectors/contract/callbacks.ts';
import { AppError } from '../errors.ts';
import type { Log } from '../log.ts';
import type { SessionRef } from '../messages/store.ts';
import type { Metrics } from '../metrics.ts';
import type { Sessions } from '../sessions/sessions.ts';

interface Options {
  readonly sessions: Pick<Sessions, 'find'>;
  readonly log: Log;
  readonly metrics: Pick<Metrics, 'unmatchedCallbacks'>;
  readonly clock: Clock;
}

/** Passes a call to a session, wherever it is connected. */
type PassTo = (session: SessionRef, callback: CallbackRequest) => Promise<CallbackAnswer>;

/** The session is not connected, or was deleted. */
const NOT_CONNECTED: ReadonlySet<number> = new Set([409, 404]);
const WARN_EVERY_MS = 60_000;

/**
 * Passes a network's call on to the other sessions that it concerns. The network repeats a call until all of them have
 * stored it, except sessions that it was only offered to and that are not connected: one number that is switched off
 * must not hold up its whole business. A repeated part changes nothing.
 */
export class CallbackFan {
  readonly #options: Options;
  readonly #passTo: PassTo;
  #unmatched = 0;
  #warnedAt = Number.NEGATIVE_INFINITY;

  constructor(options: Options, passTo: PassTo) {
    this.#options = options;
    this.#passTo = passTo;
  }

  async passOn(callback: CallbackRequest, answer: CallbackAnswer): Promise<CallbackAnswer> {
    const { passOnTo = [], offerTo = [], unmatched = 0, ...own } = answer;
    if (unmatched > 0) this.#noteUnmatched(unmatched);
    if (callback.isPassedOn === true) return own;
    let { status } = own;
    for (const sessionId of [...passOnTo, ...offerTo]) {
      const found = await this.#deliver(sessionId, callback);
      const isDone = found < 300 || (NOT_CONNECTED.has(found) && offerTo.includes(sessionId));
      if (!isDone && status < 300) status = 500;
    }
    return { ...own, status };
  }

  /** Returns the status of the answer. */
  async #deliver(sessionId: string, callback: CallbackRequest): Promise<number> {
    try {
      const session = await this.#options.sessions.find(sessionId);
      return (await this.#passTo(session, { ...callback, isPassedOn: true })).status;
    } catch (error) {
      if (error instanceof AppError && NOT_CONNECTED.has(error.status)) return error.status;
      this.#options.log.warn(
        { err: error, session: sessionId },
        'failed to pass on a callback; the network repeats it',
      );
      return 500;
    }
  }

  /** Anybody with an app at the network can send such calls, so they are counted and rarely logged. */
  #noteUnmatched(count: number): void {
    const { log, metrics, clock } = this.#options;
    metrics.unmatchedCallbacks.inc(count);
    this.#unmatched += count;
    const now = clock.elapsed();
    if (now - this.#warnedAt < WARN_EVERY_MS) return;
    log.warn({ parts: this.#unmatched }, 'ignored callbacks for numbers that no session has');
    this.#unmatched = 0;
    this.#warnedAt = now;
  }
}
