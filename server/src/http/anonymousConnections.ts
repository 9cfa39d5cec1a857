import type { RequestListener } from 'node:http';
import type { Socket } from 'node:net';
import { networkOf } from '../auth/network.ts';

interface AnonymousConnection {
  readonly network: string;
  requests: number;
}

/**
 * Limits the connections that have presented no credential. When there is one too many, the network with the most of
 * them loses its oldest idle connection, or its oldest one if all are busy: a flood harms only its own network.
 * Connections through a proxy count as the proxy's.
 */
export class AnonymousConnections {
  readonly #most: number;
  /** Oldest first. */
  readonly #connections = new Map<Socket, AnonymousConnection>();
  readonly #byNetwork = new Map<string, number>();

  /** @param most connections, across all networks */
  constructor(most: number) {
    this.#most = most;
  }

  /** For `connection`. */
  readonly add = (socket: Socket): void => {
    const network = networkOf(socket.remoteAddress ?? '');
    this.#connections.set(socket, { network, requests: 0 });
    this.#byNetwork.set(network, this.#countOf(network) + 1);
    socket.once('close', () => this.forget(socket));
    if (this.#connections.size <= this.#most) return;
    const evicted = this.#evictedFor(socket);
    if (evicted === undefined) return;
    this.forget(evicted);
    evicted.destroy();
  };

  /** For `request`: marks its connection as busy until the response has ended. */
  readonly watch: RequestListener = ({ socket }, response) => {
    const connection = this.#connections.get(socket);
    if (connection === undefined) return;
    connection.requests++;
    response.once('close', () => connection.requests--);
  };

  /** Stops counting a connection, because it has presented a credential or is closed. */
  forget(socket: Socket): void {
    const connection = this.#connections.get(socket);
    if (connection === undefined) return;
    this.#connections.delete(socket);
    const left = this.#countOf(connection.network) - 1;
    if (left > 0) this.#byNetwork.set(connection.network, left);
    else this.#byNetwork.delete(connection.network);
  }

  /** Finds the connection to close in favor of a new one, which itself stays. */
  #evictedFor(added: Socket): Socket | undefined {
    let evicted: Socket | undefined;
    let most = 0;
    let isIdle = false;
    for (const [socket, { network, requests }] of this.#connections) {
      if (socket === added) continue;
      const count = this.#countOf(network);
      if (count < most || (count === most && (isIdle || requests > 0))) continue;
      evicted = socket;
      most = count;
      isIdle = requests === 0;
    }
    return evicted;
  }

  #countOf(network: string): number {
    return this.#byNetwork.get(network) ?? 0;
  }
}
