import type { RequestListener } from 'node:http';
import type { Socket } from 'node:net';
import { networkOf } from '../auth/network.ts';

interface Stranger {
  readonly network: string;
  requests: number;
}

/**
 * Limits the connections that have presented no credential. When there is one too many, the network with the most of
 * them loses its oldest idle connection, or its oldest one if all are busy: a flood harms only its own network.
 * Connections through a proxy count as the proxy's.
 */
export class Strangers {
  readonly #most: number;
  /** Oldest first. */
  readonly #strangers = new Map<Socket, Stranger>();
  readonly #byNetwork = new Map<string, number>();

  /** @param most connections, across all networks */
  constructor(most: number) {
    this.#most = most;
  }

  /** For `connection`. */
  readonly add = (socket: Socket): void => {
    const network = networkOf(socket.remoteAddress ?? '');
    this.#strangers.set(socket, { network, requests: 0 });
    this.#byNetwork.set(network, this.#countOf(network) + 1);
    socket.once('close', () => this.forget(socket));
    if (this.#strangers.size <= this.#most) return;
    const victim = this.#victimFor(socket);
    if (victim === undefined) return;
    this.forget(victim);
    victim.destroy();
  };

  /** For `request`: marks its connection as busy until the response has ended. */
  readonly watch: RequestListener = ({ socket }, response) => {
    const stranger = this.#strangers.get(socket);
    if (stranger === undefined) return;
    stranger.requests++;
    response.once('close', () => stranger.requests--);
  };

  /** Stops counting a connection, because it has presented a credential or is closed. */
  forget(socket: Socket): void {
    const stranger = this.#strangers.get(socket);
    if (stranger === undefined) return;
    this.#strangers.delete(socket);
    const left = this.#countOf(stranger.network) - 1;
    if (left > 0) this.#byNetwork.set(stranger.network, left);
    else this.#byNetwork.delete(stranger.network);
  }

  /** Finds the connection to close in favor of a new one, which itself stays. */
  #victimFor(added: Socket): Socket | undefined {
    let victim: Socket | undefined;
    let most = 0;
    let isIdle = false;
    for (const [socket, { network, requests }] of this.#strangers) {
      if (socket === added) continue;
      const count = this.#countOf(network);
      if (count < most || (count === most && (isIdle || requests > 0))) continue;
      victim = socket;
      most = count;
      isIdle = requests === 0;
    }
    return victim;
  }

  #countOf(network: string): number {
    return this.#byNetwork.get(network) ?? 0;
  }
}
