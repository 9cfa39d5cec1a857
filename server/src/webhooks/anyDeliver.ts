import type { AttemptRequest } from './attempt.ts';
import type { Deliver, Stage } from './deliver.ts';
import type { Outcome } from './outcome.ts';

/** Delivers over HTTP or to a broker, as each attempt says. The brokers' part is loaded with the first one of those. */
export class AnyDeliver implements Deliver {
  readonly #http: Deliver;
  readonly #loadBrokers: () => Promise<Deliver>;
  #brokers: Promise<Deliver> | undefined;

  constructor(http: Deliver, loadBrokers: () => Promise<Deliver>) {
    this.#http = http;
    this.#loadBrokers = loadBrokers;
  }

  attempt(request: AttemptRequest): Promise<Outcome> {
    if (request.broker === undefined) return this.#http.attempt(request);
    return this.#useBrokers((brokers) => brokers.attempt(request));
  }

  probe(request: AttemptRequest): Promise<{ outcome: Outcome; stages: readonly Stage[] }> {
    if (request.broker === undefined) return this.#http.probe(request);
    return this.#useBrokers((brokers) => brokers.probe(request));
  }

  async close(): Promise<void> {
    await this.#http.close();
    await (await this.#brokers?.catch(() => undefined))?.close();
  }

  async #useBrokers<T>(use: (brokers: Deliver) => Promise<T>): Promise<T> {
    this.#brokers ??= this.#loadBrokers();
    return use(await this.#brokers);
  }
}
