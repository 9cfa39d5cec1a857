import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { startFakeKafka } from '../support/brokers/fakeKafka.ts';
import { startReceiver } from '../support/connections/receiver.ts';
import { describeOnEachDeployment } from '../support/databases/databases.ts';
import { eventually } from '../support/eventually.ts';
import { loadedBy } from '../support/processes/loadedBy.ts';
import { connectSession, serversFor } from '../support/server.ts';

const PASSWORD = 'the password of the broker';
const login = { username: 'ann', password: PASSWORD };

describeOnEachDeployment('the destination of a webhook', (_, database) => {
  const start = serversFor(database, { env: { BREAKER_OPEN_SECONDS: '600' } });

  async function setUp() {
    const { call } = await (await start()).account();
    const create = (fields: object) => call('POST', '/webhooks/endpoints', { events: ['message.incoming'], ...fields });
    const change = (webhookId: string, fields: object) => call('PATCH', `/webhooks/endpoints/${webhookId}`, fields);
    return { call, create, change };
  }

  it('is HTTP unless it is set, and is returned without its credentials', async () => {
    const { call, create } = await setUp();
    const { body: http } = await create({ webhookUrl: 'https://example.com/hooks' });
    assert.deepEqual([http.destination, http.credentialNames], [{ type: 'http' }, []]);
    for (const [webhookUrl, destination, shown, credentials] of [
      ['amqps://mq.example.com/%2Fprod', { type: 'rabbitmq', routingKey: 'events' }, { exchange: '' }, login],
      ['amqp://mq.example.com:5673', { type: 'rabbitmq', exchange: 'events', routingKey: '' }, {}, login],
      ['tls://nats.example.com:4222', { type: 'nats', subject: 'events.all' }, {}, { token: PASSWORD }],
      ['redis://redis.example.com/3', { type: 'redis', stream: 'events', maxLength: 1000 }, {}, { password: PASSWORD }],
      [
        'kafkas://kafka.example.com:9093',
        { type: 'kafka', topic: 'events', saslMechanism: 'scram-sha-256' },
        {},
        login,
      ],
      [
        'https://sqs.eu-central-1.amazonaws.com/123456789012/events',
        { type: 'sqs' },
        { region: 'eu-central-1' },
        { accessKeyId: 'AKIA', secretAccessKey: PASSWORD },
      ],
    ] as const) {
      const { status, body } = await create({ webhookUrl, destination, credentials });
      assert.equal(status, 201, JSON.stringify(body));
      assert.deepEqual(body.destination, { ...destination, ...shown });
      assert.deepEqual(body.credentialNames, Object.keys(credentials));
      assert.equal(body.webhookUrl, webhookUrl);
      const read = await call('GET', `/webhooks/endpoints/${body.webhookId}`);
      assert.ok(!JSON.stringify([body, read.body]).includes(PASSWORD));
    }
    assert.ok(!JSON.stringify((await call('GET', '/webhooks/endpoints')).body).includes(PASSWORD));
  });

  it('must fit its URL, and errors name the field', async () => {
    const { call, create } = await setUp();
    const rabbitmq = { type: 'rabbitmq', exchange: 'e', routingKey: 'k' };
    const nats = { type: 'nats', subject: 's' };
    const redis = { type: 'redis', stream: 's' };
    const kafka = { type: 'kafka', topic: 't' };
    const sqs = { type: 'sqs' };
    const sqsUrl = 'https://sqs.eu-central-1.amazonaws.com/1/q';
    for (const [field, webhookUrl, destination, more] of [
      ['webhookUrl', 'amqp://example.com', undefined],
      ['webhookUrl', 'amqp://example.com', { type: 'http' }],
      ['webhookUrl', 'https://example.com', rabbitmq],
      ['webhookUrl', 'redis://example.com', kafka],
      ['webhookUrl', 'amqp://ann:secret@example.com', rabbitmq],
      ['webhookUrl', 'amqp://example.com/a/b', rabbitmq],
      ['webhookUrl', 'amqp://example.com/a%', rabbitmq],
      ['webhookUrl', 'amqp://example.com?heartbeat=0', rabbitmq],
      ['webhookUrl', 'amqp://', rabbitmq],
      ['webhookUrl', 'amqp://10.0.0.1', rabbitmq],
      ['webhookUrl', 'amqp://0xa.1', rabbitmq],
      ['webhookUrl', 'amqp://[::ffff:10.0.0.1]', rabbitmq],
      ['webhookUrl', 'nats://169.254.169.254:80', nats],
      ['webhookUrl', 'nats://one.example.com,two.example.com', nats],
      ['webhookUrl', 'nats://example.com/path', nats],
      ['webhookUrl', 'redis://example.com/one', redis],
      ['webhookUrl', 'kafka://example.com:99999', kafka],
      ['webhookUrl', 'https://sqs.eu-central-1.amazonaws.com', sqs],
      ['destination.region', 'https://queue.example.com/1/q', sqs],
      ['destination.region', sqsUrl, { type: 'sqs', region: 'a/b' }],
      ['destination.type', 'amqp://example.com', { type: 'stomp' }],
      ['destination.topic', 'amqp://example.com', { ...rabbitmq, topic: 'x' }],
      ['destination.color', 'amqp://example.com', { ...rabbitmq, color: 'x' }],
      ['destination.routingKey', 'amqp://example.com', { type: 'rabbitmq' }],
      ['destination.routingKey', 'amqp://example.com', { type: 'rabbitmq', routingKey: '' }],
      ['destination.routingKey', 'amqp://example.com', { ...rabbitmq, routingKey: 'a\nb' }],
      ['destination.exchange', 'amqp://example.com', { ...rabbitmq, exchange: 'ü'.repeat(200) }],
      ['destination.exchange', 'amqp://example.com', { ...rabbitmq, exchange: 'e'.repeat(256) }],
      ['destination.subject', 'nats://example.com', { type: 'nats', subject: 'a b' }],
      ['destination.subject', 'nats://example.com', { type: 'nats', subject: 'events.*' }],
      ['destination.subject', 'nats://example.com', { type: 'nats', subject: 'events.>' }],
      ['destination.subject', 'nats://example.com', { type: 'nats', subject: '.events' }],
      ['destination.subject', 'nats://example.com', { type: 'nats', subject: '$JS.API.STREAM.DELETE.EVENTS' }],
      ['destination.subject', 'nats://example.com', { type: 'nats', subject: '_INBOX.x' }],
      ['destination.stream', 'redis://example.com', { type: 'redis', stream: '' }],
      ['destination.maxLength', 'redis://example.com', { ...redis, maxLength: 0 }],
      ['destination.topic', 'kafka://example.com', { type: 'kafka', topic: 'a/b' }],
      ['destination.topic', 'kafka://example.com', { type: 'kafka', topic: '..' }],
      ['destination.saslMechanism', 'kafka://example.com', { ...kafka, saslMechanism: 'gssapi' }],
      ['credentials', 'https://example.com', undefined, { credentials: login }],
      ['credentials.token', 'amqp://example.com', rabbitmq, { credentials: { token: 'x' } }],
      ['credentials.password', 'amqp://example.com', rabbitmq, { credentials: { username: 'x' } }],
      ['credentials.username', 'kafka://example.com', kafka, { credentials: { password: 'x' } }],
      ['credentials', 'nats://example.com', nats, { credentials: { ...login, token: 'x' } }],
      ['credentials.secretAccessKey', sqsUrl, sqs, { credentials: { accessKeyId: 'x' } }],
      ['credentials.password', 'amqp://example.com', rabbitmq, { credentials: { username: 'x', password: '' } }],
      ['headers', sqsUrl, sqs, { headers: { 'x-a': 'b' } }],
    ] as [string, string, object | undefined, object?][]) {
      const { status, body } = await create({ webhookUrl, ...(destination && { destination }), ...more });
      const fields = (body.errors ?? []).map((error: { field: string }) => error.field);
      assert.deepEqual([status, fields[0]], [400, field], JSON.stringify([webhookUrl, destination, more, body]));
      assert.ok(!JSON.stringify(body).includes(PASSWORD));
    }
    assert.deepEqual((await call('GET', '/webhooks/endpoints')).body.data, []);
  });

  it('changes with its URL, and credentials do not follow it to another host', async () => {
    const { create, change } = await setUp();
    const destination = { type: 'rabbitmq', exchange: 'e', routingKey: 'k' };
    const { body } = await create({ webhookUrl: 'amqp://one.example.com/a', destination, credentials: login });
    const { webhookId } = body;
    const { body: same } = await change(webhookId, {
      webhookUrl: 'amqp://one.example.com/b',
      events: ['message.sent'],
    });
    assert.deepEqual([same.credentialNames, same.destination], [['username', 'password'], destination]);
    const { body: moved } = await change(webhookId, { webhookUrl: 'amqp://two.example.com/b' });
    assert.deepEqual([moved.credentialNames, moved.destination], [[], destination]);
    assert.match(moved.warnings[0], /credentials were removed/);
    const { body: again } = await change(webhookId, { credentials: login });
    assert.deepEqual(again.credentialNames, ['username', 'password']);
    const { body: secure } = await change(webhookId, { webhookUrl: 'amqps://two.example.com/b' });
    assert.deepEqual(secure.credentialNames, [], 'another scheme is another origin');
    await change(webhookId, { credentials: login });

    const wrong = await change(webhookId, { destination: { type: 'redis', stream: 's' } });
    assert.deepEqual([wrong.status, wrong.body.errors[0].field], [400, 'webhookUrl']);
    const asRedis = { webhookUrl: 'redis://two.example.com', destination: { type: 'redis', stream: 's' } };
    const { body: other } = await change(webhookId, asRedis);
    assert.deepEqual([other.destination, other.credentialNames], [asRedis.destination, []]);
    const back = await change(webhookId, { webhookUrl: 'https://two.example.com' });
    assert.equal(back.status, 400, 'the destination is still Redis');
    const { body: http } = await change(webhookId, {
      webhookUrl: 'https://two.example.com',
      destination: { type: 'http' },
    });
    assert.deepEqual(http.destination, { type: 'http' });
    const removed = await change(webhookId, { credentials: null });
    assert.deepEqual([removed.status, removed.body.credentialNames], [200, []]);
  });

  it('is always HTTP for the default webhook', async () => {
    const { call, change } = await setUp();
    const amqp = { webhookUrl: 'amqp://example.com', events: ['message.sent'] };
    const refused = await call('POST', '/webhooks/set', amqp);
    assert.deepEqual([refused.status, refused.body.errors[0].field], [400, 'webhookUrl']);
    await call('POST', '/webhooks/set', { ...amqp, webhookUrl: 'https://example.com' });
    const { webhookId } = (await call('GET', '/webhooks/endpoints')).body.data[0];
    const destination = { type: 'rabbitmq', routingKey: 'k' };
    const { status, body } = await change(webhookId, { webhookUrl: 'amqp://example.com', destination });
    assert.deepEqual(
      [status, body.errors[0].field, body.errors[0].rule ?? 'default_webhook'],
      [400, 'destination', 'default_webhook'],
    );
    assert.equal((await call('GET', '/webhooks')).body.webhookUrl, 'https://example.com/');
  });

  it('is warned of twice only at the same place of a broker', async () => {
    const { create } = await setUp();
    const at = (routingKey: string) => ({
      webhookUrl: 'amqp://example.com',
      destination: { type: 'rabbitmq', routingKey },
    });
    await create(at('one'));
    assert.deepEqual((await create(at('two'))).body.warnings, []);
    assert.match((await create(at('one'))).body.warnings[0], /gets these events twice/);
  });

  it('has a breaker, a log and events like any other', async (test) => {
    const { call, create } = await setUp();
    const broker = await startFakeKafka({ topic: 'events', partitions: 1, ...login });
    const receiver = await startReceiver();
    test.after(async () => {
      await broker.stop();
      await receiver.close();
    });
    await call('POST', '/webhooks/set', { webhookUrl: receiver.url, events: ['webhook.circuit_opened'] });
    const sessionId = await connectSession(call);
    const webhookUrl = `kafka://127.0.0.1:${broker.port}`;
    const { body: webhook } = await create({
      webhookUrl,
      destination: { type: 'kafka', topic: 'absent' },
      credentials: login,
    });
    const { webhookId } = webhook;
    for (let n = 0; n < 5; n++)
      await call('POST', `/sessions/${sessionId}/simulate`, {
        action: 'incoming',
        from: `49171111111${n}`,
        message: 'Hi',
      });
    await receiver.waitFor(1);
    assert.equal(receiver.deliveries[0]?.parsed.data.webhookOrigin, webhookUrl);
    assert.match(receiver.deliveries[0]?.parsed.data.error, /Kafka has no topic "absent"/);
    const pending = (await call('GET', `/webhooks/deliveries?webhookId=${webhookId}&states=pending`)).body.data;
    assert.equal(pending.length, 5);
    const { why } = (await call('GET', `/webhooks/deliveries/${pending[0].deliveryId}`)).body;
    assert.match(why, /circuit breaker holds this delivery .*Kafka has no topic "absent"/);

    const destination = { type: 'kafka', topic: 'events' };
    const { body: fixed } = await call('PATCH', `/webhooks/endpoints/${webhookId}`, { destination });
    assert.deepEqual(fixed.destination, destination);
    const { state, reason } = (await call('GET', `/webhooks/endpoints/${webhookId}/circuit-breaker`)).body;
    assert.deepEqual([state, reason], ['closed', 'new_url'], 'like a new URL');
    await eventually(
      async () => broker.records.length,
      (count) => count === 5,
    );
  });
});

describe('the clients of message brokers', () => {
  it('are loaded with the first webhook that needs one', () => {
    const clients = /node_modules\/(amqplib|ioredis|@nats-io|@platformatic)\//;
    assert.doesNotMatch(loadedBy('app.ts'), clients);
    assert.doesNotMatch(
      loadedBy('webhooks/delivery/brokers/brokerDeliver.ts'),
      clients,
      'nor with those of other brokers',
    );
  });
});
