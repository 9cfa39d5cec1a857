import { randomInt, randomUUID } from 'node:crypto';
import { Type } from 'typebox';
import type { Clock } from '../../clock.ts';
import { AppError } from '../../errors.ts';
import type {
  Connection,
  Connector,
  GroupActions,
  MessageKey,
  NetworkChat,
  NetworkEvent,
  OutgoingMessage,
  SessionHost,
  Simulation,
} from '../connector.ts';
import { messageTypes } from '../connector.ts';
import { createGroup, createGroupActions, leaveGroup, requireVoice } from './groups.ts';
import { type Phone, SandboxNetwork } from './network.ts';

const PAIRING_MS = 20_000;
const PAIRING_ROUNDS = 5;
const PAIRING_CODE_MS = 160_000;
// No 0, 1, I, L, O, U: a code is typed off a screen.
const CODE_LETTERS = '23456789ABCDEFGHJKMNPQRSTVWXYZ';

/**
 * The embedded default network, so that everything works on one machine and no outside account is needed. A session
 * connects at once, or with `options.pairing` by QR or pairing code as on a real network.
 */
export function createSandbox(clock: Clock): Connector {
  const network = new SandboxNetwork(clock);
  return {
    name: 'sandbox',
    options: Type.Object(
      {
        pairing: Type.Optional(
          Type.Boolean({ description: 'Link by QR or pairing code, as a real network wants it.' }),
        ),
      },
      { additionalProperties: false },
    ),
    messageTypes,
    remember: (linked) => network.remember(linked),
    async open(host) {
      const connection = new SandboxConnection(network, host);
      await connection.open();
      return connection;
    },
    async forget({ sessionId, phoneNumber }) {
      if (phoneNumber !== null) network.forget(phoneNumber, sessionId);
    },
  };
}

class SandboxConnection implements Connection, Phone {
  readonly #network: SandboxNetwork;
  readonly #host: SessionHost;
  #number: string;
  #isOnline = false;
  #isClosed = false;
  #isPairing = false;
  #cancelTimer = () => {};

  constructor(network: SandboxNetwork, host: SessionHost) {
    this.#network = network;
    this.#host = host;
    this.#number = host.phoneNumber ?? '';
    this.groups = createGroupActions(network, host.clock, this);
  }

  get sessionId(): string {
    return this.#host.sessionId;
  }

  get number(): string {
    return this.#number;
  }

  receive(event: NetworkEvent): Promise<void> {
    return this.#host.onEvent(event);
  }

  async open(): Promise<void> {
    const isLinked = (await this.#host.store.get('linked')) === 'yes';
    if (this.#host.options['pairing'] === true && !isLinked) await this.#showQr(PAIRING_ROUNDS);
    else await this.#join();
  }

  async #join(): Promise<void> {
    if (this.#number === '') this.#number = this.#network.freeNumber();
    this.#network.join(this);
    this.#isOnline = true;
    await this.#host.onEvent({ type: 'connected', phoneNumber: this.#number });
    for (const group of await this.#host.groups()) this.#network.restoreGroup(group);
    for (const other of await this.#host.blocked()) this.#network.setBlocked(this.#number, other, true);
    for (const message of await this.#host.undelivered())
      this.#network.carry(this.#number, message, this.#host.clock.now());
    await this.#network.emptyMailbox(this);
  }

  #leave(): void {
    this.#cancelTimer();
    this.#network.leave(this);
    this.#isOnline = false;
    this.#isPairing = false;
  }

  async #showQr(roundsLeft: number): Promise<void> {
    if (roundsLeft === 0) {
      this.#isPairing = false;
      await this.receive({ type: 'disconnected', reason: 'The QR code was not scanned in time', willReconnect: false });
      return;
    }
    this.#isPairing = true;
    await this.receive({
      type: 'pairing',
      qr: `sandbox:${randomUUID()}`,
      expiresAt: this.#host.clock.now() + PAIRING_MS,
    });
    this.#cancelTimer = this.#host.clock.after(PAIRING_MS, () => {
      this.#showQr(roundsLeft - 1).catch((error) =>
        this.#host.log.error({ err: error }, 'showing the next QR code failed'),
      );
    });
  }

