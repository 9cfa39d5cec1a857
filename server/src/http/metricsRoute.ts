import { createHash, timingSafeEqual } from 'node:crypto';
import Fastify, { type FastifyInstance } from 'fastify';
import { AppError, toProblem } from '../errors.ts';

interface Rendered {
  readonly contentType: string;
  readonly text: string;
}

export interface MetricsOptions {
  /** Returns the metrics in the format of Prometheus. */
  readonly read: () => Promise<Rendered>;
  /** Bearer token that requests need; empty if they need none. */
  readonly token: string;
  /** Port that serves nothing but metrics; undefined to serve them with everything else. */
  readonly port: number | undefined;
  readonly host: string;
  /** Whether other machines can reach the server. */
  readonly isReachable: boolean;
}

/** Whether metrics are on, but nobody can read them. */
export const areUnreadable = ({ token, port, isReachable }: Omit<MetricsOptions, 'read' | 'host'>): boolean =>
  isReachable && token === '' && port === undefined;

/**
 * Serves metrics with everything else. If other machines can reach the server, this needs a token: strangers could
 * observe the load, and reading the metrics costs time.
 */
export function addMetrics(app: FastifyInstance, options: MetricsOptions): void {
  if (options.port === undefined) addRoute(app, options);
}

function addRoute(app: FastifyInstance, options: MetricsOptions): void {
  app.get('/metrics', async ({ headers }, reply) => {
    if (areUnreadable(options))
      throw new AppError('route_not_found', 'Metrics are not served here: set METRICS_PORT or METRICS_TOKEN');
    requireToken(options.token, headers.authorization);
    const { contentType, text } = await options.read();
    return reply.type(contentType).header('cache-control', 'no-store').send(text);
  });
}

/** Serves metrics, and nothing else, on a separate port. Any host name works, because scrapers use service names. */
export class MetricsServer {
  readonly #options: MetricsOptions;
  readonly #app: FastifyInstance;

  constructor(options: MetricsOptions) {
    this.#options = options;
    this.#app = Fastify({ logger: false, requestTimeout: 5000, bodyLimit: 1, forceCloseConnections: true });
    this.#app.server.maxConnections = 100;
    this.#app.setNotFoundHandler(() => {
      throw new AppError('route_not_found', 'This port serves only GET /metrics');
    });
    this.#app.setErrorHandler((error, request, reply) => {
      const problem = toProblem(error, request.id);
      return reply.code(problem.status).type('application/problem+json').send(JSON.stringify(problem));
    });
    addRoute(this.#app, options);
  }

  /** Returns the address, such as `http://127.0.0.1:9464`; undefined without a separate port. */
  async start(): Promise<string | undefined> {
    const { port, host } = this.#options;
    return port === undefined ? undefined : this.#app.listen({ port, host });
  }

  async stop(): Promise<void> {
    await this.#app.close();
  }
}

/** @throws {AppError} `unauthorized` */
function requireToken(token: string, authorization: string | undefined): void {
  if (token === '' || timingSafeEqual(digest(`Bearer ${token}`), digest(authorization ?? ''))) return;
  throw new AppError('unauthorized', 'Metrics need the METRICS_TOKEN of the server as a bearer token');
}

const digest = (text: string) => createHash('sha256').update(text).digest();
