import type { Socket } from 'node:net';
import type { ChannelModel, ConfirmChannel } from 'amqplib';
import { thrownCode, thrownError } from '../../../thrown.ts';
import type { Described } from '../../queue/outcome.ts';
import type { BrokerDestination } from '../destination.ts';
import { AmqpFrames } from './amqpFrames.ts';
import {
  type BrokerClient,
  type BrokerMessage,
  type Open,
  type Opening,
  OpeningFailed,
  ok,
  quoted,
  refused,
  tooLarge,
  unavailable,
} from './broker.ts';
import { captureSocket, dialPlain, guardSocket, tlsOptions } from './socket.ts';

type RabbitMq = Extract<BrokerDestination, { type: 'rabbitmq' }>;

const HEARTBEAT_SECONDS = 30;
/** The largest frame that RabbitMQ agrees on by default. */
const FRAME_BYTES = 131_072;
const CLOSE_MS = 1000;
/** Source: https://github.com/rabbitmq/rabbitmq-server, `check_msg_size` in `rabbit_channel.erl`. */
const TOO_LARGE = /message size \d+ is larger than (?:configured )?max size (\d+)/;

export const openRabbitMq: Open<RabbitMq> = async (opening) => {
  const { default: amqp } = await import('amqplib');
  const { address, credentials, destination, lookup } = opening;
  const { host, port, isSecure, path } = address;
  const { username = 'guest', password = 'guest' } = credentials;
  const place = { protocol: isSecure ? 'amqps' : 'amqp', hostname: host, port, vhost: path, username, password };
  const limits = { frameMax: FRAME_BYTES, maxFrameSize: FRAME_BYTES, heartbeat: HEARTBEAT_SECONDS };
  const clientProperties = { connection_name: 'switchboard' };
  let opened: Promise<ChannelModel> | undefined;
  const connect = (more: object) => {
    opened = amqp.connect({ ...place, ...limits }, { noDelay: true, clientProperties, ...more });
    opened.catch(() => {});
  };
  const frames = new AmqpFrames(FRAME_BYTES);
  let socket: Socket;
  if (isSecure) {
    socket = dialPlain(opening);
    connect({ ...tlsOptions(opening), socket });
  } else
    socket = guardSocket(
      captureSocket(opening, () => connect({ lookup })),
      opening,
      { inspector: frames },
    );
  try {
    const model = await (opened ?? Promise.reject(new Error('not connected')));
    // The type leaves out the stream: over TLS it is another one than the socket. Until here, the client has read a
    // fixed number of frames of that length.
    const { stream } = model.connection as unknown as { stream: Socket };
    if (isSecure) guardSocket(stream, opening, { inspector: frames });
    return await RabbitMqClient.create(model, frames, socket, destination, opening.onLost);
  } catch (error) {
    socket.destroy();
    throw describeOpening(thrownError(error), opening);
  }
};

interface Connected {
  readonly model: ChannelModel;
  readonly channel: ConfirmChannel;
  readonly frames: AmqpFrames;
  readonly socket: Socket;
}

class RabbitMqClient implements BrokerClient {
  readonly #model: ChannelModel;
  readonly #channel: ConfirmChannel;
  readonly #frames: AmqpFrames;
  readonly #socket: Socket;
  readonly #destination: RabbitMq;
  /** Number of messages that are not confirmed, by id. */
  readonly #inFlight = new Map<string, number>();
  /** Messages that RabbitMQ has returned and not confirmed yet, by id. It returns a message before it confirms it. */
  readonly #returned = new Map<string, number>();
  #error: Error | undefined;
  #blocked: string | undefined;

  static async create(
    model: ChannelModel,
    frames: AmqpFrames,
    socket: Socket,
    destination: RabbitMq,
    onLost: () => void,
  ) {
    model.on('error', () => {});
    const channel = await model.createConfirmChannel();
    return new RabbitMqClient({ model, channel, frames, socket }, destination, onLost);
  }

