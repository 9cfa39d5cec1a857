import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { afterEach, it } from 'node:test';
import { createEmit } from '../../src/webhooks/log/emit.ts';
import { type Receiver, startReceiver } from '../support/connections/receiver.ts';
import { describeOnEachDeployment } from '../support/databases/databases.ts';
import { eventually } from '../support/eventually.ts';
import { createFakeClock } from '../support/fakeClock.ts';
import { type Call, serversFor } from '../support/server.ts';

const SECRET = 'Schlüssel für die Prüfung';

describeOnEachDeployment('delivery', (_, database) => {
  const start = serversFor(database);
  const open: Receiver[] = [];
  afterEach(async () => {
    for (const receiver of open.splice(0)) await receiver.close();
  });

  async function receive(): Promise<Receiver> {
    const receiver = await startReceiver();
    open.push(receiver);
    return receiver;
  }

  async function connect(call: Call, phoneNumber: string): Promise<string> {
    const { body } = await call('POST', '/sessions', { phoneNumber });
    const connected = await call('POST', `/sessions/${body.sessionId}/connect`);
    assert.equal(connected.body.status, 'connected');
    return body.sessionId;
  }

  const setWebhook = (call: Call, { url }: Receiver, events: string[], more = {}) =>
    call('POST', '/webhooks/set', { webhookUrl: url, events, ...more });

  it('signs every delivery as documented and according to Standard Webhooks', async () => {
    const server = await start();
    const receiver = await receive();
    const { call } = await server.account();
    await setWebhook(call, receiver, ['session.connected'], { secret: SECRET });
    const sessionId = await connect(call, '491701111111');
    await receiver.waitFor(1);

    const [delivery] = receiver.deliveries;
    assert.ok(delivery);
    const { headers, body } = delivery;
    assert.equal(headers['content-type'], 'application/json');
    assert.match(String(headers['user-agent']), /^Switchboard\//);
    assert.equal(headers['x-webhook-event'], 'session.connected');
    assert.equal(headers['x-webhook-attempt'], '1');
    assert.match(String(headers['x-webhook-id']), /^evt_/);
    assert.ok(Math.abs(Number(headers['x-webhook-timestamp']) - Date.now() / 1000) < 10);
    const hex = createHmac('sha256', SECRET).update(body).digest('hex');
    assert.equal(headers['x-webhook-signature'], `sha256=${hex}`);
    const signed = `${headers['webhook-id']}.${headers['webhook-timestamp']}.${body}`;
    const base64 = createHmac('sha256', SECRET).update(signed).digest('base64');
    assert.equal(headers['webhook-signature'], `v1,${base64}`);
    assert.equal(headers['webhook-id'], headers['x-webhook-id']);

    const { event, data } = JSON.parse(body);
    assert.equal(event, 'session.connected');
    assert.equal(data.sessionId, sessionId);
    assert.equal(data.phoneNumber, '491701111111');
    assert.equal(new Date(data.connectedAt).toISOString(), data.connectedAt);
  });

  it('signs nothing without a secret', async () => {
    const server = await start();
    const receiver = await receive();
    const { call } = await server.account();
    await setWebhook(call, receiver, ['session.connected']);
    await connect(call, '491701111111');
    await receiver.waitFor(1);
    const names = Object.keys(receiver.deliveries[0]?.headers ?? {});
    assert.deepEqual(
      names.filter((name) => name.includes('signature') || name.startsWith('webhook-')),
      [],
    );
    assert.ok(names.includes('x-webhook-timestamp'));
  });

  it('delivers only the selected event types, with the bytes of the stored body', async () => {
    const server = await start();
    const receiver = await receive();
    const { call } = await server.account();
    const sessionId = await connect(call, '491701111111');
    await setWebhook(call, receiver, ['message.incoming']);
    const text = 'Grüße 👋\u2028 "zitiert" \\ \t';
    await call('POST', `/sessions/${sessionId}/simulate`, { action: 'incoming', from: '491702222222', message: text });
    await call('POST', '/messages/send', { to: '491702222222', message: 'not wanted' });
    await call('POST', `/sessions/${sessionId}/simulate`, {
      action: 'incoming',
      from: '491702222222',
      message: 'last',
    });
    await receiver.waitFor(2);
    assert.deepEqual(
      receiver.deliveries.map(({ event }) => event),
      ['message.incoming', 'message.incoming'],
    );
    assert.equal(receiver.deliveries[0]?.parsed.data.message, text);
  });

  it('delivers one conversation in order, one event at a time, and several conversations in parallel', async () => {
    const server = await start();
    const receiver = await receive();
    const { call } = await server.account();
    await connect(call, '491701111111');
    await setWebhook(call, receiver, ['message.sent']);
    const open = new Map<string, number>();
    let overlaps = 0;
    receiver.respond(({ parsed }, response) => {
      const chat = parsed.data.to;
      open.set(chat, (open.get(chat) ?? 0) + 1);
      if ((open.get(chat) ?? 0) > 1) overlaps++;
      setTimeout(() => {
        open.set(chat, (open.get(chat) ?? 0) - 1);
        response.writeHead(200).end();
      }, 5);
    });
    const sent = new Map<string, string[]>();
    for (let n = 0; n < 10; n++) {
      for (const to of ['491702222222', '491703333333', '491704444444']) {
        const { body } = await call('POST', '/messages/send', { to, message: `${n}` });
        sent.set(to, [...(sent.get(to) ?? []), body.messageId]);
      }
    }
    await receiver.waitFor(30);
    for (const [to, messageIds] of sent) {
      const received = receiver.deliveries.filter(({ parsed }) => parsed.data.to === to);
      assert.deepEqual(
        received.map(({ parsed }) => parsed.data.messageId),
        messageIds,
      );
    }
    assert.equal(overlaps, 0);
    assert.ok(receiver.maxInFlight <= 8);
  });

  it('retries a failed delivery with the same id and body and the next attempt number', async () => {
    const server = await start({ env: { WEBHOOK_RETRY_SECONDS: '1,1,1' } });
    const receiver = await receive();
    const { call } = await server.account();
    await setWebhook(call, receiver, ['session.connected'], { secret: SECRET });
    receiver.respond(({ attempt }, response) => response.writeHead(attempt < 3 ? 500 : 204).end());
    await connect(call, '491701111111');
    await receiver.waitFor(3);
    const [first, second, third] = receiver.deliveries;
    assert.deepEqual([first?.attempt, second?.attempt, third?.attempt], [1, 2, 3]);
    assert.equal(first?.id, third?.id);
    assert.equal(first?.body, third?.body);
  });

  it('holds events while the breaker is open, and delivers all of them in order after a reset', async () => {
    // Retries never fall due here, because their time would determine their place.
    const server = await start({ env: { BREAKER_OPEN_SECONDS: '900' }, clock: createFakeClock(Date.now()) });
    const receiver = await receive();
    const { call } = await server.account();
    await connect(call, '491701111111');
    await setWebhook(call, receiver, ['message.sent']);
    receiver.respond(503);
    const messageIds: string[] = [];
    const send = async (n: number) => {
      const { body } = await call('POST', '/messages/send', {
        to: `49170555${String(n % 7).padStart(4, '0')}`,
        message: `${n}`,
      });
      messageIds.push(body.messageId);
    };
    for (let n = 0; n < 5; n++) await send(n);
    await waitForState(call, 'open');
    const before = receiver.deliveries.length;
    for (let n = 5; n < 60; n++) await send(n);

    const breaker = await call('GET', '/webhooks/circuit-breaker');
    assert.equal(breaker.body.state, 'open');
    assert.equal(breaker.body.reason, 'failures_in_a_row');
    assert.equal(breaker.body.lastError.status, 503);
    assert.equal(breaker.body.held.count, 60);
    assert.equal(receiver.deliveries.length, before);

    receiver.respond(200);
    const reset = await call('POST', '/webhooks/circuit-breaker/reset');
    assert.deepEqual(reset.body, { previousState: 'open', state: 'closed', released: 60 });
    await receiver.waitFor((all) => new Set(all.slice(before).map(({ parsed }) => parsed.data.messageId)).size === 60);
    const firstAfter = receiver.deliveries[before]?.parsed.data.messageId;
    assert.equal(firstAfter, messageIds[0]);
    assert.deepEqual((await call('POST', '/webhooks/circuit-breaker/reset')).body, {
      previousState: 'closed',
      state: 'closed',
      released: 0,
    });
  });

  it('holds 10,000 events, sends a single probe, then delivers all with a slow start', async () => {
    const time = createFakeClock(Date.now());
    const server = await start({ env: { BREAKER_OPEN_SECONDS: '30' }, clock: time });
    const receiver = await receive();
    const { call, accountId } = await server.account();
    await setWebhook(call, receiver, ['message.sent']);
    receiver.respond(410);
    const { database: db, newId, clock, steady, metrics } = server.app.services;
    const emit = createEmit({
      newId,
      clock,
      steady,
      metrics,
      wake: (webhookId, stored) => server.app.services.engine.wake(webhookId, stored),
      announce: () => {},
    });
    const emitOne = (n: number) =>
      db.commit(async (tx) =>
        emit(tx, {
          accountId,
          kind: 'message.sent',
          data: { messageId: `msg_${n}`, to: '491702222222', status: 'sent', timestamp: new Date().toISOString() },
          conversation: `chat ${n % 500}`,
        }),
      );
    await emitOne(0);
    await waitForState(call, 'open');
    const isRejected = receiver.deliveries.length;
    await Promise.all(Array.from({ length: 10_000 }, (_, n) => emitOne(n + 1)));
    assert.equal(receiver.deliveries.length, isRejected, 'no delivery while the breaker is open');

    let isFirst = true;
    let inFlightAtFirst = 0;
    let open = 0;
    const peaks: number[] = [];
    receiver.respond((_, response) => {
      open++;
      if (isFirst) inFlightAtFirst = Math.max(inFlightAtFirst, open);
      peaks.push(open);
      const answer = () => {
        open--;
        response.writeHead(200).end();
      };
      // The probe is answered late, so that any other delivery would be seen beside it.
      if (isFirst)
        setTimeout(() => {
          isFirst = false;
          answer();
        }, 200);
      else setImmediate(answer);
    });
    await time.advance(30_001);
    await receiver.waitFor(isRejected + 10_001);
    const after = receiver.deliveries.slice(isRejected).map(({ parsed }) => parsed.data.messageId);
    assert.equal(new Set(after).size, 10_001);
    assert.equal(after[0], 'msg_0', 'the probe is the oldest delivery');
    assert.equal(inFlightAtFirst, 1, 'a single probe');
    // Two probes in sequence, then 1, 2, 2, 4, 4, 4, 4 and from there on 8.
    const allowed = [1, 1, 1, 2, 2, 4, 4, 4, 4];
    for (const [n, limit] of allowed.entries()) {
      assert.ok((peaks[n] ?? 0) <= limit, `delivery ${n} was one of ${peaks[n]} in flight, the limit is ${limit}`);
    }
    assert.ok(Math.max(...peaks) <= 8);
  });

  it('probes once when the open period ends, and closes after two successes', async () => {
    const server = await start({ env: { BREAKER_OPEN_SECONDS: '1', WEBHOOK_RETRY_SECONDS: '600' } });
    const receiver = await receive();
    const { call } = await server.account();
    await connect(call, '491701111111');
    await setWebhook(call, receiver, ['message.sent']);
    let failures = 5;
    receiver.respond((_, response) => setTimeout(() => response.writeHead(failures-- > 0 ? 500 : 200).end(), 20));
    for (let n = 0; n < 5; n++) await call('POST', '/messages/send', { to: `49170555000${n}`, message: `${n}` });
    // Open, or with the first probe already due.
    await eventually(
      () => call('GET', '/webhooks/circuit-breaker'),
      ({ body }) => body.state !== 'closed',
    );
    for (let n = 0; n < 20; n++)
      await call('POST', '/messages/send', { to: `4917066600${10 + n}`, message: `held ${n}` });
    await receiver.waitFor(5 + 20);
    const { body } = await waitForState(call, 'closed');
    assert.deepEqual(
      body.transitions.map(({ reason }: { reason: string }) => reason),
      ['probes_succeeded', 'probe_due', 'failures_in_a_row'],
    );
  });

  it('sends a test in any breaker state, reports its result and keeps it out of the statistics', async () => {
    const server = await start();
    const receiver = await receive();
    const { call } = await server.account();
    assert.equal((await call('GET', '/webhooks/test')).body.code, 'webhook_not_set');
    await setWebhook(call, receiver, ['message.sent', 'group.updated'], { secret: SECRET });
    const test = await call('GET', '/webhooks/test');
    assert.equal(test.status, 200);
    assert.equal(test.headers.get('cache-control'), 'no-store');
    assert.equal(test.body.delivered, true);
    assert.equal(test.body.class, 'ok');
    const [delivery] = receiver.deliveries;
    assert.equal(delivery?.headers['x-webhook-test'], 'true');
    assert.equal(delivery?.parsed.event, 'message.sent');
    assert.equal(delivery?.parsed.data.test, true);
    assert.equal(test.body.request.body, delivery?.body);
    assert.equal(test.body.request.headers['x-webhook-signature'], delivery?.headers['x-webhook-signature']);
    assert.ok(!JSON.stringify(test.body).includes(SECRET));
    assert.equal((await call('GET', '/webhooks/test?event=group.updated')).body.delivered, true);
    assert.equal(receiver.deliveries[1]?.event, 'group.updated');
    assert.equal((await call('GET', '/webhooks/test?event=nonsense')).status, 400);
    assert.equal((await call('GET', '/webhooks/stats')).body.windows['1h'].attempts, 0);

    receiver.respond(401);
    const refused = await call('GET', '/webhooks/test');
    assert.equal(refused.body.delivered, false);
    assert.equal(refused.body.class, 'client_error');
    assert.equal(refused.body.status, 401);
  });

  it('counts attempts by class and state, with latencies', async () => {
    const server = await start({ env: { WEBHOOK_RETRY_SECONDS: '1' } });
    const receiver = await receive();
    const { call } = await server.account();
    await setWebhook(call, receiver, ['session.connected']);
    receiver.respond(({ attempt }, response) => response.writeHead(attempt === 1 ? 404 : 200).end());
    await connect(call, '491701111111');
    await receiver.waitFor(2);
    const stats = await eventually(
      () => call('GET', '/webhooks/stats'),
      ({ body }) => body.windows['1h'].byState.delivered === 1,
    );
    assert.deepEqual(stats.body.windows['1h'].byClass, { client_error: 1, ok: 1 });
    assert.equal(stats.body.windows['24h'].successRate, 0.5);
    assert.equal(stats.body.pending, 0);
    assert.ok(stats.body.windows['7d'].latencyMs.p99 >= 1);
    assert.ok(stats.body.series.length >= 1);
  });

  it('keeps an omitted secret, removes it on null, and never shows it', async () => {
    const server = await start();
    const receiver = await receive();
    const { call } = await server.account();
    assert.deepEqual((await call('GET', '/webhooks')).body, {
      webhookUrl: null,
      events: [],
      hasSecret: false,
      enabled: false,
      createdAt: null,
      updatedAt: null,
    });
    const set = await setWebhook(call, receiver, ['message.read', 'message.read'], { secret: SECRET });
    assert.equal(set.status, 200);
    assert.equal(set.body.hasSecret, true);
    assert.deepEqual(set.body.events, ['message.read']);
    assert.ok(!JSON.stringify(set.body).includes(SECRET));
    assert.equal((await setWebhook(call, receiver, ['message.sent'])).body.hasSecret, true);
    assert.equal((await setWebhook(call, receiver, ['message.sent'], { secret: null })).body.hasSecret, false);
    assert.equal((await call('GET', '/webhooks')).body.hasSecret, false);
  });

  it('cancels pending deliveries of a type that is no longer selected', async () => {
    const server = await start({ env: { BREAKER_OPEN_SECONDS: '900' } });
    const receiver = await receive();
    const { call } = await server.account();
    await connect(call, '491701111111');
    await setWebhook(call, receiver, ['message.sent', 'message.delivered']);
    receiver.respond(410);
    await call('POST', '/messages/send', { to: '491702222222', message: 'hello' });
    await waitForState(call, 'open');
    await eventually(
      () => call('GET', '/webhooks/stats'),
      ({ body }) => body.held === 2,
    );
    await setWebhook(call, receiver, ['message.delivered']);
    assert.equal((await call('GET', '/webhooks/circuit-breaker')).body.held.count, 1);
  });

  it('names the invalid field of a webhook', async () => {
    const server = await start();
    const { call } = await server.account();
    const refusals: [body: unknown, field: string][] = [
      [{ webhookUrl: 'not a url', events: ['message.sent'] }, 'webhookUrl'],
      [{ webhookUrl: '/relative', events: ['message.sent'] }, 'webhookUrl'],
      [{ webhookUrl: 'ftp://example.com/', events: ['message.sent'] }, 'webhookUrl'],
      [{ webhookUrl: 'https://user:pass@example.com/', events: ['message.sent'] }, 'webhookUrl'],
      [{ webhookUrl: 'http://169.254.169.254/latest', events: ['message.sent'] }, 'webhookUrl'],
      [{ webhookUrl: 'http://10.0.0.1/', events: ['message.sent'] }, 'webhookUrl'],
      [{ webhookUrl: 'https://example.com/', events: [] }, 'events'],
      [{ webhookUrl: 'https://example.com/', events: ['message.sent', 'message.eaten'] }, 'events'],
      [{ webhookUrl: 'https://example.com/' }, 'events'],
      [{ events: ['message.sent'] }, 'webhookUrl'],
      [{ webhookUrl: 'https://example.com/', events: ['message.sent'], secret: 5 }, 'secret'],
    ];
    for (const [body, field] of refusals) {
      const answer = await call('POST', '/webhooks/set', body);
      assert.equal(answer.status, 400, JSON.stringify(body));
      assert.equal(answer.body.code, 'validation_failed');
      assert.ok(
        answer.body.errors.some((error: { field: string }) => error.field === field),
        JSON.stringify(answer.body),
      );
    }
    assert.equal((await call('GET', '/webhooks')).body.webhookUrl, null);
  });

  it('separates the webhooks and events of two accounts', async () => {
    const server = await start();
    const [mine, theirs] = [await receive(), await receive()];
    const [me, they] = [await server.account(), await server.account()];
    await setWebhook(me.call, mine, ['message.sent']);
    await setWebhook(they.call, theirs, ['message.sent']);
    await connect(me.call, '491701111111');
    await me.call('POST', '/messages/send', { to: '491702222222', message: 'hello' });
    await mine.waitFor(1);
    assert.equal(theirs.deliveries.length, 0);
    assert.equal((await they.call('GET', '/webhooks')).body.webhookUrl, theirs.url);
  });
});

function waitForState(call: Call, state: string) {
  return eventually(
    () => call('GET', '/webhooks/circuit-breaker'),
    ({ body }) => body.state === state,
  );
}
