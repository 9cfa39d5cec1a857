import assert from 'node:assert/strict';
import { join } from 'node:path';
import { after, afterEach, before, beforeEach, describe, it, type TestContext } from 'node:test';
import type { JointWork } from '../../src/db/commit.ts';
import type { Database } from '../../src/db/database.ts';
import { GroupCommit } from '../../src/db/groupCommit.ts';
import { openSqlite } from '../../src/db/sqlite/sqlite.ts';
import { createLog } from '../../src/log.ts';
import { listSessions } from '../../src/operations/sessions/sessions.ts';
import { Tracing } from '../../src/tracing/tracing.ts';
import { type Receiver, startReceiver } from '../support/connections/receiver.ts';
import { describeOnEachDeployment, emptyHome, newHome } from '../support/databases/databases.ts';
import { callTool, mcpClient } from '../support/mcp/mcp.ts';
import { loadedBy } from '../support/processes/loadedBy.ts';
import { type CollectedSpan, startTraceCollector, type TraceCollector } from '../support/processes/traceCollector.ts';
import { connectSession, startServer, type TestServer } from '../support/server.ts';

const TRACE = '4bf92f3577b34da6a3ce929d0e0e4736';
const CALLER = '00f067aa0ba902b7';
const NUMBER = '491707654321';

let collector: TraceCollector;
let receiver: Receiver;
before(async () => {
  receiver = await startReceiver();
});
beforeEach(async () => {
  collector = await startTraceCollector();
  receiver.respond(200);
});
afterEach(() => collector.close());
after(() => receiver.close());

/** A server that exports its traces to the collector, with a session and a webhook. */
async function setUp(options: Parameters<typeof startServer>[0] = {}) {
  const server = await startServer({ ...options, env: { OTEL_EXPORTER_OTLP_ENDPOINT: collector.url, ...options.env } });
  const account = await server.account();
  await connectSession(account.call);
  await account.call('POST', '/webhooks/set', { webhookUrl: receiver.url, events: ['message.sent'] });
  return { server, ...account };
}

/** Stops the server, which flushes its traces. @returns the spans of a trace by name */
async function spansOf(server: TestServer, traceId = TRACE): Promise<Map<string, CollectedSpan>> {
  await server.stop();
  await collector.close();
  return new Map(collector.spans.filter((span) => span.traceId === traceId).map((span) => [span.name, span]));
}

const traceparent = (flags = '01') => ({ traceparent: `00-${TRACE}-${CALLER}-${flags}` });

/** The delivery of the last sent message. */
async function delivered(count: number) {
  await receiver.waitFor(count);
  return receiver.deliveries[count - 1];
}

describeOnEachDeployment('traces', (_, database) => {
  it('lead from the request through the queue to the receiver', async () => {
    const { server, call } = await setUp({ database });
    const known = receiver.deliveries.length;
    await call('POST', '/messages/send', { to: NUMBER, message: 'x' }, traceparent());
    const delivery = await delivered(known + 1);
    const spans = await spansOf(server);
    const [send, deliver] = [spans.get('messages.send'), spans.get('deliver message.sent')];
    assert.ok(send !== undefined && deliver !== undefined, [...spans.keys()].join());
    assert.equal(send.attributes['http.response.status_code'], 201);
    assert.match(String(send.attributes['switchboard.request_id']), /^req_/);
    assert.equal(deliver.parentSpanId, send.spanId);
    assert.equal(deliver.attributes['switchboard.event_id'], delivery?.id);
    assert.equal(delivery?.headers['traceparent'], `00-${TRACE}-${deliver.spanId}-01`);
    assert.deepEqual(new Set(collector.requests), new Set(['POST /v1/traces application/json']));
    assert.equal(send.resource['service.name'], 'switchboard');
    if (database !== 'two nodes') assert.equal(send.parentSpanId, CALLER);
    else {
      // The map keeps the last span of a name, which is that of the receiving node.
      assert.equal(send.parentSpanId, spans.get('forward')?.spanId);
      assert.notEqual(send.resource['service.instance.id'], spans.get('forward')?.resource['service.instance.id']);
    }
  });
});

