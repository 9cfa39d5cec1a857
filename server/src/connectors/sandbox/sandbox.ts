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
  NetworkGroup,
  OutgoingMessage,
  ProfileActions,
  SessionHost,
  Simulation,
} from '../connector.ts';
import { messageTypes } from '../connector.ts';
import type { Phone } from './exchange.ts';
import { createGroup, createGroupActions, leaveGroup, renameGroup, requireVoice } from './groups.ts';
import { createNetwork, type Ground, type SandboxNetwork } from './network.ts';
import { createProfileActions } from './profiles.ts';

const PAIRING_MS = 20_000;
const PAIRING_ROUNDS = 5;
const RECONNECT_RETRY_MS = 1000;
const PAIRING_CODE_MS = 160_000;
/** What its store keeps about the contacts that it has blocked before: since when, in steady time, they reach it again. */
const UNBLOCKED = 'unblocked:';
// No 0, 1, I, L, O, U: a code is typed off a screen.
const CODE_LETTERS = '23456789ABCDEFGHJKMNPQRSTVWXYZ';

/**
 * The embedded default network, so that everything works on one machine and no outside account is needed. A session
 * connects at once, or with `options.pairing` by QR or pairing code as on a real network.
 *
 * @param ground what the network of a scope runs on, by the time that a session is opened
 */
export function createSandbox(clock: Clock, ground: (scope: string) => Ground): Connector {
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
    remember(linked) {
      for (const [scope, sessions] of Map.groupBy(linked, (session) => session.scope))
        ground(scope).exchange.remember(sessions);
    },
    async open(host) {
      const connection = new SandboxConnection(createNetwork(ground(host.scope), clock), host);
      await connection.open();
      return connection;
    },
    async forget({ sessionId, phoneNumber, scope }) {
      if (phoneNumber !== null) await createNetwork(ground(scope), clock).signOff(phoneNumber, sessionId);
    },
  };
}

class SandboxConnection implements Connection, Phone {
  readonly #network: SandboxNetwork;
  readonly #host: SessionHost;
  #number: string;
  /** What it calls itself. */
  #name: string | null = null;
  #isOnline = false;
  #isClosed = false;
  #isPairing = false;
  #cancelTimer = () => {};
  /** Of whom it wants to hear nothing. */
  readonly #blocked = new Set<string>();
  /**
   * Moments of steady time. What was sent before is still on its way, or is sent again: its sender has no receipt for it.
   */
  readonly #unblockedAt = new Map<string, number>();
  /** A moment of steady time. */
  #onlineSince = 0;

  constructor(network: SandboxNetwork, host: SessionHost) {
    this.#network = network;
    this.#host = host;
    this.#number = host.phoneNumber ?? '';
    this.groups = createGroupActions(network, host.clock, this);
    this.profiles = createProfileActions(network.profiles, this, (name) => {
      this.#name = name;
    });
  }

  get sessionId(): string {
    return this.#host.sessionId;
  }

  get number(): string {
    return this.#number;
  }

  refuses(from: string, sentAt: number): boolean {
    return this.#blocked.has(from) || sentAt < (this.#unblockedAt.get(from) ?? 0);
  }

  receive(event: NetworkEvent, sentAt?: number, postId?: string): Promise<void> {
    const hasWaited = event.type === 'message' && sentAt !== undefined && sentAt < this.#onlineSince;
    return this.#host.onEvent(hasWaited ? { ...event, isReplayed: true } : event, postId);
  }

