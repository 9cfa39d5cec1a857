import { AsyncLocalStorage } from 'node:async_hooks';
import { ROOT_CONTEXT, type Span, SpanKind, SpanStatusCode, trace } from '@opentelemetry/api';
import { type ExportResult, ExportResultCode, parseTraceParent } from '@opentelemetry/core';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http';
import { detectResources, envDetector, resourceFromAttributes } from '@opentelemetry/resources';
import { BasicTracerProvider, BatchSpanProcessor, type ReadableSpan } from '@opentelemetry/sdk-trace-base';
import { settledWithin } from '../async.ts';
import { systemClock } from '../clock.ts';
import type { Forward } from '../cluster/forward.ts';
import type { Commit, CommitJointly, JointWork } from '../db/commit.ts';
import type { Database } from '../db/database.ts';
import type { Invoke } from '../invoke/operation.ts';
import type { Log } from '../log.ts';
import type { Inbox } from '../messages/inbox.ts';
import { API_PREFIX, version } from '../version.ts';
import type { Deliver } from '../webhooks/deliver.ts';

/*
 * Traces for OpenTelemetry: a call of an operation or what a network tells, what that makes another node do, and the
 * attempts to deliver the events that came of it are spans of one trace. What crosses the queue is `traceparent`, stored with the event: it
 * outlives the process and reaches the node that delivers.
 *
 * Nothing of this is loaded unless it is set. The parts of the server know nothing of it either: they are wrapped, by
 * `app.ts`, where a span begins or ends.
 */
export interface Tracing {
  /** `traceparent` of the span that this code runs in; null when there is none. */
  current(): string | null;
  /** Works that wait for their transaction run in the span of who handed them in. */
  database(database: Database): Database;
  invoke(invoke: Invoke): Invoke;
  /** What a network tells of its own accord begins a trace. */
  inbox(inbox: Inbox): Inbox;
  forward(forward: Forward): Forward;
  deliver(deliver: Deliver): Deliver;
  /** Sends what is not sent yet. */
  stop(): Promise<void>;
}

const STOP_MS = 3000;

