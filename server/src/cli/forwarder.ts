import { Agent, request } from 'undici';
import { addedFields, type Include, includes } from '../events/addedFields.ts';
import { conversationOf } from '../events/conversation.ts';
import { events, isEventKind } from '../events/events.ts';
import { thrownCode, thrownMessage } from '../thrown.ts';
import { deliveryHeaders } from '../webhooks/lanes/sign.ts';
import type { FeedEvent } from './eventFeed.ts';

/** The answer of the receiver to one event. */
export interface Forwarded {
  readonly event: FeedEvent;
  readonly status: number | null;
  readonly durationMs: number;
  /** Why there was no answer. */
  readonly error: string | null;
}

interface ForwarderOptions {
  readonly url: string;
  readonly secret: string;
  /** Groups of fields to add to events. */
  readonly include: readonly Include[];
  /** Requests at a time. */
  readonly concurrency: number;
  readonly timeoutMs: number;
  readonly onForwarded: (forwarded: Forwarded) => void;
}

/** With the page that is read next, it is at most twice as much. */
const MAX_QUEUED = 100;
const ANSWER_READ_BYTES = 16 * 1024;

/**
 * Forwards events to one URL, with the body and the headers that a webhook with this secret would send. Events of one
 * conversation stay in order; those of different ones are sent at the same time.
 */
export class Forwarder {
  readonly #options: ForwarderOptions;
  readonly #agent = new Agent({ connect: { timeout: 0 } });
  readonly #queue: FeedEvent[] = [];
  /** Conversations with an event in flight. */
  readonly #busy = new Map<string, Promise<void>>();
  #changed = Promise.withResolvers<void>();
  #isStopped = false;
  #stopped: Promise<void> | undefined;

  constructor(options: ForwarderOptions) {
    this.#options = options;
  }

  /** Queues an event. Await `hasRoom` before the next ones. */
  push(event: FeedEvent): void {
    this.#queue.push(event);
    this.#next();
  }

  /** Resolves once few events are queued, or it is stopped. A slow chat holds up the others only with many events. */
  async hasRoom(): Promise<void> {
    while (this.#queue.length >= MAX_QUEUED && !this.#isStopped) await this.#changed.promise;
  }

  /** Requests in flight. */
  get inFlight(): number {
    return this.#busy.size;
  }

  /** Drops the queue, and resolves once the requests in flight have ended. */
  stop(): Promise<void> {
    this.#stopped ??= this.#stop();
    return this.#stopped;
  }

  async #stop(): Promise<void> {
    this.#isStopped = true;
    this.#queue.length = 0;
    this.#wake();
    await Promise.all(this.#busy.values());
    await this.#agent.close();
  }

  #next(): void {
    while (this.#busy.size < this.#options.concurrency) {
      const index = this.#queue.findIndex((event) => !this.#busy.has(conversationOf(event.data)));
      const [event] = index === -1 ? [] : this.#queue.splice(index, 1);
      if (event === undefined) return;
      const conversation = conversationOf(event.data);
      const sending = this.#forward(event).then((forwarded) => {
        this.#busy.delete(conversation);
        this.#options.onForwarded(forwarded);
        this.#next();
        this.#wake();
      });
      this.#busy.set(conversation, sending);
    }
  }

  #wake(): void {
    this.#changed.resolve();
    this.#changed = Promise.withResolvers();
  }

  async #forward(event: FeedEvent): Promise<Forwarded> {
    const { url, secret, include, timeoutMs } = this.#options;
    const startedAt = performance.now();
    const body = bodyOf(event, include);
    const attempt = {
      kind: event.event,
      eventId: event.eventId,
      attempt: 1,
      isTest: false,
      sequence: event.sequence,
      now: Date.now(),
    };
    const headers = deliveryHeaders(attempt, body, {
      secret,
      previousSecret: null,
      previousSecretUntil: null,
      headers: {},
    });
    const ended = (status: number | null, error: string | null): Forwarded => ({
      event,
      status,
      durationMs: Math.round(performance.now() - startedAt),
      error,
    });
    const deadline = AbortSignal.timeout(timeoutMs);
    try {
      const answer = await request(url, { method: 'POST', headers, body, dispatcher: this.#agent, signal: deadline });
      await answer.body.dump({ limit: ANSWER_READ_BYTES, signal: deadline }).catch(() => {}); // the status counts
      return ended(answer.statusCode, null);
    } catch (error) {
      return ended(null, deadline.aborted ? `no answer within ${timeoutMs / 1000} s` : reasonOf(error, url));
    }
  }
}

/** The body that a webhook with these groups of fields gets: the log has all of them. */
export function bodyOf({ event, data }: Pick<FeedEvent, 'event' | 'data'>, include: readonly Include[]): string {
  const own = isEventKind(event) ? Object.keys(events[event].data.properties) : [];
  const unwanted = new Set(
    includes.filter((group) => !include.includes(group)).flatMap((g) => Object.keys(addedFields[g])),
  );
  for (const name of own) unwanted.delete(name);
  return JSON.stringify({
    event,
    data: Object.fromEntries(Object.entries(data).filter(([name]) => !unwanted.has(name))),
  });
}

function reasonOf(error: unknown, url: string): string {
  const code = thrownCode(error);
  const { host } = new URL(url);
  if (code === 'ECONNREFUSED') return `nothing listens on ${host}`;
  if (code === 'UND_ERR_SOCKET' || code === 'ECONNRESET') return `${host} closed the connection without an answer`;
  return code || thrownMessage(error);
}