describe('traces', () => {
  it('continue after a restart, and contain failed attempts', async () => {
    const home = await newHome('sqlite');
    receiver.respond(500);
    const first = await setUp({ home });
    const known = receiver.deliveries.length;
    await first.call('POST', '/messages/send', { to: NUMBER, message: 'x' }, traceparent());
    await receiver.waitFor(known + 1);
    const env = { OTEL_EXPORTER_OTLP_ENDPOINT: collector.url, WEBHOOK_RETRY_SECONDS: '1' };
    await first.server.stop();
    const failed = collector.spans.find(({ name, traceId }) => name === 'deliver message.sent' && traceId === TRACE);
    assert.deepEqual([failed?.isError, failed?.attributes['switchboard.outcome']], [true, 'server_error']);

    receiver.respond(200);
    const second = await startServer({ home, env });
    await receiver.waitFor(known + 2);
    const again = (await spansOf(second)).get('deliver message.sent');
    assert.deepEqual([again?.attributes['switchboard.attempt'], again?.isError], [2, false]);
    assert.equal(again?.parentSpanId, failed?.parentSpanId);
    await home.remove();
  });

  it('start at the server if the caller sends none or an unreadable one', async () => {
    const { server, call } = await setUp();
    const known = receiver.deliveries.length;
    await call('POST', '/messages/send', { to: NUMBER, message: 'x' }, { traceparent: 'nonsense' });
    const delivery = await delivered(known + 1);
    const traceId = /^00-([0-9a-f]{32})-/.exec(String(delivery?.headers['traceparent']))?.[1] ?? '';
    const spans = await spansOf(server, traceId);
    assert.equal(spans.get('deliver message.sent')?.parentSpanId, spans.get('messages.send')?.spanId);
    assert.equal(spans.get('messages.send')?.parentSpanId, '');
  });

  it('are propagated but not recorded if the caller did not sample them', async () => {
    const { server, call } = await setUp();
    const known = receiver.deliveries.length;
    await call('POST', '/messages/send', { to: NUMBER, message: 'x' }, traceparent('00'));
    const delivery = await delivered(known + 1);
    assert.match(String(delivery?.headers['traceparent']), new RegExp(`^00-${TRACE}-[0-9a-f]{16}-00$`));
    assert.equal((await spansOf(server)).size, 0);
  });

  it('include events from a network, with all delivery attempts', async () => {
    const { server, call } = await setUp({ env: { WEBHOOK_RETRY_SECONDS: '1' } });
    await call('POST', '/webhooks/set', { webhookUrl: receiver.url, events: ['message.incoming'] });
    const sender = await connectSession(call);
    const { body: all } = await call('GET', '/sessions');
    const { phoneNumber: to } = all.data.find(({ sessionId }: { sessionId: string }) => sessionId !== sender);
    receiver.respond(500);
    const known = receiver.deliveries.length;
    await call('POST', '/messages/send', { sessionId: sender, to, message: 'x' });
    await receiver.waitFor(known + 1);
    receiver.respond(200);
    await receiver.waitFor(known + 2);
    const traceIds = receiver.deliveries
      .slice(known)
      .map(({ headers }) => String(headers['traceparent']).split('-')[1]);
    assert.equal(traceIds[0], traceIds[1]);
    const spans = await spansOf(server, traceIds[0]);
    assert.equal(spans.get('deliver message.incoming')?.parentSpanId, spans.get('network message')?.spanId);
  });

  it('start at an MCP tool call', async () => {
    const { server, token } = await setUp();
    const known = receiver.deliveries.length;
    const client = await mcpClient(server, token, '2026-07-28');
    await callTool(client, 'messages_send', { to: NUMBER, message: 'x' });
    await client.close();
    const delivery = await delivered(known + 1);
    const spans = await spansOf(server, String(delivery?.headers['traceparent']).split('-')[1]);
    assert.equal(spans.get('messages.send')?.attributes['switchboard.channel'], 'mcp');
    assert.equal(spans.get('deliver message.sent')?.parentSpanId, spans.get('messages.send')?.spanId);
  });

  it('separate the work items of one transaction', async () => {
    const { server, call } = await setUp();
    const known = receiver.deliveries.length;
    const ids = Array.from({ length: 20 }, (_, n) => String(n + 1).padStart(32, '0'));
    await Promise.all(
      ids.map((id) =>
        call(
          'POST',
          '/messages/send',
          { to: String(491_700_000_000 + Number(id)), message: 'x' },
          { traceparent: `00-${id}-${CALLER}-01` },
        ),
      ),
    );
    await receiver.waitFor(known + ids.length);
    for (const { parsed, headers } of receiver.deliveries.slice(known)) {
      assert.equal(Number(String(headers['traceparent']).split('-')[1]), parsed.data.to - 491_700_000_000);
    }
    await server.stop();
    await collector.close();
  });

  it('do not change the number of transactions or the batching of work', async (test) => {
    const tracing = new Tracing({ endpoint: new URL(collector.url), nodeId: 'nod_test', log: createLog('silent') });
    test.after(() => tracing.stop());
    const untraced = await transactionsOf(test, (group) => group);
    const traced = await transactionsOf(
      test,
      (group) => tracing.database(group),
      (work) => async () => {
        const invoke = tracing.invoke(async () => {
          await work();
          return { ok: false, status: 404, problem };
        });
        await invoke(listSessions, call);
      },
    );
    assert.deepEqual(untraced, { transactions: 2, joint: [40] });
    assert.deepEqual(traced, untraced);
  });

  it('are dropped without harm if no collector accepts them', async () => {
    await collector.close();
    const { server, call } = await setUp();
    const known = receiver.deliveries.length;
    assert.equal((await call('POST', '/messages/send', { to: NUMBER, message: 'x' })).status, 201);
    await receiver.waitFor(known + 1);
    await server.stop();
  });

  it('are neither created nor loaded unless configured', async () => {
    const { server, call } = await setUp({ env: { OTEL_EXPORTER_OTLP_ENDPOINT: '' } });
    const known = receiver.deliveries.length;
    await call('POST', '/messages/send', { to: NUMBER, message: 'x' }, traceparent());
    assert.equal((await delivered(known + 1))?.headers['traceparent'], undefined);
    const rows = await server.app.services.database.reader.kysely.selectFrom('events').select('trace').execute();
    assert.deepEqual(new Set(rows.map(({ trace }) => trace)), new Set([null]));
    await server.stop();
    await collector.close();
    assert.deepEqual(collector.requests, []);
    assert.doesNotMatch(loadedBy('app.ts'), /@opentelemetry\/(sdk|exporter|resources)/);
    assert.match(loadedBy('tracing/tracing.ts'), /@opentelemetry\/(sdk|exporter|resources)/);
  });
});

