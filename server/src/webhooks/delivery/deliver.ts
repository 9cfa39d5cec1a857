import { LRUCache } from 'lru-cache';
import type { Clock } from '../../clock.ts';
import { checkUrl, type TargetPolicy, type Verdict } from '../../egress/target.ts';
import type { Outcome } from '../queue/outcome.ts';
import { Attempt, type AttemptRequest } from './attempt.ts';
import { ReceiverConnections } from './connections.ts';

export interface Deliver {
  /** Makes one attempt. Never rejects: whatever happens is an outcome. */
  attempt(request: AttemptRequest): Promise<Outcome>;
  /** Makes one attempt on a new connection, and also returns its stages. */
  probe(request: AttemptRequest): Promise<{ outcome: Outcome; stages: readonly Stage[] }>;
  /** Ends the attempts in flight as `unknown_outcome` and closes the connections. */
  close(): Promise<void>;
}

/**
 * A step of an attempt. `http` over HTTP; `login` and `publish` at a broker. `skipped`: there was nothing to do, or the
 * step was not reached.
 */
export interface Stage {
  readonly stage: 'url' | 'dns' | 'connect' | 'tls' | 'http' | 'login' | 'publish';
  readonly result: 'ok' | 'failed' | 'skipped';
  readonly ms: number | null;
}

const VERDICTS_KEPT = 1000;

/**
 * Makes delivery attempts over HTTP: one overall deadline, no redirects, at most 16 KiB of the response read, only
 * vetted addresses dialed, connections kept alive per origin.
 */
export class HttpDeliver implements Deliver {
  readonly #policy: TargetPolicy;
  readonly #timeoutMs: number;
  readonly #clock: Clock;
  readonly #connections: ReceiverConnections;
  readonly #inFlight = new Set<Attempt>();
  // The verdict on a URL's text never changes; the address of its name is vetted when it is dialed.
  readonly #verdicts = new LRUCache<string, Verdict>({ max: VERDICTS_KEPT });

  constructor(options: { policy: TargetPolicy; timeoutMs: number; maxSockets: number; clock: Clock }) {
    this.#policy = options.policy;
    this.#timeoutMs = options.timeoutMs;
    this.#clock = options.clock;
    this.#connections = new ReceiverConnections(options.policy, options.timeoutMs, options.maxSockets);
  }

  attempt(request: AttemptRequest): Promise<Outcome> {
    return this.#run(request);
  }

  async probe(request: AttemptRequest): Promise<{ outcome: Outcome; stages: readonly Stage[] }> {
    const startedAt = performance.now();
    const moments = new Map<string, number>();
    const outcome = await this.#run(request, moments);
    return { outcome, stages: stagesOf(request.url, outcome, startedAt, moments) };
  }

  async close(): Promise<void> {
    for (const attempt of this.#inFlight) attempt.abort('The server stopped before the answer arrived');
    await this.#connections.close();
  }

  async #run(request: AttemptRequest, moments?: Map<string, number>): Promise<Outcome> {
    // A literal address is dialed without a lookup, so it is vetted here, before every attempt.
    const verdict = this.#vet(request.url);
    if (!verdict.ok) {
      const { message } = verdict;
      return { class: 'blocked_address', status: null, durationMs: 0, message, response: null, retryAfterMs: null };
    }
    const attempt = new Attempt(
      request,
      verdict.url,
      this.#connections,
      request.timeoutMs ?? this.#timeoutMs,
      this.#clock,
    );
    this.#inFlight.add(attempt);
    const outcome = await attempt.run(moments);
    this.#inFlight.delete(attempt);
    return outcome;
  }

  #vet(url: string): Verdict {
    let verdict = this.#verdicts.get(url);
    if (verdict === undefined) {
      verdict = checkUrl(url, this.#policy);
      this.#verdicts.set(url, verdict);
    }
    return verdict;
  }
}

function stagesOf(url: string, outcome: Outcome, startedAt: number, moments: ReadonlyMap<string, number>): Stage[] {
  const { protocol = '' } = URL.canParse(url) ? new URL(url) : {};
  const endedAt = startedAt + outcome.durationMs;
  return toStages(outcome, startedAt, [
    ...connectionSteps(url, protocol === 'https:', outcome, startedAt, moments),
    { stage: 'http', at: outcome.status === null ? undefined : endedAt, applies: true },
  ]);
}

/** A step of an attempt, and when it was completed; undefined if it was not. */
export interface Step {
  readonly stage: Stage['stage'];
  readonly at: number | undefined;
  readonly applies: boolean;
}

/** The steps until a connection is open, from the moments at which its socket reached them. */
export function connectionSteps(
  url: string,
  isSecure: boolean,
  outcome: Outcome,
  startedAt: number,
  moments: ReadonlyMap<string, number>,
): Step[] {
  const { hostname = '' } = URL.canParse(url) ? new URL(url) : {};
  const isLiteral = /^[\d.]+$|^\[/.test(hostname);
  return [
    { stage: 'url', at: outcome.class === 'blocked_address' ? undefined : startedAt, applies: true },
    { stage: 'dns', at: outcome.class === 'dns' ? undefined : moments.get('lookup'), applies: !isLiteral },
    { stage: 'connect', at: moments.get('connect'), applies: true },
    { stage: 'tls', at: moments.get('secureConnect'), applies: isSecure },
  ];
}

/** The last step has failed unless the outcome is `ok`. */
export function toStages(outcome: Outcome, startedAt: number, steps: readonly Step[]): Stage[] {
  const endedAt = startedAt + outcome.durationMs;
  let since = startedAt;
  let hasFailed = false;
  return steps.map(({ stage, at, applies }, index): Stage => {
    if (!applies || hasFailed) return { stage, result: 'skipped', ms: null };
    const ms = Math.max(0, Math.round((at ?? endedAt) - since));
    since = at ?? endedAt;
    hasFailed = at === undefined || (index === steps.length - 1 && outcome.class !== 'ok');
    return { stage, result: hasFailed ? 'failed' : 'ok', ms };
  });
}
