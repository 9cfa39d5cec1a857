import { EventEmitter } from 'node:events';
import { Type } from 'typebox';
import { Compile } from 'typebox/compile';
import { AppError, isConnecting } from '../../../errors.ts';
import type { SessionHost } from '../../contract/host.ts';
import { describe, toAppError, type Verdict, verdictOf } from '../errors.ts';
import { type Graph, GraphError, NoAnswerError } from '../graph.ts';

interface MonitorEvents {
  /** The number has answered, and the session is connected. */
  answered: [];
  /** The session is closed, for good. */
  closed: [];
}

const CHECK_EVERY_MS = 5 * 60_000;
/** How many checks a number may miss before that counts as an outage. */
const MAX_MISSED_CHECKS = 3;
const RECHECK_MS = 10_000;
const MAX_BACKOFF_MS = 5 * 60_000;

/** Errors that end the session, whatever the request. */
const FATAL: ReadonlySet<Verdict> = new Set(['session']);
/** Without permission to see the number, or to send, the session is useless. Other permissions may be missing. */
export const FATAL_TO_SENDING: ReadonlySet<Verdict> = new Set(['session', 'permission']);

/** Key in the store: the id of the number that answered last. */
const ANSWERED = 'answered';
/** Meta's code for an invalid parameter. */
const WRONG_ID = 100;

const PhoneNumber = Compile(Type.Object({ display_phone_number: Type.String() }));

/**
 * Tracks whether one phone number is connected. The Cloud API has no persistent connection: a number is connected while
 * it answers, which is checked every few minutes.
 *
 * - starting: it has not answered yet. It answers → online; it does not → away. There is no such number → closed.
 * - online: it misses three checks in a row → away. Meta rejects the token, or denies it access to the number or to
 *   sending → closed.
 * - away: it is checked again, with growing delays. It answers → online.
 * - closed: for good.
 */
export class NumberMonitor extends EventEmitter<MonitorEvents> {
  readonly #host: SessionHost;
  readonly #graph: Graph;
  readonly #phoneNumberId: string;
  readonly #prepare: () => Promise<void>;
  readonly #closing = new AbortController();
  #state: 'starting' | 'online' | 'away' | 'closed' = 'starting';
  #misses = 0;
  #cancelCheck = () => {};

  /** @param prepare runs when the number has answered, before it counts as connected */
  constructor(host: SessionHost, graph: Graph, phoneNumberId: string, prepare = async () => {}) {
    super();
    this.#prepare = prepare;
    this.#host = host;
    this.#graph = graph;
    this.#phoneNumberId = phoneNumberId;
  }

  /** Checks the number for the first time. Resolves once the result has been reported to the host. */
  start(): Promise<void> {
    return this.#check();
  }

  /** Ends all waits, and closes the session without a report. */
  stop(reason?: string): void {
    if (this.isClosed) return;
    this.#state = 'closed';
    this.#cancelCheck();
    this.#closing.abort(new AppError('session_not_connected', reason));
    this.emit('closed');
  }

  get isOnline(): boolean {
    return this.#state === 'online';
  }

  get isClosed(): boolean {
    return this.#state === 'closed';
  }

  /** Aborted when the session is closed, with an `AppError` `session_not_connected`. */
  get closed(): AbortSignal {
    return this.#closing.signal;
  }

  /** @param ends errors that concern the whole session, and end it */
  async ask<T>(request: () => Promise<T>, ends = FATAL): Promise<T> {
    if (!this.isOnline) throw this.isClosed ? new AppError('session_not_connected') : isConnecting();
    try {
      return await request();
    } catch (error) {
      if (error instanceof NoAnswerError)
        throw new AppError('send_failed', 'The WhatsApp Cloud API did not answer; try again', { cause: error });
      if (!(error instanceof GraphError)) throw error;
      if (!ends.has(verdictOf(error))) throw toAppError(error);
      await this.end(error);
      throw new AppError('session_not_connected', describe(error), { cause: error });
    }
  }

  /** Closes the session, and reports it: nothing works until somebody changes the options, or something at Meta. */
  async end(error: GraphError): Promise<void> {
    if (this.isClosed) return;
    const reason = describe(error);
    this.stop(reason);
    await this.#host.onEvent({ type: 'disconnected', reason, willReconnect: false });
  }

  async #check(): Promise<void> {
    this.#cancelCheck();
    let failure: unknown = new Error('the answer has no phone number');
    const path = `${this.#phoneNumberId}?fields=display_phone_number`;
    const answer = await this.#graph.call('GET', path).catch((error: unknown) => {
      failure = error;
    });
    if (this.isClosed) return;
    try {
      if (PhoneNumber.Check(answer)) {
        await this.#onAnswer(answer.display_phone_number.replace(/\D/g, ''));
      } else await this.#onMiss(failure);
    } catch (error) {
      if (!this.isClosed) this.#host.log.error({ err: error }, 'failed to store the result of a check; trying again');
      this.#checkIn(RECHECK_MS);
    }
  }

  async #onAnswer(phoneNumber: string): Promise<void> {
    this.#misses = 0;
    if (!this.isOnline) {
      await this.#host.store.set(ANSWERED, this.#phoneNumberId);
      await this.#prepare();
      await this.#host.onEvent({ type: 'connected', phoneNumber });
      if (this.isClosed) return;
      this.#state = 'online';
    }
    this.emit('answered');
    this.#checkIn(CHECK_EVERY_MS);
  }

  async #onMiss(error: unknown): Promise<void> {
    if (error instanceof GraphError && (await this.#isEnd(error))) return this.end(error);
    this.#misses++;
    this.#host.log.warn({ err: error, misses: this.#misses }, 'Cloud API does not answer');
    const isOutage = !this.isOnline || this.#misses >= MAX_MISSED_CHECKS;
    if (isOutage && this.#state !== 'away') {
      const reason = error instanceof GraphError ? describe(error) : 'The WhatsApp Cloud API cannot be reached';
      await this.#host.onEvent({ type: 'disconnected', reason, willReconnect: true });
      if (this.isClosed) return;
      this.#state = 'away';
    }
    this.#checkIn(isOutage ? Math.min(RECHECK_MS * 2 ** (this.#misses - 1), MAX_BACKOFF_MS) : RECHECK_MS);
  }

  /** If a number never answered, its id is wrong. If it did, the error may be Meta's. */
  async #isEnd(error: GraphError): Promise<boolean> {
    if (error.code !== WRONG_ID) return FATAL_TO_SENDING.has(verdictOf(error));
    return (await this.#host.store.get(ANSWERED)) !== this.#phoneNumberId;
  }

  #checkIn(ms: number): void {
    if (!this.isClosed) this.#cancelCheck = this.#host.clock.after(ms, () => void this.#check());
  }
}
