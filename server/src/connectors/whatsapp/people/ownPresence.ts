import type { WASocket } from 'baileys';
import { AppError } from '../../../errors.ts';
import type { SetPresence, OwnPresence as Shown } from '../../contract/presence.ts';
import type { Session } from '../session.ts';

/** A session that was forgotten online would keep the phone from ringing forever. */
const ONLINE_MS = 24 * 60 * 60 * 1000;
const UNTIL = 'online-until';

/** Shows the session as online, for a day. A new connection begins offline, so it is shown again on each. */
export class OwnPresence {
  readonly #session: Session;
  #cancelEnd = () => {};

  constructor(session: Session) {
    this.#session = session;
    session.link.on('open', (socket) => {
      this.#restore(socket).catch((error: unknown) =>
        session.host.log.warn({ err: error }, 'failed to show the session as online again'),
      );
    });
  }

  async set(presence: Shown): Promise<SetPresence> {
    const { requests, store, creds, host } = this.#session;
    // Without a name, Baileys ignores the request.
    if (!creds.me?.name)
      throw new AppError(
        'session_state',
        'The phone has not shared the name of the account yet; open WhatsApp on the phone and try again in a minute',
      );
    await requests.ask((socket) => show(socket, presence));
    this.#cancelEnd();
    if (presence === 'offline') {
      await store.delete(UNTIL);
      return { presence, until: null };
    }
    const until = host.clock.now() + ONLINE_MS;
    await store.set(UNTIL, String(until));
    this.#endAfter(ONLINE_MS);
    return { presence, until };
  }

  stop(): void {
    this.#cancelEnd();
  }

  async #restore(socket: WASocket): Promise<void> {
    const { store, host, requests } = this.#session;
    const until = await store.get(UNTIL);
    if (until === undefined) return;
    const leftMs = Number(until) - host.clock.now();
    if (leftMs <= 0) return store.delete(UNTIL);
    await requests.run(socket, () => show(socket, 'online'));
    this.#endAfter(Math.min(leftMs, ONLINE_MS));
  }

  #endAfter(ms: number): void {
    const { host, link, store } = this.#session;
    this.#cancelEnd();
    this.#cancelEnd = host.clock.after(ms, () => {
      const end = async () => {
        if (link.socket !== undefined) await show(link.socket, 'offline');
        await store.delete(UNTIL);
      };
      end().catch((error: unknown) => host.log.warn({ err: error }, 'failed to show the session as offline'));
    });
  }
}

const show = (socket: WASocket, presence: Shown) =>
  socket.sendPresenceUpdate(presence === 'online' ? 'available' : 'unavailable');
