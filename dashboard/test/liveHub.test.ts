import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { it, type TestContext } from 'node:test';
import { portOf } from '../../server/test/support/connections/listening.ts';
import { LiveHub } from '../src/live/hub.ts';
import type { FromHub } from '../src/live/protocol.ts';

const EVENT = { event: 'session.connected', data: { sessionId: 'ses_1' } };
const LOGGED = { eventId: 'evt_8', createdAt: '2026-01-01T00:00:00.000Z', sequence: 1, ...EVENT };

/** Starts a server whose log was restored, and a hub that follows it. */
async function startHub(test: TestContext, frames: string): Promise<LiveHub> {
  const server = createServer((request, response) => {
    if (request.url?.startsWith('/api/v1/events/stream')) {
      response.writeHead(200, { 'content-type': 'text/event-stream' }).write(frames);
      return;
    }
    const isNow = request.url?.includes('afterCursor=now');
    const page = isNow
      ? { data: [], nextCursor: '9.evt_9' }
      : { data: [LOGGED], nextCursor: '8.evt_8.ab', truncated: true };
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(page));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const hub = new LiveHub('acc_1', { baseUrl: `http://127.0.0.1:${portOf(server)}` });
  test.after(() => {
    hub.stop();
    server.closeAllConnections();
    server.close();
  });
  return hub;
}

/** Connects a page to a hub. Returns what the page receives until an event. */
async function receivedUntilEvent(test: TestContext, hub: LiveHub, after: string | undefined): Promise<FromHub[]> {
  const { port1, port2 } = new MessageChannel();
  test.after(() => port2.close());
  hub.serve(port1);
  const received: FromHub[] = [];
  const seen = new Promise<FromHub[]>((resolve) => {
    port2.onmessage = ({ data }: MessageEvent<FromHub>) => {
      received.push(data);
      if (data.type === 'event') resolve(received);
    };
  });
  // A first page starts the stream at its cursor; one with another cursor has to catch up.
  port2.postMessage({ type: 'join', after: undefined });
  if (after !== undefined) port2.postMessage({ type: 'join', after });
  return seen;
}

const changes = (received: readonly FromHub[]) =>
  received.filter(({ type }) => type === 'missed' || type === 'event').map((message) => ({ ...message }));

const EVENT_FRAME = `id: 8.evt_8.ab\nevent: ${EVENT.event}\ndata: ${JSON.stringify(EVENT)}\n\n`;

it('has pages read everything again when the stream is truncated', async (test) => {
  const frames = ': connected\nid: 7.evt_7.ab\nevent: truncated\ndata: {"cursor":"7.evt_7.ab"}\n\n';
  const hub = await startHub(test, frames + EVENT_FRAME);
  assert.deepEqual(changes(await receivedUntilEvent(test, hub, undefined)), [
    { type: 'missed' },
    { type: 'event', event: { id: '8.evt_8.ab', ...EVENT }, cursor: '8.evt_8.ab' },
  ]);
});

it('has a page read everything again when the log that it catches up with is truncated', async (test) => {
  const hub = await startHub(test, ': connected\nid: 9.evt_9\n\n');
  const received = changes(await receivedUntilEvent(test, hub, '12.evt_c'));
  assert.deepEqual(
    received.map(({ type }) => type),
    ['missed', 'event'],
  );
});

it('sends an event to the other pages when one cannot be reached', async (test) => {
  const reported: unknown[] = [];
  // Node lacks it.
  globalThis.reportError = (error) => reported.push(error);
  test.after(() => Reflect.deleteProperty(globalThis, 'reportError'));
  const hub = await startHub(test, `: connected\n${EVENT_FRAME}`);
  const failure = new Error('of a port');
  const { port1: broken } = new MessageChannel();
  test.after(() => broken.close());
  broken.postMessage = ({ type }: FromHub) => {
    if (type === 'event') throw failure;
  };
  hub.serve(broken);
  broken.onmessage?.(new MessageEvent('message', { data: { type: 'join', after: undefined } }));
  assert.deepEqual(changes(await receivedUntilEvent(test, hub, undefined)), [
    { type: 'event', event: { id: '8.evt_8.ab', ...EVENT }, cursor: '8.evt_8.ab' },
  ]);
  assert.deepEqual(reported, [failure]);
});
