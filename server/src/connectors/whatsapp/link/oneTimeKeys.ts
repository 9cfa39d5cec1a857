import type { WASocket } from 'baileys';
import type { Session } from '../session.ts';
import { QUERY_RETRIES_MS } from './errors.ts';

/** An error in the answer to any query. */
const REFUSAL = 'CB:iq,type:error';

/**
 * Uploads the one-time keys again if WhatsApp refuses them at a connection (`rate-overlimit`). Baileys tries once, and
 * then waits for the next connection or for a request of the server. Until then, each new conversation with the session
 * begins with its signed key alone.
 */
export class OneTimeKeys {
  readonly #session: Session;
  /** Sockets whose server has refused a query since the last upload. Until a socket opens, there is no other query. */
  readonly #refused = new WeakSet<WASocket['ws']>();
  #cancel = () => {};

  constructor(session: Session) {
    const { link } = session;
    this.#session = session;
    link.on('socket', ({ ws }) => void ws.on(REFUSAL, () => this.#refused.add(ws)));
    link.on('open', (socket) => this.#scheduleIfRefused(socket, 0));
    link.on('lost', () => this.#cancel());
  }

  #scheduleIfRefused(socket: WASocket, attempts: number): void {
    const waitMs = QUERY_RETRIES_MS[attempts];
    if (waitMs !== undefined && this.#refused.has(socket.ws))
      this.#cancel = this.#session.host.clock.after(waitMs, () => void this.#upload(socket, attempts));
  }

  async #upload(socket: WASocket, attempts: number): Promise<void> {
    const { link, host, requests } = this.#session;
    this.#refused.delete(socket.ws);
    try {
      // Baileys logs errors and returns.
      await requests.run(socket, () => socket.uploadPreKeysToServerIfRequired());
    } catch (error) {
      host.log.warn({ err: error, attempts }, 'failed to upload one-time keys');
      this.#refused.add(socket.ws);
    }
    if (link.newest === socket) this.#scheduleIfRefused(socket, attempts + 1);
  }
}