/** @param endpoint where OTLP over HTTP is taken; `/v1/traces` is added to its path */
export function createTracing({ endpoint, nodeId, log }: { endpoint: URL; nodeId: string; log: Log }): Tracing {
  const url = new URL(endpoint);
  url.pathname = `${url.pathname.replace(/\/$/, '')}/v1/traces`;
  const provider = new BasicTracerProvider({
    resource: resourceFromAttributes({
      'service.name': 'switchboard',
      'service.version': version,
      'service.instance.id': nodeId,
      // OTEL_SERVICE_NAME and OTEL_RESOURCE_ATTRIBUTES come last: they win.
    }).merge(detectResources({ detectors: [envDetector] })),
    spanProcessors: [new BatchSpanProcessor(complaining(new OTLPTraceExporter({ url: url.href }), log))],
  });
  const tracer = provider.getTracer('switchboard', version);
  const spans = new AsyncLocalStorage<Span | undefined>();

  const current = () => {
    const span = spans.getStore();
    return span === undefined ? null : traceparentOf(span);
  };

  /** @param parent `traceparent` of the span that caused it; the one of now unless given */
  async function within<T>(
    kind: SpanKind,
    name: string,
    parent: string | null | undefined,
    work: (span: Span) => Promise<T>,
  ): Promise<T> {
    const above = parseTraceParent(parent ?? current() ?? '');
    const context = above === null ? ROOT_CONTEXT : trace.setSpanContext(ROOT_CONTEXT, { ...above, isRemote: true });
    const span = tracer.startSpan(name, { kind }, context);
    try {
      return await spans.run(span, () => work(span));
    } catch (error) {
      span.setStatus({ code: SpanStatusCode.ERROR, message: error instanceof Error ? error.message : String(error) });
      throw error;
    } finally {
      span.end();
    }
  }

  return {
    current,
    database(database) {
      // Works share a transaction, and each is of the request that handed it in: or of none.
      const commit: Commit = (work, key) => {
        const span = spans.getStore();
        return database.commit((tx) => spans.run(span, () => work(tx)), key);
      };
      // What is done jointly is done under one span.
      const commitJointly: CommitJointly = async <T, R>(work: JointWork<T, R>, item: T, key?: string) => {
        const [result] = await commit((tx) => work(tx, [item]), key);
        return result as R;
      };
      return { ...database, commit, commitJointly };
    },
    invoke: (invoke) => (operation, call) =>
      within(SpanKind.SERVER, operation.id, call.trace, async (span) => {
        const answer = await invoke(operation, call);
        span.setAttributes({
          'http.request.method': operation.method,
          'http.route': API_PREFIX + operation.path,
          'http.response.status_code': answer.status,
          'switchboard.channel': call.channel,
          'switchboard.request_id': call.requestId,
          ...(call.caller && { 'switchboard.account_id': call.caller.accountId }),
        });
        if (!answer.ok) span.setAttribute('error.type', answer.problem.code);
        if (!answer.ok && answer.status >= 500)
          span.setStatus({ code: SpanStatusCode.ERROR, message: answer.problem.title });
        return answer;
      }),
    inbox: (inbox) => ({
      ...inbox,
      take: (session, event, came) =>
        within(SpanKind.CONSUMER, `network ${event.type}`, null, async (span) => {
          span.setAttributes({
            'switchboard.session_id': session.sessionId,
            'switchboard.account_id': session.accountId,
          });
          return inbox.take(session, event, came);
        }),
    }),
    forward: (forward) => ({
      relay: (node, request, life) => forward.relay(node, request, life),
      close: () => forward.close(),
      to: (node, request, life) =>
        within(SpanKind.CLIENT, 'forward', null, async (span) => {
          span.setAttribute('switchboard.node_id', node.nodeId);
          return forward.to(node, { ...request, trace: traceparentOf(span) }, life);
        }),
    }),
    deliver: (deliver) => ({
      probe: (request) => deliver.probe(request),
      close: () => deliver.close(),
      attempt: (request) => {
        const { 'x-webhook-event': kind, 'x-webhook-id': eventId, 'x-webhook-attempt': attempt } = request.headers;
        return within(SpanKind.CLIENT, `deliver ${kind}`, request.trace, async (span) => {
          const headers = { ...request.headers, traceparent: traceparentOf(span) };
          const outcome = await deliver.attempt({ ...request, headers });
          span.setAttributes({
            'http.request.method': 'POST',
            'server.address': new URL(request.url).hostname,
            'switchboard.event_id': eventId ?? '',
            'switchboard.attempt': Number(attempt),
            'switchboard.outcome': outcome.class,
            ...(outcome.status !== null && { 'http.response.status_code': outcome.status }),
          });
          if (outcome.class !== 'ok') {
            span.setAttribute('error.type', outcome.class);
            span.setStatus({ code: SpanStatusCode.ERROR, message: outcome.message });
          }
          return outcome;
        });
      },
    }),
    async stop() {
      await settledWithin(systemClock, STOP_MS, provider.shutdown()); // the exporter logs its failures
    },
  };
}

function traceparentOf(span: Span): string {
  const { traceId, spanId, traceFlags } = span.spanContext();
  return `00-${traceId}-${spanId}-${traceFlags.toString(16).padStart(2, '0')}`;
}

/** An exporter that says in our log when it begins and ends to fail: the SDK says it nowhere. */
function complaining(exporter: OTLPTraceExporter, log: Log) {
  let isFailing = false;
  return {
    export(spans: ReadableSpan[], done: (result: ExportResult) => void): void {
      exporter.export(spans, (result) => {
        const failed = result.code !== ExportResultCode.SUCCESS;
        if (failed && !isFailing)
          log.warn(
            { err: result.error },
            'failed to export traces; they are lost until the collector accepts them again',
          );
        if (!failed && isFailing) log.info('exporting traces again');
        isFailing = failed;
        done(result);
      });
    },
    shutdown: () => exporter.shutdown(),
    forceFlush: () => exporter.forceFlush(),
  };
}
