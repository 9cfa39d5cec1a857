import type { WASocket } from 'baileys';
import { unlessAborted } from '../../../async.ts';
import type { Clock } from '../../../clock.ts';
import { AppError } from '../../../errors.ts';
import { type ErrorMessages, translateErrors } from './errors.ts';
import type { Link } from './link.ts';

/** A request will not be answered, because its socket is no longer the session's. */
export class LostSocketError extends AppError {
  constructor() {
    super(
      'session_not_connected',
      'The session has lost its connection and reconnects; check whether the change was made before you try again',
    );
  }
}

const ANSWER_MS = 20_000;
const UNANSWERED = 'WhatsApp did not answer in time; check whether the change was made before you try again';

/**
 * Requests to the server with a deadline. Baileys waits a minute and then returns an empty answer, which looks like
 * success, and it does not notice that an abandoned connection will not answer.
 */
export class Requests {
  readonly #link: Link;
  readonly #clock: Clock;
  readonly #running = new Set<AbortController>();

  constructor(link: Link, clock: Clock) {
    this.#link = link;
    this.#clock = clock;
    link.on('lost', () => {
      for (const request of this.#running) request.abort(new LostSocketError());
    });
  }

  /** Like `run` over the open socket, but with errors that the caller of the API can act on. */
  ask<T>(work: (socket: WASocket, signal: AbortSignal) => Promise<T>, messages?: ErrorMessages): Promise<T> {
    return translateErrors(async () => {
      const socket = this.#link.requireSocket();
      return this.run(socket, (signal) => work(socket, signal));
    }, messages);
  }

  /**
   * @param work receives a signal that is aborted when the request is abandoned
   * @param isWorking whether the request has made progress since the last call, which gives it the same time again
   * @throws {LostSocketError} the socket is no longer the session's
   * @throws {AppError} `send_failed` if the answer takes too long
   */
  async run<T>(
    socket: WASocket,
    work: (signal: AbortSignal) => Promise<T>,
    limitMs = ANSWER_MS,
    isWorking = () => false,
  ): Promise<T> {
    if (this.#link.newest !== socket) throw new LostSocketError();
    const request = new AbortController();
    const expire = () => {
      if (isWorking()) cancel = this.#clock.after(limitMs, expire);
      else request.abort(new AppError('send_failed', UNANSWERED));
    };
    let cancel = this.#clock.after(limitMs, expire);
    this.#running.add(request);
    try {
      const answer = work(request.signal).catch((cause: unknown) => {
        const isBroken = this.#link.newest !== socket || !socket.ws.isOpen;
        if (cause instanceof AppError || !isBroken) throw cause;
        // Baileys throws the raw WebSocket error, such as the number 1006. The link reports the loss in a moment.
        return new Promise<never>(() => {});
      });
      return await unlessAborted(request.signal, answer);
    } finally {
      cancel();
      this.#running.delete(request);
    }
  }
}
