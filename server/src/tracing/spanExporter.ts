import { readFileSync } from 'node:fs';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import type { Attributes, AttributeValue, HrTime, Link, SpanContext } from '@opentelemetry/api';
import {
  type ExportResult,
  ExportResultCode,
  getNumberFromEnv,
  getStringFromEnv,
  parseKeyPairsIntoRecord,
} from '@opentelemetry/core';
import type { ReadableSpan, SpanExporter } from '@opentelemetry/sdk-trace-base';
import { Agent, request } from 'undici';
import { sleep } from '../async.ts';
import type { Clock } from '../clock.ts';
import { thrownCode, thrownError } from '../thrown.ts';
import { version } from '../version.ts';

/** Time for an export with all its attempts. The defaults here are OpenTelemetry's for JavaScript. */
const TIMEOUT_MS = 10_000;
const MAX_TIMEOUT_MS = 600_000;
const ATTEMPTS = 6;
const FIRST_PAUSE_MS = 1000;
const MAX_PAUSE_MS = 5000;
const GROWTH = 1.5;
const JITTER = 0.2;
/** https://opentelemetry.io/docs/specs/otlp/#retryable-response-codes */
const RETRYABLE = new Set([429, 502, 503, 504]);

/** https://github.com/open-telemetry/opentelemetry-proto/blob/main/opentelemetry/proto/trace/v1/trace.proto */
const HAS_IS_REMOTE = 0x100;
const IS_REMOTE = 0x200;

/**
 * Sends spans by OTLP over HTTP, in JSON. The package `@opentelemetry/exporter-trace-otlp-http` brings metrics, logs
 * and Protobuf: 10 MB for one request. These variables, and their variants for traces, work as they do there:
 * `OTEL_EXPORTER_OTLP_HEADERS`, `_TIMEOUT`, `_COMPRESSION`, `_CERTIFICATE`, `_CLIENT_CERTIFICATE` and `_CLIENT_KEY`.
 */
export class OtlpSpanExporter implements SpanExporter {
  readonly #url: string;
  readonly #clock: Clock;
  readonly #headers: Readonly<Record<string, string>>;
  readonly #timeoutMs = Math.min(optionNumber('TIMEOUT') ?? TIMEOUT_MS, MAX_TIMEOUT_MS);
  readonly #isCompressed = option('COMPRESSION') === 'gzip';
  readonly #agent: Agent;
  readonly #stopped = new AbortController();

  /** @throws {Error} if a certificate or key cannot be read */
  constructor(url: string, clock: Clock) {
    this.#url = url;
    this.#clock = clock;
    this.#headers = {
      ...parseKeyPairsIntoRecord(getStringFromEnv('OTEL_EXPORTER_OTLP_HEADERS')),
      ...parseKeyPairsIntoRecord(getStringFromEnv('OTEL_EXPORTER_OTLP_TRACES_HEADERS')),
      'content-type': 'application/json',
      'user-agent': `switchboard/${version}`,
      ...(this.#isCompressed && { 'content-encoding': 'gzip' }),
    };
    const files = { ca: 'CERTIFICATE', cert: 'CLIENT_CERTIFICATE', key: 'CLIENT_KEY' } as const;
    const tls = Object.entries(files).flatMap(([name, variable]) => {
      const path = option(variable);
      return path === undefined ? [] : [[name, readFileSync(path)]];
    });
    this.#agent = new Agent({ connect: Object.fromEntries(tls) });
  }

