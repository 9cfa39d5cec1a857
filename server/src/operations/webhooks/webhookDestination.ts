import { Type } from 'typebox';
import type { WebhookTable } from '../../db/schema.ts';
import { checkUrl } from '../../egress/target.ts';
import { invalidField } from '../../errors.ts';
import { integer, list, named, oneOf, optional, orNull, strictPart, string } from '../../invoke/input/fields.ts';
import { ref } from '../../invoke/input/references.ts';
import type { Context } from '../../invoke/operation.ts';
import { namesOf } from '../../objects.ts';
import {
  type BrokerDestination,
  type BrokerType,
  brokers,
  type Credentials,
  credentialNames,
  credentialsOf,
  type Destination,
  destinationOf,
} from '../../webhooks/delivery/destination.ts';
import { acceptedUrl } from './webhookRecord.ts';

/* Webhooks that publish to a message broker: which one, where in it, and with which credentials. */

const text = (description: string, maxLength: number) => optional(string(description, { maxLength }));

const destinationFields = {
  type: oneOf(['http', 'rabbitmq', 'nats', 'redis', 'kafka', 'sqs'], 'How events are sent; `http` by default.'),
  exchange: text('RabbitMQ: the exchange; left out for the default one, where `routingKey` names a queue.', 255),
  routingKey: text('RabbitMQ: the routing key.', 255),
  subject: text('NATS: a subject of a JetStream stream.', 255),
  stream: text('Redis: the key of the stream.', 512),
  maxLength: optional(
    integer('Redis: the approximate number of entries to keep; left out for all.', { minimum: 1, maximum: 1e9 }),
  ),
  topic: text('Kafka: the topic. The conversation is the key of a message.', 249),
  saslMechanism: optional(
    oneOf(['plain', 'scram-sha-256', 'scram-sha-512'], 'Kafka: how to log in; `plain` by default.'),
  ),
  region: text('Amazon SQS: the region, if the URL does not name it.', 40),
};

const Given = strictPart(
  'Where events go if not over HTTP. `webhookUrl` is then the address of the broker, such as `amqps://example.com/vhost`.',
  destinationFields,
);
type Given = Type.Static<typeof Given>;

const secretText = optional(Type.String({ ...ref('other'), minLength: 1, maxLength: 8192 }));

export const destinationInput = {
  destination: optional(Given),
  credentials: optional(
    orNull(
      strictPart(
        'For the broker: `username` and `password`; NATS: also `token` or `creds`; Amazon SQS: `accessKeyId` and `secretAccessKey`. Never returned. A new host removes them.',
        {
          username: secretText,
          password: secretText,
          token: secretText,
          creds: secretText,
          accessKeyId: secretText,
          secretAccessKey: secretText,
          sessionToken: secretText,
        },
      ),
      'Replaces all credentials; `null` removes them.',
    ),
  ),
};

export const shownDestination = {
  destination: named('WebhookDestination', destinationFields),
  credentialNames: list(Type.String(), 'Names of the credentials that are set.'),
};

/** @throws {SealError} if its credentials cannot be decrypted */
export function toDestination({ database }: Context, row: WebhookTable) {
  return {
    destination: destinationOf(row) satisfies Given,
    credentialNames: Object.keys(credentialsOf(row, database.seal)),
  };
}

interface GivenReceiver {
  readonly webhookUrl?: string | undefined;
  readonly destination?: Given | undefined;
  readonly credentials?: Credentials | null | undefined;
  readonly headers?: Readonly<Record<string, string>> | null | undefined;
}

interface Receiver {
  readonly url?: string;
  readonly destination?: Destination;
  readonly credentials?: Credentials | null;
}

/**
 * Returns the change of the URL, the destination and the credentials. They are checked together, with what the webhook
 * has in place of those that are left out.
 * @throws {AppError} `validation_failed` naming the field
 */
