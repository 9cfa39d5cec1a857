import assert from 'node:assert/strict';
import { after, before, it } from 'node:test';
import { getCACertificates, setDefaultCACertificates } from 'node:tls';
import {
  type Behavior,
  behaviors,
  behaviorTable,
  type FaultyReceiver,
  startFaultyReceiver,
} from '../support/connections/faultyReceiver.ts';
import { type Receiver, startReceiver } from '../support/connections/receiver.ts';
import { describeOnEachDatabase } from '../support/databases/databases.ts';
import { eventually } from '../support/eventually.ts';
import { type Answer, type Call, connectSession, startServer, type TestServer } from '../support/server.ts';

/*
 * End to end: one event for 25 webhooks, each at a receiver with a different fault. The log has every attempt with its
 * class and reason. Then the webhooks move to a healthy receiver, and the undelivered events arrive unchanged.
 */
describeOnEachDatabase('faulty receivers', (_, database) => {
  let server: TestServer;
  let faulty: FaultyReceiver;
  let healthy: Receiver;
  let call: Call;
  /** The delivery of the event for each fault, once its first attempt is in the log. */
  const logged = new Map<Behavior, Answer['body']>();
  const webhooks = new Map<Behavior, string>();

  before(async () => {
    faulty = await startFaultyReceiver({ slowMs: 300, dripMs: 20, retryAfterSeconds: 3600 });
    setDefaultCACertificates([...getCACertificates('default'), faulty.caPem]);
    healthy = await startReceiver();
    // A busy machine may keep a response waiting for seconds. Retries and probes are due much later, so everything
    // that arrives earlier was released by the new URL.
    const env = {
      WEBHOOK_TIMEOUT_MS: '10000',
      WEBHOOK_RETRY_SECONDS: '3600,3600',
      BREAKER_OPEN_SECONDS: '300',
    };
    server = await startServer({ database, env });
    ({ call } = await server.account());
    for (const behavior of behaviors) {
      const webhook = { webhookUrl: faulty.url(behavior), events: ['session.connected'], secret: behavior };
      const { status, body } = await call('POST', '/webhooks/endpoints', webhook);
      assert.equal(status, 201, JSON.stringify(body));
      webhooks.set(behavior, body.webhookId);
    }
    await connectSession(call);
    const { body } = await eventually(
      () => call('GET', '/webhooks/deliveries?limit=200'),
      (answer) =>
        answer.body.data.length === behaviors.length &&
        answer.body.data.every((one: Answer['body']) => one.attempts > 0),
    );
    for (const { webhookId, deliveryId } of body.data) {
      const behavior = behaviors.find((one) => webhooks.get(one) === webhookId);
      assert.ok(behavior);
      logged.set(behavior, (await call('GET', `/webhooks/deliveries/${deliveryId}`)).body);
    }
  });
  after(async () => {
    await server.stop();
    await healthy.close();
    await faulty.close();
  });

  for (const behavior of behaviors) {
    const { outcome } = behaviorTable[behavior];
    it(`log ${behavior} as ${outcome} with a readable reason`, () => {
      const delivery = logged.get(behavior);
      const [attempt] = delivery.attemptLog;
      assert.equal(attempt.class, outcome, attempt.message);
      assert.ok(attempt.message.length > 5);
      assert.equal(delivery.state, outcome === 'ok' ? 'delivered' : 'pending');
      assert.ok(delivery.why.length > 20, delivery.why);
    });
  }

  it('lose no events, which arrive unchanged once they respond', async () => {
    const undelivered = behaviors.filter((behavior) => behaviorTable[behavior].outcome !== 'ok');
    for (const behavior of undelivered) {
      const path = `/webhooks/endpoints/${webhooks.get(behavior)}`;
      const { status, body } = await call('PATCH', path, { webhookUrl: `${healthy.url}?was=${behavior}` });
      assert.equal(status, 200, JSON.stringify(body));
    }
    await healthy.waitFor(undelivered.length);
    const { body: log } = await eventually(
      () => call('GET', '/events'),
      ({ body }) => body.data.length > 0,
    );
    const [event] = log.data;
    const { session: _, ...data } = event.data; // which the log adds
    for (const { id, body, attempt } of healthy.deliveries) {
      assert.equal(id, event.eventId);
      assert.deepEqual(JSON.parse(body), { event: 'session.connected', data });
      assert.equal(attempt, 2);
    }
    const { body } = await eventually(
      () => call('GET', '/webhooks/deliveries?limit=200'),
      (answer) => answer.body.data.every((one: Answer['body']) => one.state === 'delivered'),
    );
    assert.equal(body.data.length, behaviors.length);
    // The receiver had read these requests, whatever became of the response body.
    for (const behavior of behaviors.filter((one) => !undelivered.includes(one))) {
      const seen = faulty.requests(behavior).filter(({ isComplete }) => isComplete);
      assert.ok(
        seen.some(({ body: text }) => text === healthy.deliveries[0]?.body),
        behavior,
      );
    }
  });
});