  async open(): Promise<void> {
    const isLinked = (await this.#host.store.get('linked')) === 'yes';
    if (this.#host.options['pairing'] === true && !isLinked) await this.#showQr(PAIRING_ROUNDS);
    else await this.#join();
  }

  async #join(): Promise<void> {
    const { exchange } = this.#network;
    if (this.#number === '') this.#number = await this.#network.freeNumber();
    this.#name = (await this.#network.profiles.read(this.#number)).name;
    await exchange.join(this);
    try {
      await this.#comeOnline();
    } catch (error) {
      // Others would wait for a phone that nobody has.
      exchange.leave(this);
      this.#isOnline = false;
      throw error;
    }
  }

  async #comeOnline(): Promise<void> {
    const { exchange } = this.#network;
    // Closed while it was being opened.
    if (this.#isClosed) return exchange.leave(this);
    this.#isOnline = true;
    this.#onlineSince = this.#network.steady.now();
    await this.#host.onEvent({ type: 'connected', phoneNumber: this.#number });
    await exchange.restoreGroups(await this.#host.groups());
    for (const other of await this.#host.blocked()) this.#blocked.add(other);
    for (const [key, at] of await this.#host.store.list(UNBLOCKED))
      this.#unblockedAt.set(key.slice(UNBLOCKED.length), Number(at));
    for (const message of await this.#host.undelivered()) {
      const { type, id } = message.chat;
      const group = type === 'group' ? await exchange.group(id) : undefined;
      this.#network.carry(this.#sender, message, message.sentAt ?? this.#now(), group);
    }
    exchange.catchUp(this);
  }

  #reconnectAfter(ms: number): void {
    this.#cancelTimer = this.#host.clock.after(ms, () => {
      if (this.#isClosed) return;
      this.#join().catch((error) => {
        this.#host.log.warn({ err: error }, 'failed to reconnect; trying again');
        if (!this.#isClosed) this.#reconnectAfter(RECONNECT_RETRY_MS);
      });
    });
  }

  #leave(): void {
    this.#cancelTimer();
    this.#network.exchange.leave(this);
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
        this.#host.log.error({ err: error }, 'failed to renew the QR code'),
      );
    });
  }

  async requestPairingCode(phoneNumber: string) {
    if (!this.#isPairing)
      throw new AppError(
        'session_state',
        'The session is not waiting to be paired; its status must be awaiting_pairing',
      );
    this.#number = phoneNumber;
    this.#cancelTimer();
    const expiresAt = this.#host.clock.now() + PAIRING_CODE_MS;
    this.#cancelTimer = this.#host.clock.after(PAIRING_CODE_MS, () => void this.#showQr(0).catch(() => {}));
    const letters = Array.from({ length: 8 }, () => CODE_LETTERS[randomInt(CODE_LETTERS.length)]).join('');
    return { code: `${letters.slice(0, 4)}-${letters.slice(4)}`, expiresAt };
  }

  async send(message: OutgoingMessage) {
    this.requireOnline();
    const { type, id } = message.chat;
    const group = await this.#groupOf(message.chat);
    if (type === 'direct' && !(await this.#network.onNetwork([id])).has(id))
      throw new AppError('recipient_not_on_network');
    const timestamp = this.#now();
    this.#network.carry(this.#sender, message, timestamp, group);
    return { timestamp };
  }

  get #sender() {
    return { number: this.#number, name: this.#name };
  }

  /** @throws {AppError} `not_found`, `network_denied` when it may not write to it */
  async #groupOf({ type, id }: NetworkChat): Promise<NetworkGroup | undefined> {
    if (type === 'direct') return undefined;
    const group = await this.#network.group(id);
    requireVoice(group, this.#number);
    return group;
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
    return this.#network.onNetwork(phoneNumbers);
  }

  async setBlocked(phoneNumber: string, blocked: boolean): Promise<void> {
    this.requireOnline();
    if (blocked) this.#blocked.add(phoneNumber);
    else if (this.#blocked.has(phoneNumber)) {
      const now = this.#network.steady.now();
      await this.#host.store.set(`${UNBLOCKED}${phoneNumber}`, String(now));
      this.#unblockedAt.set(phoneNumber, now);
      this.#blocked.delete(phoneNumber);
    }
  }

  /** Tells the others of a chat. */
  async #tell(chat: NetworkChat, event: NetworkEvent): Promise<void> {
    this.requireOnline();
    await this.#network.tell(this.#number, chat, await this.#groupOf(chat), event);
  }

  #now(): number {
    return this.#host.clock.now();
  }

  readonly groups: GroupActions;
  readonly profiles: ProfileActions;

  async simulate(action: Simulation): Promise<void> {
    if (this.#isKeptOut(action)) return;
    switch (action.action) {
      case 'pair': {
        if (!this.#isPairing)
          throw new AppError(
            'session_state',
            'The session is not waiting to be paired; its status must be awaiting_pairing',
          );
        this.#cancelTimer();
        await this.#join();
        this.#isPairing = false;
        await this.#host.store.set('linked', 'yes');
        return;
      }
      case 'incoming': {
        this.requireOnline();
        const { from, senderName, content, group, replyTo } = action;
        if (group !== null) await this.#network.group(group);
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
        this.#reconnectAfter(reconnectAfterMs);
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
      case 'group_subject':
        return renameGroup(this.#network, this.#host.clock, action.group, action.subject);
      case 'group_leave':
        return leaveGroup(this.#network, this.#host.clock, action.group, action.from);
    }
  }

  /** Whether a contact does it that the session has blocked. In a group, its other members hear one as before. */
  #isKeptOut(action: Simulation): boolean {
    switch (action.action) {
      case 'incoming':
        return action.group === null && this.#blocked.has(action.from);
      case 'edit':
      case 'delete':
      case 'react':
      case 'vote':
        return action.chat.type === 'direct' && this.#blocked.has(action.from);
      default:
        return false;
    }
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    this.#leave();
  }

  async logout(): Promise<void> {
    await this.close();
    await this.#network.signOff(this.#number, this.sessionId);
    await this.#host.store.clear();
  }

  /** @throws {AppError} `session_not_connected` */
  requireOnline(): void {
    if (!this.#isOnline) throw new AppError('session_not_connected');
  }
}

const pick = ({ networkId, from }: { networkId: string; from: string }) => ({ networkId, from });
