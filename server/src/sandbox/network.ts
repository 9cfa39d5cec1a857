import { randomInt, randomUUID } from 'node:crypto';
import type { Clock } from '../clock.ts';
import type { Audience } from '../connectors/contract/account.ts';
import type { NetworkEvent } from '../connectors/contract/events.ts';
import type { NetworkGroup } from '../connectors/contract/groups.ts';
import type { NetworkChat } from '../connectors/contract/messageKey.ts';
import type { OutgoingMessage } from '../connectors/contract/outgoing.ts';
import { AppError } from '../errors.ts';
import type { GroupChange } from '../events/networkTypes.ts';
import type { SteadyClock } from '../steadyClock.ts';
import type { Mailboxes } from './mailboxes.ts';
import type { Phone } from './mailboxReader.ts';
import { addressOf, type GroupStep, type SandboxGroup, type SandboxProfile, type SandboxStore } from './store.ts';

/** Numbers of people who are not on the network. */
const UNREGISTERED = /^1555000\d{4}$/;

/** A group after a change, and the change; null for a change that the other members do not see. */
type GroupAndChange = readonly [SandboxGroup, GroupChange | null];
export type ChangedGroup = GroupAndChange | GroupStep;

/**
 * The network of one scope. The numbers of its sessions reach one another. Any other number is a virtual contact that
 * receives everything and is controlled by simulations.
 */
export class SandboxNetwork {
  readonly clock: Clock;
  /** The clock for the order of events, because the time of day can be set. */
  readonly steady: SteadyClock;
  readonly mailboxes: Mailboxes;
  readonly store: SandboxStore;
  readonly #scope: string;

  constructor(scope: string, parts: { store: SandboxStore; mailboxes: Mailboxes; clock: Clock; steady: SteadyClock }) {
    this.clock = parts.clock;
    this.steady = parts.steady;
    this.mailboxes = parts.mailboxes;
    this.#scope = scope;
    this.store = parts.store;
  }

