import { randomInt } from 'node:crypto';
import type { Clock } from '../../clock.ts';
import { AppError } from '../../errors.ts';
import type { NetworkChat, NetworkEvent, NetworkGroup, OutgoingMessage } from '../connector.ts';

/** A phone that is online: it takes events, and answers when they are stored. */
export interface Phone {
  readonly sessionId: string;
  readonly number: string;
  receive(event: NetworkEvent): Promise<void>;
}

const RETRY_MS = 500;
/** Numbers of this kind stand for people who are not on the network. */
const ABSENT = /^1555000\d{4}$/;

/**
 * The network itself: who is online, what waits for whom, and the groups. Numbers of this deployment's sessions reach
 * one another; any other number is a virtual contact that receives everything and does what a simulation tells it.
 *
 * It remembers nothing over a restart that the sessions do not: they hand it their groups and undelivered messages
 * when they connect, as a phone would sync with its server.
 */
export class SandboxNetwork {
  readonly #clock: Clock;
  readonly #online = new Map<string, Phone>();
  /** Numbers that have signed up, and by which session: what is sent while they are away waits for them alone. */
  readonly #known = new Map<string, string>();
  readonly #mailboxes = new Map<string, { readonly event: NetworkEvent; readonly arrived: () => void }[]>();
  readonly #groups = new Map<string, NetworkGroup>();
  /** Who wants to hear nothing from whom. */
  readonly #blocked = new Map<string, Set<string>>();
  /** Messages that arrived in this moment, by the number that is to learn it. */
  readonly #receipts = new Map<string, string[]>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  remember(linked: readonly { sessionId: string; phoneNumber: string }[]): void {
    for (const { sessionId, phoneNumber } of linked) {
      if (!this.#known.has(phoneNumber)) this.#known.set(phoneNumber, sessionId);
    }
  }

