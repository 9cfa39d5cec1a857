import { randomBytes, timingSafeEqual } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import type { Clock } from '../../clock.ts';
import type { OutcomeClass } from '../../db/tables/webhooks.ts';
import type { OutgoingConnections } from '../../egress/outgoing.ts';
import type { Deliver } from '../delivery/deliver.ts';
import { signedHeaders } from '../lanes/subscription.ts';
import type { Outcome } from '../queue/outcome.ts';

/** The categories that a client learns. It never learns what the callback answered. */
export type CallbackProblem =
  | 'connection_refused'
  | 'timeout'
  | 'tls_error'
  | 'http_4xx'
  | 'http_5xx'
  | 'challenge_failed';

interface Callback {
  readonly accountId: string;
  readonly subscriptionId: string;
  readonly url: string;
  readonly secret: string;
}

const TIMEOUT_MS = 10_000;
/** Of one account, so that it cannot use up what the others may ask of a host. */
const CHALLENGES_PER_MINUTE = 10;
/** Of all accounts together, to one host that did not confirm them. */
const FAILURES_PER_MINUTE = 30;
const KEPT = 10_000;
const perMinute = { max: KEPT, ttl: 60_000, noUpdateTTL: true };

/**
 * Asks the callback of a new subscription whether it wants deliveries, so that nobody can have somebody else's server
 * flooded with them.
 */
export class CallbackVerifier {
  readonly #deliver: Deliver;
  readonly #outgoing: OutgoingConnections;
  readonly #clock: Clock;
  /** Challenges of a minute, by account. */
  readonly #challenges = new LRUCache<string, number>(perMinute);
  /** Challenges of a minute that are open or were not confirmed, by host. */
  readonly #failures = new LRUCache<string, number>(perMinute);

  constructor(deliver: Deliver, outgoing: OutgoingConnections, clock: Clock) {
    this.#deliver = deliver;
    this.#outgoing = outgoing;
    this.#clock = clock;
  }

  /**
   * Returns undefined if the callback echoes the challenge.
   * @throws {AppError} `rate_limited` if the account has used up its outgoing connections
   */
  async verify(callback: Callback): Promise<CallbackProblem | 'too_many' | undefined> {
    const { host } = new URL(callback.url);
    if (!this.#mayAsk(callback.accountId, host)) return 'too_many';
    let isFailure = false;
    try {
      const problem = await this.#challenge(callback);
      isFailure = problem !== undefined;
      return problem;
    } finally {
      if (!isFailure) this.#failures.set(host, Math.max(0, (this.#failures.get(host) ?? 0) - 1));
    }
  }

  /** Tells a subscriber, in one attempt, that its subscription has ended. */
  async terminate(callback: Callback, error: object): Promise<void> {
    const body = JSON.stringify({ type: 'terminated', error });
    await this.#outgoing.use(callback.accountId, () => this.#send('terminated', callback, body));
  }

  async #challenge(callback: Callback): Promise<CallbackProblem | undefined> {
    const challenge = randomBytes(24).toString('base64url');
    const body = JSON.stringify({ type: 'verification', challenge });
    const outcome = await this.#outgoing.use(callback.accountId, () => this.#send('verification', callback, body));
    if (outcome.class === 'ok') return isEcho(outcome, challenge) ? undefined : 'challenge_failed';
    // A callback that answers at all has refused.
    return outcome.status === null ? problemOf(outcome.class) : 'challenge_failed';
  }

  #send(type: string, { subscriptionId, url, secret }: Callback, body: string): Promise<Outcome> {
    const message = { id: `msg_${type}_${randomBytes(12).toString('hex')}`, subscriptionId, now: this.#clock.now() };
    const headers = signedHeaders(message, body, { secret, previousSecret: null, previousSecretUntil: null });
    return this.#deliver.attempt({ url, headers, body, timeoutMs: TIMEOUT_MS });
  }

  #mayAsk(accountId: string, host: string): boolean {
    const asked = this.#challenges.get(accountId) ?? 0;
    const failed = this.#failures.get(host) ?? 0;
    if (asked >= CHALLENGES_PER_MINUTE || failed >= FAILURES_PER_MINUTE) return false;
    this.#challenges.set(accountId, asked + 1);
    this.#failures.set(host, failed + 1);
    return true;
  }
}

function isEcho({ response }: Outcome, challenge: string): boolean {
  const echoed = Buffer.from(challengeIn(response ?? ''));
  const expected = Buffer.from(challenge);
  return echoed.length === expected.length && timingSafeEqual(echoed, expected);
}

function challengeIn(text: string): string {
  try {
    const { challenge } = JSON.parse(text) as { challenge?: unknown };
    return typeof challenge === 'string' ? challenge : '';
  } catch {
    return '';
  }
}

/** Returns the category of a failed attempt. */
export function problemOf(kind: OutcomeClass): CallbackProblem {
  if (kind === 'timeout') return 'timeout';
  if (kind === 'tls') return 'tls_error';
  if (kind === 'server_error') return 'http_5xx';
  return isAnswer.has(kind) ? 'http_4xx' : 'connection_refused';
}

const isAnswer: ReadonlySet<OutcomeClass> = new Set(['client_error', 'gone', 'throttled', 'redirect']);
