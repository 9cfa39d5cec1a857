import { join } from 'node:path';
import type { FastifyInstance } from 'fastify';
import { createAuthenticator } from './auth/authenticate.ts';
import { createBuckets } from './auth/buckets.ts';
import { serverSecret } from './auth/serverSecret.ts';
import { createLoginTokens } from './auth/tokens.ts';
import { type Clock, systemClock } from './clock.ts';
import { type Settings, SettingsError } from './config.ts';
import { createSandbox } from './connectors/sandbox/sandbox.ts';
import { type Database, openDatabase } from './db/database.ts';
import { createServer } from './http/server.ts';
import { createIds } from './ids.ts';
import { createLog, type Log } from './log.ts';
import { createUseFetched } from './media/fetch.ts';
import { createMedia } from './media/media.ts';
import { createS3Store } from './media/s3Store.ts';
import { type ContentStore, createDiskStore } from './media/store.ts';
import { createMetrics } from './metrics.ts';
import type { Services } from './operations/context.ts';
import { createInvoke } from './operations/operation.ts';
import { createInbox } from './sessions/inbox.ts';
import { createOutbox } from './sessions/outbox.ts';
import { createSessions } from './sessions/sessions.ts';
import { createTargetPolicy } from './target.ts';
import { createDeliver } from './webhooks/deliver.ts';
import { createEmit } from './webhooks/emit.ts';
import { createEngine } from './webhooks/engine.ts';
import { createEventLog } from './webhooks/eventLog.ts';
import { createFeed } from './webhooks/feed.ts';
import { createRetention, type Retention } from './webhooks/retention.ts';

export interface App {
  readonly http: FastifyInstance;
  readonly retention: Retention;
  readonly services: Services;
  /** Starts everything and listens. @returns the address, such as `http://127.0.0.1:8080` */
  start(): Promise<string>;
  /** Stops in reverse: no more requests, no more network, deliveries in flight finished or left pending. */
  stop(): Promise<void>;
}

const REQUEST_GRACE_MS = 5000;
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
    onLost,
  }: { clock?: Clock; log?: Log; random?: () => number; onLost?: () => void } = {},
): Promise<App> {
  const newId = createIds(clock);
  const metrics = createMetrics();
  const connectors = [createSandbox(clock)];
  if (!connectors.some(({ name }) => name === settings.defaultConnector)) {
    const known = connectors.map(({ name }) => name).join(', ');
    throw new SettingsError([`  DEFAULT_CONNECTOR must be one of: ${known}`]);
  }
  const database = await openDatabase(settings, clock, onLost);

  const tokens = createLoginTokens(await serverSecret(settings, database), clock);
  const authenticator = createAuthenticator({ database, tokens, clock, legacyForms: settings.queryKeyAuth });

  const targets = createTargetPolicy({
    host: settings.host,
    publicHost: settings.publicUrl?.hostname,
    allowedCidrs: settings.webhookAllowedCidrs,
  });
  const deliver = createDeliver({ policy: targets, timeoutMs: settings.webhookTimeoutMs, clock });
  const engine = createEngine({
    database,
    clock,
    log,
    metrics,
    deliver,
    retry: { stepsMs: settings.webhookRetrySeconds.map((seconds) => seconds * 1000), random },
    breaker: { openMs: settings.breakerOpenSeconds * 1000, random },
  });
  const eventLog = createEventLog(database.reader);
  const feed = createFeed(clock);
  const emit = createEmit({ newId, clock, metrics, wake: engine.wake, announce: feed.announce });
  const retention = createRetention({
    database,
    clock,
    log,
    eventDays: settings.eventRetentionDays,
    heldDays: settings.heldRetentionDays,
  });

  const media = createMedia({
    store: openContentStore(settings, clock),
    incoming: join(settings.dataDir, 'media', 'incoming'),
    fetching: createUseFetched({
      policy: targets,
      maxBytes: settings.mediaMaxBytes,
      timeoutMs: FETCH_TIMEOUT_MS,
      clock,
    }),
    maxBytes: settings.mediaMaxBytes,
    publicUrl: settings.publicUrl,
    database,
    newId,
    clock,
    log,
  });

  const inbox = createInbox({ database, media, clock, newId, emit });
  const outbox = createOutbox({ database, inbox, media, lineOf: (session) => sessions.line(session), clock, log });
  const sessions = createSessions({
    database,
    inbox,
    media,
    connectors,
    stored: outbox,
    onLine: outbox.resume,
    clock,
    log,
  });

  const services: Services = {
    settings,
    database,
    clock,
    newId,
    nodeId: newId('nod'),
    log,
    metrics,
    authenticator,
    tokens,
    requestLimits: createBuckets(settings.rateLimit, clock),
    loginLimits: {
      account: createBuckets(settings.loginRateLimit, clock),
      address: createBuckets(settings.loginRateLimit * 10, clock),
    },
    sessions,
    outbox,
    media,
    eventLog,
    feed,
    webhooks: { engine, deliver, targets },
  };
  let isStopping = false;
  const isReady = async () => !isStopping && (await answers(database));
  const invoke = createInvoke(services);
  const http = await createServer({
    settings,
    authenticator,
    requestLimits: services.requestLimits,
    invoke,
    media,
    feed,
    eventLog,
    newId,
    log,
    isReady,
    readMetrics: async () => metrics.read({ sessions: await sessions.countByStatus(), ...(await engine.totals()) }),
  });

  let stopping: Promise<void> | undefined;
  return {
    http,
    retention,
    services,
    async start() {
      authenticator.start();
      engine.start();
      retention.start();
      await media.start();
      await sessions.start();
      outbox.start();
      return http.listen({ host: settings.host, port: settings.port });
    },
    stop() {
      isStopping = true;
      stopping ??= (async () => {
        await closeHttp(http, clock);
        outbox.stop();
        await sessions.stop();
        await retention.stop();
        await engine.stop(DELIVERY_GRACE_MS);
        await deliver.close();
        await media.close();
        await authenticator.stop();
        await database.close();
      })();
      return stopping;
    },
  };
}

function openContentStore(settings: Settings, clock: Clock): ContentStore {
  const { mediaS3Url: url, mediaS3Bucket: bucket, mediaS3Region: region, dataDir } = settings;
  if (url === undefined) return createDiskStore(join(dataDir, 'media', 'content'));
  const { mediaS3AccessKeyId: accessKeyId, mediaS3SecretAccessKey: secretAccessKey } = settings;
  return createS3Store({ url, bucket, region, accessKeyId, secretAccessKey }, clock);
}

/** Lets requests finish, but not for ever: a client that never reads its answer must not keep the server up. */
async function closeHttp(http: FastifyInstance, clock: Clock): Promise<void> {
  const cancel = clock.after(REQUEST_GRACE_MS, () => http.server.closeAllConnections());
  await http.close();
  cancel();
}

async function answers({ reader }: Database): Promise<boolean> {
  try {
    await reader.connection.query('select 1', []);
    return true;
  } catch {
    return false;
  }
}
