import { AsyncLocalStorage } from 'node:async_hooks';
import { ROOT_CONTEXT, type Span, SpanKind, SpanStatusCode, type Tracer, trace } from '@opentelemetry/api';
import { type ExportResult, ExportResultCode, parseTraceParent } from '@opentelemetry/core';
import { detectResources, envDetector, resourceFromAttributes } from '@opentelemetry/resources';
import { BasicTracerProvider, BatchSpanProcessor, type ReadableSpan } from '@opentelemetry/sdk-trace-base';
import { settledWithin } from '../async.ts';
import { systemClock } from '../clock.ts';
import type { Forward } from '../cluster/forward.ts';
import type { Commit } from '../db/commit.ts';
import type { Database } from '../db/database.ts';
import type { Invoke } from '../invoke/operation.ts';
import type { Log } from '../log.ts';
import type { Inbox } from '../messages/inbox.ts';
import { thrownMessage } from '../thrown.ts';
import { API_PREFIX, version } from '../version.ts';
import type { Deliver } from '../webhooks/delivery/deliver.ts';
import { OtlpSpanExporter } from './spanExporter.ts';

const STOP_MS = 3000;

/**
 * Traces for OpenTelemetry. An operation call or a network event, the calls that it makes on other nodes, and the
 * attempts to deliver its events are spans of one trace. Events are stored with their `traceparent`, so a trace
 * outlives the process and reaches the delivering node.
 *
 * The parts of the server do not know about tracing: `app.ts` wraps those where a span begins or ends, and only if
 * tracing is configured.
 */
export class Tracing {
  readonly #exporter: OtlpSpanExporter;
  readonly #provider: BasicTracerProvider;
  readonly #tracer: Tracer;
  readonly #spans = new AsyncLocalStorage<Span | undefined>();

  /** @param endpoint accepts OTLP over HTTP; `/v1/traces` is added to its path */
  constructor({ endpoint, nodeId, log }: { endpoint: URL; nodeId: string; log: Log }) {
    const url = new URL(endpoint);
    url.pathname = `${url.pathname.replace(/\/$/, '')}/v1/traces`;
    this.#exporter = new OtlpSpanExporter(url.href, systemClock);
    this.#provider = new BasicTracerProvider({
      resource: resourceFromAttributes({
        'service.name': 'switchboard',
        'service.version': version,
        'service.instance.id': nodeId,
        // OTEL_SERVICE_NAME and OTEL_RESOURCE_ATTRIBUTES come last, so they take precedence.
      }).merge(detectResources({ detectors: [envDetector] })),
      spanProcessors: [new BatchSpanProcessor(logFailures(this.#exporter, log))],
    });
    this.#tracer = this.#provider.getTracer('switchboard', version);
  }

  /** Exports the remaining spans. */
  async stop(): Promise<void> {
    await settledWithin(systemClock, STOP_MS, this.#provider.shutdown()); // the exporter logs its failures
    await this.#exporter.shutdown();
  }

  /** Returns the `traceparent` of the span that this code runs in; null if there is none. */
  current(): string | null {
    const span = this.#spans.getStore();
    return span === undefined ? null : traceparentOf(span);
  }

  /** Runs each job in the span of its own caller, because a transaction combines the work of many callers. */
  database<D extends Pick<Database, 'commit'>>(database: D): D {
    const commit: Commit = (work, key) => {
      const span = this.#spans.getStore();
      return database.commit((tx) => this.#spans.run(span, () => work(tx)), key);
    };
    return { ...database, commit };
  }

  invoke(invoke: Invoke): Invoke {
    return (operation, call) =>
      this.#within(SpanKind.SERVER, operation.id, call.trace, async (span) => {
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
      });
  }

  /** Begins a trace for each event of a network. */
  inbox(inbox: Inbox): Inbox {
    return {
      ...inbox,
      take: (session, event, file) =>
        this.#within(SpanKind.CONSUMER, `network ${event.type}`, null, async (span) => {
          span.setAttributes({
            'switchboard.session_id': session.sessionId,
            'switchboard.account_id': session.accountId,
          });
          return inbox.take(session, event, file);
        }),
    };
  }

  forward(forward: Forward): Forward {
    return {
      to: (node, request, life) =>
        this.#within(SpanKind.CLIENT, 'forward', null, async (span) => {
          span.setAttribute('switchboard.node_id', node.nodeId);
          return forward.to(node, { ...request, trace: traceparentOf(span) }, life);
        }),
      relay: (node, request, life) => forward.relay(node, request, life),
      close: () => forward.close(),
    };
  }

  deliver(deliver: Deliver): Deliver {
    return {
      attempt: (request) => {
        const { 'x-webhook-event': kind, 'x-webhook-id': eventId, 'x-webhook-attempt': attempt } = request.headers;
        return this.#within(SpanKind.CLIENT, `deliver ${kind}`, request.trace, async (span) => {
          const headers = { ...request.headers, traceparent: traceparentOf(span) };
          const outcome = await deliver.attempt({ ...request, headers });
          span.setAttributes({
            ...(request.broker === undefined
              ? { 'http.request.method': 'POST' }
              : { 'messaging.system': request.broker.destination.type }),
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
      probe: (request) => deliver.probe(request),
      close: () => deliver.close(),
    };
  }

  /** @param parent `traceparent` of the causing span; the active span by default */
  async #within<T>(
    kind: SpanKind,
    name: string,
    parent: string | null | undefined,
    work: (span: Span) => Promise<T>,
  ): Promise<T> {
    const above = parseTraceParent(parent ?? this.current() ?? '');
    const context = above === null ? ROOT_CONTEXT : trace.setSpanContext(ROOT_CONTEXT, { ...above, isRemote: true });
    const span = this.#tracer.startSpan(name, { kind }, context);
    try {
      return await this.#spans.run(span, () => work(span));
    } catch (error) {
      span.setStatus({ code: SpanStatusCode.ERROR, message: thrownMessage(error) });
      throw error;
    } finally {
      span.end();
    }
  }
}

function traceparentOf(span: Span): string {
  const { traceId, spanId, traceFlags } = span.spanContext();
  return `00-${traceId}-${spanId}-${traceFlags.toString(16).padStart(2, '0')}`;
}

/** Logs when exports start and stop failing, because the SDK does not. */
function logFailures(exporter: OtlpSpanExporter, log: Log) {
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
  };
}
