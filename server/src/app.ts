import { hostname } from 'node:os';
import { join } from 'node:path';
import type { FastifyInstance } from 'fastify';
import { sql } from 'kysely';
import { sleep, withTimeout } from './async.ts';
import { Authenticator } from './auth/authenticate.ts';
import { LoginDevices } from './auth/loginDevices.ts';
import { createLoginLimit } from './auth/loginLimit.ts';
import { PasswordRules } from './auth/passwordRules.ts';
import { PasswordHasher } from './auth/passwords.ts';
import { RequestLimits } from './auth/requestLimits.ts';
import { fingerprintOf, serverSecret } from './auth/serverSecret.ts';
import { createLoginTokens } from './auth/tokens.ts';
import { WaitingCalls } from './auth/waitingCalls.ts';
import { type Clock, systemClock } from './clock.ts';
import { SingleNode } from './cluster/cluster.ts';
import { NodeClient } from './cluster/forward.ts';
import { instanceOf, noteRun } from './cluster/instance.ts';
import { ClusterNode } from './cluster/node.ts';
import { NodeSignatures } from './cluster/nodeSignature.ts';
import { contentDir, type Settings, SettingsError } from './config.ts';
import { ConnectorError, loadConnectors, SANDBOX } from './connectors/registry.ts';
import { Sandbox } from './connectors/sandbox/sandbox.ts';
import { type Database, openDatabase } from './db/database.ts';
import { createReadiness } from './db/readiness.ts';
import { readSteadyTime } from './db/steadyTime.ts';
import { createServer } from './http/server.ts';
import { createIds } from './ids.ts';
import type { Services } from './invoke/context.ts';
import { createIdempotency } from './invoke/idempotency.ts';
import { Invoker } from './invoke/invoke.ts';
import type { Invoke } from './invoke/operation.ts';
import { Owners } from './invoke/owners.ts';
import { createLog, type Log } from './log.ts';
import { createUseFetched } from './media/fetch.ts';
import { createMedia } from './media/media.ts';
import { Previews } from './media/previews.ts';
import { createS3Store } from './media/s3Store.ts';
import { type ContentStore, createDiskStore } from './media/store.ts';
import { createInbox } from './messages/inbox.ts';
import { Metrics, throttle } from './metrics.ts';
import { OutgoingConnections, outgoingLimit, readOpenFiles } from './outgoing.ts';
import { Sender } from './sending/sender.ts';
import { LiveSessions } from './sessions/liveSessions.ts';
import { DatabaseSandboxStore } from './sessions/sandboxStore.ts';
import { Sessions } from './sessions/sessions.ts';
import { SteadyClock } from './steadyClock.ts';
import { createTargetPolicy, type TargetPolicy } from './target.ts';
import type { Tracing } from './tracing/tracing.ts';
import { HttpDeliver } from './webhooks/deliver.ts';
import { createEmit } from './webhooks/emit.ts';
import { Engine } from './webhooks/engine.ts';
import { createEventLog } from './webhooks/eventLog.ts';
import { createFeed } from './webhooks/feed.ts';
import { Retention } from './webhooks/retention.ts';

export interface App {
  readonly http: FastifyInstance;
  readonly retention: Retention;
  readonly services: Services;
  /** Starts everything and listens. @returns the address, such as `http://127.0.0.1:8080` */
  start(): Promise<string>;
  /**
   * Stops in reverse: no more requests, no more network, deliveries in flight finished or left pending.
   * @throws {Error} when that takes longer than the settings allow: the process is to end as it is
   */
  stop(): Promise<void>;
}

const REQUEST_GRACE_MS = 5000;
const SWEEP_MS = 50;
const METRICS_PATIENCE_MS = 2000;
const DELIVERY_GRACE_MS = 5000;
/** For a file behind a URL; whoever asked for it waits. */
const FETCH_TIMEOUT_MS = 60_000;

