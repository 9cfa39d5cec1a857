import { jetstream, jetstreamManager } from '@nats-io/jetstream';
import { connect as connectNats } from '@nats-io/transport-node';
import amqp from 'amqplib';
import { Redis } from 'ioredis';
import { type BrokerServer, missing, startNats, startRabbitMq, startRedis } from './brokers.ts';
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
}

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

const nats: BrokerKind = {
  name: 'NATS',
  skip: missing.nats,
  refusal: /NATS at 127\.0\.0\.1:\d+ refused the credentials/,
  absence: /No JetStream stream stores the subject "absent"/,
  async start() {
    const server = await startNats(USER, PASSWORD);
    const open = () => connectNats({ servers: `127.0.0.1:${server.port}`, user: USER, pass: PASSWORD });
    const first = await open();
    await (await jetstreamManager(first)).streams.add({ name: EVENTS, subjects: ['messages.>'] });
    await first.close();
    return {
      ...server,
      webhook: {
        webhookUrl: `nats://127.0.0.1:${server.port}`,
        destination: { type: 'nats', subject: 'messages.all' },
        credentials: { username: USER, password: PASSWORD },
      },
      wrongCredentials: { username: USER, password: 'wrong' },
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
      missingDestination: { type: 'kafka', topic: 'absent' },
      read: async () =>
        server.records.map(({ headers, body }) => ({ id: headers['x-webhook-id'] ?? '', headers, body })),
    };
  },
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

export const brokerKinds: readonly BrokerKind[] = [rabbitMq, nats, redis, kafka, sqs];