  export(spans: ReadableSpan[], done: (result: ExportResult) => void): void {
    this.#send(JSON.stringify(toExportRequest(spans))).then(
      () => done({ code: ExportResultCode.SUCCESS }),
      (error) => done({ code: ExportResultCode.FAILED, error: thrownError(error) }),
    );
  }

  /** Ends the exports that are running. */
  async shutdown(): Promise<void> {
    this.#stopped.abort(new Error('the server stops'));
    await this.#agent.destroy();
  }

  async #send(text: string): Promise<void> {
    const body = this.#isCompressed ? await promisify(gzip)(text) : text;
    const end = this.#clock.elapsed() + this.#timeoutMs;
    for (let attempt = 1; ; attempt++) {
      const left = Math.max(1, Math.ceil(end - this.#clock.elapsed()));
      const { error, pauseMs = pauseAfter(attempt) } = await this.#attempt(body, left);
      if (error === undefined) return;
      const isLate = this.#clock.elapsed() + pauseMs >= end;
      if (isLate || attempt === ATTEMPTS || this.#stopped.signal.aborted) throw error;
      await sleep(this.#clock, pauseMs, this.#stopped.signal);
    }
  }

  /** Returns the error, if any, and the pause before the next attempt: infinite if there must be none. */
  async #attempt(body: string | Buffer, timeoutMs: number): Promise<{ error?: Error; pauseMs?: number }> {
    const signal = AbortSignal.any([this.#stopped.signal, AbortSignal.timeout(timeoutMs)]);
    try {
      const answer = await request(this.#url, {
        method: 'POST',
        headers: this.#headers,
        body,
        signal,
        dispatcher: this.#agent,
      });
      await answer.body.dump({ limit: 65_536, signal });
      if (answer.statusCode < 300) return {};
      const error = new Error(`The collector responded with ${answer.statusCode}`);
      if (!RETRYABLE.has(answer.statusCode)) return { error, pauseMs: Number.POSITIVE_INFINITY };
      const seconds = Number(answer.headers['retry-after'] ?? Number.NaN); // collectors send no dates
      return { error, ...(seconds >= 0 && { pauseMs: seconds * 1000 }) };
    } catch (thrown) {
      const error = thrownError(thrown);
      // Errors of TLS and of the request repeat themselves.
      const isPassing = /^(E[A-Z]+|UND_ERR_(SOCKET|CONNECT_TIMEOUT))$/.test(thrownCode(error));
      return { error, ...(!isPassing && { pauseMs: Number.POSITIVE_INFINITY }) };
    }
  }
}

function pauseAfter(attempt: number): number {
  const pause = FIRST_PAUSE_MS * GROWTH ** (attempt - 1) * (1 + JITTER * (2 * Math.random() - 1));
  return Math.min(pause, MAX_PAUSE_MS);
}

/** The variable for traces, or for all that is exported. */
const option = (name: string) =>
  getStringFromEnv(`OTEL_EXPORTER_OTLP_TRACES_${name}`) ?? getStringFromEnv(`OTEL_EXPORTER_OTLP_${name}`);

function optionNumber(name: string): number | undefined {
  const value = getNumberFromEnv(`OTEL_EXPORTER_OTLP_TRACES_${name}`) ?? getNumberFromEnv(`OTEL_EXPORTER_OTLP_${name}`);
  return value !== undefined && value > 0 ? value : undefined;
}

/** An `ExportTraceServiceRequest`. All spans have the resource and the scope of this process. */
function toExportRequest(spans: readonly ReadableSpan[]) {
  const [first] = spans;
  if (first === undefined) return { resourceSpans: [] };
  const { name, version: scopeVersion } = first.instrumentationScope;
  const scopeSpans = [{ scope: { name, version: scopeVersion }, spans: spans.map(toSpan) }];
  return { resourceSpans: [{ resource: { attributes: toAttributes(first.resource.attributes) }, scopeSpans }] };
}

function toSpan(span: ReadableSpan) {
  const context = span.spanContext();
  return {
    ...idsOf(context),
    parentSpanId: span.parentSpanContext?.spanId,
    name: span.name,
    kind: span.kind + 1, // 0 is "unspecified", which the API does not have
    startTimeUnixNano: nanoseconds(span.startTime),
    endTimeUnixNano: nanoseconds(span.endTime),
    attributes: toAttributes(span.attributes),
    droppedAttributesCount: span.droppedAttributesCount,
    events: span.events.map((event) => ({
      name: event.name,
      timeUnixNano: nanoseconds(event.time),
      attributes: toAttributes(event.attributes),
      droppedAttributesCount: event.droppedAttributesCount ?? 0,
    })),
    droppedEventsCount: span.droppedEventsCount,
    links: span.links.map(toLink),
    droppedLinksCount: span.droppedLinksCount,
    status: { code: span.status.code, message: span.status.message },
    flags: flagsOf(context, span.parentSpanContext),
  };
}

const toLink = ({ context, attributes, droppedAttributesCount = 0 }: Link) => ({
  ...idsOf(context),
  attributes: toAttributes(attributes),
  droppedAttributesCount,
  flags: flagsOf(context, context),
});

const idsOf = ({ traceId, spanId, traceState }: SpanContext) => ({
  traceId,
  spanId,
  traceState: traceState?.serialize(),
});

const flagsOf = ({ traceFlags }: SpanContext, origin: SpanContext | undefined) =>
  (traceFlags & 0xff) | HAS_IS_REMOTE | (origin?.isRemote === true ? IS_REMOTE : 0);

const toAttributes = (attributes: Attributes = {}) =>
  Object.entries(attributes).map(([key, value]) => ({ key, value: toAnyValue(value) }));

function toAnyValue(value: AttributeValue | null | undefined): object {
  if (typeof value === 'string') return { stringValue: value };
  if (typeof value === 'boolean') return { boolValue: value };
  if (typeof value === 'number') return Number.isInteger(value) ? { intValue: value } : { doubleValue: value };
  if (Array.isArray(value)) return { arrayValue: { values: value.map((item) => toAnyValue(item)) } };
  return {};
}

/** JSON has 64-bit integers as strings. */
const nanoseconds = ([seconds, nanos]: HrTime) =>
  String(BigInt(Math.trunc(seconds)) * 1_000_000_000n + BigInt(Math.trunc(nanos)));
