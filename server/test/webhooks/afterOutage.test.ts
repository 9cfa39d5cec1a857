import assert from 'node:assert/strict';
import { afterEach, it } from 'node:test';
import { type Receiver, startReceiver } from '../support/connections/receiver.ts';
import { describeOnEachDeployment } from '../support/databases/databases.ts';
import { eventually } from '../support/eventually.ts';
import { createFakeClock } from '../support/fakeClock.ts';
import { connectSession, serversFor } from '../support/server.ts';

const HOUR_S = 3600;
const CHAT = '491705550001';

describeOnEachDeployment('deliveries after an outage', (_, database) => {
  const start = serversFor(database);
  const open: Receiver[] = [];
  afterEach(async () => {
    for (const receiver of open.splice(0)) await receiver.close();
  });

  async function setUp(more: object = {}) {
    const receiver = await startReceiver();
    open.push(receiver);
    const clock = createFakeClock(Date.now());
    const server = await start({ env: { BREAKER_OPEN_SECONDS: '30' }, clock });
    const { call } = await server.account();
    await connectSession(call, '491701111111');
    const webhook = { webhookUrl: receiver.url, events: ['message.sent'], retrySeconds: [HOUR_S], ...more };
    const { status, body } = await call('POST', '/webhooks/endpoints', webhook);
    assert.equal(status, 201, JSON.stringify(body));
    const breaker = `/webhooks/endpoints/${body.webhookId}/circuit-breaker`;
    const state = async () => (await call('GET', breaker)).body.state as string;
    const untilOpen = () => eventually(state, (is) => is === 'open');
    const reset = () => call('POST', `${breaker}/reset`);
    const messageIds: string[] = [];
    const send = async (count: number) => {
      for (let n = 0; n < count; n++) {
        const sent = await call('POST', '/messages/send', { to: CHAT, message: 'Hello' });
        messageIds.push(sent.body.messageId);
      }
    };
    return { receiver, clock, send, messageIds, state, untilOpen, reset };
  }

  const idsIn = (receiver: Receiver, from: number) =>
    receiver.deliveries.slice(from).map(({ parsed }) => parsed.data.messageId as string);

  it('sends failed deliveries oldest first after the breaker closes', async () => {
    const { receiver, clock, send, messageIds, state, untilOpen } = await setUp();
    receiver.respond(503);
    await send(5);
    await untilOpen();
    await send(10);
    const failed = receiver.deliveries.length;
    receiver.respond(200);
    await clock.advance(40_000);
    await receiver.waitFor(failed + 15);
    assert.deepEqual(idsIn(receiver, failed), messageIds);
    await eventually(state, (is) => is === 'closed');
  });

  it('sends due retries oldest first after a reset', async () => {
    const { receiver, clock, send, messageIds, untilOpen, reset } = await setUp({ retrySeconds: [5] });
    await clock.advance(1000);
    receiver.respond(410);
    await send(1);
    await untilOpen();
    await send(4);
    await clock.advance(10_000);
    await send(5);
    const failed = receiver.deliveries.length;
    receiver.respond(200);
    await reset();
    await receiver.waitFor(failed + 10);
    assert.deepEqual(idsIn(receiver, failed), messageIds);
  });

  it('go out oldest first once a receiver that throttled accepts them again', async () => {
    const { receiver, clock, send, messageIds } = await setUp();
    receiver.respond((_request, response) => response.writeHead(429, { 'retry-after': '60' }).end());
    await send(1);
    await receiver.waitFor(1);
    await send(5);
    const throttled = receiver.deliveries.length;
    receiver.respond(200);
    await clock.advance(61_000);
    await receiver.waitFor(throttled + 6);
    assert.deepEqual(idsIn(receiver, throttled), messageIds);
  });

  it('leaves a retry its own time while the breaker is closed', async () => {
    const { receiver, clock, send, messageIds } = await setUp();
    receiver.respond(503);
    await send(1);
    await receiver.waitFor(1);
    receiver.respond(200);
    await send(1);
    await receiver.waitFor(2);
    await clock.advance(60_000);
    await send(1);
    await receiver.waitFor(3);
    assert.deepEqual(idsIn(receiver, 1), messageIds.slice(1));
    await clock.advance(2 * HOUR_S * 1000);
    await receiver.waitFor(4);
    assert.equal(idsIn(receiver, 3)[0], messageIds[0]);
  });

  it('keeps the order of a strict webhook after an outage, without waiting for its retries', async () => {
    const { receiver, clock, send, messageIds, untilOpen } = await setUp({ ordering: 'strict' });
    receiver.respond(410);
    await send(1);
    await untilOpen();
    await send(20);
    const failed = receiver.deliveries.length;
    receiver.respond(200);
    await clock.advance(40_000);
    await receiver.waitFor(failed + 21);
    assert.deepEqual(idsIn(receiver, failed), messageIds);
  });
});
