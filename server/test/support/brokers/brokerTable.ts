import assert from 'node:assert/strict';
import { it } from 'node:test';
import { jetstream, jetstreamManager } from '@nats-io/jetstream';
import { connect as connectNats } from '@nats-io/transport-node';
import amqp from 'amqplib';
import { Redis } from 'ioredis';
import { eventually } from '../eventually.ts';
import type { Answer, Call } from '../server.ts';
import {
  type BrokerServer,
  type Certificate,
  missing,
  startNats,
  startRabbitMq,
  startRedis,
  startTlsProxy,
} from './brokers.ts';
import { startFakeKafka } from './fakeKafka.ts';
import { sqsCredentials, startFakeSqs } from './fakeSqs.ts';

/* Every kind of broker, with what a test needs to know of it. */

export interface Stored {
  readonly id: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

interface Fields {
  readonly webhookUrl: string;
  readonly destination: object;
  readonly credentials?: object;
}

export interface RunningBroker extends BrokerServer {
  /** Fields of a webhook whose events the broker stores. */
  readonly webhook: Fields;
  readonly wrongCredentials: object;
  /** A destination that does not exist; undefined if the broker creates it. */
  readonly missingDestination: object | undefined;
  /** Lets it be reached over TLS. Undefined if that is HTTP. */
  readonly secure: ((certificate: Certificate) => Promise<{ webhookUrl: string; stop(): Promise<void> }>) | undefined;
  /** Reads everything that it has stored. */
  read(): Promise<Stored[]>;
}

export interface BrokerKind {
  readonly name: string;
  /** Why its tests are skipped. */
  readonly skip: string | false;
  readonly refusal: RegExp;
  readonly absence: RegExp;
  start(): Promise<RunningBroker>;
  /** Tests of what only this broker does. */
  more?(setUp: () => Promise<BrokerScene>): void;
}

export interface BrokerScene {
  readonly broker: RunningBroker;
  create(more?: object): Promise<Answer['body']>;
  test(webhookId: string): Promise<Answer['body']>;
  write(from: string, message: string): Promise<void>;
  deliveries(webhookId: string, state: string): Promise<Answer['body'][]>;
  readonly call: Call;
}

const behindProxy = (server: BrokerServer, scheme: string) => async (certificate: Certificate) => {
  const { port, stop } = await startTlsProxy(server.port, certificate);
  return { webhookUrl: `${scheme}://localhost:${port}`, stop };
};

const USER = 'ann';
const PASSWORD = 'the broker password';
const EVENTS = 'events';
const MOST = 100_000;

const rabbitMq: BrokerKind = {
  name: 'RabbitMQ',
  skip: missing.rabbitmq,
  refusal: /RabbitMQ at 127\.0\.0\.1:\d+ refused the user name or the password/,
  absence: /no exchange 'absent'/,
  async start() {
    const server = await startRabbitMq();
    const url = `amqp://127.0.0.1:${server.port}`;
    const use = async <T>(work: (channel: amqp.Channel) => Promise<T>): Promise<T> => {
      const connection = await amqp.connect(url);
      try {
        return await work(await connection.createChannel());
      } finally {
        await connection.close();
      }
    };
    await use(async (channel) => {
      await channel.assertExchange(EVENTS, 'topic', { durable: true });
      await channel.assertQueue(EVENTS, { durable: true });
      await channel.bindQueue(EVENTS, EVENTS, 'messages.#');
    });
    return {
      ...server,
      webhook: {
        webhookUrl: `${url}/%2F`,
        destination: { type: 'rabbitmq', exchange: EVENTS, routingKey: 'messages.all' },
        credentials: { username: 'guest', password: 'guest' },
      },
      wrongCredentials: { username: 'guest', password: 'wrong' },
      secure: behindProxy(server, 'amqps'),
      missingDestination: { type: 'rabbitmq', exchange: 'absent', routingKey: 'messages.all' },
      read: () =>
        use(async (channel) => {
          const stored: Stored[] = [];
          for (let message = await channel.get(EVENTS); message !== false; message = await channel.get(EVENTS)) {
            const { messageId, contentType, headers = {} } = message.properties;
            const all = { ...(headers as Record<string, string>), 'content-type': String(contentType) };
            stored.push({ id: String(messageId), headers: all, body: message.content.toString() });
          }
          await channel.recover();
          return stored;
        }),
    };
  },
};

rabbitMq.more = (setUp) => {
  it('says that no queue receives the routing key, or that the queue is full', async () => {
    const { broker, create, test } = await setUp();
    const unroutable = { type: 'rabbitmq', exchange: EVENTS, routingKey: 'elsewhere' };
    const returned = await test((await create({ destination: unroutable })).webhookId);
    assert.equal(returned.class, 'client_error', returned.message);
    assert.match(returned.message, /No queue of the exchange "events" receives the routing key "elsewhere"/);
    const absent = await test((await create({ destination: { type: 'rabbitmq', routingKey: 'absent' } })).webhookId);
    assert.match(absent.message, /No queue has the name "absent"/);

    const connection = await amqp.connect(`amqp://127.0.0.1:${broker.port}`);
    const channel = await connection.createChannel();
    const options = { 'x-max-length': 1, 'x-overflow': 'reject-publish' };
    await channel.assertQueue('full', { durable: true, arguments: options });
    const { webhookId } = await create({ destination: { type: 'rabbitmq', routingKey: 'full' } });
    assert.equal((await test(webhookId)).class, 'ok', 'the default exchange routes by the name of the queue');
    const full = await test(webhookId);
    assert.equal(full.class, 'server_error', full.message);
    assert.match(full.message, /could not store the message \(nack\)/);
    await connection.close();
  });
};

const nats: BrokerKind = {
  name: 'NATS',
  skip: missing.nats,
  refusal: /NATS at 127\.0\.0\.1:\d+ refused the credentials/,
  absence: /No JetStream stream stores the subject "absent"/,
  async start() {
    const server = await startNats(USER, PASSWORD);
    const open = () => connectNats({ servers: `127.0.0.1:${server.port}`, user: USER, pass: PASSWORD });
    const addStream = async (options: Parameters<typeof connectNats>[0]) => {
      const connection = await connectNats({ user: USER, pass: PASSWORD, ...options });
      await (await jetstreamManager(connection)).streams.add({ name: EVENTS, subjects: ['messages.>'] });
      await connection.close();
    };
    await addStream({ servers: `127.0.0.1:${server.port}` });
    return {
      ...server,
      webhook: {
        webhookUrl: `nats://127.0.0.1:${server.port}`,
        destination: { type: 'nats', subject: 'messages.all' },
        credentials: { username: USER, password: PASSWORD },
      },
      wrongCredentials: { username: USER, password: 'wrong' },
      secure: async (certificate) => {
        const { port, stop } = await startNats(USER, PASSWORD, certificate);
        await addStream({ servers: `localhost:${port}`, tls: { ca: certificate.cert } });
        return { webhookUrl: `tls://localhost:${port}`, stop };
      },
      missingDestination: { type: 'nats', subject: 'absent' },
      async read() {
        const connection = await open();
        const { state } = await (await jetstreamManager(connection)).streams.info(EVENTS);
        const stored: Stored[] = [];
        const consumer = await jetstream(connection).consumers.get(EVENTS);
        for (let left = state.messages; left > 0; left--) {
          const message = await consumer.next();
          if (message === null) break;
          const names = message.headers?.keys() ?? [];
          const headers = Object.fromEntries(names.map((name) => [name, message.headers?.get(name) ?? '']));
          stored.push({ id: headers['Nats-Msg-Id'] ?? '', headers, body: message.string() });
        }
        await connection.close();
        return stored;
      },
    };
  },
};

nats.more = (setUp) => {
  it('takes only the answer of a stream for a confirmation', async () => {
    const { broker, create, call } = await setUp();
    const servers = new URL(String(broker.webhook.webhookUrl)).host;
    const connection = await connectNats({ servers, user: USER, pass: PASSWORD });
    connection.subscribe('answered', { callback: (_, message) => void message.respond('{}') });
    await connection.flush();
    const { webhookId } = await create({ destination: { type: 'nats', subject: 'answered' } });
    const { body } = await call('GET', `/webhooks/endpoints/${webhookId}/test`);
    await connection.close();
    assert.deepEqual([body.delivered, body.class], [false, 'protocol'], body.message);
  });

  it('stores a replayed event once, within the window of the stream', async () => {
    const { broker, create, write, deliveries, call } = await setUp();
    const { webhookId } = await create();
    await write('491711111111', 'only once');
    const [delivery] = await eventually(
      () => deliveries(webhookId, 'delivered'),
      ({ length }) => length === 1,
    );
    const { deliveryId } = delivery ?? assert.fail();
    await call('POST', '/webhooks/replay', { deliveryIds: [deliveryId] });
    const log = await eventually(
      async () => (await call('GET', `/webhooks/deliveries/${deliveryId}`)).body.attemptLog,
      ({ length }) => length === 2,
    );
    assert.match(log[1].message, /had already stored the message/);
    assert.equal((await broker.read()).filter(({ body }) => body.includes('only once')).length, 1);
  });
};

const redis: BrokerKind = {
  name: 'Redis',
  skip: missing.redis,
  refusal: /Redis at 127\.0\.0\.1:\d+ refused the user name or the password/,
  absence: /holds something else than a stream/,
  async start() {
    const server = await startRedis(PASSWORD);
    const use = async <T>(work: (client: Redis) => Promise<T>): Promise<T> => {
      const client = new Redis({ port: server.port, host: '127.0.0.1', password: PASSWORD, db: 1 });
      try {
        return await work(client);
      } finally {
        client.disconnect();
      }
    };
    await use((client) => client.set('text', 'not a stream'));
    return {
      ...server,
      webhook: {
        webhookUrl: `redis://127.0.0.1:${server.port}/1`,
        destination: { type: 'redis', stream: EVENTS, maxLength: MOST },
        credentials: { password: PASSWORD },
      },
      wrongCredentials: { password: 'wrong' },
      secure: behindProxy(server, 'rediss'),
      missingDestination: { type: 'redis', stream: 'text' },
      read: () =>
        use(async (client) => {
          const entries = await client.xrange(EVENTS, '-', '+');
          return entries.map(([, fields]) => {
            const pairs = fields.flatMap((name, index) =>
              index % 2 === 0 ? [[name, fields[index + 1]] as const] : [],
            );
            const { id = '', headers = '{}', body = '' } = Object.fromEntries(pairs);
            return { id, headers: JSON.parse(headers), body };
          });
        }),
    };
  },
};

const kafka: BrokerKind = {
  name: 'Kafka',
  skip: false,
  refusal: /Kafka at 127\.0\.0\.1:\d+ refused the login/,
  absence: /Kafka has no topic "absent"/,
  async start() {
    const server = await startFakeKafka({ topic: EVENTS, partitions: 3, username: USER, password: PASSWORD });
    return {
      ...server,
      webhook: {
        webhookUrl: `kafka://127.0.0.1:${server.port}`,
        destination: { type: 'kafka', topic: EVENTS },
        credentials: { username: USER, password: PASSWORD },
      },
      wrongCredentials: { username: USER, password: 'wrong' },
      async secure(certificate) {
        const { port, stop } = await startTlsProxy(server.port, certificate);
        server.advertise('localhost', port);
        return {
          webhookUrl: `kafkas://localhost:${port}`,
          async stop() {
            server.advertise('127.0.0.1', server.port);
            await stop();
          },
        };
      },
      missingDestination: { type: 'kafka', topic: 'absent' },
      read: async () =>
        server.records.map(({ headers, body }) => ({ id: headers['x-webhook-id'] ?? '', headers, body })),
    };
  },
};

redis.more = (setUp) => {
  it('limits the length of the stream', async () => {
    const { broker, create, test } = await setUp();
    const destination = { type: 'redis', stream: 'short', maxLength: 1 };
    const { webhookId } = await create({ destination });
    // Redis removes whole nodes of 100 entries.
    for (let n = 0; n < 3; n++) assert.ok((await test(webhookId)).delivered);
    const client = new Redis({ port: broker.port, host: '127.0.0.1', password: PASSWORD, db: 1 });
    for (let n = 0; n < 150; n++) await client.xadd('short', '*', 'id', `${n}`);
    assert.ok((await test(webhookId)).delivered);
    assert.ok((await client.xlen('short')) < 150);
    client.disconnect();
  });
};

const QUEUE = '/123456789012/events';

const sqs: BrokerKind = {
  name: 'Amazon SQS',
  skip: false,
  refusal: /Amazon SQS answered InvalidSignatureException/,
  absence: /Amazon SQS answered QueueDoesNotExist/,
  async start() {
    const server = await startFakeSqs([QUEUE]);
    const origin = `http://127.0.0.1:${server.port}`;
    return {
      ...server,
      webhook: {
        webhookUrl: `${origin}${QUEUE}`,
        destination: { type: 'sqs', region: 'eu-central-1' },
        credentials: sqsCredentials,
      },
      wrongCredentials: { ...sqsCredentials, secretAccessKey: 'wrong' },
      secure: undefined,
      missingDestination: { type: 'sqs', region: 'eu-central-1' },
      read: async () =>
        (server.messages.get(QUEUE) ?? []).map(({ attributes, body }) => ({
          id: attributes['x-webhook-id'] ?? '',
          headers: attributes,
          body,
        })),
    };
  },
};

sqs.more = (setUp) => {
  it('orders a FIFO queue by conversation, and sends an event to it once', async (test) => {
    const path = `${QUEUE}.fifo`;
    const server = await startFakeSqs([path]);
    test.after(() => server.stop());
    const { create, write, deliveries, call } = await setUp();
    const { webhookId } = await create({ webhookUrl: `http://127.0.0.1:${server.port}${path}` });
    for (const from of ['491711111111', '491722222222']) await write(from, `from ${from}`);
    const delivered = await eventually(
      () => deliveries(webhookId, 'delivered'),
      ({ length }) => length === 2,
    );
    const messages = server.messages.get(path) ?? [];
    assert.equal(new Set(messages.map(({ group }) => group)).size, 2);
    assert.deepEqual(
      messages.map(({ deduplication }) => deduplication).sort(),
      delivered.map(({ eventId }) => eventId).sort(),
    );
    await call('POST', '/webhooks/replay', { deliveryIds: [delivered[0].deliveryId] });
    await eventually(
      () => call('GET', `/webhooks/deliveries/${delivered[0].deliveryId}`),
      ({ body }) => body.attempts === 2 && body.state === 'delivered',
    );
    assert.equal(server.messages.get(path)?.length, 2);
    server.failNext('RequestThrottled');
    const { body } = await call('GET', `/webhooks/endpoints/${webhookId}/test`);
    assert.deepEqual([body.class, body.status], ['throttled', 400], body.message);
  });
};

export const brokerKinds: readonly BrokerKind[] = [rabbitMq, nats, redis, kafka, sqs];
