import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';
import { eventKinds } from './events/events.ts';
import { unreadableReasons } from './events/networkTypes.ts';
import { version } from './version.ts';

export interface Present {
  readonly inFlight: number;
  readonly isReady: boolean;
  /** By part: 1 if the node works without it. */
  readonly degraded: Readonly<Record<string, number>>;
  /** Undefined if one process has the database to itself. */
  readonly cluster: ClusterCounts | undefined;
  /** Undefined without a pool. */
  readonly pool: { readonly total: number; readonly idle: number; readonly waiting: number } | undefined;
  readonly isDatabaseUp: boolean;
  /** Age of the built-in WhatsApp Web version in milliseconds. */
  readonly webVersionAgeMs: number;
  /** Undefined while the database does not answer. */
  readonly totals: Totals | undefined;
}

export interface ClusterCounts {
  /** Live nodes, including this one. */
  readonly nodes: number;
  /** Nodes that use another file store than this one. */
  readonly nodesWithOtherFiles: number;
  readonly sessions: number;
  readonly webhooks: number;
  readonly isListening: boolean;
  /** How far the time of day here is ahead of the database's clock. */
  readonly clockSkewMs: number;
}

/** Read from the database on request, and the same on every node. */
export interface Totals {
  readonly sessions: readonly { readonly status: string; readonly count: number }[];
  /** Sessions whose risk of being banned is not low. */
  readonly risks: readonly { readonly risk: string; readonly count: number }[];
  readonly breakers: readonly { readonly state: string; readonly count: number }[];
  /** Webhooks with pending deliveries: `held` ones wait for their receiver, or are disabled. */
  readonly lanes: { readonly moving: number; readonly held: number };
  /** Unsettled deliveries, counted up to a limit. */
  readonly pending: number;
  /** Age of the oldest deliverable delivery; 0 if there is none. */
  readonly lagMs: number;
}

const OPERATION_SECONDS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10, 30];
const ATTEMPT_SECONDS = [0.01, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 15];

/**
 * Interval in ms of measuring the lag of the event loop, which the measured values include. Each measurement wakes the
 * process: the default of 10 ms takes three quarters of the processor time of an idle server, 3.3 ms per second.
 */
const LAG_EVERY_MS = 100;