export function acceptedReceiver(ctx: Context<'targets'>, given: GivenReceiver, present?: WebhookTable): Receiver {
  const { webhookUrl, destination: chosen, credentials, headers } = given;
  const type = chosen?.type ?? (present === undefined ? 'http' : destinationOf(present).type);
  const rawUrl = webhookUrl ?? present?.url ?? '';
  const needsUrl = webhookUrl !== undefined || chosen !== undefined;
  const url = needsUrl ? (type === 'http' ? acceptedUrl(ctx, rawUrl) : acceptedAddress(ctx, type, rawUrl)) : undefined;
  const destination = chosen && acceptedDestination(chosen, url ?? rawUrl);
  if (url !== undefined && destination === undefined && type === 'sqs') requireRegion(url, present);
  if (credentials) checkCredentials(type, credentials);
  if (type === 'sqs' && headers && Object.keys(headers).length > 0)
    throw invalidField('headers', 'Amazon SQS keeps ten attributes of a message, which the server uses itself', 'sqs');
  return {
    ...(url !== undefined && { url }),
    ...(destination !== undefined && { destination }),
    ...(credentials !== undefined && { credentials: emptyAsNull(credentials) }),
  };
}

const emptyAsNull = (credentials: Credentials | null) =>
  credentials === null || Object.keys(credentials).length === 0 ? null : credentials;

/** Checks the address of a broker like the URL of a webhook, which it is. */
function acceptedAddress(ctx: Context<'targets'>, type: BrokerType, raw: string): string {
  const { name, schemes } = brokers[type];
  const verdict = checkUrl(raw, ctx.targets, schemes);
  if (!verdict.ok) throw invalidField('webhookUrl', verdict.message, verdict.rule);
  const { url } = verdict;
  const refuse = (why: string) => invalidField('webhookUrl', `The URL of ${name} ${why}`, 'address_form');
  if (/,/.test(url.host)) throw refuse('must name one server');
  if (url.search !== '' || url.hash !== '') throw refuse('must not contain a query or a fragment');
  if (!PATHS[type].test(url.pathname)) throw refuse(PATH_RULES[type]);
  return url.href;
}

const PATHS: Readonly<Record<BrokerType, RegExp>> = {
  rabbitmq: /^(\/([^/%]|%[0-9a-f]{2}){0,255})?$/i,
  nats: /^\/?$/,
  redis: /^(\/\d{0,5})?$/,
  kafka: /^\/?$/,
  sqs: /^\/[^/]+(\/[^/]+)*$/,
};

const PATH_RULES: Readonly<Record<BrokerType, string>> = {
  rabbitmq: 'may have a virtual host as its path, with a slash in it written as %2F',
  nats: 'must not have a path',
  redis: 'may have the number of a database as its path',
  kafka: 'must not have a path',
  sqs: 'must be that of the queue, such as https://sqs.eu-central-1.amazonaws.com/123456789012/events',
};

type FieldName = Exclude<keyof Given, 'type'>;

/** The fields of each type, and those that are required. */
const FIELDS: Readonly<Record<Given['type'], { required: readonly FieldName[]; optional: readonly FieldName[] }>> = {
  http: { required: [], optional: [] },
  rabbitmq: { required: ['routingKey'], optional: ['exchange'] },
  nats: { required: ['subject'], optional: [] },
  redis: { required: ['stream'], optional: ['maxLength'] },
  kafka: { required: ['topic'], optional: ['saslMechanism'] },
  sqs: { required: [], optional: ['region'] },
};

function acceptedDestination(given: Given, url: string): Destination {
  const { type } = given;
  const { required, optional: others } = FIELDS[type];
  for (const name of namesOf(given)) {
    if (name === 'type' || required.includes(name) || others.includes(name)) continue;
    throw invalidField(`destination.${name}`, `A destination of type ${type} has no \`${name}\``, 'unknown');
  }
  for (const name of required)
    if (given[name] === undefined)
      throw invalidField(`destination.${name}`, `A destination of type ${type} requires \`${name}\``, 'required');
  const { exchange = '', routingKey = '', subject = '', stream = '', topic = '', maxLength, saslMechanism } = given;
  switch (type) {
    case 'http':
      return { type };
    case 'rabbitmq':
      requireText('exchange', exchange, /^[^\p{C}]*$/u, 'must not contain control characters');
      requireText('routingKey', routingKey, exchange === '' ? /^[^\p{C}]+$/u : /^[^\p{C}]*$/u, NO_ROUTING_KEY);
      return { type, exchange, routingKey };
    case 'nats':
      requireText('subject', subject, /^(?!\$|_INBOX\.)[^\s\p{C}.*>]+(\.[^\s\p{C}.*>]+)*$/u, BAD_SUBJECT);
      return { type, subject };
    case 'redis':
      requireText('stream', stream, /^[^\p{C}]+$/u, 'must be a key without control characters');
      return { type, stream, ...(maxLength !== undefined && { maxLength }) };
    case 'kafka':
      requireText('topic', topic, /^(?!\.\.?$)[a-zA-Z0-9._-]+$/, 'may contain letters, digits, dots, dashes and _');
      return { type, topic, ...(saslMechanism !== undefined && { saslMechanism }) };
    case 'sqs':
      return { type, region: regionOf(given.region, url) };
  }
}

