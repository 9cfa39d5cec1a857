import { randomInt } from 'node:crypto';
import type { Clock } from '../../clock.ts';
import { AppError } from '../../errors.ts';
import type { SteadyClock } from '../../steadyClock.ts';
import type { NetworkChat, NetworkEvent, NetworkGroup, OutgoingMessage } from '../connector.ts';
import type { Exchange, Parcel } from './exchange.ts';
import type { ProfileBook } from './profiles.ts';

/** Numbers of this kind stand for people who are not on the network. */
const ABSENT = /^1555000\d{4}$/;

/**
 * The rules of the network. Numbers of the sessions of one scope reach one another; any other number is a virtual
 * contact that receives everything and does what a simulation tells it.
 */
export interface SandboxNetwork {
  readonly exchange: Exchange;
  readonly profiles: ProfileBook;
  /** What is before what on it: the time of day can be set. */
  readonly steady: SteadyClock;
  /** A number that nobody has: of the +1 555 range, which belongs to no one. */
  freeNumber(): Promise<string>;
  /** Which of these numbers can be written to. */
  onNetwork(numbers: readonly string[]): Promise<ReadonlySet<string>>;
  /** @throws {AppError} `not_found` */
  group(networkId: string): Promise<NetworkGroup>;
  /**
   * Takes a message and carries it to whom it concerns; the sender gets its receipt when it has arrived.
   * @param timestamp when it was sent, by the time of day
   * @param group the one that it goes to
   */
  carry(from: Sender, message: OutgoingMessage, timestamp: number, group: NetworkGroup | undefined): void;
  /** Tells the others of a chat what somebody did in it. */
  tell(from: string, chat: NetworkChat, group: NetworkGroup | undefined, event: NetworkEvent): Promise<void>;
  /** A session gives its number up, and what it has shown of itself. */
  signOff(number: string, sessionId: string): Promise<void>;
  /** `reader` has read these messages: their senders learn it. */
  read(reader: string, messages: readonly { networkId: string; from: string }[]): Promise<void>;
}

/** Who sends a message. */
export interface Sender {
  readonly number: string;
  /** What it calls itself; null when it has not said so. */
  readonly name: string | null;
}

/** What the network of one scope stands on. */
export interface Ground {
  readonly exchange: Exchange;
  readonly profiles: ProfileBook;
  readonly steady: SteadyClock;
}

export function createNetwork({ exchange, profiles, steady }: Ground, clock: Clock): SandboxNetwork {
  return {
    exchange,
    profiles,
    steady,
    async freeNumber() {
      for (;;) {
        const number = `1555${randomInt(1_000_000, 9_999_999)}`;
        if ((await exchange.signedUp([number])).size === 0) return number;
      }
    },
    async onNetwork(numbers) {
      const absent = numbers.filter((number) => ABSENT.test(number));
      const signedUp = absent.length > 0 ? await exchange.signedUp(absent) : new Set();
      return new Set(numbers.filter((number) => !ABSENT.test(number) || signedUp.has(number)));
    },
    async group(networkId) {
      const group = await exchange.group(networkId);
      if (group === undefined) throw new AppError('not_found', 'The group does not exist on the network');
      return group;
    },
    carry({ number: from, name }, { networkId, chat, content, replyTo }, timestamp, group) {
      // A phone files a direct chat under the other side's number.
      const filedUnder: NetworkChat = chat.type === 'direct' ? { type: 'direct', id: from } : chat;
      const event: NetworkEvent = {
        type: 'message',
        networkId,
        chat: filedUnder,
        from,
        ...(name !== null && { senderName: name }),
        content,
        timestamp,
        replyTo,
      };
      const to = othersOf(from, chat, group);
      const parcel = { to, event, ...sentIn(chat, from, steady.fromWall(timestamp)), receiptTo: from };
      // What could not be kept is carried again when the sender's session comes back: it has no receipt.
      setImmediate(() => exchange.deliver(parcel).catch(() => {}));
    },
    tell: (from, chat, group, event) =>
      exchange.deliver({ to: othersOf(from, chat, group), event, ...sentIn(chat, from, steady.now()) }),
    async signOff(number, sessionId) {
      await exchange.forget(number, sessionId);
      await profiles.forget(number, sessionId);
    },
    async read(reader, messages) {
      const bySender = Map.groupBy(messages, ({ from }) => from);
      for (const [sender, theirs] of bySender) {
        if (sender === reader) continue;
        const networkIds = theirs.map(({ networkId }) => networkId);
        const event: NetworkEvent = { type: 'receipt', networkIds, status: 'read', timestamp: clock.now() };
        await exchange.deliver({ to: [sender], event });
      }
    },
  };
}

function othersOf(from: string, chat: NetworkChat, group: NetworkGroup | undefined): string[] {
  if (chat.type === 'direct') return [chat.id];
  return (group?.participants ?? []).map(({ phoneNumber }) => phoneNumber).filter((number) => number !== from);
}

function sentIn(chat: NetworkChat, from: string, sentAt: number): Pick<Parcel, 'sentAt' | 'directFrom'> {
  return chat.type === 'direct' ? { sentAt, directFrom: from } : { sentAt };
}
