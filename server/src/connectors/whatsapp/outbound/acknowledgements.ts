import type { BinaryNode } from 'baileys';
import type { Session } from '../session.ts';
import { toWireId } from './messageIds.ts';

/** The result of sending a message: the server has it, refuses it, or the connection ended before it answered. */
export type Answer = { readonly timestamp: number } | { readonly error: string } | 'lost';

/** The answer about one message that was, or is about to be, sent. */
export interface PendingAnswer {
  readonly answer: Promise<Answer>;
  settle(answer: Answer): void;
  /** Starts the time limit: the message has been sent. */
  startTimer(): void;
  /** The message could not be sent in time. Replaces the connection, or the message would go out later, unexpectedly. */
  giveUp(): void;
}

/** A server that takes this long to acknowledge is gone, whatever the state of the socket. */
const LIMIT_MS = 12_000;

/** Waits for the server's acknowledgements of messages. One may arrive before Baileys has finished sending. */
export class Acknowledgements {
  readonly #session: Session;
  readonly #pending = new Map<string, (answer: Answer) => void>();

  constructor(session: Session) {
    const { link } = session;
    this.#session = session;
    link.on('socket', ({ ws }) => void ws.on('CB:ack,class:message', (node: BinaryNode) => this.#onAck(node)));
    link.on('lost', () => {
      for (const settle of [...this.#pending.values()]) settle('lost');
    });
  }

  expect(wireId: string): PendingAnswer {
    const { link, host } = this.#session;
    const { promise, resolve } = Promise.withResolvers<Answer>();
    let cancelTimer = () => {};
    const isPending = () => this.#pending.get(wireId) === settle;
    const settle = (answer: Answer) => {
      cancelTimer();
      if (isPending()) this.#pending.delete(wireId);
      resolve(answer);
    };
    this.#pending.set(wireId, settle);
    return {
      answer: promise,
      settle,
      startTimer: () => {
        if (!isPending()) return;
        cancelTimer = host.clock.after(LIMIT_MS, () => {
          settle('lost');
          link.reset('WhatsApp does not confirm messages');
        });
      },
      giveUp: () => {
        if (isPending()) link.reset('WhatsApp does not answer');
      },
    };
  }

  /** A recipient has received or read these messages, so the server has them, even without an acknowledgement. */
  onReceipt(networkIds: readonly string[], timestamp: number): void {
    for (const id of networkIds) this.#pending.get(toWireId(id))?.({ timestamp });
  }

  #onAck({ attrs: { id = '', error, t } }: BinaryNode): void {
    const timestamp = t === undefined ? this.#session.host.clock.now() : Number(t) * 1000;
    this.#pending.get(id)?.(error === undefined ? { timestamp } : { error });
  }
}