  /** The number is free again, if it was this session's. */
  forget(number: string, sessionId: string): void {
    if (this.#known.get(number) !== sessionId) return;
    this.#known.delete(number);
    this.#mailboxes.delete(number);
  }

  /** A number that nobody has: of the +1 555 range, which belongs to no one. */
  freeNumber(): string {
    for (;;) {
      const number = `1555${randomInt(1_000_000, 9_999_999)}`;
      if (!this.#known.has(number) && !this.#online.has(number)) return number;
    }
  }

  /** @throws {AppError} `phone_number_in_use` */
  join(phone: Phone): void {
    const owner = this.#known.get(phone.number) ?? phone.sessionId;
    if (this.#online.has(phone.number) || owner !== phone.sessionId) {
      throw new AppError(
        'phone_number_in_use',
        `${phone.number} belongs to another session until that is logged out or deleted`,
      );
    }
    this.#online.set(phone.number, phone);
    this.#known.set(phone.number, phone.sessionId);
  }

  isOnNetwork(number: string): boolean {
    return !ABSENT.test(number) || this.#known.has(number);
  }

  setBlocked(number: string, other: string, blocked: boolean): void {
    const others = this.#blocked.get(number) ?? new Set();
    if (blocked) others.add(other);
    else others.delete(other);
    this.#blocked.set(number, others);
  }

  leave(phone: Phone): void {
    if (this.#online.get(phone.number) === phone) this.#online.delete(phone.number);
  }

  /** Hands a phone what came while it was away, oldest first. */
  async emptyMailbox(phone: Phone): Promise<void> {
    const waiting = this.#mailboxes.get(phone.number) ?? [];
    this.#mailboxes.delete(phone.number);
    for (const { event, arrived } of waiting) await this.#hand(phone.number, event, arrived);
  }

  /** Takes a message and carries it to whom it concerns; the sender gets its receipt when it has arrived. */
  carry(from: string, message: OutgoingMessage, timestamp: number): void {
    setImmediate(() => void this.#carryNow(from, message, timestamp));
  }

  async #carryNow(
    from: string,
    { networkId, chat, content, replyTo }: OutgoingMessage,
    timestamp: number,
  ): Promise<void> {
    // A phone files a direct chat under the other side's number.
    const filedUnder: NetworkChat = chat.type === 'direct' ? { type: 'direct', id: from } : chat;
    const event: NetworkEvent = { type: 'message', networkId, chat: filedUnder, from, content, timestamp, replyTo };
    // The sender is not told that it is blocked: its message just never arrives.
    if (chat.type === 'direct' && this.#blocked.get(chat.id)?.has(from)) return;
    const recipients = this.#others(from, chat);
    let missing = recipients.length;
    const arrived = () => {
      if (--missing === 0) this.#receipt(from, networkId);
    };
    await Promise.all(recipients.map((number) => this.#hand(number, event, arrived)));
  }

  /** Hands the others of a chat what somebody did in it. */
  tellChat(from: string, chat: NetworkChat, event: NetworkEvent): void {
    if (chat.type === 'direct' && this.#blocked.get(chat.id)?.has(from)) return;
    setImmediate(() => void this.#tell(this.#others(from, chat), event));
  }

  #others(from: string, chat: NetworkChat): string[] {
    return chat.type === 'direct' ? [chat.id] : this.#membersOf(chat.id).filter((number) => number !== from);
  }

  /** Receipts of one phone that come in the same moment travel together. */
  #receipt(to: string, networkId: string): void {
    const waiting = this.#receipts.get(to);
    if (waiting !== undefined) {
      waiting.push(networkId);
      return;
    }
    const networkIds = [networkId];
    this.#receipts.set(to, networkIds);
    setImmediate(() => {
      this.#receipts.delete(to);
      void this.#hand(to, { type: 'receipt', networkIds, status: 'delivered', timestamp: this.#clock.now() });
    });
  }

  /** `reader` has read these messages: their senders learn it before this resolves. */
  async read(reader: string, messages: readonly { networkId: string; from: string }[]): Promise<void> {
    const bySender = Map.groupBy(messages, ({ from }) => from);
    for (const [sender, theirs] of bySender) {
      if (sender === reader) continue;
      const networkIds = theirs.map(({ networkId }) => networkId);
      await this.#hand(sender, { type: 'receipt', networkIds, status: 'read', timestamp: this.#clock.now() });
    }
  }

  /**
   * Hands an event to a number: now, later when it is away, or to nobody when it is a virtual contact.
   * @param arrived called once it has got there
   */
  async #hand(number: string, event: NetworkEvent, arrived: () => void = () => {}): Promise<void> {
    const phone = this.#online.get(number);
    if (phone === undefined) {
      if (!this.#known.has(number)) {
        arrived();
        return;
      }
      const waiting = this.#mailboxes.get(number);
      if (waiting === undefined) this.#mailboxes.set(number, [{ event, arrived }]);
      else waiting.push({ event, arrived });
      return;
    }
    try {
      await phone.receive(event);
    } catch {
      // It could not store it. A network keeps what was not acknowledged and tries again.
      await new Promise<void>((resolve) => void this.#clock.after(RETRY_MS, resolve));
      return this.#hand(number, event, arrived);
    }
    arrived();
  }

  /** A group that a session knows from before a restart. */
  restoreGroup(group: NetworkGroup): void {
    if (!this.#groups.has(group.networkId)) this.#groups.set(group.networkId, group);
  }

  /** @throws {AppError} `not_found` */
  group(networkId: string): NetworkGroup {
    const group = this.#groups.get(networkId);
    if (group === undefined) throw new AppError('not_found', 'The network has no such group');
    return group;
  }

  groupByInvite(code: string): NetworkGroup | undefined {
    return [...this.#groups.values()].find(({ inviteCode }) => inviteCode === code);
  }

  /** A group has got its first invite. Its members learn it as a change that is none. */
  async noteInvite(group: NetworkGroup): Promise<void> {
    this.#groups.set(group.networkId, group);
    await this.#tell(this.#membersOf(group.networkId), { type: 'group_invite', group });
  }

  /** Adds a group and tells every member of it. */
  async addGroup(group: NetworkGroup): Promise<void> {
    this.#groups.set(group.networkId, group);
    await this.#tell(this.#membersOf(group.networkId), { type: 'group_created', group });
  }

  /** Puts a changed group in place of the old one and tells who was or is a member. */
  async changeGroup(
    group: NetworkGroup,
    change: Extract<NetworkEvent, { type: 'group_updated' }>['change'],
  ): Promise<void> {
    const before = this.#membersOf(group.networkId);
    this.#groups.set(group.networkId, group);
    const timestamp = this.#clock.now();
    const concerned = new Set([...before, ...this.#membersOf(group.networkId)]);
    await this.#tell([...concerned], { type: 'group_updated', group, change, timestamp });
  }

  async #tell(numbers: readonly string[], event: NetworkEvent): Promise<void> {
    await Promise.all(numbers.map((number) => this.#hand(number, event)));
  }

  #membersOf(groupId: string): string[] {
    return this.#groups.get(groupId)?.participants.map(({ phoneNumber }) => phoneNumber) ?? [];
  }
}