/** Builds the whole server, in order. The only place that knows all parts. */
export async function createApp(
  settings: Settings,
  {
    clock = systemClock,
    log = createLog(settings.logLevel),
    random = Math.random,
  }: { clock?: Clock; log?: Log; random?: () => number } = {},
): Promise<App> {
  const nodeId = createIds(clock)('nod');
  const metrics = new Metrics();
  const targets = createTargetPolicy({
    host: settings.host,
    otherHosts: [...(settings.publicUrl === undefined ? [] : [settings.publicUrl.hostname]), ...settings.allowedHosts],
    isBehindProxy: settings.trustProxy,
    allowedCidrs: settings.webhookAllowedCidrs,
    onRefused: (refusal) => log.info(refusal, 'refused a host name as a target'),
  });
  const otherConnectors = await loadConnectors(settings, { clock, log, random, targets }).catch((error) => {
    throw error instanceof ConnectorError ? new SettingsError([`  CONNECTORS ${error.message}`]) : error;
  });
  const connectorNames = [SANDBOX, ...otherConnectors.map(({ name }) => name)];
  if (!connectorNames.includes(settings.defaultConnector))
    throw new SettingsError([`  DEFAULT_CONNECTOR must be one of: ${connectorNames.join(', ')}`]);
  const tracing = await openTracing(settings, nodeId, log);
  const opened = await openDatabase({ ...settings, clientName: `switchboard ${nodeId}` }, clock, (reason) =>
    log.error({ reason }, 'database files are damaged; rejecting all writes'),
  );
  const database = tracing?.database(opened) ?? opened;
  const steady = new SteadyClock(clock, await readSteadyTime(database, clock.now()));
  const newId = createIds(steady);
  const secret = await serverSecret(settings, database);
  const store = openContentStore(settings, clock);
  const cluster =
    database.shared === undefined
      ? new SingleNode(nodeId, database)
      : new ClusterNode({
          database,
          shared: database.shared,
          nodeId,
          acceptsWork: settings.nodeRole === 'all',
          former: noteRun(settings.dataDir, nodeId),
          instance: instanceOf(settings.dataDir),
          jwtFingerprint: fingerprintOf(secret),
          fileStore: await identityOf(store, log),
          leaseMs: settings.leaseSeconds * 1000,
          steady,
          log,
        });
  const signatures = new NodeSignatures(secret, nodeId, steady);
  const sending = new NodeClient(signatures);
  const forward = tracing?.forward(sending) ?? sending;

  const tokens = createLoginTokens(secret, clock);
  const authenticator = new Authenticator({
    database,
    tokens,
    clock,
    legacyForms: settings.queryKeyAuth,
    failuresPerMinute: settings.loginRateLimit * 10,
    announce: (accountId) => cluster.signals.send('credentials', accountId),
  });
  cluster.signals.on('credentials', (accountId) => authenticator.forget(accountId));
  cluster.signals.on('gap', () => authenticator.forgetAll());

  const passwords = new PasswordHasher();
  const devices = new LoginDevices(secret);

  const openFiles = readOpenFiles(settings.outgoingConnections);
  const maxSockets = outgoingLimit(settings.outgoingConnections, openFiles);
  const outgoing = new OutgoingConnections(maxSockets);
  const delivering = new HttpDeliver({ policy: targets, timeoutMs: settings.webhookTimeoutMs, maxSockets, clock });
  const deliver = tracing?.deliver(delivering) ?? delivering;
  const engine = new Engine({
    database,
    cluster,
    clock,
    steady,
    log,
    metrics,
    deliver,
    outgoing,
    retry: { stepsMs: settings.webhookRetrySeconds.map((seconds) => seconds * 1000), random },
    breaker: { openMs: settings.breakerOpenSeconds * 1000, random },
  });
  const eventLog = createEventLog(database.reader);
  const feed = createFeed(clock);
  const announce = (accountId: string) => {
    feed.announce(accountId);
    cluster.signals.send('account', accountId);
  };
  cluster.signals.on('account', feed.announce);
  const wake = (webhookId: string) => engine.wake(webhookId);
  const trace = () => tracing?.current() ?? null;
  const emit = createEmit({ newId, clock, metrics, wake, announce, trace });
  const retention = new Retention({
    database,
    clock,
    steady,
    log,
    metrics,
    eventDays: settings.eventRetentionDays,
    heldDays: settings.heldRetentionDays,
  });

  const media = createMedia({
    store,
    incoming: incomingDir(settings),
    fetching: createUseFetched({
      policy: targets,
      maxBytes: settings.mediaMaxBytes,
      timeoutMs: FETCH_TIMEOUT_MS,
      clock,
    }),
    outgoing,
    maxBytes: settings.mediaMaxBytes,
    publicUrl: settings.publicUrl,
    database,
    newId,
    clock,
    log,
  });

  const sandbox = new Sandbox({
    store: new DatabaseSandboxStore({ database, media, clock }),
    wakeOwner: (sessionId) => cluster.signals.send('mailbox', sessionId),
    clock,
    steady,
    log,
  });
  cluster.signals.on('mailbox', (sessionId) => sandbox.wake(sessionId));
  cluster.signals.on('gap', () => void sandbox.poll());
  const storing = createInbox({ database, media, clock, newId, emit, trace });
  const inbox = tracing?.inbox(storing) ?? storing;
  const live = new LiveSessions({ database, cluster, clock });
  const sender = new Sender({
    database,
    cluster,
    inbox,
    media,
    live,
    maxScheduled: settings.maxScheduledMessages,
    clock,
    steady,
    log,
  });
  const sessions = new Sessions({
    database,
    cluster,
    inbox,
    media,
    connectors: [sandbox, ...otherConnectors],
    live,
    publicUrl: settings.publicUrl,
    // One network for all, or one for each account.
    scopeOf: settings.sandboxShared ? () => '' : (accountId) => accountId,
    clock,
    log,
  });

  const services: Services = {
    settings,
    database,
    clock,
    steady,
    newId,
    cluster,
    forward,
    log,
    metrics,
    authenticator,
    tokens,
    requestLimits: new RequestLimits(
      { perCredential: settings.rateLimit, perAccount: settings.accountRateLimit },
      steady,
    ),
    waitingCalls: new WaitingCalls(settings.maxWaitingCalls),
    loginLimit: createLoginLimit(
      database,
      { loginsPerMinute: settings.loginRateLimit, registrationsPerHour: settings.registrationRateLimit },
      steady,
    ),
    passwords,
    passwordRules: new PasswordRules(),
    devices,
    sessions,
    liveSessions: live,
    sender,
    media,
    previews: new Previews(media.read),
    eventLog,
    feed,
    webhooks: { engine, deliver, targets, outgoing },
  };
  let isStopping = false;
  const canWork = createReadiness({
    database,
    dataDir: settings.dataDir,
    reserveBytes: settings.diskReserveBytes,
    signals: cluster.signals,
  });
  const isReady = async () => !isStopping && cluster.isMember() && (await canWork());
  const readTotals = throttle(async () => ({ sessions: await sessions.countByStatus(), ...(await engine.totals()) }));
  const idempotency = createIdempotency({ database, clock: steady, newId, cluster });
  const owners = new Owners(services);
  const invoker = new Invoker({ services, owners, idempotency });
  const untraced: Invoke = (operation, call) => invoker.invoke(operation, call);
  const invoke = tracing?.invoke(untraced) ?? untraced;
  const http = await createServer({
    settings,
    authenticator,
    requestLimits: services.requestLimits,
    waitingCalls: services.waitingCalls,
    invoke,
    sessions,
    owners,
    cluster,
    forward,
    signatures,
    devices,
    media,
    feed,
    clock,
    eventLog,
    newId,
    log,
    isReady,
    metrics,
    readMetrics: async () => {
      const [isDatabaseUp, totals] = await Promise.all([
        withTimeout(systemClock, METRICS_PATIENCE_MS, answers(database)).catch(() => false),
        withTimeout(systemClock, METRICS_PATIENCE_MS, readTotals()).catch(() => undefined),
      ]);
      return metrics.read({
        inFlight: engine.inFlight(),
        isReady: await isReady(),
        cluster: database.shared && cluster.counts(),
        pool: database.poolUse?.(),
        isDatabaseUp,
        totals: isDatabaseUp ? totals : undefined,
      });
    },
  });

  const delayMs = settings.stopDelaySeconds * 1000;
  let stopping: Promise<void> | undefined;
  return {
    http,
    retention,
    services,
    async start() {
      warnOfOpenRegistration(settings, targets, log);
      const { limit: openFilesLimit, wanted } = openFiles;
      if (openFilesLimit !== undefined && openFilesLimit < wanted)
        log.warn(
          { openFilesLimit, wanted, outgoingConnections: maxSockets },
          'limit of open files is low; raise it (ulimit -n, LimitNOFILE) or lower OUTGOING_CONNECTIONS',
        );
      authenticator.start();
      engine.start();
      retention.start();
      await media.start();
      sessions.start();
      sandbox.start();
      await cluster.start({ sessions, webhooks: engine });
      sender.start();
      const address = await http.listen({ host: settings.host, port: settings.port });
      await cluster.announce(settings.nodeUrl?.href ?? reachableAt(address));
      database.startCheck();
      return address;
    },
    stop() {
      isStopping = true;
      stopping ??= (async () => {
        const startedAt = performance.now();
        log.info({ node: cluster.nodeId }, 'draining in-flight work');
        if (delayMs > 0) await sleep(clock, delayMs);
        await closeHttp(http, clock);
        sender.stop();
        // Others can have the sessions as soon as they are closed, and the webhooks as soon as theirs is settled.
        await sessions.stop();
        await sandbox.stop();
        await engine.stop(DELIVERY_GRACE_MS);
        await deliver.close();
        await retention.stop();
        await forward.close();
        await media.close();
        await authenticator.stop();
        await passwords.stop();
        await idempotency.stop();
        await cluster.stop(); // from here on nothing more is written
        await database.close();
        await tracing?.stop();
        log.info({ node: cluster.nodeId, ms: Math.round(performance.now() - startedAt) }, 'stopped');
      })();
      return withTimeout(systemClock, delayMs + settings.stopTimeoutSeconds * 1000, stopping);
    },
  };
}

