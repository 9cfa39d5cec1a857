import type { BinaryNode, proto, WASocket } from 'baileys';
import type { NetworkChat } from '../../contract/messageKey.ts';
import type { Acknowledgements } from '../outbound/acknowledgements.ts';
import { toWireId } from '../outbound/messageIds.ts';
import type { Retries } from '../outbound/retries.ts';
import type { Addresses } from '../people/addresses.ts';
import type { ChangedNumbers } from '../people/changedNumbers.ts';
import type { Session } from '../session.ts';
import { HeldReceipts } from './heldReceipts.ts';
import { Incoming } from './incoming.ts';
import type { Attributes, Journal } from './journal.ts';
import type { MessageReader } from './messageReader.ts';
import { envelopeOf, isViewOnce, VIEW_ONCE_TEXT } from './placeholders.ts';
import { receiptsOf, type WireReceipt } from './receipts.ts';
import { Undecrypted } from './undecrypted.ts';

interface Parts {
  readonly session: Session;
  readonly journal: Journal;
  readonly reader: MessageReader;
  readonly acknowledgements: Acknowledgements;
  readonly addresses: Addresses;
  readonly retries: Retries;
  readonly changedNumbers: ChangedNumbers;
}

/** Receives messages and receipts over the sockets of the link, and passes them to the host. */
export class Receiver {
  readonly #session: Session;
  readonly #journal: Journal;
  readonly #acknowledgements: Acknowledgements;
  readonly #heldReceipts: HeldReceipts;
  readonly #incoming: Incoming;
  readonly #undecrypted: Undecrypted;
  readonly #addresses: Addresses;
  readonly #retries: Retries;
  readonly #changedNumbers: ChangedNumbers;
  /** By the attributes of a message: the changes of phone numbers that arrived before it and are not stored yet. */
  readonly #changesBefore = new WeakMap<Attributes, Promise<void>>();

  constructor({ session, journal, reader, acknowledgements, addresses, retries, changedNumbers }: Parts) {
    const { link, host } = session;
    this.#addresses = addresses;
    this.#changedNumbers = changedNumbers;
    this.#retries = retries;
    const heldReceipts = new HeldReceipts(host.clock);
    const undecrypted = new Undecrypted(session, journal, reader);
    const incoming = new Incoming({ session, journal, reader, heldReceipts, undecrypted });
    this.#session = session;
    this.#journal = journal;
    this.#acknowledgements = acknowledgements;
    this.#heldReceipts = heldReceipts;
    this.#incoming = incoming;
    this.#undecrypted = undecrypted;
    journal.on('received', (received) => {
      heldReceipts.keep(received.attrs['id'] ?? '');
      undecrypted.hold(received.attrs);
      const follows = this.#changesBefore.get(received.attrs);
      incoming.add(follows === undefined ? received : { ...received, follows });
    });
    journal.on('ignored', (attrs) => {
      heldReceipts.settle(attrs['id'] ?? '');
      undecrypted.settle(attrs);
    });
    link.on('socket', (socket) => this.#watch(socket));
    link.on('open', () => incoming.retrySetAside());
  }

  /** Passes on the messages that the last connection left in the journal. */
  async start(): Promise<void> {
    await this.#undecrypted.start();
    for (const received of await this.#journal.left()) {
      const { id = '', from, participant } = received.attrs;
      if (this.#session.self.is(participant ?? from)) {
        this.#heldReceipts.expect(id);
        this.#heldReceipts.keep(id);
      }
      this.#incoming.add(received);
    }
  }

  async stop(): Promise<void> {
    const { log } = this.#session.host;
    await this.#incoming.stop();
    await this.#undecrypted.stop();
    this.#heldReceipts.stop();
    await this.#journal.stop().catch((error) => log.warn({ err: error }, 'failed to acknowledge journal entries'));
  }

  #watch(socket: WASocket): void {
    const { ev, ws } = socket;
    const { baileys, self } = this.#session;
    const journal = this.#journal;
    // Before Baileys, which decrypts it.
    ws.prependListener('CB:message', (node: BinaryNode) => {
      journal.expect(node);
      const { storing } = this.#changedNumbers;
      if (storing !== undefined) this.#changesBefore.set(node.attrs, storing);
      this.#undecrypted.expect(socket, node);
      this.#expectOwn(node.attrs);
      if (isViewOnce(node)) this.#writeDown(node.attrs, { conversation: VIEW_ONCE_TEXT });
    });
    ev.on('messages.upsert', ({ messages }) => {
      for (const message of messages) {
        const attrs = envelopeOf(message, self.jid, baileys);
        // Nearly all messages have already arrived through the journal, which is earlier and loses none.
        if (attrs === undefined || journal.has(attrs.id) || !message.message) continue;
        this.#writeDown(this.#undecrypted.envelopeOf(attrs.id, message.key.remoteJid ?? '') ?? attrs, message.message);
      }
    });
    this.#holdReceipts(ws);
  }

