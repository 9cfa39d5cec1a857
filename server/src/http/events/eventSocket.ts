import { once } from 'node:events';
import type { Socket } from 'node:net';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { WebSocket } from 'ws';
import type { Caller } from '../../auth/authenticate.ts';
import { type Clock, isoTime } from '../../clock.ts';
import { AppError } from '../../errors.ts';
import type { Services } from '../../invoke/services.ts';
import { listEvents, NOW } from '../../operations/webhooks/events.ts';
import { API_PREFIX } from '../../version.ts';
import type { LoggedEvent } from '../../webhooks/log/eventLog.ts';
import type { OwnHosts } from '../ownHosts.ts';
import { type RouteDeps, routeOf } from '../routes.ts';
import {
  cursorOf,
  type EventReader,
  type EventReaders,
  eventTypesOf,
  HEARTBEAT_MS,
  withTypeList,
} from './eventReader.ts';
import type { Upgrades } from './upgrades.ts';

export const SOCKET_PATH = `${API_PREFIX}/events/socket`;

/** How many pings a client may leave unanswered. */
const MAX_UNANSWERED = 2;

/** Why the server closes a socket: the codes of RFC 6455, or 4000 and the HTTP status of an error. */
const GOING_AWAY = 1001;
const UNSUPPORTED_DATA = 1003;
const INTERNAL_ERROR = 1011;
const ERROR_BASE = 4000;

interface SocketDeps extends RouteDeps, Pick<Services, 'clock' | 'metrics'> {
  readonly ownHosts: OwnHosts;
  readonly upgrades: Upgrades;
}

/**
 * `GET /events/socket`: events as they happen, over a WebSocket, for clients that cannot read the stream. It resumes
 * after a cursor, or starts with the next event.
 *
 * It calls `events.list` like the stream, so the same permission, limit and log line apply. A socket ends with its
 * credential.
 */
export function addEventSocket(app: FastifyInstance, readers: EventReaders, deps: SocketDeps): void {
  const { callers, clock, metrics, ownHosts, stopping, upgrades } = deps;

  const open = async (request: FastifyRequest, reply: FastifyReply, caller: Caller) => {
    const types = eventTypesOf(request.query);
    const gone = new AbortController();
    request.raw.socket.once('close', () => gone.abort());
    const credential = callers.of(request).presented.value;
    const after = cursorOf(request.query);
    const reader = await readers.open({ caller, credential, after, types, gone: gone.signal });
    try {
      const socket = await upgrades.accept(request, reply);
      if (socket === undefined) return reply;
      metrics.requests.inc({ method: request.method, status: 101 });
      await new EventSocket(socket, request.raw.socket, reader, clock).run(stopping);
    } finally {
      reader.close();
    }
    return reply;
  };

  app.register(async (scope) => {
    scope.addHook('onRequest', async ({ headers }) => ownHosts.requireOrigin(headers));
    scope.route({
      method: 'GET',
      url: SOCKET_PATH,
      exposeHeadRoute: false,
      preHandler: async (request, reply) => upgrades.require(request, reply),
      ...routeOf(
        listEvents,
        deps,
        (_operation, _answer, request, reply, caller) => {
          if (caller === undefined) throw new AppError('unauthorized');
          return open(request, reply, caller);
        },
        // The log itself is queried for as little as possible.
        (_request, query) => ({
          limit: 1,
          afterCursor: NOW,
          ...withTypeList(query),
        }),
      ),
    });
  });
}

/** An open socket, which sends the events of a reader until that ends. */
class EventSocket {
  readonly #socket: WebSocket;
  readonly #connection: Socket;
  readonly #reader: EventReader;
  readonly #clock: Clock;
  #unanswered = 0;
  #cancelPing = () => {};

  /** @param connection what the socket writes to */
  constructor(socket: WebSocket, connection: Socket, reader: EventReader, clock: Clock) {
    this.#socket = socket;
    this.#connection = connection;
    this.#reader = reader;
    this.#clock = clock;
  }

  async run(stopping: AbortSignal): Promise<void> {
    this.#listen();
    this.#schedulePing();
    try {
      // A client that loses the connection before the first event can still resume.
      const { cursor, truncated } = this.#reader;
      this.#socket.send(JSON.stringify({ type: 'connected', cursor, ...(truncated && { truncated }) }));
      for await (const events of this.#reader.batches()) {
        if (this.#socket.readyState !== this.#socket.OPEN) break;
        await this.#send(events);
      }
      this.#close(this.#reader.signal.reason, stopping);
    } finally {
      this.#cancelPing();
      this.#socket.close(INTERNAL_ERROR); // no effect if it is closing already
    }
  }

  #listen(): void {
    const isAlive = () => {
      this.#unanswered = 0;
    };
    this.#socket.on('pong', isAlive);
    // A client that reads slowly finds the pings late.
    this.#connection.on('drain', isAlive);
    this.#socket.on('message', () => this.#socket.close(UNSUPPORTED_DATA, 'This socket accepts no messages'));
    this.#socket.on('error', () => {}); // an invalid frame, which closes the socket
  }

  #schedulePing(): void {
    this.#cancelPing = this.#clock.after(HEARTBEAT_MS, () => {
      if (this.#unanswered >= MAX_UNANSWERED) {
        this.#socket.terminate();
        return;
      }
      this.#unanswered++;
      this.#socket.ping();
      this.#schedulePing();
    });
  }

  /** Waits for the client whenever the connection has buffered as much as it should. */
  async #send(events: readonly LoggedEvent[]): Promise<void> {
    for (const event of events) {
      const { signal } = this.#reader;
      if (signal.aborted) return;
      this.#socket.send(frameOf(event));
      if (!this.#connection.writableNeedDrain) continue;
      await once(this.#connection, 'drain', { signal }).catch(() => {}); // the reader has ended
    }
  }

  #close(reason: unknown, stopping: AbortSignal): void {
    if (reason instanceof AppError) this.#socket.close(ERROR_BASE + reason.status, reason.message.slice(0, 100));
    else if (stopping.aborted) this.#socket.close(GOING_AWAY, 'The server is stopping');
  }
}

/** Puts the body in as it is, which is an object with `event` and `data`. */
function frameOf({ eventId, createdAt, sequence, cursor, body }: LoggedEvent): string {
  const about = JSON.stringify({ type: 'event', eventId, createdAt: isoTime(createdAt), sequence, cursor });
  return `${about.slice(0, -1)},${body.slice(1)}`;
}
