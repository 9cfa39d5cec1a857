import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import { PATIENCE_MS } from '../eventually.ts';
import { portOf } from './listening.ts';

/** A received request. */
export interface Received {
  /** `X-Webhook-Id`. */
  readonly id: string;
  readonly event: string;
  readonly attempt: number;
  readonly headers: IncomingHttpHeaders;
  /** The raw body. */
  readonly body: string;
  // biome-ignore lint/suspicious/noExplicitAny: tests look into payloads of every kind
  readonly parsed: any;
  readonly at: number;
}

/** Retries of a webhook, in seconds: soon at first, and more than a busy machine can use up. */
export const MANY_RETRIES = [1, 2, 3, ...Array<number>(17).fill(5)];

export type Respond = (received: Received, response: ServerResponse) => void;

export interface Receiver {
  readonly url: string;
  readonly deliveries: readonly Received[];
  /** The largest number of concurrently open requests. */
  readonly maxInFlight: number;
  /** Sets the response to requests from now on. A status alone means an empty response. */
  respond(answer: Respond | number): void;
  /** Resolves once `deliveries` satisfy the condition, or reach that number. */
  waitFor(
    condition: number | ((deliveries: readonly Received[]) => boolean),
    options?: { timeoutMs?: number },
  ): Promise<void>;
  close(): Promise<void>;
}

function parse(body: string): unknown {
  try {
    return JSON.parse(body);
  } catch {
    return undefined;
  }
}

/** A webhook receiver that records its requests. */
export async function startReceiver({ port = 0 }: { port?: number } = {}): Promise<Receiver> {
  const deliveries: Received[] = [];
  const waiting = new Set<() => void>();
  let answer: Respond = (_, response) => response.writeHead(200).end();
  let inFlight = 0;
  let maxInFlight = 0;

  const server = createServer((request, response) => {
    inFlight++;
    maxInFlight = Math.max(maxInFlight, inFlight);
    response.on('close', () => inFlight--);
    const chunks: Buffer[] = [];
    request.on('data', (chunk) => chunks.push(chunk));
    request.on('end', () => {
      const body = Buffer.concat(chunks).toString();
      const { headers } = request;
      const received: Received = {
        id: String(headers['x-webhook-id'] ?? ''),
        event: String(headers['x-webhook-event'] ?? ''),
        attempt: Number(headers['x-webhook-attempt'] ?? 0),
        headers,
        body,
        parsed: parse(body),
        at: Date.now(),
      };
      deliveries.push(received);
      answer(received, response);
      for (const check of waiting) check();
    });
  });
  server.keepAliveTimeout = 0; // the sender closes idle connections
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));

  return {
    url: `http://127.0.0.1:${portOf(server)}/hook`,
    deliveries,
    get maxInFlight() {
      return maxInFlight;
    },
    respond(next) {
      answer = typeof next === 'number' ? (_, response) => response.writeHead(next).end() : next;
    },
    waitFor(condition, { timeoutMs = PATIENCE_MS } = {}) {
      const isMet = () => (typeof condition === 'number' ? deliveries.length >= condition : condition(deliveries));
      return new Promise((resolve, reject) => {
        const check = () => {
          if (!isMet()) return;
          clearTimeout(timer);
          waiting.delete(check);
          resolve();
        };
        const timer = setTimeout(() => {
          waiting.delete(check);
          const seen = deliveries.map(({ event, attempt }) => `${event}#${attempt}`).slice(-20);
          reject(new Error(`not received within ${timeoutMs} ms; got ${deliveries.length}: ${seen.join(', ')}`));
        }, timeoutMs);
        waiting.add(check);
        check();
      });
    },
    close() {
      server.closeAllConnections();
      return new Promise((resolve) => server.close(() => resolve()));
    },
  };
}
