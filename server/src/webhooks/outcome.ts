/**
 * What an attempt can come to. `retry`: by the schedule; `held` keeps it pending without using up a step; `none` is
 * the end. `breaker`: how the circuit breaker counts it.
 */
export const outcomeClasses = {
  ok: { retry: 'none', breaker: 'success', meaning: 'answered 2xx' },
  redirect: { retry: 'schedule', breaker: 'failure', meaning: 'answered 3xx; redirects are not followed' },
  client_error: { retry: 'schedule', breaker: 'failure', meaning: 'answered 4xx' },
  gone: { retry: 'held', breaker: 'opens', meaning: 'answered 410: it accepts no more deliveries' },
  throttled: { retry: 'schedule', breaker: 'none', meaning: 'answered 429: too many deliveries at once' },
  server_error: { retry: 'schedule', breaker: 'failure', meaning: 'answered 5xx' },
  timeout: { retry: 'schedule', breaker: 'failure', meaning: 'did not answer within the deadline' },
  dns: {
    retry: 'schedule',
    breaker: 'failure',
    meaning: 'its host name does not resolve to an address that webhooks may reach',
  },
  connect: { retry: 'schedule', breaker: 'failure', meaning: 'refused the connection or did not accept it in time' },
  tls: { retry: 'schedule', breaker: 'failure', meaning: 'its TLS certificate is invalid or the TLS handshake failed' },
  reset: { retry: 'schedule', breaker: 'failure', meaning: 'closed the connection before it answered' },
  protocol: { retry: 'schedule', breaker: 'failure', meaning: 'did not answer with valid HTTP' },
  blocked_address: {
    retry: 'held',
    breaker: 'opens',
    meaning: 'its address is one that webhooks may not reach',
  },
  no_socket: {
    retry: 'schedule',
    breaker: 'none',
    meaning: 'was not contacted because this server had no free socket',
  },
  unknown_outcome: { retry: 'schedule', breaker: 'none', meaning: 'this server stopped before the answer arrived' },
} as const satisfies Record<
  string,
  { retry: 'none' | 'schedule' | 'held'; breaker: 'success' | 'failure' | 'opens' | 'none'; meaning: string }
>;

export type OutcomeClass = keyof typeof outcomeClasses;

/** What one attempt came to. A value: nothing that a receiver does is an exception. */
export interface Outcome {
  readonly class: OutcomeClass;
  /** HTTP status, when there was an answer. */
  readonly status: number | null;
  readonly durationMs: number;
  /** One sentence for a person. */
  readonly message: string;
  /** Up to 1 KiB of the answer, control characters escaped. */
  readonly response: string | null;
  /** What the receiver asked for by `Retry-After`, 1 s to 1 h. */
  readonly retryAfterMs: number | null;
}