  /** Holds receipts of a message that may be the own number's, from the phone or another client. */
  #expectOwn({ id = '', from, participant }: Attributes): void {
    if (this.#session.self.is(participant ?? from) && !this.#journal.has(id)) this.#heldReceipts.expect(id);
  }

  /** Stores a message that was not encrypted for this device. Baileys confirms its envelope meanwhile. */
  #writeDown(attrs: Attributes, message: proto.IMessage): void {
    void this.#session.reporter.keep('message', () => this.#journal.add(attrs, message));
  }

  /** Passes receipts to Baileys, which confirms them at once, only after they are stored. */
  #holdReceipts(ws: WASocket['ws']): void {
    const { self, host } = this.#session;
    const listeners = ws.listeners('CB:receipt');
    const passOn = (node: BinaryNode) => {
      for (const listener of listeners) listener.call(ws, node);
    };
    ws.removeAllListeners('CB:receipt');
    ws.on('CB:receipt', (node: BinaryNode) => {
      if (node.attrs['type'] === 'retry') return void this.#retries.guard(node).then(() => passOn(node));
      const receipts = receiptsOf(node, (jid) => self.is(jid), host.clock.now());
      if (receipts === undefined) return passOn(node);
      void Promise.all(receipts.map((one) => this.#report(one))).then((areReported) => {
        if (areReported.every((isReported) => isReported)) passOn(node);
      });
    });
  }

  /** Returns the member of a group who received or read the messages. */
  async #memberOf({ member, alternative }: WireReceipt): Promise<{ by?: string }> {
    if (member === undefined) return {};
    let by: string | undefined;
    await this.#session.reporter.keep('member', async () => {
      by = await this.#addresses.digitsOf(member, alternative);
    });
    return by === undefined ? {} : { by };
  }

  /** Returns the chat that a receipt arrived from; undefined if the session ended before it was known. */
  async #chatOf({ from, member, alternative }: WireReceipt): Promise<NetworkChat | undefined> {
    const { self, reporter } = this.#session;
    if (self.is(from)) return { type: 'direct', id: self.phoneNumber };
    let chat: NetworkChat | undefined;
    await reporter.keep('chat', async () => {
      chat = await this.#addresses.chatOf(from, member === undefined ? alternative : undefined);
    });
    return chat;
  }

  /** Waits for messages that are still being stored. Returns false if the session ended before that. */
  async #report(wire: WireReceipt): Promise<boolean> {
    const { networkIds } = wire.receipt;
    const held = networkIds.filter((id) => this.#heldReceipts.isHeld(toWireId(id)));
    const due = networkIds.filter((id) => !held.includes(id));
    const later = held.map(async (id) => {
      const isSettled = await this.#heldReceipts.whenSettled(toWireId(id));
      return isSettled && (await this.#pass(wire, [id]));
    });
    const areReported = await Promise.all([due.length === 0 || this.#pass(wire, due), ...later]);
    return areReported.every((isReported) => isReported);
  }

  /**
   * Reports a receipt, with the chat that its messages have by then: one can show the person's number. Anyone can send
   * a receipt with any id, so it counts only for messages in its chat.
   */
  async #pass(wire: WireReceipt, networkIds: readonly string[]): Promise<boolean> {
    const { reporter, baileys } = this.#session;
    const isOfChat = !baileys.isJidBroadcast(wire.from) && !baileys.isJidNewsletter(wire.from);
    const chat = isOfChat ? await this.#chatOf(wire) : undefined;
    this.#acknowledgements.onReceipt(networkIds, chat?.id ?? wire.from, wire.receipt.timestamp);
    if (chat === undefined) return !isOfChat;
    await reporter.report({ ...wire.receipt, networkIds, chat, ...(await this.#memberOf(wire)) });
    return true;
  }
}
