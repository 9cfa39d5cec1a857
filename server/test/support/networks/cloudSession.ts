import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import type { Log } from '../../../src/log.ts';
import { newHome } from '../databases/databases.ts';
import { eventually } from '../eventually.ts';
import { createFakeClock, type FakeClock } from '../fakeClock.ts';
import { type FakeGraph, startFakeGraph } from '../fakeGraph/fakeGraph.ts';
import { type Call, startAgain } from '../server.ts';

export const ADA = '4915112345678';
export const GRACE = '4915187654321';

interface SessionOptions {
  readonly env?: object;
  readonly connects?: boolean;
  readonly log?: Log;
}

/** A server whose clock stands still, with a Cloud API session that is connected by default. */
export async function cloudSession(t: TestContext, { env = {}, connects = true, log }: SessionOptions = {}) {
  const graph = await startFakeGraph();
  t.after(() => graph.close());
  const clock = createFakeClock(Date.now());
  const start = startAgain(t, () => newHome('sqlite'), {
    clock,
    env: { WHATSAPP_CLOUD_URL: graph.url, ...env },
    ...(log && { log }),
  });
  const server = await start();
  const { call, token } = await server.account();
  const { body } = await call('POST', '/sessions', { connector: 'whatsapp-cloud', options: graph.options });
  const { sessionId, callbackUrl } = body;
  if (callbackUrl.startsWith('/')) graph.callBackAt(server.url + callbackUrl);
  if (connects) {
    assert.equal((await call('POST', `/sessions/${sessionId}/connect`)).body.status, 'connected');
    // Groups that the test adds are not among those that the session finds.
    await graph.groups.wasListed;
  }
  const send = (message: string, to = ADA) => call('POST', '/messages/send', { to, message });
  return { graph, clock, server, start, call, token, sessionId, send };
}

/** Advances the clock in steps of one second until a condition holds. */
export async function passUntil<T>(clock: FakeClock, ask: () => Promise<T>, isMet: (answer: T) => boolean): Promise<T> {
  return eventually(async () => {
    await clock.advance(1000);
    return ask();
  }, isMet);
}

/** The number of requests to send or mark. */
export const asks = (graph: FakeGraph) => graph.calls.filter((one) => one.endsWith('/messages')).length;
export const asked = (graph: FakeGraph, times: number) =>
  eventually(
    async () => asks(graph),
    (count) => count >= times,
  );

export const eventsOf = async (call: Call, kind: string) => (await call('GET', `/events?events=${kind}`)).body.data;