  async requestPairingCode(phoneNumber: string) {
    if (!this.#isPairing) throw new AppError('session_state', 'The session is not waiting to be paired');
    this.#number = phoneNumber;
    this.#cancelTimer();
    const expiresAt = this.#host.clock.now() + PAIRING_CODE_MS;
    this.#cancelTimer = this.#host.clock.after(PAIRING_CODE_MS, () => void this.#showQr(0).catch(() => {}));
    const letters = Array.from({ length: 8 }, () => CODE_LETTERS[randomInt(CODE_LETTERS.length)]).join('');
    return { code: `${letters.slice(0, 4)}-${letters.slice(4)}`, expiresAt };
  }

  async send(message: OutgoingMessage) {
    this.requireOnline();
    const timestamp = this.#host.clock.now();
    const { type, id } = message.chat;
    if (type === 'group') requireVoice(this.#network.group(id), this.#number);
    else if (!this.#network.isOnNetwork(id)) throw new AppError('recipient_not_on_network');
    this.#network.carry(this.#number, message, timestamp);
    return { timestamp };
  }

  async markRead(_chat: unknown, messages: readonly { networkId: string; from: string }[]): Promise<void> {
    this.requireOnline();
    await this.#network.read(this.#number, messages);
  }

  /** Nobody on this network shows it. */
  async setTyping(): Promise<void> {
    this.requireOnline();
  }

  async react({ networkId, chat }: MessageKey, emoji: string | null): Promise<void> {
    await this.#tell(chat, { type: 'reaction', networkId, from: this.#number, emoji, timestamp: this.#now() });
  }

  async edit({ networkId, chat }: MessageKey, text: string): Promise<void> {
    await this.#tell(chat, { type: 'edited', networkId, from: this.#number, text, timestamp: this.#now() });
  }

  async remove({ networkId, chat }: MessageKey): Promise<void> {
    await this.#tell(chat, { type: 'deleted', networkId, from: this.#number, timestamp: this.#now() });
  }

  async checkNumbers(phoneNumbers: readonly string[]): Promise<ReadonlySet<string>> {
    this.requireOnline();
    return new Set(phoneNumbers.filter((number) => this.#network.isOnNetwork(number)));
  }

  async setBlocked(phoneNumber: string, blocked: boolean): Promise<void> {
    this.requireOnline();
    this.#network.setBlocked(this.#number, phoneNumber, blocked);
  }

  /** Tells the others of a chat. */
  async #tell(chat: NetworkChat, event: NetworkEvent): Promise<void> {
    this.requireOnline();
    if (chat.type === 'group') requireVoice(this.#network.group(chat.id), this.#number);
    this.#network.tellChat(this.#number, chat, event);
  }

  #now(): number {
    return this.#host.clock.now();
  }

  readonly groups: GroupActions;

  async simulate(action: Simulation): Promise<void> {
    switch (action.action) {
      case 'pair': {
        if (!this.#isPairing) throw new AppError('session_state', 'The session is not waiting to be paired');
        this.#cancelTimer();
        await this.#join();
        this.#isPairing = false;
        await this.#host.store.set('linked', 'yes');
        return;
      }
      case 'incoming': {
        this.requireOnline();
        const { from, senderName, content, group, replyTo } = action;
        if (group !== null) this.#network.group(group);
        return this.receive({
          type: 'message',
          networkId: randomUUID(),
          chat: group === null ? { type: 'direct', id: from } : { type: 'group', id: group },
          from,
          ...(senderName !== null && { senderName }),
          content,
          timestamp: this.#host.clock.now(),
          replyTo,
        });
      }
      case 'edit':
        return this.receive({ type: 'edited', ...pick(action), text: action.message, timestamp: this.#now() });
      case 'delete':
        return this.receive({ type: 'deleted', ...pick(action), timestamp: this.#now() });
      case 'react':
        return this.receive({ type: 'reaction', ...pick(action), emoji: action.emoji, timestamp: this.#now() });
      case 'vote':
        return this.receive({ type: 'vote', ...pick(action), options: action.options, timestamp: this.#now() });
      case 'receipt':
        return this.receive({
          type: 'receipt',
          networkIds: [action.networkId],
          status: action.status,
          timestamp: this.#host.clock.now(),
          ...(action.status === 'failed' && { error: 'The simulated recipient could not receive it' }),
        });
      case 'disconnect': {
        this.requireOnline();
        const { reason, reconnectAfterMs } = action;
        this.#leave();
        await this.receive({ type: 'disconnected', reason, willReconnect: reconnectAfterMs !== null });
        if (reconnectAfterMs === null) return;
        this.#cancelTimer = this.#host.clock.after(reconnectAfterMs, () => {
          if (!this.#isClosed)
            this.#join().catch((error) => this.#host.log.error({ err: error }, 'reconnecting failed'));
        });
        return;
      }
      case 'logout':
        await this.logout();
        return this.receive({ type: 'logged_out', reason: 'The device was unlinked on the phone' });
      case 'group_create':
        this.requireOnline();
        await createGroup(this.#network, this.#host.clock, action.from, action.subject, [
          this.#number,
          ...action.phoneNumbers,
        ]);
        return;
      case 'group_subject': {
        const group = this.#network.group(action.group);
        return this.#network.changeGroup(
          { ...group, subject: action.subject },
          { type: 'subject', subject: action.subject },
        );
      }
      case 'group_leave':
        return leaveGroup(this.#network, this.#network.group(action.group), action.from);
    }
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    this.#leave();
  }

  async logout(): Promise<void> {
    await this.close();
    this.#network.forget(this.#number, this.sessionId);
    await this.#host.store.clear();
  }

  /** @throws {AppError} `session_not_connected` */
  requireOnline(): void {
    if (!this.#isOnline) throw new AppError('session_not_connected');
  }
}

const pick = ({ networkId, from }: { networkId: string; from: string }) => ({ networkId, from });
