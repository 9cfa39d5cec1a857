import { thrownCode, thrownError } from '../../thrown.ts';
import type { Outcome } from '../queue/outcome.ts';
import type { AttemptRequest } from './attempt.ts';
import type { Deliver, Stage } from './deliver.ts';

/** Delivers over HTTP or to a broker, as each attempt says. The brokers' part is loaded with the first one of those. */
export class AnyDeliver implements Deliver {
  readonly #http: Deliver;
  readonly #loadBrokers: () => Promise<Deliver>;
  #brokers: Promise<Deliver> | undefined;

  constructor(http: Deliver, loadBrokers: () => Promise<Deliver>) {
    this.#http = http;
    this.#loadBrokers = loadBrokers;
  }

  async attempt(request: AttemptRequest): Promise<Outcome> {
    if (request.broker === undefined) return this.#http.attempt(request);
    const startedAt = performance.now();
    const brokers = await this.#load();
    return brokers instanceof Error ? notLoaded(brokers, startedAt) : brokers.attempt(request);
  }

  async probe(request: AttemptRequest): Promise<{ outcome: Outcome; stages: readonly Stage[] }> {
    if (request.broker === undefined) return this.#http.probe(request);
    const startedAt = performance.now();
    const brokers = await this.#load();
    return brokers instanceof Error ? { outcome: notLoaded(brokers, startedAt), stages: [] } : brokers.probe(request);
  }

  async close(): Promise<void> {
    await this.#http.close();
    await (await this.#brokers?.catch(() => undefined))?.close();
  }

  /** Returns the error of a failed load, such as too many open files. The next attempt loads again. */
  async #load(): Promise<Deliver | Error> {
    this.#brokers ??= this.#loadBrokers();
    const loading = this.#brokers;
    try {
      return await loading;
    } catch (error) {
      if (this.#brokers === loading) this.#brokers = undefined;
      return thrownError(error);
    }
  }
}

function notLoaded(error: Error, startedAt: number): Outcome {
  return {
    class: 'no_socket',
    status: null,
    durationMs: Math.round(performance.now() - startedAt),
    message: `This server could not load its clients of brokers (${thrownCode(error) || error.name}): nothing was contacted`,
    response: null,
    retryAfterMs: null,
  };
}