/** Resolves if the database answers. */
async function answers({ reader }: Database): Promise<true> {
  await sql`select 1`.execute(reader.kysely);
  return true;
}

/** Loads OpenTelemetry where it is wanted, and nothing of it elsewhere. */
async function openTracing(settings: Settings, nodeId: string, log: Log): Promise<Tracing | undefined> {
  const endpoint = settings.otlpEndpoint;
  if (endpoint === undefined) return undefined;
  const { Tracing } = await import('./tracing/tracing.ts');
  return new Tracing({ endpoint, nodeId, log });
}

function openContentStore(settings: Settings, clock: Clock): ContentStore {
  const { mediaS3Url: url, mediaS3Bucket: bucket, mediaS3Region: region } = settings;
  if (url === undefined) return createDiskStore(contentDir(settings));
  const { mediaS3AccessKeyId: accessKeyId, mediaS3SecretAccessKey: secretAccessKey } = settings;
  return createS3Store({ url, bucket, region, accessKeyId, secretAccessKey }, clock);
}

/** Null when the store cannot be named: that keeps nobody from starting. */
async function identityOf(store: ContentStore, log: Log): Promise<string | null> {
  try {
    return await store.identity();
  } catch (error) {
    log.warn({ err: error }, 'failed to identify the media store; cannot tell whether the nodes share their files');
    return null;
  }
}

