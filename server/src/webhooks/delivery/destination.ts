import type { WebhookTable } from '../../db/schema.ts';
import { aboutWebhook } from '../../db/sealing.ts';
import type { Seal } from '../../seal.ts';

/* Where a webhook publishes its events, if it does not post them over HTTP. */

export type BrokerDestination =
  | { readonly type: 'rabbitmq'; readonly exchange: string; readonly routingKey: string }
  | { readonly type: 'nats'; readonly subject: string }
  /** `maxLength`: entries that the stream keeps, approximately; undefined for all. */
  | { readonly type: 'redis'; readonly stream: string; readonly maxLength?: number }
  | { readonly type: 'kafka'; readonly topic: string; readonly saslMechanism?: SaslMechanism }
  /** `region`: if the host of the queue does not name it. */
  | { readonly type: 'sqs'; readonly region: string };

export type BrokerType = BrokerDestination['type'];
export type Destination = { readonly type: 'http' } | BrokerDestination;
export type SaslMechanism = 'plain' | 'scram-sha-256' | 'scram-sha-512';

export const credentialNames = [
  'username',
  'password',
  'token',
  'creds',
  'accessKeyId',
  'secretAccessKey',
  'sessionToken',
] as const;
export type Credentials = Readonly<Partial<Record<(typeof credentialNames)[number], string>>>;

interface BrokerRules {
  /** The broker in sentences. */
  readonly name: string;
  /** Of the URL: the first one is the plain form. */
  readonly schemes: readonly string[];
  readonly defaultPorts: Readonly<Record<string, number>>;
  readonly secureSchemes: readonly string[];
  readonly credentials: readonly (keyof Credentials)[];
}

export const brokers: Readonly<Record<BrokerType, BrokerRules>> = {
  rabbitmq: {
    name: 'RabbitMQ',
    schemes: ['amqp', 'amqps'],
    defaultPorts: { amqp: 5672, amqps: 5671 },
    secureSchemes: ['amqps'],
    credentials: ['username', 'password'],
  },
  nats: {
    name: 'NATS',
    schemes: ['nats', 'tls'],
    defaultPorts: { nats: 4222, tls: 4222 },
    secureSchemes: ['tls'],
    credentials: ['username', 'password', 'token', 'creds'],
  },
  redis: {
    name: 'Redis',
    schemes: ['redis', 'rediss'],
    defaultPorts: { redis: 6379, rediss: 6379 },
    secureSchemes: ['rediss'],
    credentials: ['username', 'password'],
  },
  kafka: {
    name: 'Kafka',
    schemes: ['kafka', 'kafkas'],
    defaultPorts: { kafka: 9092, kafkas: 9092 },
    secureSchemes: ['kafkas'],
    credentials: ['username', 'password'],
  },
  sqs: {
    name: 'Amazon SQS',
    schemes: ['https', 'http'],
    defaultPorts: { https: 443, http: 80 },
    secureSchemes: ['https'],
    credentials: ['accessKeyId', 'secretAccessKey', 'sessionToken'],
  },
};

type Stored = Pick<WebhookTable, 'webhook_id' | 'destination' | 'credentials'>;

/** Stored for the subscription of an MCP client, so that a node of an earlier release does not deliver to it. */
export const SUBSCRIPTION = JSON.stringify({ type: 'mcp_events' });

export function destinationOf({ destination }: Pick<Stored, 'destination'>): Destination {
  return destination === null || destination === SUBSCRIPTION ? { type: 'http' } : JSON.parse(destination);
}

/** @throws {SealError} if they cannot be decrypted */
export function credentialsOf({ webhook_id, credentials }: Stored, seal: Seal): Credentials {
  return credentials === null ? {} : JSON.parse(seal.open(credentials, aboutWebhook(webhook_id)));
}

/** The text that the database stores. */
export function storedDestination(destination: Destination): string | null {
  return destination.type === 'http' ? null : JSON.stringify(destination);
}

interface Receiver {
  readonly url: string;
  readonly destination: Destination;
}

export function isSameReceiver(one: Receiver, other: Receiver): boolean {
  return one.url === other.url && storedDestination(one.destination) === storedDestination(other.destination);
}
