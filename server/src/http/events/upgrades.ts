import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { WebSocket, WebSocketServer } from 'ws';
import { AppError } from '../../errors.ts';

/** Of a message by a client, which should send none. A control frame has at most as much. */
const MAX_MESSAGE_BYTES = 125;
/** How long a client may take to answer a close frame. Less than requests get when the server stops. */
const CLOSE_TIMEOUT_MS = 2000;
const VERSION = '13';

const options = {
  noServer: true,
  clientTracking: false,
  perMessageDeflate: false,
  maxPayload: MAX_MESSAGE_BYTES,
  handleProtocols: () => false as const,
  closeTimeout: CLOSE_TIMEOUT_MS,
};

type Route = (request: IncomingMessage, response: ServerResponse) => void;

/**
 * Requests that ask for a WebSocket. Each one takes the way of all requests, with the same hooks, limits and errors,
 * until its route accepts it. All others remain ordinary requests, whatever their `Upgrade` header says.
 */
export class Upgrades {
  readonly #path: string;
  /** The first bytes after each request. */
  readonly #heads = new WeakMap<IncomingMessage, Buffer>();
  #server: Promise<WebSocketServer> | undefined;

  constructor(path: string) {
    this.#path = path;
  }

  /** For `shouldUpgradeCallback`. */
  readonly isWanted = ({ method, url = '', headers }: IncomingMessage): boolean =>
    method === 'GET' && url.split('?', 1)[0] === this.#path && headers.upgrade?.toLowerCase() === 'websocket';

  /** For `upgrade`: passes the request to `route`. */
  receive(request: IncomingMessage, socket: Duplex, head: Buffer, route: Route): void {
    // From now on the HTTP server handles no errors of the connection, and they would end the process.
    socket.on('error', () => socket.destroy());
    const response = responseTo(request);
    try {
      // Throws if the client has not waited for the response to its previous request.
      response.assignSocket(request.socket);
    } catch {
      socket.destroy();
      return;
    }
    response.once('finish', () => request.socket.destroySoon());
    this.#heads.set(request, head);
    route(request, response);
  }

  /** @throws {AppError} `upgrade_required` if the client does not ask for a WebSocket */
  require({ raw }: FastifyRequest, reply: FastifyReply): void {
    if (this.#heads.has(raw)) return;
    reply.headers({ upgrade: 'websocket', connection: 'Upgrade, close' }); // without `close`, it would stay open
    throw new AppError('upgrade_required', 'This route is a WebSocket; connect to it with a WebSocket client');
  }

  /**
   * Answers a request with 101 and the headers of its reply. Undefined if the client is already gone.
   * @throws {AppError} `validation_failed` if the handshake is invalid
   */
  async accept({ raw }: FastifyRequest, reply: FastifyReply): Promise<WebSocket | undefined> {
    const server = await this.#load();
    const head = this.#heads.get(raw) ?? Buffer.alloc(0);
    let accepted: WebSocket | undefined;
    let refused: Error | undefined;
    const refuse = (error: Error) => {
      refused = error;
    };
    const addHeaders = (headers: string[]) => {
      for (const [name, value] of Object.entries(reply.getHeaders())) headers.push(`${name}: ${value}`);
    };
    server.once('wsClientError', refuse).once('headers', addHeaders);
    // Calls back before it returns.
    server.handleUpgrade(raw, raw.socket, head, (socket) => {
      accepted = socket;
    });
    server.off('wsClientError', refuse).off('headers', addHeaders);
    if (refused !== undefined) {
      reply.header('sec-websocket-version', VERSION);
      throw new AppError('validation_failed', `The WebSocket handshake is invalid: ${refused.message}`);
    }
    reply.hijack();
    reply.raw.detachSocket(raw.socket);
    return accepted;
  }

  /** Loads the library with the first upgrade. */
  #load(): Promise<WebSocketServer> {
    this.#server ??= import('ws').then(({ WebSocketServer }) => new WebSocketServer(options));
    return this.#server;
  }
}

/** `ServerResponse` of `node:http`, without the namespace that an import evaluates: 16 MB. */
function responseTo(request: IncomingMessage): ServerResponse {
  const { ServerResponse } = process.getBuiltinModule('node:http');
  const response = new ServerResponse(request);
  response.shouldKeepAlive = false;
  return response;
}