/** On the file system of the contents; where nodes share that, each has a folder of its own in it. */
const incomingDir = ({ mediaDir: shared, dataDir }: Settings) =>
  shared === undefined ? join(dataDir, 'media', 'incoming') : join(shared, 'incoming', instanceOf(dataDir));

function warnOfOpenRegistration({ registration, host }: Settings, { allowLoopback }: TargetPolicy, log: Log): void {
  // Loopback targets are allowed only where nobody else reaches the server.
  if (registration !== 'open' || allowLoopback) return;
  log.warn(
    { host },
    'registration is open to everyone who can reach the server; set REGISTRATION=closed after the first account',
  );
}

/** Where other machines reach a server that listens at an address: on every address means by the machine's name. */
function reachableAt(address: string): string {
  const url = new URL(address);
  if (url.hostname === '0.0.0.0' || url.hostname === '[::]') url.hostname = hostname();
  return url.href;
}

/** Lets requests finish, but not for ever: a client that never reads its answer must not keep the server up. */
async function closeHttp(http: FastifyInstance, clock: Clock): Promise<void> {
  const cancel = clock.after(REQUEST_GRACE_MS, () => http.server.closeAllConnections());
  // One that was busy when the server began to close is idle soon, and its client might keep it.
  const sweep = setInterval(() => http.server.closeIdleConnections(), SWEEP_MS);
  await http.close();
  clearInterval(sweep);
  cancel();
}