const NO_ROUTING_KEY = 'must not contain control characters, and must name a queue if there is no exchange';
const BAD_SUBJECT =
  'must be tokens separated by dots, without spaces and wildcards, and not a subject of NATS itself (`$…`, `_INBOX.…`)';

function requireText(name: FieldName, value: string, pattern: RegExp, rule: string): void {
  // The brokers' limits are in bytes.
  const maxBytes = name === 'stream' ? 512 : 255;
  if (Buffer.byteLength(value) > maxBytes)
    throw invalidField(`destination.${name}`, `\`${name}\` must not be longer than ${maxBytes} bytes`, 'too_long');
  if (!pattern.test(value)) throw invalidField(`destination.${name}`, `\`${name}\` ${rule}`, 'pattern');
}

const REGION_IN_HOST = /^sqs(?:-fips)?\.([a-z0-9-]+)\.amazonaws\.com(?:\.cn)?$/;

function regionOf(given: string | undefined, url: string): string {
  const { hostname } = new URL(url);
  const region = given ?? REGION_IN_HOST.exec(hostname)?.[1];
  if (region !== undefined && /^[a-z0-9-]+$/.test(region)) return region;
  throw invalidField(
    'destination.region',
    region === undefined
      ? 'The URL does not name the region of the queue; set `region`'
      : '`region` must be a name such as eu-central-1',
    region === undefined ? 'required' : 'pattern',
  );
}

/** A new URL must not contradict the region of the webhook. */
function requireRegion(url: string, present: WebhookTable | undefined): void {
  const stored = present && destinationOf(present);
  const { region } = stored as Extract<BrokerDestination, { type: 'sqs' }>;
  const named = REGION_IN_HOST.exec(new URL(url).hostname)?.[1];
  if (named !== undefined && named !== region)
    throw invalidField('destination', `The URL is in another region than ${region}; set \`destination\` too`, 'region');
}

/** @throws {AppError} `validation_failed` naming a credential that the broker does not use, or one that is missing */
function checkCredentials(type: Destination['type'], credentials: Credentials): void {
  const given = credentialNames.filter((name) => credentials[name] !== undefined);
  const refuse = (name: string, message: string) => invalidField(`credentials.${name}`, message, 'credentials');
  if (type === 'http') {
    if (given.length === 0) return;
    throw invalidField('credentials', 'Credentials are for message brokers; use `headers` over HTTP', 'credentials');
  }
  const { name: broker, credentials: usable } = brokers[type];
  for (const name of given) if (!usable.includes(name)) throw refuse(name, `${broker} has no \`${name}\``);
  const needs = (name: keyof Credentials, other: keyof Credentials) => {
    if (credentials[name] !== undefined && credentials[other] === undefined)
      throw refuse(other, `\`${name}\` requires \`${other}\``);
  };
  needs('username', 'password');
  needs('accessKeyId', 'secretAccessKey');
  needs('secretAccessKey', 'accessKeyId');
  needs('sessionToken', 'accessKeyId');
  if (type !== 'redis') needs('password', 'username');
  const ways = [credentials.username, credentials.token, credentials.creds].filter((value) => value !== undefined);
  if (type === 'nats' && ways.length > 1)
    throw invalidField('credentials', 'Give either `username` and `password`, or `token`, or `creds`', 'credentials');
}
