import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';
import { eventKinds } from './events.ts';
import { version } from './version.ts';

/** What the process counts of itself, for Prometheus. No label names an account, a session or a webhook. */
export interface Metrics {
  countRequest(method: string, status: number): void;
  countOperation(operation: string, channel: string, status: number, seconds: number): void;
  countEvents(kind: string, count: number): void;
  countAttempt(outcome: string, seconds: number): void;
  countSettled(state: SettledState, count: number): void;
  countBreakerOpened(): void;
  /** All of it in the text format of Prometheus. */
  read(now: Present): Promise<{ contentType: string; text: string }>;
}

/** What is true of the process at this moment, and what the database knows. */
export interface Present {
  readonly inFlight: number;
  readonly isReady: boolean;
  /** Undefined where one process has the database to itself. */
  readonly cluster: ClusterCounts | undefined;
  /** Undefined where there is no pool. */
  readonly pool: { readonly total: number; readonly idle: number; readonly waiting: number } | undefined;
  /** Whether the database answered just now. */
  readonly isDatabaseUp: boolean;
  /** Undefined while the database does not answer. */
  readonly totals: Totals | undefined;
}

/** What a node holds, and whom it knows. */
export interface ClusterCounts {
  /** That live, this one included. */
  readonly nodes: number;
  /** Of these, those that keep files elsewhere than this one. */
  readonly nodesWithOtherFiles: number;
  readonly sessions: number;
  readonly webhooks: number;
  /** Whether it hears at once what changes at other nodes. */
  readonly isListening: boolean;
  /** How far the time of day here is ahead of the database's clock. */
  readonly clockSkewMs: number;
}

/** What is read from the database when somebody asks; on every node of a deployment the same. */
export interface Totals {
  readonly sessions: readonly { readonly status: string; readonly count: number }[];
  readonly breakers: readonly { readonly state: string; readonly count: number }[];
  /** Webhooks with something pending: `held` ones wait for their receiver, or are switched off. */
  readonly lanes: { readonly moving: number; readonly held: number };
  /** Deliveries that are not settled, counted as far as `MOST_PENDING` of the queue. */
  readonly pending: number;
  /** How long the delivery that is due longest in a moving lane has been due; 0 when none is. */
  readonly lagMs: number;
}

const settledStates = ['delivered', 'failed', 'expired'] as const;
type SettledState = (typeof settledStates)[number];

const OPERATION_SECONDS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10, 30];
const ATTEMPT_SECONDS = [0.01, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 15];

