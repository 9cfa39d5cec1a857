import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import { afterEach, beforeEach, describe, it, type TestContext } from 'node:test';
import { gunzipSync } from 'node:zlib';
import { SpanKind, SpanStatusCode, TraceFlags } from '@opentelemetry/api';
import { type ExportResult, ExportResultCode } from '@opentelemetry/core';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http';
import { resourceFromAttributes } from '@opentelemetry/resources';
import { BasicTracerProvider, InMemorySpanExporter, SimpleSpanProcessor } from '@opentelemetry/sdk-trace-base';
import type { Clock } from '../../../src/clock.ts';
import { systemClock } from '../../../src/clock.ts';
import { OtlpSpanExporter } from '../../../src/tracing/spanExporter.ts';
import { portOf } from '../../support/connections/listening.ts';

interface Received {
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
}
/** A status with the header `Retry-After`, or no response at all. */
type Reply = { readonly status: number; readonly retryAfter?: string } | 'none';

describe('the exporter of spans', () => {
  const received: Received[] = [];
  let replies: Reply[] = [];
  const collector = createServer((request, response) => {
    request.toArray().then((chunks) => {
      received.push({ headers: request.headers, body: Buffer.concat(chunks) });
      const reply = replies.shift() ?? { status: 200 };
      if (reply === 'none') return;
      response.writeHead(reply.status, reply.retryAfter === undefined ? {} : { 'retry-after': reply.retryAfter });
      response.end('{}');
    });
  });
  let url: string;
  beforeEach(async () => {
    received.length = 0;
    replies = [];
    collector.listen(0, '127.0.0.1');
    await once(collector, 'listening');
    url = `http://127.0.0.1:${portOf(collector)}/v1/traces`;
  });
  afterEach(async () => {
    collector.closeAllConnections();
    collector.close();
    await once(collector, 'close');
  });

  it('sends the same text as the exporter of OpenTelemetry', async (test) => {
    const spans = await someSpans();
    const theirs = new OTLPTraceExporter({ url });
    for (const exporter of [theirs, exporterFor(test, url)]) {
      const { code } = await new Promise<ExportResult>((resolve) => exporter.export(spans, resolve));
      assert.equal(code, ExportResultCode.SUCCESS);
    }
    await theirs.shutdown();
    const [expected, sent] = received.map(({ body }) => JSON.parse(body.toString()));
    // Theirs also counts dropped attributes of the resource, which does not drop any.
    for (const { resource } of expected.resourceSpans) delete resource.droppedAttributesCount;
    assert.equal(expected.resourceSpans[0].scopeSpans[0].spans.length, 2);
    assert.deepEqual(sent, expected);
  });

  it('applies the variables for headers and compression, first the ones for traces', async (test) => {
    setEnv(test, {
      OTEL_EXPORTER_OTLP_HEADERS: 'authorization=Basic%20abc,x-team=all',
      OTEL_EXPORTER_OTLP_TRACES_HEADERS: 'x-team=traces',
      OTEL_EXPORTER_OTLP_COMPRESSION: 'none',
      OTEL_EXPORTER_OTLP_TRACES_COMPRESSION: 'gzip',
    });
    assert.equal(await resultOf(exporterFor(test, url)), undefined);
    const [{ headers, body } = assert.fail()] = received;
    assert.deepEqual([headers.authorization, headers['x-team']], ['Basic abc', 'traces']);
    assert.equal(headers['content-encoding'], 'gzip');
    assert.ok('resourceSpans' in JSON.parse(gunzipSync(body).toString()));
  });

  it('retries while the collector is overloaded, after the time that it asks for', async (test) => {
    replies = [{ status: 429, retryAfter: '2' }, { status: 502 }, { status: 503 }, { status: 504 }];
    const { clock, pauses } = eagerClock();
    assert.equal(await resultOf(exporterFor(test, url, clock)), undefined);
    assert.equal(received.length, 5);
    assert.equal(pauses[0], 2000);
    for (const [index, base] of [1500, 2250, 3375].entries()) {
      const pause = pauses[index + 1] ?? 0;
      assert.ok(pause >= base * 0.8 && pause <= base * 1.2, `${pause} for ${base}`);
    }
  });

  it('reports an error that does not pass without another attempt', async (test) => {
    for (const status of [400, 401, 404, 500]) {
      replies = [{ status }];
      received.length = 0;
      assert.match((await resultOf(exporterFor(test, url)))?.message ?? '', new RegExp(`responded with ${status}`));
      assert.equal(received.length, 1);
    }
  });

  it('gives up after six attempts, or when the time is over', async (test) => {
    replies = Array.from({ length: 10 }, () => ({ status: 503, retryAfter: '0' }));
    assert.match((await resultOf(exporterFor(test, url)))?.message ?? '', /503/);
    assert.equal(received.length, 6);

    replies = [{ status: 503, retryAfter: '11' }];
    received.length = 0;
    assert.match((await resultOf(exporterFor(test, url)))?.message ?? '', /503/);
    assert.equal(received.length, 1);

    setEnv(test, { OTEL_EXPORTER_OTLP_TIMEOUT: '50' });
    replies = ['none'];
    assert.ok(await resultOf(exporterFor(test, url)));
  });

  it('ends when the server stops, during an attempt and between attempts', async (test) => {
    replies = ['none'];
    const waiting = exporterFor(test, url);
    const first = resultOf(waiting);
    await once(collector, 'request');
    await waiting.shutdown();
    assert.ok(await first);

    const { clock, pauses } = eagerClock({ isHeld: true });
    replies = [{ status: 503 }];
    const paused = exporterFor(test, url, clock);
    const second = resultOf(paused);
    while (pauses.length === 0) await new Promise((resolve) => setImmediate(resolve));
    await paused.shutdown();
    assert.ok(await second);
  });

  it('reports a certificate that cannot be read', (test) => {
    setEnv(test, { OTEL_EXPORTER_OTLP_CERTIFICATE: '/nowhere/ca.pem' });
    assert.throws(() => new OtlpSpanExporter(url, systemClock), /ENOENT.*\/nowhere\/ca\.pem/);
  });
});

