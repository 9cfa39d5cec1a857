import type { BinaryNode, proto, WASocket } from 'baileys';
import type { NetworkEvent, SessionHost } from '../../connector.ts';
import type { Link } from '../link/link.ts';
import type { Baileys } from '../link/load.ts';
import type { Acknowledgements } from '../outbound/acknowledgements.ts';
import { toWireId } from '../outbound/messageIds.ts';
import type { Self } from '../people/self.ts';
import type { Reporter } from '../reporter.ts';
import { HeldReceipts } from './heldReceipts.ts';
import { Incoming } from './incoming.ts';
import type { Attributes, Journal } from './journal.ts';
import type { MessageReader } from './messageReader.ts';
import { envelopeOf, isViewOnce, VIEW_ONCE_TEXT } from './placeholders.ts';
import { receiptOf } from './receipts.ts';

interface ReceiverDeps {
  readonly baileys: Baileys;
  readonly link: Link;
  readonly self: Self;
  readonly journal: Journal;
  readonly reader: MessageReader;
  readonly acknowledgements: Acknowledgements;
  readonly reporter: Reporter;
  readonly host: SessionHost;
}

/** Receives messages and receipts over the sockets of the link, and passes them to the host. */
export class Receiver {
  readonly #deps: ReceiverDeps;
  readonly #heldReceipts: HeldReceipts;
  readonly #incoming: Incoming;

  constructor(deps: ReceiverDeps) {
    const { baileys, link, journal, reader, host } = deps;
    const heldReceipts = new HeldReceipts(host.clock);
    const incoming = new Incoming({ baileys, journal, reader, heldReceipts, host });
    this.#deps = deps;
    this.#heldReceipts = heldReceipts;
    this.#incoming = incoming;
    journal.on('received', (received) => {
      heldReceipts.keep(received.attrs['id'] ?? '');
      incoming.add(received, received.attrs['offline'] !== undefined);
    });
    journal.on('ignored', (id) => heldReceipts.settle(id));
    link.on('socket', (socket) => this.#watch(socket));
    link.on('open', () => incoming.retrySetAside());
  }

  /** Passes on the messages that the last connection left in the journal. */
  async start(): Promise<void> {
    for (const received of await this.#deps.journal.left()) {
      const { id = '', from, participant } = received.attrs;
      if (this.#deps.self.is(participant ?? from)) {
        this.#heldReceipts.expect(id);
        this.#heldReceipts.keep(id);
      }
      this.#incoming.add(received, true);
    }
  }

  /** Starts nothing more. Messages that are not passed on by then stay in the journal. */
  async stop(): Promise<void> {
    const { journal, host } = this.#deps;
    await this.#incoming.stop();
    this.#heldReceipts.stop();
    await journal.stop().catch((error) => host.log.warn({ err: error }, 'failed to acknowledge journal entries'));
  }

  #watch({ ev, ws }: WASocket): void {
    const { baileys, self, journal } = this.#deps;
    // Before Baileys, which decrypts it.
    ws.prependListener('CB:message', (node: BinaryNode) => {
      journal.expect(node);
      this.#expectOwn(node.attrs);
      if (isViewOnce(node)) this.#writeDown(node.attrs, { conversation: VIEW_ONCE_TEXT });
    });
    ev.on('messages.upsert', ({ messages }) => {
      for (const message of messages) {
        const attrs = envelopeOf(message, self.jid, baileys);
        // Nearly all messages have already arrived through the journal, which is earlier and loses none.
        if (attrs === undefined || journal.has(attrs.id) || !message.message) continue;
        this.#writeDown(attrs, message.message);
      }
    });
    this.#holdReceipts(ws);
  }

  /** Holds receipts of a message that may be the own number's, from the phone or another client. */
  #expectOwn({ id = '', from, participant }: Attributes): void {
    const { self, journal } = this.#deps;
    if (self.is(participant ?? from) && !journal.has(id)) this.#heldReceipts.expect(id);
  }

  /** Stores a message that was not encrypted for this device. Baileys confirms its envelope meanwhile. */
  #writeDown(attrs: Attributes, message: proto.IMessage): void {
    const { reporter, journal } = this.#deps;
    void reporter.keep('message', () => journal.add(attrs, message));
  }

  /** Passes receipts to Baileys, which confirms them at once, only after they are stored. */
  #holdReceipts(ws: WASocket['ws']): void {
    const { self, acknowledgements, host } = this.#deps;
    const listeners = ws.listeners('CB:receipt');
    const passOn = (node: BinaryNode) => {
      for (const listener of listeners) listener.call(ws, node);
    };
    ws.removeAllListeners('CB:receipt');
    ws.on('CB:receipt', (node: BinaryNode) => {
      const receipt = receiptOf(node, (jid) => self.is(jid), host.clock.now());
      if (receipt === undefined) return passOn(node);
      acknowledgements.onReceipt(receipt.networkIds, receipt.timestamp);
      void this.#report(receipt).then((isReported) => {
        if (isReported) passOn(node);
      });
    });
  }

  /**
   * Reports the receipt of each message once the message is stored.
   * @returns false if the session ended before that
   */
  async #report(receipt: Extract<NetworkEvent, { type: 'receipt' }>): Promise<boolean> {
    const { reporter } = this.#deps;
    const held = receipt.networkIds.filter((id) => this.#heldReceipts.isHeld(toWireId(id)));
    const due = receipt.networkIds.filter((id) => !held.includes(id));
    const reported = due.length > 0 ? reporter.report({ ...receipt, networkIds: due }) : undefined;
    const later = held.map(async (id) => {
      const isSettled = await this.#heldReceipts.whenSettled(toWireId(id));
      if (isSettled) await reporter.report({ ...receipt, networkIds: [id] });
      return isSettled;
    });
    await reported;
    return (await Promise.all(later)).every((isSettled) => isSettled);
  }
}