/** Counters and gauges of the process for Prometheus. No label identifies an account, a session or a webhook. */
export class Metrics {
  readonly #registry = new Registry();
  readonly requests = new Counter({
    name: 'switchboard_http_requests_total',
    help: 'Answered HTTP requests by method and status',
    labelNames: ['method', 'status'],
    registers: [this.#registry],
  });
  readonly operationSeconds = new Histogram({
    name: 'switchboard_operation_seconds',
    help: 'Duration of operations by id, channel (rest, mcp) and HTTP status',
    labelNames: ['operation', 'channel', 'status'],
    buckets: OPERATION_SECONDS,
    registers: [this.#registry],
  });
  readonly events = new Counter({
    name: 'switchboard_events_total',
    help: 'Emitted events by event type',
    labelNames: ['kind'],
    registers: [this.#registry],
  });
  readonly attemptSeconds = new Histogram({
    name: 'switchboard_delivery_attempt_seconds',
    help: 'Duration of delivery attempts by outcome class',
    labelNames: ['class'],
    buckets: ATTEMPT_SECONDS,
    registers: [this.#registry],
  });
  readonly settled = new Counter({
    name: 'switchboard_deliveries_settled_total',
    help: 'Settled deliveries by final state',
    labelNames: ['state'],
    registers: [this.#registry],
  });
  readonly breakersOpened = new Counter({
    name: 'switchboard_breakers_opened_total',
    help: 'Times that the circuit breaker of a webhook opened, without failed probes',
    registers: [this.#registry],
  });
  readonly unmatchedCallbacks = new Counter({
    name: 'switchboard_callback_unmatched_total',
    help: 'Parts of network callbacks for numbers that this server does not know',
    registers: [this.#registry],
  });
  readonly unreadable = new Counter({
    name: 'switchboard_unreadable_messages_total',
    help: 'Received messages, and sealed changes of messages, that could not be decrypted after all retries, by reason',
    labelNames: ['reason'],
    registers: [this.#registry],
  });
  readonly #gauges = gauges.map(({ name, help, label, read }) => {
    const labelNames = label === undefined ? [] : [label];
    return { label, read, gauge: new Gauge({ name, help, labelNames, registers: [this.#registry] }) };
  });

  constructor() {
    const registry = this.#registry;
    // Memory, CPU, open files, and the lag of the event loop.
    collectDefaultMetrics({ register: registry, eventLoopMonitoringPrecision: LAG_EVERY_MS });
    // If a counter first appears with a count, `rate` and `increase` miss that count.
    for (const kind of eventKinds) this.events.inc({ kind }, 0);
    for (const state of ['delivered', 'failed', 'expired']) this.settled.inc({ state }, 0);
    for (const reason of unreadableReasons) this.unreadable.inc({ reason }, 0);
    const info = { name: 'switchboard_info', help: 'Versions of Switchboard and Node.js' };
    const labels = { version, node: process.version };
    new Gauge({ ...info, labelNames: Object.keys(labels), registers: [registry] }).set(labels, 1);
  }

  async read(now: Present): Promise<{ contentType: string; text: string }> {
    for (const { label, read, gauge } of this.#gauges) {
      const found = read(now);
      if (label !== undefined) gauge.reset();
      else gauge.remove(); // a reset would set it to 0
      if (typeof found === 'number') gauge.set(found);
      else for (const [value, count] of Object.entries(found ?? {})) gauge.set({ [label ?? '']: value }, count);
    }
    const registry = this.#registry;
    return { contentType: registry.contentType, text: await registry.metrics() };
  }
}

interface GaugeDefinition {
  readonly name: string;
  readonly help: string;
  readonly label?: string;
  /** Returns the value, or the values by label; undefined if unknown, because the previous one would look current. */
  readonly read: (now: Present) => number | Readonly<Record<string, number>> | undefined;
}

const gauges: readonly GaugeDefinition[] = [
  {
    name: 'switchboard_ready',
    help: 'Whether GET /ready answers 200 (1) or 503 (0)',
    read: ({ isReady }) => Number(isReady),
  },
  {
    name: 'switchboard_degraded',
    help: 'Whether GET /ready lists a part in degraded (1) or it works (0)',
    label: 'part',
    read: ({ degraded }) => degraded,
  },
  {
    name: 'switchboard_deliveries_in_flight',
    help: 'Delivery attempts in flight on this node',
    read: ({ inFlight }) => inFlight,
  },
  {
    name: 'switchboard_nodes',
    help: 'Live nodes known to this node',
    read: ({ cluster }) => cluster?.nodes,
  },
  {
    name: 'switchboard_nodes_with_other_files',
    help: 'Live nodes that keep files elsewhere than this node',
    read: ({ cluster }) => cluster?.nodesWithOtherFiles,
  },
  {
    name: 'switchboard_signals_up',
    help: 'Whether this node receives notifications of other nodes (1) or has to poll (0)',
    read: ({ cluster }) => cluster && Number(cluster.isListening),
  },
  {
    name: 'switchboard_clock_skew_seconds',
    help: "Seconds by which this machine's clock is ahead of the clock of the database; negative if behind",
    read: ({ cluster }) => cluster && cluster.clockSkewMs / 1000,
  },
  {
    name: 'switchboard_leases',
    help: 'Sessions and webhooks that this node owns',
    label: 'kind',
    read: ({ cluster }) => cluster && { sessions: cluster.sessions, webhooks: cluster.webhooks },
  },
  {
    name: 'switchboard_database_connections',
    help: 'Connections to PostgreSQL by use (idle, busy)',
    label: 'use',
    read: ({ pool }) => pool && { idle: pool.idle, busy: pool.total - pool.idle },
  },
  {
    name: 'switchboard_database_waiting',
    help: 'Queries waiting for a connection to PostgreSQL',
    read: ({ pool }) => pool?.waiting,
  },
  {
    name: 'switchboard_database_up',
    help: 'Whether the database answers (1) or not (0)',
    read: ({ isDatabaseUp }) => Number(isDatabaseUp),
  },
  {
    name: 'switchboard_sessions',
    help: 'Sessions by status',
    label: 'status',
    read: ({ totals }) => totals && Object.fromEntries(totals.sessions.map(({ status, count }) => [status, count])),
  },
  {
    name: 'switchboard_whatsapp_version_age_seconds',
    help: 'Time since the release of the built-in WhatsApp Web version, which WhatsApp refuses after some weeks or months',
    read: ({ webVersionAgeMs }) => webVersionAgeMs / 1000,
  },
  {
    name: 'switchboard_session_risk',
    help: 'Connected sessions by how likely their network is to ban the number (low, elevated, high)',
    label: 'risk',
    read: ({ totals }) => totals && sessionsByRisk(totals),
  },
  {
    name: 'switchboard_breakers',
    help: 'Webhooks by the state of their circuit breaker',
    label: 'state',
    read: ({ totals }) => totals && Object.fromEntries(totals.breakers.map(({ state, count }) => [state, count])),
  },
  {
    name: 'switchboard_lanes',
    help: 'Webhooks with pending deliveries, by whether they can go out (moving) or not (held)',
    label: 'state',
    read: ({ totals }) => totals && { ...totals.lanes },
  },
  {
    name: 'switchboard_deliveries_pending',
    help: 'Pending deliveries, counted up to 100,000',
    read: ({ totals }) => totals?.pending,
  },
  {
    name: 'switchboard_lane_lag_seconds',
    help: 'Age of the oldest deliverable delivery',
    read: ({ totals }) => totals && totals.lagMs / 1000,
  },
];

function sessionsByRisk({ sessions, risks }: Totals): Readonly<Record<string, number>> {
  const countOf = (wanted: string) => risks.find(({ risk }) => risk === wanted)?.count ?? 0;
  const [elevated, high] = [countOf('elevated'), countOf('high')];
  const all = sessions.find(({ status }) => status === 'connected')?.count ?? 0;
  return { low: Math.max(0, all - elevated - high), elevated, high };
}

/** The fraction of time that a throttled query may take. */
const SHARE = 0.01;
const CACHED_AT_LEAST_MS = 1000;
const CACHED_AT_MOST_MS = 60_000;

/**
 * Caches the result of a query for 100 times its duration, at least one second and at most a minute. A failure is
 * cached for one second, because its duration says nothing about the query's cost.
 */
export function throttle<T>(query: () => Promise<T>, elapsed = () => performance.now()): () => Promise<T> {
  let cached: Promise<T> | undefined;
  let until = Number.POSITIVE_INFINITY;
  return () => {
    if (cached !== undefined && elapsed() < until) return cached;
    const startedAt = elapsed();
    const running = query();
    cached = running;
    until = Number.POSITIVE_INFINITY; // until it has settled
    running.then(
      () => {
        const ms = (elapsed() - startedAt) / SHARE;
        until = elapsed() + Math.min(CACHED_AT_MOST_MS, Math.max(CACHED_AT_LEAST_MS, ms));
      },
      () => (until = elapsed() + CACHED_AT_LEAST_MS),
    );
    return running;
  };
}

/** Shares a result between all callers within `ms` of its start. A failure is not kept. */
export function atMostEvery<T>(
  ms: number,
  read: () => Promise<T>,
  elapsed = () => performance.now(),
): () => Promise<T> {
  let shared: Promise<T> | undefined;
  let until = Number.POSITIVE_INFINITY;
  return () => {
    if (shared !== undefined && elapsed() < until) return shared;
    const startedAt = elapsed();
    const running = read();
    shared = running;
    until = Number.POSITIVE_INFINITY; // until it has settled
    running.then(
      () => (until = startedAt + ms),
      () => (until = startedAt),
    );
    return running;
  };
}
