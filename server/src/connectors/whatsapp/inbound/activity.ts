import type { BinaryNode, Chat, PresenceData, WACallEvent, WAPresence } from 'baileys';
import { KeyedQueue } from '../../../async.ts';
import { AppError } from '../../../errors.ts';
import type { CallOutcome } from '../../contract/calls.ts';
import type { NetworkEvent } from '../../contract/events.ts';
import type { Presence } from '../../contract/presence.ts';
import { RingingCalls } from '../../ringingCalls.ts';
import { FOREVER } from '../outbound/chatState.ts';
import { toOwnId } from '../outbound/messageIds.ts';
import type { Addresses } from '../people/addresses.ts';
import type { Session } from '../session.ts';
import { idsOf } from './receipts.ts';

const PRESENCES: Readonly<Record<WAPresence, Presence>> = {
  available: 'online',
  unavailable: 'offline',
  composing: 'typing',
  recording: 'recording',
  paused: 'paused',
};

const OUTCOMES: Partial<Record<WACallEvent['status'], CallOutcome>> = {
  reject: 'rejected',
  accept: 'answered',
  timeout: 'missed',
  terminate: 'ended', // WhatsApp does not report why
};

/** A change of a chat on another device of the account. */
type ChatUpdated = Extract<NetworkEvent, { type: 'chat_updated' }>;

/** Reports what people do besides writing: presence, calls, and changes of chats on the account's other devices. */
export class Activity {
  readonly #session: Session;
  readonly #addresses: Addresses;
  readonly #queue = new KeyedQueue();
  readonly calls: RingingCalls;

  /** Created after the receiver, which takes over the receipts. */
  constructor(session: Session, addresses: Addresses) {
    this.#session = session;
    this.#addresses = addresses;
    const { store, host, reporter } = session;
    const { clock, log } = host;
    const callHost = { store, clock, log, onEvent: (event: NetworkEvent) => host.onEvent(event) };
    this.calls = new RingingCalls(callHost, (event) => reporter.require(event));
    session.link.on('socket', ({ ev, ws }) => {
      ev.on('presence.update', ({ id, presences }) => {
        for (const [jid, presence] of Object.entries(presences)) this.#try(() => this.#presence(id, jid, presence));
      });
      ev.on('call', (calls) => {
        for (const call of calls) this.#inOrder(() => this.#call(call));
      });
      ev.on('chats.update', (chats) => {
        for (const chat of chats) this.#inOrder(() => this.#chat(chat));
      });
      ws.on('CB:receipt', (node: BinaryNode) => this.#inOrder(() => this.#readElsewhere(node)));
    });
  }

  /** @throws {AppError} `not_found` if no such call rings */
  async reject(callId: string): Promise<void> {
    const { jid } = this.calls.get(callId) ?? {};
    if (jid === undefined) throw new AppError('not_found', `The call ${callId} does not ring`);
    await this.#session.requests.ask((socket) => socket.rejectCall(callId, jid));
    // The network reports the end to the other devices only.
    await this.#queue.run('', () => this.calls.end(callId, 'rejected'));
  }

  /** A call that ends at once must not be reported before it begins. */
  #inOrder(work: () => Promise<void>): void {
    this.#try(() => this.#queue.run('', work));
  }

  #try(work: () => Promise<void>): void {
    work().catch((error) => this.#session.host.log.warn({ err: error }, 'failed to report an activity'));
  }

  /** Not repeated if it cannot be stored, because it is outdated by then. */
  async #presence(chatJid: string, jid: string, { lastKnownPresence, lastSeen }: PresenceData): Promise<void> {
    const { self, host } = this.#session;
    if (self.is(jid)) return;
    await host.onEvent({
      type: 'presence',
      chat: await this.#addresses.chatOf(chatJid),
      from: await this.#addresses.digitsOf(jid),
      presence: PRESENCES[lastKnownPresence],
      ...(lastSeen !== undefined && { lastSeen: lastSeen * 1000 }),
      timestamp: host.clock.now(),
    });
  }

  async #call({ id, from: jid, callerPn, groupJid, isVideo = false, date, status }: WACallEvent): Promise<void> {
    const outcome = OUTCOMES[status];
    if (status !== 'offer' && outcome === undefined) return;
    if (this.#session.self.is(jid)) return;
    const timestamp = date.getTime();
    // One that does not ring has ended already, or rang before the session was connected.
    if (outcome !== undefined) return void (await this.calls.end(id, outcome, timestamp));
    if (this.calls.get(id) !== undefined || this.calls.hasEnded(id)) return;
    const from = await this.#addresses.digitsOf(jid, callerPn);
    const chat =
      groupJid === undefined ? ({ type: 'direct', id: from } as const) : await this.#addresses.chatOf(groupJid);
    const event = { type: 'call', callId: id, chat, from, isVideo, timestamp } as const;
    await this.calls.add({ event, jid });
    await this.#session.reporter.report(event);
  }

  /** That a chat was read arrives as a receipt, which says up to which message. */
  async #chat({ id, archived, pinned, muteEndTime }: Partial<Chat>): Promise<void> {
    const change = {
      ...(typeof archived === 'boolean' && { archived }),
      ...(pinned !== undefined && { pinned: Boolean(pinned) }),
      ...(muteEndTime !== undefined && { mutedUntil: mutedUntil(muteEndTime) }),
    };
    if (id && Object.keys(change).length > 0) await this.#changed(id, change);
  }

  /** The receipt by which another device of the account says that it has read messages. */
  async #readElsewhere(node: BinaryNode): Promise<void> {
    const { self } = this.#session;
    const { type = '', from, participant, recipient } = node.attrs;
    if (!['read', 'read-self'].includes(type) || !self.is(participant ?? from)) return;
    const chat = participant === undefined ? recipient : from;
    if (chat === undefined) return;
    for (const id of idsOf(node)) await this.#changed(chat, { isRead: true, readUpTo: toOwnId(id) });
  }

  async #changed(jid: string, change: Omit<ChatUpdated, 'type' | 'chat'>): Promise<void> {
    const { baileys, reporter } = this.#session;
    if (!baileys.isJidGroup(jid) && !baileys.isPnUser(jid) && !baileys.isLidUser(jid)) return;
    await reporter.report({ type: 'chat_updated', chat: await this.#addresses.chatOf(jid), ...change });
  }
}

export function mutedUntil(muteEndTime: Chat['muteEndTime']): number | null {
  if (!muteEndTime) return null;
  return Number(muteEndTime) < 0 ? FOREVER : Number(muteEndTime);
}