const problem = { type: '', title: '', status: 404, detail: '', code: 'not_found', requestId: 'req_1' } as const;
const call = {
  caller: undefined,
  input: {},
  requestId: 'req_1',
  address: '127.0.0.1',
  channel: 'rest',
  signal: () => AbortSignal.abort(),
} as const;

type Committing = Pick<Database, 'commit' | 'commitJointly'>;

/** Counts the transactions for the work of 40 concurrent callers, and the items of each batch. */
async function transactionsOf(
  test: TestContext,
  wrap: (group: Committing) => Committing,
  traced: (work: () => Promise<void>) => () => Promise<void> = (work) => work,
) {
  const home = await emptyHome('sqlite');
  test.after(() => home.remove());
  const store = openSqlite(join(home.dataDir, 'test.db'), () => {});
  const group = new GroupCommit(store);
  const { commit, commitJointly } = wrap(group);
  const begin = test.mock.method(store, 'begin');
  const joint: number[] = [];
  const work: JointWork<number, number> = async (_, items) => {
    joint.push(items.length);
    return items;
  };
  const callers = Array.from({ length: 40 }, (_, n) =>
    traced(async () => {
      await commit(async () => {});
      await commitJointly(work, n, `key ${n % 4}`);
    })(),
  );
  await Promise.all(callers);
  await group.stop();
  await store.close();
  return { transactions: begin.mock.callCount(), joint };
}
