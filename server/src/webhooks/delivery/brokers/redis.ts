import type { Redis } from 'ioredis';
import { thrownCode, thrownError } from '../../../thrown.ts';
import type { Described } from '../../queue/outcome.ts';
import type { BrokerDestination } from '../destination.ts';
import {
  type BrokerClient,
  type BrokerMessage,
  type Open,
  type Opening,
  OpeningFailed,
  ok,
  quoted,
  refused,
  unavailable,
} from './broker.ts';
import { RedisReplies } from './redisReplies.ts';
import { dial } from './socket.ts';

type RedisStream = Extract<BrokerDestination, { type: 'redis' }>;

export const openRedis: Open<RedisStream> = async (opening) => {
  const { Redis: Client, AbstractConnector } = await import('ioredis');
  const replies = new RedisReplies();
  const socket = dial(opening, { inspector: replies });
  /** Gives the client the guarded socket. */
  class Connector extends AbstractConnector {
    constructor() {
      super(0);
    }

    override async connect() {
      this.connecting = true;
      this.stream = socket;
      return socket;
    }
  }
  const { timeoutMs, address, credentials } = opening;
  const redis = new Client({
    Connector,
    lazyConnect: true,
    connectTimeout: timeoutMs,
    // The lane retries, and each attempt uses a connection that is open.
    retryStrategy: null,
    maxRetriesPerRequest: 0,
    enableOfflineQueue: false,
    autoResubscribe: false,
    autoResendUnfulfilledCommands: false,
    enableReadyCheck: false,
    disableClientInfo: true,
    protocol: 2,
    tls: address.isSecure ? {} : undefined,
  });
  let failure: Error | undefined;
  redis.on('error', (error) => {
    failure ??= error;
  });
  socket.once('error', (error) => {
    failure ??= error;
  });
  socket.once('close', opening.onLost);
  const call: Call = (command, ...args) => {
    replies.expect();
    return redis.call(command, ...args);
  };
  try {
    await redis.connect();
    await logIn(call, credentials, address.path);
    return new RedisClient(redis, call, opening.destination);
  } catch (error) {
    redis.disconnect();
    socket.destroy();
    throw describeOpening(failure ?? thrownError(error), opening);
  }
};

/** Sends a command whose reply is expected. */
type Call = (command: string, ...args: (string | number | Buffer)[]) => Promise<unknown>;

/** By hand, because the client only reports a failed login as an event. */
async function logIn(call: Call, { username, password }: Opening['credentials'], path: string): Promise<void> {
  if (password !== undefined) {
    const user = username === undefined ? [] : [username];
    await call('AUTH', ...user, password);
  }
  if (path !== '' && path !== '0') await call('SELECT', path);
  await call('PING');
}

class RedisClient implements BrokerClient {
  readonly #redis: Redis;
  readonly #call: Call;
  readonly #destination: RedisStream;

  constructor(redis: Redis, call: Call, destination: RedisStream) {
    this.#redis = redis;
    this.#call = call;
    this.#destination = destination;
  }

  async publish({ id, type, headers, body }: BrokerMessage): Promise<Described> {
    const { stream, maxLength } = this.#destination;
    const limit = maxLength === undefined ? [] : ['MAXLEN', '~', maxLength];
    const fields = ['id', id, 'type', type, 'headers', JSON.stringify(headers), 'body', body];
    try {
      const entry = await this.#call('XADD', stream, ...limit, '*', ...fields);
      // Anything else is not the reply to this command.
      if (typeof entry === 'string' && /^\d+-\d+$/.test(entry)) return ok(`Redis added the entry ${entry}`);
      return ['protocol', null, 'Redis did not confirm the entry with its id'];
    } catch (error) {
      return describeError(thrownError(error), stream);
    }
  }

  close(): void {
    this.#redis.disconnect();
  }
}

function describeError(error: Error, stream: string): Described {
  const { message } = error;
  if (error.name !== 'ReplyError') return ['reset', null, 'Redis closed the connection before it confirmed the entry'];
  if (message.startsWith('WRONGTYPE')) return refused(`The Redis key "${stream}" holds something else than a stream`);
  if (/^(NOPERM|NOAUTH|WRONGPASS)/.test(message)) return refused(`Redis refused the command: ${quoted(message)}`);
  if (/^(MOVED|ASK|CROSSSLOT)\b/.test(message))
    return refused(
      'This Redis is part of a cluster and does not hold the stream. Cluster redirections are not followed',
    );
  return /^(OOM|LOADING|BUSY|READONLY|MISCONF|MASTERDOWN|NOREPLICAS|TRYAGAIN|CLUSTERDOWN)/.test(message)
    ? unavailable(`Redis cannot store the entry now: ${quoted(message)}`)
    : refused(`Redis refused the entry: ${quoted(message)}`);
}

/** Returns the socket's own errors as they are. */
function describeOpening(error: Error, { address: { host, port } }: Opening): Error {
  const place = `${host}:${port}`;
  const { message } = error;
  if (error.name === 'ReplyError') {
    if (/^(LOADING|BUSY|MASTERDOWN)/.test(message))
      return new OpeningFailed(unavailable(`Redis at ${place} is not ready: ${quoted(message)}`));
    const what = /^(WRONGPASS|NOAUTH|ERR (AUTH|invalid password|Client sent AUTH))/.test(message)
      ? 'refused the user name or the password'
      : 'refused the login';
    return new OpeningFailed(refused(`Redis at ${place} ${what}: ${quoted(message)}`));
  }
  if (thrownCode(error) !== '') return error;
  return new OpeningFailed(
    /Connection is closed/.test(message)
      ? ['reset', null, `${place} closed the connection before Redis accepted the login`]
      : ['protocol', null, `${place} did not answer in valid RESP: ${quoted(message)}`],
  );
}
