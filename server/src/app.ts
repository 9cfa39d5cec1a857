import { hostname } from 'node:os';
import type { FastifyInstance } from 'fastify';
import { type Foundation, type Overrides, openFoundation } from './app/foundation.ts';
import { Monitoring } from './app/monitoring.ts';
import {
  createAuth,
  createDelivery,
  createFiles,
  createMessaging,
  createNodeRequests,
  createOAuth,
  openCluster,
  openContentStore,
} from './app/parts.ts';
import { sleep, withTimeout } from './async.ts';
import { KeyChanges } from './auth/keyChanges.ts';
import type { Children } from './childHealth.ts';
import { type Clock, systemClock } from './clock.ts';
import type { Settings } from './config.ts';
import type { Shared } from './db/dialect.ts';
import { areUnreadable, type MetricsOptions, MetricsServer } from './http/metricsRoute.ts';
import { createServer } from './http/server.ts';
import { ConfirmationRule } from './invoke/confirmationRule.ts';
import { Confirmations } from './invoke/confirmations.ts';
import { DerivedSessions } from './invoke/derivedSession.ts';
import { Filters } from './invoke/filters.ts';
import { Idempotency } from './invoke/idempotency.ts';
import { Invoker } from './invoke/invoke.ts';
import { NetworkIds } from './invoke/networkIds.ts';
import type { Invoke } from './invoke/operation.ts';
import { Owners } from './invoke/owners.ts';
import type { Services } from './invoke/services.ts';
import { SessionScopes } from './invoke/sessionScope.ts';
import { ToolCalls } from './invoke/toolCalls.ts';
import { TypedNumbers } from './invoke/typedNumbers.ts';
import type { Converter } from './media/conversion/converter.ts';
import { WordIndexer } from './messages/wordIndexer.ts';
import { keyDeletion } from './operations/accounts/createdByKey.ts';
import { BatchWatch } from './operations/bulk/batchWatch.ts';
import type { Retention } from './webhooks/retention/retention.ts';

const REQUEST_GRACE_MS = 5000;
const SWEEP_MS = 50;
const DELIVERY_GRACE_MS = 5000;
/** A stop does not wait for a shared database that has not answered for this long. */
const DATABASE_GRACE_MS = 4000;
const DATABASE_PING_MS = 500;

/** Builds the whole server, in order. The only place that knows all parts. */
export async function createApp(settings: Settings, overrides: Overrides = {}): Promise<App> {
  const foundation = await openFoundation(settings, overrides);
  const { database, clock, steady, newId, log, metrics, targets, tracing } = foundation;
  const store = await openContentStore(foundation);
  const cluster = await openCluster(foundation, store);
  const { signatures, forward } = createNodeRequests(foundation);
  const auth = createAuth(foundation, cluster);
  const delivery = createDelivery(foundation, cluster, {
    connectorsOf: (ids) => messaging.sessions.connectorsOf.of(ids),
    userIdsOf: (...person) => messaging.sessions.people.userIdsOf(...person),
    filesOf: () => files,
  });
  const { engine, deliver, outgoing, callbackVerifier, subscriptionKeeper, deletions, emit } = delivery;
  const { eventLog, filteredEventLog, addFields, feed } = delivery;
  const keyChanges = new KeyChanges(auth.authenticator, subscriptionKeeper);
  const oauth = createOAuth(foundation, keyChanges);
  const files: ReturnType<typeof createFiles> = createFiles(foundation, store, outgoing);
  const messaging = createMessaging(foundation, cluster, files.media, { emit, deletions, auth });

  const webhooks = { engine, deliver, targets, outgoing, callbackVerifier, subscriptionKeeper };
  const reading = { eventLog, filteredEventLog, addFields, feed };
  const { converter, ...forCalls } = files;
  const parts = {
    ...auth,
    keyChanges,
    oauth,
    ...forCalls,
    ...messaging,
    ...reading,
    cluster,
    forward,
    emit,
    ...webhooks,
    deletions,
  };
  const services: Services = { settings, database, clock, steady, newId, log, metrics, ...parts };
  deletions.handle('api_key', keyDeletion(services));
  const idempotency = new Idempotency({ database, clock: steady, newId, cluster });
  const owners = new Owners(services);
  const typedNumbers = new TypedNumbers(services, delivery.networkNumbers);
  const networkIds = new NetworkIds(services);
  const derivedSessions = new DerivedSessions(services);
  const filters = new Filters(services);
  const sessionScopes = new SessionScopes(services);
  const confirmationRule = new ConfirmationRule(services);
  const limits = { filters, sessionScopes, confirmationRule };
  const invoker = new Invoker({ services, owners, typedNumbers, networkIds, derivedSessions, ...limits, idempotency });
  const untraced: Invoke = (operation, call) => invoker.invoke(operation, call);
  const invoke = tracing?.invoke(untraced) ?? untraced;
  const batchWatch = new BatchWatch(services);
  const monitoring = new Monitoring(foundation, cluster, engine, messaging.sessions);
  const toolCalls = new ToolCalls(foundation);
  const agents = { confirmations: new Confirmations(foundation), toolCalls };
  const metricsOptions = metricsOptionsOf(foundation, monitoring);
  const metricsServer = metricsOptions && new MetricsServer(metricsOptions);
  const http = await createServer({ ...services, signatures, owners, invoke, monitoring, metricsOptions, ...agents });
  return new App({
    foundation,
    services,
    delivery,
    messaging,
    converter,
    idempotency,
    toolCalls,
    batchWatch,
    wordIndexer: new WordIndexer(foundation),
    monitoring,
    metricsServer,
    http,
  });
}

