import { setTimeout as delay } from 'node:timers/promises';
import type { Received, Receiver } from '../test/support/connections/receiver.ts';
import { type Answer, bearer, callerOf } from '../test/support/server.ts';
import type { Arrival, Call, History } from './history.ts';
import { randomFrom, SEED } from './settings.ts';

const ACCOUNTS = 2;
const SESSIONS = 3;
/** Between two messages of a conversation. Failures come from faults, not from load. */
const PAUSE_MS = 40;
const REPEAT_MS = 150;
/** Share of the requests that the receiver refuses with 503. */
const REFUSED = 0.05;
/** How long one request may take before it is aborted and repeated. */
const REQUEST_MS = 40_000;
/** Statuses after which a retry may succeed. */
const REPEATED = new Set(['idempotency_in_flight', 'session_not_connected']);

export const EVENTS = ['message.sent', 'message.delivered', 'message.incoming'] as const;

interface Session {
  readonly sessionId: string;
  readonly phoneNumber: string;
}

/**
 * Sends in many conversations concurrently, to any server, and records calls and acknowledgements. The receiver refuses
 * some of the deliveries.
 */
export class Load {
  readonly #urls: () => readonly string[];
  readonly #receiver: Receiver;
  readonly #name: string;
  readonly #calls: Call[] = [];
  readonly #unexpected: string[] = [];
  readonly #refused = new Set<Received>();
  #workers: Promise<void>[] = [];
  #accounts: { token: string; sessions: readonly Session[] }[] = [];
  #isRunning = false;

  /**
   * @param urls the current servers
   * @param name distinguishes the accounts of several loads on the same servers
   */
  constructor(urls: () => readonly string[], receiver: Receiver, name = 'soak') {
    this.#urls = urls;
    this.#receiver = receiver;
    this.#name = name;
    const random = randomFrom(SEED);
    receiver.respond((received, response) => {
      const isRefused = random() < REFUSED;
      if (isRefused) this.#refused.add(received);
      response.writeHead(isRefused ? 503 : 200).end();
    });
  }

  /** Registers accounts with sessions, whose numbers begin with `prefix`, and a webhook. */
  async prepare(prefix = '4917'): Promise<void> {
    const [url = ''] = this.#urls();
    for (let a = 0; a < ACCOUNTS; a++) {
      const credentials = { email: `${this.#name}${a}@example.com`, password: 'a passphrase that nobody guesses' };
      const { body } = await callerOf(url, {})('POST', '/auth/register', credentials);
      const call = bearer(url, body.token);
      await call('POST', '/webhooks/set', {
        webhookUrl: this.#receiver.url,
        events: EVENTS,
        secret: 'a soak secret 16',
      });
      const sessions: Session[] = [];
      for (let s = 0; s < SESSIONS; s++) {
        const phoneNumber = `${prefix}${a}0000000${s}`;
        const { sessionId } = (await call('POST', '/sessions', { phoneNumber })).body;
        const connected = await call('POST', `/sessions/${sessionId}/connect`);
        if (connected.body.status !== 'connected') throw new Error(JSON.stringify(connected.body));
        sessions.push({ sessionId, phoneNumber });
      }
      this.#accounts.push({ token: body.token, sessions });
    }
  }

  /** Each session writes to an outside number and to the next session of its account. */
  start(): void {
    this.#isRunning = true;
    this.#workers = this.#accounts.flatMap(({ token, sessions }) =>
      sessions.flatMap(({ sessionId }, s) => {
        const next = sessions[(s + 1) % sessions.length]?.phoneNumber ?? '';
        return [next, `49309000000${s}`].map((to) => this.#converse(token, sessionId, to, to === next));
      }),
    );
  }

  /** Resolves once every conversation has its last response. */
  async stop(): Promise<void> {
    this.#isRunning = false;
    await Promise.all(this.#workers);
  }

  /** The events that follow a message of a conversation. */
  static eventsOf(conversation: string): readonly string[] {
    return conversation.startsWith('inside') ? EVENTS : ['message.sent', 'message.delivered'];
  }

  async history(): Promise<History> {
    const texts = new Map(this.#calls.map(({ acknowledgement, text }) => [acknowledgement?.messageId ?? '', text]));
    const arrivals: Arrival[] = [];
    for (const received of this.#receiver.deliveries) {
      const { id, event, attempt, parsed, at } = received;
      const { messageId, message, sessionId } = parsed.data;
      // A message id that no response returned may be a duplicate of an acknowledged send.
      if (event !== 'message.incoming' && !texts.has(messageId))
        texts.set(messageId, await this.#textOf(sessionId, messageId));
      const text = event === 'message.incoming' ? message : (texts.get(messageId) ?? messageId);
      const isAccepted = !this.#refused.has(received);
      arrivals.push({ eventId: id, event, messageId, text, attempt, isAccepted, at });
    }
    return { calls: this.#calls, arrivals };
  }

  async #textOf(sessionId: string, messageId: string): Promise<string> {
    const account = this.#accounts.find(({ sessions }) => sessions.some((session) => session.sessionId === sessionId));
    const { status, body } = await bearer(this.#urls()[0] ?? '', account?.token ?? '')('GET', `/messages/${messageId}`);
    if (status !== 200) throw new Error(`an event names ${messageId}, which cannot be read: ${JSON.stringify(body)}`);
    return body.message;
  }

  /** Deliveries that the servers gave up. There must be none: the receiver refuses only some attempts. */
  async failed(): Promise<readonly Answer['body'][]> {
    const [url = ''] = this.#urls();
    const lists = this.#accounts.map(({ token }) => bearer(url, token)('GET', '/webhooks/deliveries?states=failed'));
    return (await Promise.all(lists)).flatMap(({ body }) => body.data);
  }

  /** Responses that no fault explains. */
  get unexpected(): readonly string[] {
    return this.#unexpected;
  }

  async #converse(token: string, sessionId: string, to: string, isInside: boolean): Promise<void> {
    const conversation = `${isInside ? 'inside' : 'outside'} ${sessionId} ${to}`;
    for (let n = 0; this.#isRunning; n++) {
      const text = `${conversation} ${n}`;
      const askedAt = Date.now();
      const answer = await this.#insist(token, { sessionId, to, message: text });
      const acknowledgement = answer && { messageId: String(answer.body.messageId), at: Date.now() };
      this.#calls.push({ conversation, text, askedAt, acknowledgement });
      await delay(PAUSE_MS);
    }
  }

  /** Repeats under one idempotency key until a node acknowledges. */
  async #insist(
    token: string,
    body: { readonly sessionId: string; readonly to: string; readonly message: string },
  ): Promise<Answer | undefined> {
    for (;;) {
      const urls = this.#urls();
      const url = urls[Math.floor(Math.random() * urls.length)] ?? '';
      const request = bearer(url, token)('POST', '/messages/send', body, { 'idempotency-key': body.message });
      // A node that is gone or paused does not respond.
      const answer = await Promise.race([request.catch(() => undefined), delay(REQUEST_MS, undefined, { ref: false })]);
      if (answer?.status === 201) return answer;
      if (answer !== undefined && answer.status !== 503 && !REPEATED.has(answer.body.code)) {
        this.#unexpected.push(`${answer.status} ${JSON.stringify(answer.body)}`);
        return undefined;
      }
      if (!this.#isRunning) return undefined;
      await delay(REPEAT_MS);
    }
  }
}
