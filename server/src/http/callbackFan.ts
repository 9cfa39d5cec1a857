import type { Clock } from '../clock.ts';
import type { CallbackAnswer, CallbackRequest } from '../connectors/connector.ts';
import type { Log } from '../log.ts';
import type { SessionRef } from '../messages/store.ts';
import type { Metrics } from '../metrics.ts';
import type { Sessions } from '../sessions/sessions.ts';

interface Options {
  readonly sessions: Pick<Sessions, 'find'>;
  readonly log: Log;
  readonly metrics: Pick<Metrics, 'strangerCallbacks'>;
  readonly clock: Clock;
}

/** Passes a call to a session, wherever it is connected. */
type PassTo = (session: SessionRef, callback: CallbackRequest) => Promise<CallbackAnswer>;

const WARN_EVERY_MS = 60_000;

/**
 * Passes a network's call on to the other sessions that it concerns. The network repeats a call until all of them have
 * stored it; a repeated part changes nothing.
 */
export class CallbackFan {
  readonly #options: Options;
  readonly #passTo: PassTo;
  #strangers = 0;
  #warnedAt = Number.NEGATIVE_INFINITY;

  constructor(options: Options, passTo: PassTo) {
    this.#options = options;
    this.#passTo = passTo;
  }

  async passOn(callback: CallbackRequest, answer: CallbackAnswer): Promise<CallbackAnswer> {
    const { passOnTo = [], strangers = 0, ...own } = answer;
    if (strangers > 0) this.#noteStrangers(strangers);
    if (callback.isPassedOn === true) return own;
    let { status } = own;
    for (const sessionId of passOnTo) {
      const isStored = await this.#deliver(sessionId, callback);
      if (!isStored && status < 300) status = 500;
    }
    return { ...own, status };
  }

  async #deliver(sessionId: string, callback: CallbackRequest): Promise<boolean> {
    try {
      const session = await this.#options.sessions.find(sessionId);
      const { status } = await this.#passTo(session, { ...callback, isPassedOn: true });
      return status < 300;
    } catch (error) {
      this.#options.log.warn(
        { err: error, session: sessionId },
        'failed to pass on a callback; the network repeats it',
      );
      return false;
    }
  }

  /** Anybody with an app at the network can send such calls, so they are counted and rarely logged. */
  #noteStrangers(count: number): void {
    const { log, metrics, clock } = this.#options;
    metrics.strangerCallbacks.inc(count);
    this.#strangers += count;
    const now = clock.elapsed();
    if (now - this.#warnedAt < WARN_EVERY_MS) return;
    log.warn({ parts: this.#strangers }, 'ignored callbacks for numbers that no session has');
    this.#strangers = 0;
    this.#warnedAt = now;
  }
}