function exporterFor(test: TestContext, url: string, clock: Clock = systemClock): OtlpSpanExporter {
  const exporter = new OtlpSpanExporter(url, clock);
  test.after(() => exporter.shutdown());
  return exporter;
}

/** Exports spans. Returns the error, if any. */
async function resultOf(exporter: OtlpSpanExporter): Promise<Error | undefined> {
  const spans = await someSpans();
  const { code, error } = await new Promise<ExportResult>((resolve) => exporter.export(spans, resolve));
  assert.equal(code === ExportResultCode.FAILED, error !== undefined);
  return error;
}

/** Spans with every type of value, an event, a link and a remote parent. */
async function someSpans() {
  const memory = new InMemorySpanExporter();
  const provider = new BasicTracerProvider({
    resource: resourceFromAttributes({ 'service.name': 'switchboard', flags: [true, false] }),
    spanProcessors: [new SimpleSpanProcessor(memory)],
  });
  const tracer = provider.getTracer('switchboard', '1.2.3');
  const context = { traceId: '4bf92f3577b34da6a3ce929d0e0e4736', spanId: '00f067aa0ba902b7', traceFlags: 1 };
  const span = tracer.startSpan('send', {
    kind: SpanKind.SERVER,
    attributes: { text: 'ä "x"', whole: 201, half: 0.5, isOn: true, list: ['a', 'b'], numbers: [1, 2.5], big: 2 ** 40 },
    links: [{ context: { ...context, traceFlags: TraceFlags.NONE, isRemote: true }, attributes: { why: 'batch' } }],
  });
  span.addEvent('retry', { attempt: 2 }, 1_700_000_000_123);
  span.setStatus({ code: SpanStatusCode.ERROR, message: 'timeout' });
  span.end();
  tracer.startSpan('bare').end();
  const spans = memory.getFinishedSpans();
  await provider.forceFlush();
  return [...spans];
}

function setEnv(test: TestContext, variables: Record<string, string>): void {
  const before = { ...process.env };
  Object.assign(process.env, variables);
  test.after(() => {
    for (const name of Object.keys(variables)) {
      if (before[name] === undefined) delete process.env[name];
      else process.env[name] = before[name];
    }
  });
}

/** A clock that waits for nothing and records for how long it should have. */
function eagerClock({ isHeld = false } = {}) {
  const pauses: number[] = [];
  const clock: Clock = {
    ...systemClock,
    after(ms, work) {
      pauses.push(ms);
      if (isHeld) return () => {};
      const immediate = setImmediate(work);
      return () => clearImmediate(immediate);
    },
  };
  return { clock, pauses };
}