  constructor({ model, channel, frames, socket }: Connected, destination: RabbitMq, onLost: () => void) {
    this.#model = model;
    this.#channel = channel;
    this.#frames = frames;
    this.#socket = socket;
    this.#destination = destination;
    const onError = (error: Error) => {
      this.#error ??= error;
    };
    model.on('error', onError);
    model.on('close', (error) => {
      if (error) onError(error);
      onLost();
    });
    model.on('blocked', (reason) => {
      this.#blocked = reason;
    });
    model.on('unblocked', () => {
      this.#blocked = undefined;
    });
    channel.on('error', onError);
    channel.on('close', onLost);
    channel.on('return', ({ properties }) => {
      const id = String(properties.messageId);
      const count = (this.#returned.get(id) ?? 0) + 1;
      if (count <= (this.#inFlight.get(id) ?? 0)) this.#returned.set(id, count);
    });
  }

  get hint(): string | undefined {
    return this.#blocked && `RabbitMQ has blocked publishers: ${quoted(this.#blocked)}`;
  }

  publish({ id, type, headers, body }: BrokerMessage): Promise<Described> {
    const { exchange, routingKey } = this.#destination;
    const { promise, resolve } = Promise.withResolvers<Described>();
    const { 'content-type': contentType, ...rest } = headers;
    const timestamp = Number(headers['x-webhook-timestamp']);
    const properties = {
      mandatory: true,
      persistent: true,
      messageId: id,
      type,
      contentType,
      timestamp,
      headers: rest,
    };
    try {
      this.#frames.publish(body.length);
      this.#inFlight.set(id, (this.#inFlight.get(id) ?? 0) + 1);
      this.#channel.publish(exchange, routingKey, body, properties, (error) => {
        this.#forget(id);
        resolve(this.#outcome(id, error, body.length));
      });
    } catch (error) {
      this.#forget(id);
      resolve(this.#describe(thrownError(error), body.length));
    }
    return promise;
  }

  #forget(id: string): void {
    const left = (this.#inFlight.get(id) ?? 0) - 1;
    if (left > 0) this.#inFlight.set(id, left);
    else this.#inFlight.delete(id);
  }

  close(): void {
    const timer = setTimeout(() => this.#socket.destroy(), CLOSE_MS);
    this.#socket.once('close', () => clearTimeout(timer));
    this.#model.close().catch(() => this.#socket.destroy());
  }

  #outcome(id: string, error: Error | null, size: number): Described {
    const { exchange, routingKey } = this.#destination;
    if (error !== null) return this.#describe(error, size);
    const count = this.#returned.get(id) ?? 0;
    if (count === 0) return ok('RabbitMQ confirmed the message');
    if (count === 1) this.#returned.delete(id);
    else this.#returned.set(id, count - 1);
    const from =
      exchange === '' ? 'No queue has the name' : `No queue of the exchange "${exchange}" receives the routing key`;
    return refused(`${from} "${routingKey}": RabbitMQ returned the message`);
  }

  /** @param size of the message in bytes */
  #describe(error: Error, size: number): Described {
    if (error.message === 'message nacked') return unavailable('RabbitMQ could not store the message (nack)');
    const cause = this.#error ?? error;
    const code = 'code' in cause ? cause.code : undefined;
    if (code === 404) return refused(`RabbitMQ: ${quoted(cause.message)}`);
    if (code === 403) return refused(`RabbitMQ does not permit publishing: ${quoted(cause.message)}`);
    // The channel closes for all messages in flight: the smaller ones go out again as they are.
    const limit = Number(TOO_LARGE.exec(cause.message)?.[1] ?? Number.POSITIVE_INFINITY);
    if (code === 406 && size > limit) return tooLarge(`RabbitMQ refused the message: ${quoted(cause.message)}`);
    if (typeof code === 'number') return unavailable(`RabbitMQ closed the connection: ${quoted(cause.message)}`);
    // The client could not encode the message.
    if (cause.name === 'RangeError' || cause.name === 'TypeError') return refused(`RabbitMQ: ${quoted(cause.message)}`);
    return ['reset', null, 'RabbitMQ closed the connection before it confirmed the message'];
  }
}

/** Returns the socket's own errors as they are. */
function describeOpening(error: Error, { address: { host, port, path } }: Opening): Error {
  if (thrownCode(error) !== '') return error;
  const { message } = error;
  const place = `${host}:${port}`;
  const fail = (described: Described) => new OpeningFailed(described);
  if (/ACCESS.REFUSED|\b403\b/.test(message)) {
    const what = /vhost/.test(message)
      ? `does not let this user use the vhost`
      : 'refused the user name or the password';
    return fail(refused(`RabbitMQ at ${place} ${what}: ${quoted(message)}`));
  }
  if (/NOT.FOUND|\b404\b|NOT.ALLOWED|\b530\b/.test(message))
    return fail(refused(`RabbitMQ at ${place} does not accept the vhost "${path}": ${quoted(message)}`));
  if (/Socket closed abruptly|Unexpected close|Connection closed|Channel ended/.test(message))
    return fail(['reset', null, `${place} closed the connection before RabbitMQ's login was complete`]);
  return fail(['protocol', null, `${place} did not answer in valid AMQP 0-9-1: ${quoted(message)}`]);
}
