import type { Outcome } from '../queue/outcome.ts';
import type { AttemptRequest } from './attempt.ts';
import type { Deliver, Stage } from './deliver.ts';
import type { Flights } from './flights.ts';

/** Marks the webhooks whose attempts at a broker are in flight. */
export class MarkedDeliver implements Deliver {
  readonly #deliver: Deliver;
  readonly #flights: Flights;

  constructor(deliver: Deliver, flights: Flights) {
    this.#deliver = deliver;
    this.#flights = flights;
  }

  async attempt(request: AttemptRequest): Promise<Outcome> {
    const webhookId = request.broker?.webhookId;
    if (webhookId === undefined) return this.#deliver.attempt(request);
    const startedAt = performance.now();
    try {
      return await this.#flights.run(webhookId, () => this.#deliver.attempt(request));
    } catch {
      return notMarked(startedAt);
    }
  }

  probe(request: AttemptRequest): Promise<{ outcome: Outcome; stages: readonly Stage[] }> {
    return this.#deliver.probe(request);
  }

  close(): Promise<void> {
    return this.#deliver.close();
  }
}

/** Retried soon, like another shortage of this server. */
function notMarked(startedAt: number): Outcome {
  return {
    class: 'no_socket',
    status: null,
    durationMs: Math.round(performance.now() - startedAt),
    message: 'This server could not store that it was about to send: nothing was contacted',
    response: null,
    retryAfterMs: null,
  };
}
