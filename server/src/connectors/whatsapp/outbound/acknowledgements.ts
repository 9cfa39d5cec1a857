import type { BinaryNode } from 'baileys';
import { LostSocketError } from '../link/requests.ts';
import { isMarked } from '../people/outdatedLids.ts';
import type { Session } from '../session.ts';
import { toWireId } from './messageIds.ts';

/** The server has the message or refuses it, it could not be passed on, or the connection ended before the answer. */
export type Answer =
  | { readonly timestamp: number; readonly serverId?: string | undefined }
  | { readonly refusal: string; readonly hasOutdatedLid: boolean }
  | { readonly failure: unknown }
  | 'lost';

interface Pending {
  /** Its chat: digits, or a group's address; else the address that it goes to. */
  readonly chat: string;
  readonly resolve: (answer: Answer) => void;
}

/** A server that takes this long to acknowledge is gone, whatever the state of the socket. */
const LIMIT_MS = 12_000;

/** Waits for the server's acknowledgements of messages. One may arrive before Baileys has finished sending. */
export class Acknowledgements {
  readonly #session: Session;
  readonly #pending = new Map<string, Pending>();

  constructor(session: Session) {
    const { link } = session;
    this.#session = session;
    link.on('socket', ({ ws }) => void ws.on('CB:ack,class:message', (node: BinaryNode) => this.#onAck(node)));
    link.on('lost', () => {
      for (const wireId of [...this.#pending.keys()]) this.#settle(wireId, 'lost');
    });
  }

  /** @param chat digits of a person, a group's address, or another address */
  async answerTo(wireId: string, chat: string, dispatch: () => Promise<void>): Promise<Answer> {
    const { link, host } = this.#session;
    const { promise, resolve } = Promise.withResolvers<Answer>();
    this.#pending.set(wireId, { chat, resolve });
    let cancelTimer = () => {};
    try {
      await dispatch();
      cancelTimer = host.clock.after(LIMIT_MS, () => {
        this.#settle(wireId, 'lost');
        link.reset('WhatsApp does not confirm messages');
      });
    } catch (error) {
      // Unless the answer has arrived: Baileys then failed after sending.
      this.#settle(wireId, error instanceof LostSocketError ? 'lost' : { failure: error });
    }
    return promise.finally(cancelTimer);
  }

  /** Replaces the connection of a message that was not sent in time: it would otherwise go out later, unexpectedly. */
  abandon(wireId: string): void {
    if (this.#pending.has(wireId)) this.#session.link.reset('WhatsApp does not answer');
  }

  /**
   * Someone in this chat has received or read these messages, so the server has them, even without an acknowledgement.
   * @param chat see `answerTo`
   */
  onReceipt(networkIds: readonly string[], chat: string, timestamp: number): void {
    for (const wireId of networkIds.map(toWireId))
      if (this.#pending.get(wireId)?.chat === chat) this.#settle(wireId, { timestamp });
  }

  #onAck({ attrs }: BinaryNode): void {
    const { id = '', error, t, server_id: serverId } = attrs;
    const timestamp = t === undefined ? this.#session.host.clock.now() : Number(t) * 1000;
    this.#settle(
      id,
      error === undefined ? { timestamp, serverId } : { refusal: error, hasOutdatedLid: isMarked(attrs) },
    );
  }

  #settle(wireId: string, answer: Answer): void {
    this.#pending.get(wireId)?.resolve(answer);
    this.#pending.delete(wireId);
  }
}