/** Undefined if metrics are off. */
function metricsOptionsOf(
  { settings, targets, log }: Foundation,
  { readMetrics }: Monitoring,
): MetricsOptions | undefined {
  const { metrics: isOn, metricsPort: port, metricsToken: token, host } = settings;
  if (!isOn) return undefined;
  // Loopback targets are allowed only if no other machine reaches the server.
  const options = { read: readMetrics, token, port, host, isReachable: !targets.allowLoopback };
  if (areUnreadable(options))
    log.warn('other machines can reach the server, so GET /metrics is disabled; set METRICS_PORT or METRICS_TOKEN');
  return options;
}

interface Parts {
  readonly foundation: Foundation;
  readonly services: Services;
  readonly delivery: ReturnType<typeof createDelivery>;
  readonly messaging: ReturnType<typeof createMessaging>;
  readonly converter: Converter;
  readonly idempotency: Idempotency;
  readonly toolCalls: ToolCalls;
  readonly batchWatch: BatchWatch;
  readonly wordIndexer: WordIndexer;
  readonly monitoring: Monitoring;
  readonly metricsServer: MetricsServer | undefined;
  readonly http: FastifyInstance;
}

export class App {
  readonly http: FastifyInstance;
  readonly retention: Retention;
  readonly services: Services;
  readonly children: Children;
  /** Address of the separate port for metrics, once it listens. */
  metricsUrl: string | undefined;
  readonly #parts: Parts;
  #stopping: Promise<'complete' | 'without database'> | undefined;

  constructor(parts: Parts) {
    this.http = parts.http;
    this.retention = parts.delivery.retention;
    this.services = parts.services;
    this.children = parts.foundation.children;
    this.#parts = parts;
  }

  /** Starts all parts and listens. Returns the address, such as `http://127.0.0.1:8080`. */
  async start(): Promise<string> {
    const { settings, database } = this.#parts.foundation;
    const { cluster, authenticator, media, removal, deletions } = this.services;
    const { engine, retention, subscriptionKeeper, logEpochs } = this.#parts.delivery;
    const { sandbox, sessions, sender, callRejection, followedPresences } = this.#parts.messaging;
    this.#warnOfOpenRegistration();
    this.#warnOfFewOpenFiles();
    await logEpochs.start();
    authenticator.start();
    this.#parts.toolCalls.start();
    engine.start();
    retention.start();
    subscriptionKeeper.start();
    await media.start();
    removal.start();
    sessions.start();
    callRejection.start();
    followedPresences.start();
    sandbox.mailboxes.start();
    await cluster.start({ sessions, webhooks: engine });
    sender.start();
    this.#parts.batchWatch.start();
    deletions.start();
    const address = await this.http.listen({ host: settings.host, port: settings.port });
    this.metricsUrl = await this.#parts.metricsServer?.start();
    await cluster.announce(settings.nodeUrl?.href ?? reachableAt(address));
    this.#parts.wordIndexer.start();
    database.startCheck();
    return address;
  }

  /**
   * Stops in reverse order: requests, networks, deliveries. Deliveries in flight finish, or stay pending. If a shared
   * database does not answer, the other nodes take over once the leases of this one have ended, as after a crash.
   * @returns `without database` if some work goes on, because the database does not answer
   * @throws {Error} if that takes longer than the settings allow; then the process has to exit
   */
  stop(): Promise<'complete' | 'without database'> {
    const { settings } = this.#parts.foundation;
    this.#parts.monitoring.drain();
    this.#stopping ??= this.#stopWhileDatabaseAnswers();
    const timeoutMs = (settings.stopDelaySeconds + settings.stopTimeoutSeconds) * 1000;
    return withTimeout(systemClock, timeoutMs, this.#stopping);
  }

  async #stopWhileDatabaseAnswers(): Promise<'complete' | 'without database'> {
    const { database, log, nodeId: node } = this.#parts.foundation;
    const ended = new AbortController();
    const stopped = this.#stop().then(() => 'complete' as const);
    if (database.shared === undefined) return stopped;
    const silent = untilSilent(database.shared, DATABASE_GRACE_MS, ended.signal).then(
      () => 'without database' as const,
    );
    try {
      const result = await Promise.race([stopped, silent]);
      if (result === 'without database') log.warn({ node }, 'stopped without the database, which does not answer');
      return result;
    } finally {
      ended.abort();
    }
  }

