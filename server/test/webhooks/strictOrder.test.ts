import assert from 'node:assert/strict';
import type { ServerResponse } from 'node:http';
import { it } from 'node:test';
import { firstIdAt } from '../../src/ids.ts';
import { MANY_RETRIES, type Received, startReceiver } from '../support/connections/receiver.ts';
import { describeOnEachDeployment } from '../support/databases/databases.ts';
import { storeLog } from '../support/databases/storedLog.ts';
import { eventually } from '../support/eventually.ts';
import { createFakeClock } from '../support/fakeClock.ts';
import { type Answer, connectSession, serversFor, startAgain, type TestServerOptions } from '../support/server.ts';

const ANN = '491711111111';
const BEN = '491722222222';
const HIDDEN = '000123456789012';
const FOREVER = [3600];

const textOf = ({ parsed }: Received): string => parsed.data.message;

describeOnEachDeployment('a webhook that keeps the order', (newHome, database) => {
  const start = serversFor(database);

  /** An account with a session and a strict webhook, whose receiver refuses what `refuses` says. */
  async function setUp(
    test: { after(cleanUp: () => Promise<void>): void },
    retrySeconds: readonly number[],
    refuses: (received: Received) => boolean,
    options?: TestServerOptions,
  ) {
    const server = await start(options);
    const { call, accountId } = await server.account();
    const receiver = await startReceiver();
    test.after(() => receiver.close());
    const accepted: string[] = [];
    receiver.respond((received, response) => {
      const isRefused = refuses(received);
      if (!isRefused) accepted.push(textOf(received));
      response.writeHead(isRefused ? 500 : 200).end();
    });
    const sessionId = await connectSession(call);
    const { status, body } = await call('POST', '/webhooks/endpoints', {
      webhookUrl: receiver.url,
      events: ['message.incoming'],
      ordering: 'strict',
      retrySeconds,
    });
    assert.equal(status, 201, JSON.stringify(body));
    assert.equal(body.ordering, 'strict');
    const { webhookId } = body;
    const write = async (from: string, ...messages: string[]) => {
      for (const message of messages)
        await call('POST', `/sessions/${sessionId}/simulate`, { action: 'incoming', from, message });
    };
    const deliveries = async (): Promise<Answer['body'][]> =>
      (await call('GET', `/webhooks/deliveries?webhookId=${webhookId}&limit=200`)).body.data.toReversed();
    const whenHeld = (count: number) =>
      eventually(deliveries, (all) => all.filter(({ heldBehind }) => heldBehind !== null).length === count);
    return { server, call, accountId, sessionId, receiver, accepted, webhookId, write, deliveries, whenHeld };
  }

  it('does not spend the next probe on the chat of one that failed', async (test) => {
    const time = createFakeClock(Date.now());
    const options = { clock: time, env: { BREAKER_OPEN_SECONDS: '30' } };
    const { call, receiver, webhookId, write } = await setUp(test, FOREVER, () => false, options);
    // 410 opens the breaker at once.
    receiver.respond((received, response) => response.writeHead(textOf(received) === 'a1' ? 410 : 200).end());
    const untilOpened = (times: number) =>
      eventually(
        () => call('GET', `/webhooks/endpoints/${webhookId}/circuit-breaker`),
        ({ body }) => body.transitions.filter(({ to }: Answer['body']) => to === 'open').length === times,
      );
    await write(ANN, 'a1');
    await untilOpened(1);
    await time.advance(35_000);
    await receiver.waitFor(2);
    await untilOpened(2);
    await write(BEN, 'b1');
    await time.advance(80_000); // a minute, give or take a fifth
    await receiver.waitFor(3);
    assert.deepEqual(receiver.deliveries.slice(0, 3).map(textOf), ['a1', 'a1', 'b1']);
  });

  it('holds back the chat of a hidden number also once the number is known', async (test) => {
    let isDown = true;
    const { call, sessionId, receiver, accepted, write, deliveries, whenHeld } = await setUp(
      test,
      MANY_RETRIES,
      (received) => isDown && textOf(received) === 'a1',
    );
    await write(HIDDEN, 'a1');
    await eventually(deliveries, ([first]) => first?.attempts > 0);
    const known = { action: 'identify', from: HIDDEN, phoneNumber: ANN };
    assert.equal((await call('POST', `/sessions/${sessionId}/simulate`, known)).status, 200);
    await write(ANN, 'a2');
    await write(BEN, 'b1');
    await receiver.waitFor(() => accepted.length === 1);
    await whenHeld(1);
    isDown = false;
    await receiver.waitFor(() => accepted.length === 3);
    assert.deepEqual(accepted, ['b1', 'a1', 'a2']);
  });

  it('holds back the chat of a delivery that failed, and no other', async (test) => {
    let isDown = true;
    const { call, receiver, accepted, write, whenHeld } = await setUp(
      test,
      MANY_RETRIES,
      (received) => isDown && textOf(received) === 'a1',
    );
    await write(ANN, 'a1', 'a2', 'a3');
    await write(BEN, 'b1', 'b2');
    await receiver.waitFor(() => accepted.length === 2);
    assert.deepEqual(accepted, ['b1', 'b2']);
    const all = await whenHeld(2);
    const [head] = all;
    assert.deepEqual(
      all.map(({ heldBehind }) => heldBehind),
      [null, head.deliveryId, head.deliveryId, null, null],
    );
    assert.equal(all[1].dueAt, null);
    const { body } = await call('GET', `/webhooks/deliveries/${all[1].deliveryId}`);
    assert.match(body.why, new RegExp(`It waits for the earlier delivery ${head.deliveryId}`));
    isDown = false;
    await receiver.waitFor(() => accepted.length === 5);
    assert.deepEqual(accepted.slice(2), ['a1', 'a2', 'a3']);
  });

  it('keeps the order of every chat when many deliveries fail', async (test) => {
    const failedOnce = new Set<string>();
    const { receiver, accepted, write } = await setUp(test, [1, 1, 1], (received) => {
      const text = textOf(received);
      if (!/[38]$/.test(text) || failedOnce.has(text)) return false;
      failedOnce.add(text);
      return true;
    });
    const chats = [ANN, BEN, '491733333333'];
    const texts = (chat: string) => Array.from({ length: 20 }, (_, n) => `${chat} ${n}`);
    await Promise.all(chats.map((chat) => write(chat, ...texts(chat))));
    await receiver.waitFor(() => accepted.length === 60);
    assert.equal(failedOnce.size, 12);
    for (const chat of chats)
      assert.deepEqual(
        accepted.filter((text) => text.startsWith(chat)),
        texts(chat),
      );
  });

  it('goes on once the delivery is cancelled by hand', async (test) => {
    const { call, receiver, accepted, write, whenHeld } = await setUp(
      test,
      FOREVER,
      (received) => textOf(received) === 'a1',
    );
    // More than are released at once.
    const later = Array.from({ length: 50 }, (_, n) => `a${n + 2}`);
    await write(ANN, 'a1', ...later);
    const [head] = await whenHeld(50);
    const cancelled = await call('POST', `/webhooks/deliveries/${head.deliveryId}/cancel`);
    assert.equal(cancelled.status, 200, JSON.stringify(cancelled.body));
    assert.deepEqual([cancelled.body.state, cancelled.body.dueAt], ['cancelled', null]);
    await receiver.waitFor(() => accepted.length === 50);
    assert.deepEqual(accepted, later);
    const again = await call('POST', `/webhooks/deliveries/${head.deliveryId}/cancel`);
    assert.deepEqual([again.status, again.body.code], [409, 'delivery_settled']);
    assert.equal((await call('POST', '/webhooks/deliveries/dlv_0/cancel')).status, 404);
  });

  it('goes on once the delivery has failed for good', async (test) => {
    const { receiver, accepted, write } = await setUp(test, [1], (received) => textOf(received) === 'a1');
    await write(ANN, 'a1', 'a2', 'a3');
    await receiver.waitFor(() => accepted.length === 2);
    assert.deepEqual(accepted, ['a2', 'a3']);
    assert.deepEqual(receiver.deliveries.map(textOf), ['a1', 'a1', 'a2', 'a3']);
  });

  it('releases everything when it no longer keeps the order', async (test) => {
    const { call, receiver, accepted, write, whenHeld, webhookId } = await setUp(
      test,
      FOREVER,
      (received) => textOf(received) === 'a1',
    );
    await write(ANN, 'a1', 'a2', 'a3');
    await whenHeld(2);
    const { body } = await call('PATCH', `/webhooks/endpoints/${webhookId}`, { ordering: 'best_effort' });
    assert.equal(body.ordering, 'best_effort');
    await receiver.waitFor(() => accepted.length === 2);
    assert.deepEqual(accepted, ['a2', 'a3']);
  });

  it('releases what it held behind one of many deliveries of an event type that it dropped', async (test) => {
    const { server, call, accountId, receiver, accepted, write, whenHeld, webhookId } = await setUp(
      test,
      FOREVER,
      (received) => received.event === 'message.reaction',
    );
    await call('PATCH', `/webhooks/endpoints/${webhookId}`, { events: ['message.incoming', 'message.reaction'] });
    await write(ANN, 'a1');
    await receiver.waitFor(() => accepted.length === 1);
    const { data } = (await call('GET', '/messages')).body;
    const { messageId, sessionId } = data[0];
    await call('POST', `/sessions/${sessionId}/simulate`, { action: 'react', from: ANN, messageId, emoji: '👍' });
    await write(ANN, 'a2');
    const [, head] = await whenHeld(1);
    // They are cancelled before it, and not in one transaction.
    const others = 6000;
    const { database: db, newId } = server.app.services;
    const dueAt = Date.parse(head.dueAt) - 60_000;
    const rows = Array.from({ length: others }, (_, n) => ({
      ...{ eventId: newId('evt'), deliveryId: newId('dlv'), webhookId, kind: 'message.reaction' as const, dueAt },
      ...{ conversation: `chat ${n}`, attempts: 1, steps: 1 },
    }));
    for (let start = 0; start < others; start += 1000)
      await db.commit((tx) => storeLog(tx, accountId, rows.slice(start, start + 1000)));
    const { body } = await call('PATCH', `/webhooks/endpoints/${webhookId}`, { events: ['message.incoming'] });
    assert.equal(body.cancelled, others + 1);
    await receiver.waitFor(() => accepted.length === 2);
    assert.deepEqual(accepted, ['a1', 'a2']);
  });

  it('returns heldBehind while the earlier delivery is retried after an outage', async (test) => {
    const time = createFakeClock(Date.now());
    const options = { clock: time, env: { BREAKER_OPEN_SECONDS: '30' } };
    const { call, receiver, webhookId, write, deliveries, whenHeld } = await setUp(test, FOREVER, () => true, options);
    await write(ANN, 'a1', 'a2', 'a3');
    await whenHeld(2);
    receiver.respond((_, response) => response.writeHead(410).end()); // opens the breaker immediately
    await write(BEN, 'b1', 'b2');
    await eventually(
      () => call('GET', `/webhooks/endpoints/${webhookId}/circuit-breaker`),
      ({ body }) => body.state === 'open',
    );
    const unanswered: ServerResponse[] = [];
    receiver.respond((received, response) => {
      if (textOf(received) === 'a1') unanswered.push(response);
      else response.writeHead(200).end();
    });
    await time.advance(35_000);
    const attempts = () => receiver.deliveries.filter((one) => textOf(one) === 'a1').length;
    await eventually(
      async () => {
        await time.advance(200); // its attempts end by the same clock
        return attempts();
      },
      (count) => count === 2,
    );
    const [first, ...others] = await deliveries();
    assert.deepEqual(
      others.slice(0, 2).map(({ heldBehind, dueAt }) => [heldBehind, dueAt]),
      Array(2).fill([first.deliveryId, null]),
    );
    for (const response of unanswered) response.writeHead(200).end();
  });

  it('returns dueAt of a delivery that goes out after those that were released', async (test) => {
    const unanswered: ServerResponse[] = [];
    const { call, receiver, webhookId, write, deliveries, whenHeld } = await setUp(test, FOREVER, () => true);
    const later = Array.from({ length: 20 }, (_, n) => `a${n + 2}`);
    await write(ANN, 'a1', ...later);
    const [head] = await whenHeld(later.length);
    receiver.respond((_, response) => unanswered.push(response));
    assert.equal((await call('POST', `/webhooks/deliveries/${head.deliveryId}/cancel`)).status, 200);
    await receiver.waitFor(() => unanswered.length === 1);
    const all = await deliveries();
    for (const { deliveryId, heldBehind, dueAt, createdAt } of all.slice(1)) {
      // At most one of those that were not released is the first; it waits for deliveries that are due.
      if (heldBehind === null) assert.equal(dueAt, createdAt, deliveryId);
      else assert.equal(dueAt, null, deliveryId);
    }
    assert.equal(all.filter(({ heldBehind }) => heldBehind !== null).length, later.length - 17);
    await call('PATCH', `/webhooks/endpoints/${webhookId}`, { paused: true });
    for (const response of unanswered) response.writeHead(200).end();
  });

  it('says for which delivery one waits now, not for which it was held', async (test) => {
    let isDown = true;
    const { call, receiver, accepted, write, deliveries, whenHeld } = await setUp(
      test,
      [...MANY_RETRIES.slice(1), 3600], // so that the second one stays
      (received) => textOf(received) === 'a2' || (isDown && textOf(received) === 'a1'),
    );
    const later = Array.from({ length: 40 }, (_, n) => `a${n + 3}`);
    await write(ANN, 'a1', 'a2', ...later);
    await whenHeld(41);
    isDown = false;
    await receiver.waitFor(() => accepted.length === 1);
    const all = await eventually(deliveries, (some) => some[1].attempts > 1 && some[0].state === 'delivered');
    assert.deepEqual(new Set(all.slice(2).map(({ heldBehind }) => heldBehind)), new Set([all[1].deliveryId]));
    assert.equal((await call('POST', `/webhooks/deliveries/${all[41].heldBehind}/cancel`)).status, 200);
    await receiver.waitFor(() => accepted.length === 41);
    assert.deepEqual(accepted, ['a1', ...later]);
  });

  it('goes on once the delivery has expired', async (test) => {
    const { server, call, receiver, accepted, write, whenHeld, webhookId } = await setUp(
      test,
      FOREVER,
      (received) => textOf(received) === 'a1',
    );
    await write(ANN, 'a1', 'a2', 'a3');
    const [head] = await whenHeld(2);
    await call('PATCH', `/webhooks/endpoints/${webhookId}`, { paused: true });
    const { retention, services } = server.app;
    const { steady, database: db } = services;
    const WEEK = 8 * 86_400_000;
    await db.commit(async ({ kysely }) => {
      const { event } = await kysely
        .updateTable('deliveries')
        .set({ delivery_id: firstIdAt('dlv', steady.now() - WEEK) })
        .where('delivery_id', '=', head.deliveryId)
        .returning('event')
        .executeTakeFirstOrThrow();
      await kysely
        .updateTable('waiting')
        .set({ due_at: steady.now() - WEEK })
        .where('event', '=', event)
        .execute();
    });
    assert.equal((await retention.run()).expired, 1);
    await call('PATCH', `/webhooks/endpoints/${webhookId}`, { paused: false });
    await receiver.waitFor(() => accepted.length === 2);
    assert.deepEqual(accepted, ['a2', 'a3']);
  });

  it('does not spend the next probe on the chat of one that failed before restarts', async (test) => {
    const time = createFakeClock(Date.now());
    const restart = startAgain(test, newHome, { database, clock: time, env: { BREAKER_OPEN_SECONDS: '30' } });
    const receiver = await startReceiver();
    test.after(() => receiver.close());
    const untilRequests = (count: number) =>
      eventually(
        async () => {
          await time.advance(5000);
          return receiver.deliveries.length;
        },
        (found) => found >= count,
      );
    // The first request for b1 is not answered.
    receiver.respond((received, response) => {
      if (textOf(received) === 'a1') response.writeHead(410).end();
      else if (receiver.deliveries.length !== 3) response.writeHead(200).end();
    });
    const first = await restart();
    const { call } = await first.account();
    const sessionId = await connectSession(call);
    const { webhookId } = (
      await call('POST', '/webhooks/endpoints', {
        webhookUrl: receiver.url,
        events: ['message.incoming'],
        ordering: 'strict',
        retrySeconds: FOREVER,
      })
    ).body;
    const untilOpened = (times: number) =>
      eventually(
        () => call('GET', `/webhooks/endpoints/${webhookId}/circuit-breaker`),
        ({ body }) => body.transitions.filter(({ to }: Answer['body']) => to === 'open').length === times,
      );
    const write = (from: string, message: string) =>
      call('POST', `/sessions/${sessionId}/simulate`, { action: 'incoming', from, message });
    await write(ANN, 'a1');
    await untilOpened(1);
    await time.advance(35_000);
    await receiver.waitFor(2);
    await untilOpened(2);
    await write(BEN, 'b1');
    await first.stop();
    const second = await restart();
    await untilRequests(3);
    await second.stop();
    await restart();
    await untilRequests(4);
    assert.deepEqual(receiver.deliveries.slice(0, 4).map(textOf), ['a1', 'a1', 'b1', 'b1']);
  });

  it('keeps the order across a restart', async (test) => {
    const restart = startAgain(test, newHome, { database });
    const receiver = await startReceiver();
    test.after(() => receiver.close());
    const accepted: string[] = [];
    let isDown = true;
    receiver.respond((received, response) => {
      if (!isDown) accepted.push(textOf(received));
      response.writeHead(isDown ? 500 : 200).end();
    });
    const first = await restart();
    const { call } = await first.account();
    const sessionId = await connectSession(call);
    await call('POST', '/webhooks/endpoints', {
      webhookUrl: receiver.url,
      events: ['message.incoming'],
      ordering: 'strict',
      retrySeconds: MANY_RETRIES,
    });
    for (const message of ['a1', 'a2', 'a3'])
      await call('POST', `/sessions/${sessionId}/simulate`, { action: 'incoming', from: ANN, message });
    await receiver.waitFor(1);
    await first.stop();
    isDown = false;
    await restart();
    await receiver.waitFor(() => accepted.length === 3);
    assert.deepEqual(accepted, ['a1', 'a2', 'a3']);
  });
});