export function createMetrics(): Metrics {
  const registers = [new Registry()];
  const [registry] = registers as [Registry];
  // Memory, processor, open files, and how far the event loop is behind.
  collectDefaultMetrics({ register: registry });

  const gauge = (name: string, help: string, labelNames: string[] = []) =>
    new Gauge({ name, help, labelNames, registers });
  const counter = (name: string, help: string, labelNames: string[] = []) =>
    new Counter({ name, help, labelNames, registers });

  const requests = counter('switchboard_http_requests_total', 'Answered HTTP requests by method and status', [
    'method',
    'status',
  ]);
  const operations = new Histogram({
    name: 'switchboard_operation_seconds',
    help: 'Duration of operations by id, channel (rest, mcp) and HTTP status',
    labelNames: ['operation', 'channel', 'status'],
    buckets: OPERATION_SECONDS,
    registers,
  });
  const events = counter('switchboard_events_total', 'Emitted events by event type', ['kind']);
  const attempts = new Histogram({
    name: 'switchboard_delivery_attempt_seconds',
    help: 'Duration of delivery attempts by outcome class',
    labelNames: ['class'],
    buckets: ATTEMPT_SECONDS,
    registers,
  });
  const settled = counter('switchboard_deliveries_settled_total', 'Settled deliveries by final state', ['state']);
  const opened = counter('switchboard_breakers_opened_total', 'Times that the circuit breaker of a webhook opened');
  // A counter that appears with its first count hides that count from `rate` and `increase`.
  for (const kind of eventKinds) events.inc({ kind }, 0);
  for (const state of settledStates) settled.inc({ state }, 0);

  gauge('switchboard_info', 'Versions of Switchboard and Node.js', ['version', 'node']).set(
    { version, node: process.version },
    1,
  );
  const ready = gauge('switchboard_ready', 'Whether GET /ready answers 200 (1) or 503 (0)');
  const inFlight = gauge('switchboard_deliveries_in_flight', 'Delivery attempts in flight on this node');
  const nodes = gauge('switchboard_nodes', 'Live nodes known to this node');
  const otherFiles = gauge('switchboard_nodes_with_other_files', 'Live nodes that keep files elsewhere than this node');
  const listening = gauge(
    'switchboard_signals_up',
    'Whether this node receives notifications of other nodes (1) or has to poll (0)',
  );
  const clockSkew = gauge(
    'switchboard_clock_skew_seconds',
    "Seconds by which this machine's clock is ahead of the clock of the database; negative if behind",
  );
  const leases = gauge('switchboard_leases', 'Sessions and webhooks that this node owns', ['kind']);
  const pool = gauge('switchboard_database_connections', 'Connections to PostgreSQL by use (idle, busy)', ['use']);
  const poolWaiting = gauge('switchboard_database_waiting', 'Queries waiting for a connection to PostgreSQL');
  const isAnswering = gauge('switchboard_database_up', 'Whether the database answers (1) or not (0)');
  const sessions = gauge('switchboard_sessions', 'Sessions by status', ['status']);
  const breakers = gauge('switchboard_breakers', 'Webhooks by the state of their circuit breaker', ['state']);
  const lanes = gauge(
    'switchboard_lanes',
    'Webhooks with pending deliveries, by whether they can go out (moving) or not (held)',
    ['state'],
  );
  const pending = gauge('switchboard_deliveries_pending', 'Pending deliveries, counted up to 100,000');
  const lag = gauge('switchboard_lane_lag_seconds', 'Age of the oldest deliverable delivery');

  function setPresent({ inFlight: attempting, isReady, cluster, pool: use }: Present): void {
    inFlight.set(attempting);
    ready.set(isReady ? 1 : 0);
    // One that has no labels starts at 0, which would be said of what is not there.
    if (cluster === undefined) for (const one of [nodes, otherFiles, listening, clockSkew]) one.remove();
    else {
      nodes.set(cluster.nodes);
      otherFiles.set(cluster.nodesWithOtherFiles);
      listening.set(cluster.isListening ? 1 : 0);
      clockSkew.set(cluster.clockSkewMs / 1000);
      leases.set({ kind: 'sessions' }, cluster.sessions);
      leases.set({ kind: 'webhooks' }, cluster.webhooks);
    }
    if (use === undefined) poolWaiting.remove();
    else {
      pool.set({ use: 'idle' }, use.idle);
      pool.set({ use: 'busy' }, use.total - use.idle);
      poolWaiting.set(use.waiting);
    }
  }

  function setTotals(totals: Totals | undefined): void {
    // Without an answer there is no figure: the one of before would look like one of now.
    for (const one of [sessions, breakers, lanes]) one.reset();
    for (const one of [pending, lag]) one.remove();
    if (totals === undefined) return;
    for (const { status, count } of totals.sessions) sessions.set({ status }, count);
    for (const { state, count } of totals.breakers) breakers.set({ state }, count);
    for (const [state, count] of Object.entries(totals.lanes)) lanes.set({ state }, count);
    pending.set(totals.pending);
    lag.set(totals.lagMs / 1000);
  }

  return {
    countRequest: (method, status) => requests.inc({ method, status: String(status) }),
    countOperation: (operation, channel, status, seconds) =>
      operations.observe({ operation, channel, status: String(status) }, seconds),
    countEvents: (kind, count) => events.inc({ kind }, count),
    countAttempt: (outcome, seconds) => attempts.observe({ class: outcome }, seconds),
    countSettled: (state, count) => settled.inc({ state }, count),
    countBreakerOpened: () => opened.inc(),
    async read(now) {
      setPresent(now);
      isAnswering.set(now.isDatabaseUp ? 1 : 0);
      setTotals(now.totals);
      return { contentType: registry.contentType, text: await registry.metrics() };
    },
  };
}

/** The share of the time that a throttled query may take, however often it is called. */
const SHARE = 0.01;
const CACHED_AT_LEAST_MS = 1000;
const CACHED_AT_MOST_MS = 60_000;

/**
 * Caches the result of a query for 100 times as long as it took, at least a second and at most a minute. A failure is
 * cached for a second: it says nothing about what the query costs.
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