  async #stop(): Promise<void> {
    const { settings, database, clock, log, nodeId: node, tracing } = this.#parts.foundation;
    const { cluster, authenticator, passwords, media, removal, linkPreviews, forward, deletions } = this.services;
    const { engine, deliver, retention, subscriptionKeeper, logEpochs } = this.#parts.delivery;
    const { sandbox, sessions, sender, callRejection, followedPresences } = this.#parts.messaging;
    const startedAt = performance.now();
    log.info({ node }, 'draining in-flight work');
    if (settings.stopDelaySeconds > 0) await sleep(clock, settings.stopDelaySeconds * 1000);
    await closeHttp(this.http, clock);
    await this.#parts.metricsServer?.stop();
    database.hurry();
    sender.stop();
    await this.#parts.batchWatch.stop();
    callRejection.stop();
    followedPresences.stop();
    await deletions.stop();
    // Other nodes can acquire the sessions once they are closed, and the webhooks once their deliveries are settled.
    await sessions.stop();
    await sandbox.mailboxes.stop();
    await engine.stop(DELIVERY_GRACE_MS);
    await deliver.close();
    await subscriptionKeeper.stop();
    await retention.stop();
    await this.#parts.wordIndexer.stop();
    await logEpochs.stop();
    await forward.close();
    this.#parts.converter.stop();
    await linkPreviews.stop();
    await removal.stop();
    await media.close();
    await this.#parts.toolCalls.stop();
    await authenticator.stop();
    await passwords.stop();
    await this.#parts.idempotency.stop();
    await cluster.stop(); // from here on nothing more is written
    await database.close();
    await tracing?.stop();
    log.info({ node, ms: Math.round(performance.now() - startedAt) }, 'stopped');
  }

  #warnOfOpenRegistration(): void {
    const { settings, targets, log } = this.#parts.foundation;
    // Loopback targets are allowed only if no other machine reaches the server.
    if (settings.registration !== 'open' || targets.allowLoopback) return;
    log.warn(
      { host: settings.host },
      'registration is open to everyone who can reach the server; set REGISTRATION=closed after the first account',
    );
  }

  #warnOfFewOpenFiles(): void {
    const { openFiles, maxSockets } = this.#parts.delivery;
    const { limit: openFilesLimit, wanted } = openFiles;
    if (openFilesLimit === undefined || openFilesLimit >= wanted) return;
    this.#parts.foundation.log.warn(
      { openFilesLimit, wanted, outgoingConnections: maxSockets },
      'limit of open files is low; raise it (ulimit -n, LimitNOFILE) or lower OUTGOING_CONNECTIONS',
    );
  }
}

/** Returns the URL at which other machines reach the server. If it listens on all interfaces, uses the host name. */
function reachableAt(address: string): string {
  const url = new URL(address);
  if (url.hostname === '0.0.0.0' || url.hostname === '[::]') url.hostname = hostname();
  return url.href;
}

/** Resolves once a database has not answered for `graceMs`. Stays pending if `signal` is aborted before. */
async function untilSilent({ heartbeat }: Shared, graceMs: number, signal: AbortSignal): Promise<void> {
  const answer = () => heartbeat.connection.query('select 1', []).then(Boolean, () => false);
  for (let answeredAt = performance.now(); ; ) {
    if (await withTimeout(systemClock, graceMs, answer()).catch(() => false)) answeredAt = performance.now();
    if (signal.aborted) return new Promise(() => {});
    if (performance.now() - answeredAt >= graceMs) return;
    await sleep(systemClock, DATABASE_PING_MS);
  }
}

/** Lets requests finish within a limit: a client that never reads its response must not keep the server up. */
async function closeHttp(http: FastifyInstance, clock: Clock): Promise<void> {
  const cancel = clock.after(REQUEST_GRACE_MS, () => http.server.closeAllConnections());
  // Connections that were busy when closing began become idle later, and a keep-alive client would hold them open.
  const sweep = setInterval(() => http.server.closeIdleConnections(), SWEEP_MS);
  await http.close();
  clearInterval(sweep);
  cancel();
}
