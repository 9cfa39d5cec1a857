import { serverSecret } from '../auth/serverSecret.ts';
import { Children } from '../childHealth.ts';
import { type Clock, systemClock } from '../clock.ts';
import { type Settings, SettingsError } from '../config.ts';
import type { Connector } from '../connectors/contract/connector.ts';
import { ConnectorError, loadConnectors } from '../connectors/registry.ts';
import { openDatabase } from '../db/database.ts';
import type { Store } from '../db/dialect.ts';
import { readSteadyTime } from '../db/steadyTime.ts';
import { createTargetPolicy } from '../egress/target.ts';
import { createIds } from '../ids.ts';
import { createLog, type Log } from '../log.ts';
import { Metrics } from '../metrics.ts';
import { SANDBOX } from '../sandbox/sandbox.ts';
import { SteadyClock } from '../steadyClock.ts';
import type { Tracing } from '../tracing/tracing.ts';

/** Replacements for tests. */
export interface Overrides {
  readonly clock?: Clock;
  readonly log?: Log;
  readonly random?: () => number;
  /** Shortens the longest wait of work that joins other transactions, for tests. */
  readonly patienceMs?: number;
  /** Makes the database fail, for tests. */
  readonly wrapStore?: (store: Store) => Store;
}

/** Everything that all parts of the server build on. */
export type Foundation = Awaited<ReturnType<typeof openFoundation>>;

/** @throws {SettingsError}, and the errors of `openDatabase` */
export async function openFoundation(settings: Settings, overrides: Overrides) {
  const { clock = systemClock, log = createLog(settings.logLevel), random = Math.random } = overrides;
  const nodeId = createIds(clock)('nod');
  const targets = createTargetPolicy({
    host: settings.host,
    otherHosts: [...(settings.publicUrl === undefined ? [] : [settings.publicUrl.hostname]), ...settings.allowedHosts],
    isBehindProxy: settings.trustProxy !== false,
    allowedCidrs: settings.webhookAllowedCidrs,
    onRefused: (refusal) => log.info(refusal, 'refused a host name as a target'),
  });
  const connectors = await loadConnectors(settings, { clock, log, random, targets }).catch((error) => {
    throw error instanceof ConnectorError ? new SettingsError([`  CONNECTORS ${error.message}`]) : error;
  });
  requireDefaultConnector(settings, connectors);
  const tracing = await openTracing(settings, nodeId, log);
  const children = new Children(log);
  const opened = await openDatabase({ ...settings, clientName: `switchboard ${nodeId}` }, clock, {
    onDamage: (reason) => log.error({ reason }, 'database files are damaged; rejecting all writes'),
    onUpgrade: (upgrade) => log.info(upgrade, 'upgraded database schema'),
    onWait: (holders) => log.warn({ holders }, 'waiting for tables that other connections have locked'),
    children,
    patienceMs: overrides.patienceMs,
    wrapStore: overrides.wrapStore,
  });
  const database = tracing?.database(opened) ?? opened;
  const steady = new SteadyClock(clock, await readSteadyTime(database, clock.now()));
  return {
    settings,
    nodeId,
    clock,
    steady,
    newId: createIds(steady),
    random,
    log,
    metrics: new Metrics(),
    targets,
    /** The networks, apart from the sandbox. */
    connectors,
    database,
    children,
    secret: await serverSecret(settings, database),
    /** Undefined unless it is configured. */
    tracing,
  };
}

function requireDefaultConnector({ defaultConnector }: Settings, connectors: readonly Connector[]): void {
  const names = [SANDBOX, ...connectors.map(({ name }) => name)];
  if (!names.includes(defaultConnector))
    throw new SettingsError([`  DEFAULT_CONNECTOR must be one of ${names.join(', ')}, not "${defaultConnector}"`]);
}

/** Loads OpenTelemetry only if it is configured. */
async function openTracing(settings: Settings, nodeId: string, log: Log): Promise<Tracing | undefined> {
  const endpoint = settings.otelExporterOtlpEndpoint;
  if (endpoint === undefined) return undefined;
  const { Tracing } = await import('../tracing/tracing.ts');
  return new Tracing({ endpoint, nodeId, log });
}