  addressOf(id: string): string {
    return addressOf(this.#scope, id);
  }

  /** Returns an unused number of the +1 555 range, which is not assigned to anybody. */
  async freeNumber(): Promise<string> {
    for (;;) {
      const number = `1555${randomInt(1_000_000, 9_999_999)}`;
      if ((await this.#signedUp([number])).size === 0) return number;
    }
  }

  /** Returns those of the numbers that can receive messages. */
  async onNetwork(numbers: readonly string[]): Promise<ReadonlySet<string>> {
    const absent = numbers.filter((number) => UNREGISTERED.test(number));
    const signedUp = absent.length > 0 ? await this.#signedUp(absent) : new Set();
    return new Set(numbers.filter((number) => !UNREGISTERED.test(number) || signedUp.has(this.addressOf(number))));
  }

  /** Sent at `timestamp`, by the time of day. The sender gets a receipt once the message has arrived. */
  send(
    sender: Phone,
    { networkId, chat, content, replyTo, quoted, expiresInSeconds }: OutgoingMessage,
    timestamp: number,
    group: NetworkGroup | undefined,
  ): void {
    const { number: from, name } = sender;
    const event: NetworkEvent = {
      type: 'message',
      networkId,
      // On a phone, a direct chat has the number of the other side.
      chat: chat.type === 'direct' ? { type: 'direct', id: from } : chat,
      from,
      ...(name !== null && { senderName: name }),
      content: { ...content, ...(quoted && replyTo !== null && { quoted: { networkId: replyTo, ...quoted } }) },
      timestamp,
      replyTo,
      ...(expiresInSeconds !== undefined && { expiresInSeconds }),
    };
    // A message that fails here has no receipt, so it is sent again when its session connects.
    this.deliver(sender, chat, group, event, this.steady.fromWall(timestamp)).catch(() => {});
  }

  /** Delivers an action of a session to the other members of a chat. */
  deliver(
    sender: Phone,
    chat: NetworkChat,
    group: NetworkGroup | undefined,
    event: NetworkEvent,
    sentAt = this.steady.now(),
  ): Promise<void> {
    const { number } = sender;
    if (chat.type === 'direct')
      return this.mailboxes.deliver({ to: [this.addressOf(chat.id)], event, sentAt, directFrom: number, sender });
    const others = (group?.participants ?? []).filter(({ phoneNumber }) => phoneNumber !== number);
    const to = others.map(({ phoneNumber }) => this.addressOf(phoneNumber));
    return this.mailboxes.deliver({ to, event, sentAt, sender });
  }

  /** Tells the members of a chat that somebody is typing: as on WhatsApp, only those who are shown as online. */
  async showTyping(sender: Phone, chat: NetworkChat, event: NetworkEvent): Promise<void> {
    const group = chat.type === 'group' ? await this.findGroup(chat.id) : undefined;
    const members = chat.type === 'direct' ? [chat.id] : (group?.participants ?? []).map((one) => one.phoneNumber);
    const isMember = chat.type === 'direct' || members.includes(sender.number);
    const others = members.filter((number) => isMember && number !== sender.number);
    const profiles = await this.store.profiles(others.map((number) => this.addressOf(number)));
    const to = [...profiles].flatMap(([address, { presence }]) => (presence === 'online' ? [address] : []));
    if (to.length === 0) return;
    const directFrom = chat.type === 'direct' && { directFrom: sender.number };
    await this.mailboxes.deliver({ to, event, sentAt: this.steady.now(), ...directFrom, sender });
  }

  async read(sender: Phone, messages: readonly { networkId: string; from: string }[]): Promise<void> {
    for (const [from, theirs] of Map.groupBy(messages, (message) => message.from)) {
      if (from === sender.number) continue;
      const networkIds = theirs.map(({ networkId }) => networkId);
      const at = this.clock.now();
      const event: NetworkEvent = { type: 'receipt', networkIds, status: 'read', timestamp: at, by: sender.number };
      await this.mailboxes.deliver({ to: [this.addressOf(from)], event, sender });
    }
  }

  findGroup(networkId: string): Promise<SandboxGroup | undefined> {
    return this.store.group(this.addressOf(networkId));
  }

  /** @throws {AppError} `not_found` */
  async group(networkId: string): Promise<SandboxGroup> {
    return required(await this.findGroup(networkId));
  }

  groupByInvite(code: string): Promise<SandboxGroup | undefined> {
    return this.store.groupByInvite(this.addressOf(code));
  }

  /** Adds groups that a session knows from before they were stored by the network. */
  async restoreGroups(groups: readonly NetworkGroup[]): Promise<void> {
    if (groups.length > 0) await this.store.restoreGroups(this.#scope, groups);
  }

  async addGroup(group: SandboxGroup): Promise<void> {
    const step = { group, event: { type: 'group_created', group } } as const;
    const { hasMail } = await this.store.changeGroup(this.#scope, group.networkId, () => step);
    await this.mailboxes.announce(hasMail);
  }

  /**
   * See `SandboxStore.changeGroup`.
   * @throws {AppError} `not_found`
   */
  async changeGroup(
    networkId: string,
    change: (group: SandboxGroup) => ChangedGroup | undefined,
  ): Promise<SandboxGroup> {
    const { group, hasMail } = await this.store.changeGroup(this.#scope, networkId, (before) => {
      const changed = change(required(before));
      if (changed === undefined || 'event' in changed) return changed;
      return { group: changed[0], event: this.#eventOf(changed) };
    });
    await this.mailboxes.announce(hasMail);
    return required(group);
  }

  profile(number: string): Promise<SandboxProfile> {
    return this.store.profile(this.addressOf(number));
  }

  /** Returns those of the numbers whose privacy settings do not let somebody add them to groups. */
  async notAddedBy(number: string, others: readonly string[]): Promise<ReadonlySet<string>> {
    const profiles = await this.store.profiles(others.map((other) => this.addressOf(other)));
    const closed = others.filter(
      (other) => (profiles.get(this.addressOf(other))?.privacy?.groupAdd ?? 'everyone') !== 'everyone',
    );
    if (closed.length === 0) return new Set();
    const knowing = await this.store.knowing(
      closed.map((other) => this.addressOf(other)),
      number,
    );
    return new Set(closed.filter((other) => !knowing.has(this.addressOf(other))));
  }

  /** Whether the audience of a privacy setting of the number includes the viewer. */
  async isOpenTo(viewer: string, number: string, audience: Audience = 'everyone'): Promise<boolean> {
    if (audience === 'everyone' || viewer === number) return true;
    const address = this.addressOf(number);
    return audience !== 'nobody' && (await this.store.knowing([address], viewer)).has(address);
  }

  #eventOf([group, change]: GroupAndChange): NetworkEvent {
    if (change === null) return { type: 'group_invite', group };
    const [changeId, timestamp] = [randomUUID(), this.clock.now()];
    return { type: 'group_updated', group, change, changeId, timestamp };
  }

  #signedUp(numbers: readonly string[]): Promise<ReadonlySet<string>> {
    return this.store.signedUp(numbers.map((number) => this.addressOf(number)));
  }
}

/** @throws {AppError} `not_found` */
function required(group: SandboxGroup | undefined): SandboxGroup {
  if (group === undefined) throw new AppError('not_found', 'The group does not exist on the network');
  return group;
}

export const isTyping = (event: NetworkEvent): boolean =>
  event.type === 'presence' && event.presence !== 'online' && event.presence !== 'offline';
