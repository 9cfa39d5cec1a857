import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';

/** What the process counts of itself, for Prometheus. No label names an account, a session or a webhook. */
export interface Metrics {
  countOperation(operation: string, channel: string, status: number, seconds: number): void;
  countEvents(kind: string, count: number): void;
  countAttempt(outcome: string, seconds: number): void;
  /** All of it in the text format of Prometheus. */
  read(totals: Totals): Promise<{ contentType: string; text: string }>;
}

/** What is read from the database when somebody asks. */
export interface Totals {
  readonly sessions: readonly { readonly status: string; readonly count: number }[];
  readonly breakers: readonly { readonly state: string; readonly count: number }[];
  /** Webhooks with something pending. */
  readonly lanes: number;
  /** How long the delivery that is due longest has been due; 0 when none is. */
  readonly lagMs: number;
}

const OPERATION_SECONDS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10, 30];
const ATTEMPT_SECONDS = [0.01, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 15];

export function createMetrics(): Metrics {
  const registers = [new Registry()];
  const [registry] = registers as [Registry];
  // Memory, processor, open files, and how far the event loop is behind.
  collectDefaultMetrics({ register: registry });

  const operations = new Histogram({
    name: 'switchboard_operation_seconds',
    help: 'Operations by id, channel (rest, mcp) and HTTP status',
    labelNames: ['operation', 'channel', 'status'],
    buckets: OPERATION_SECONDS,
    registers,
  });
  const events = new Counter({
    name: 'switchboard_events_total',
    help: 'Events emitted, by kind',
    labelNames: ['kind'],
    registers,
  });
  const attempts = new Histogram({
    name: 'switchboard_delivery_attempt_seconds',
    help: 'Attempts to deliver, by outcome class',
    labelNames: ['class'],
    buckets: ATTEMPT_SECONDS,
    registers,
  });
  const sessions = new Gauge({
    name: 'switchboard_sessions',
    help: 'Sessions by status',
    labelNames: ['status'],
    registers,
  });
  const breakers = new Gauge({
    name: 'switchboard_breakers',
    help: 'Webhooks by the state of their circuit breaker',
    labelNames: ['state'],
    registers,
  });
  const lanes = new Gauge({ name: 'switchboard_lanes', help: 'Webhooks with something pending', registers });
  const lag = new Gauge({
    name: 'switchboard_lane_lag_seconds',
    help: 'How long the delivery that is due longest has been due',
    registers,
  });

  return {
    countOperation: (operation, channel, status, seconds) =>
      operations.observe({ operation, channel, status: String(status) }, seconds),
    countEvents: (kind, count) => events.inc({ kind }, count),
    countAttempt: (outcome, seconds) => attempts.observe({ class: outcome }, seconds),
    async read(totals) {
      sessions.reset();
      for (const { status, count } of totals.sessions) sessions.set({ status }, count);
      breakers.reset();
      for (const { state, count } of totals.breakers) breakers.set({ state }, count);
      lanes.set(totals.lanes);
      lag.set(totals.lagMs / 1000);
      return { contentType: registry.contentType, text: await registry.metrics() };
    },
  };
}
