import type { Socket } from 'node:net';

/**
 * Bounds the connections that have shown no credential. A new one takes the place of the oldest, so whoever opens
 * connections and leaves them open shuts nobody out.
 */
export class Strangers {
  readonly #most: number;
  /** Oldest first. */
  readonly #sockets = new Set<Socket>();

  constructor(most: number) {
    this.#most = most;
  }

  /** For `connection`. */
  readonly add = (socket: Socket): void => {
    const [oldest] = this.#sockets;
    if (this.#sockets.size >= this.#most && oldest !== undefined) {
      this.forget(oldest);
      oldest.destroy();
    }
    this.#sockets.add(socket);
    socket.once('close', () => this.forget(socket));
  };

  /** The connection has shown a credential, or is gone. */
  forget(socket: Socket): void {
    this.#sockets.delete(socket);
  }
}
