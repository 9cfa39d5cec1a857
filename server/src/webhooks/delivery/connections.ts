import type { Socket } from 'node:net';
import { LRUCache } from 'lru-cache';
import type { buildConnector } from 'undici';
import createConnector from 'undici/lib/core/connect.js';
import Client from 'undici/lib/dispatcher/client.js';
import Pool from 'undici/lib/dispatcher/pool.js';
import { createLookup, type TargetPolicy } from '../../egress/target.ts';
import { isUnrequestedAnswer } from '../queue/outcome.ts';

const POOLS_KEPT = 1000;
const KEEP_ALIVE_MS = 30_000;
/** Far more than an attempt reads: headers and the start of the body. */
const MAX_ANSWER_BYTES = 1024 * 1024;

/** The sockets of webhook attempts: kept alive per origin, and connected only to addresses that the policy allows. */
export class ReceiverConnections {
  readonly #connectSocket: buildConnector.connector;
  readonly #maxSockets: number;
  readonly #pools = new LRUCache<string, Pool>({
    max: POOLS_KEPT,
    dispose: (pool) => void pool.close().catch(() => {}),
  });
  readonly #bytesReadBefore = new WeakMap<Error, number>();
  #openSockets = 0;

  /** @param maxSockets with this many sockets open, those of the least recently used receivers are closed */
  constructor(policy: TargetPolicy, timeoutMs: number, maxSockets: number) {
    this.#connectSocket = createConnector({ lookup: createLookup(policy), timeout: timeoutMs });
    this.#maxSockets = maxSockets;
  }

  poolOf(origin: string): Pool {
    let pool = this.#pools.get(origin);
    // `get` has made the pool of this origin the newest one.
    if (this.#openSockets >= this.#maxSockets && this.#pools.size > 1) this.#pools.pop();
    if (pool === undefined) {
      // No limit of connections: the lane limits what is in flight.
      pool = new Pool(origin, { ...clientOptions, connections: null, connect: this.#connect });
      this.#pools.set(origin, pool);
    }
    return pool;
  }

  /** @param moments filled with the times at which the client's socket reached `lookup`, `connect`, `secureConnect` */
  newClient(origin: string, moments?: Map<string, number>): Client {
    const traced: buildConnector.connector = (options, callback) => {
      // undici's type leaves out that its connector returns the socket that it is about to connect.
      const socket = this.#connectSocket(options, callback) as unknown as Socket;
      for (const name of ['lookup', 'connect', 'secureConnect'])
        socket.once(name, () => moments?.set(name, performance.now()));
    };
    return new Client(origin, { ...clientOptions, connect: moments === undefined ? this.#connect : traced });
  }

  /** Whether a kept-alive socket broke that had served a request before: this request was never answered. */
  isStaleSocket(error: Error): boolean {
    if (isUnrequestedAnswer(error)) return false;
    const { code, socket } = error as { code?: string; socket?: { bytesRead?: number } };
    if (code !== 'UND_ERR_SOCKET' && code !== 'ECONNRESET' && code !== 'EPIPE') return false;
    return (socket?.bytesRead ?? this.#bytesReadBefore.get(error) ?? 0) > 0;
  }

  async close(): Promise<void> {
    const open = [...this.#pools.values()];
    await Promise.all(open.map((pool) => pool.destroy().catch(() => {})));
    this.#pools.clear();
  }

  readonly #connect: buildConnector.connector = (options, callback) =>
    this.#connectSocket(options, (...result) => {
      const socket = result[1];
      // Undefined with an error, whatever undici's type says.
      if (socket) {
        this.#openSockets++;
        socket.once('close', () => this.#openSockets--);
        socket.prependListener('error', (error) => this.#bytesReadBefore.set(error, socket.bytesRead));
        limitAnswer(socket);
      }
      callback(...result);
    });
}

/**
 * Closes a socket that gets far too much for one request. The client has no limit for parts that it does not report,
 * such as extensions of chunks and interim answers.
 */
function limitAnswer(socket: Socket): void {
  let [written, before, first] = [0, 0, 0];
  socket.prependListener('readable', () => {
    // More bytes were written, so another request is answered from here on.
    if (socket.bytesWritten !== written) first = before;
    written = socket.bytesWritten;
    before = socket.bytesRead;
    if (before - first > MAX_ANSWER_BYTES) socket.destroy(new Error('The answer is too long'));
  });
}

// The attempt keeps the time: undici's timers tick in seconds and start again with every byte.
const clientOptions = { pipelining: 1, headersTimeout: 0, bodyTimeout: 0, keepAliveTimeout: KEEP_ALIVE_MS };
