import type { AnyMessageContent, MiscMessageGenerationOptions, proto, WAMessageKey, WASocket } from 'baileys';
import { KeyedQueue, settledWithin } from '../../../async.ts';
import { AppError } from '../../../errors.ts';
import type { MessageType } from '../../../events/networkTypes.ts';
import { FILE_MS } from '../../contract/connector.ts';
import type { AlbumPart, Vote } from '../../contract/contentParts.ts';
import type { ArrivedMessage, MessageKey, NetworkChat } from '../../contract/messageKey.ts';
import type { OutgoingMessage } from '../../contract/outgoing.ts';
import type { Baileys } from '../link/load.ts';
import { LostSocketError } from '../link/requests.ts';
import { type Addresses, numberAddress } from '../people/addresses.ts';
import type { Groups } from '../people/groups.ts';
import type { MemberAddresses } from '../people/memberAddresses.ts';
import type { OutdatedLids } from '../people/outdatedLids.ts';
import { toSealedEdit, toSealedReaction } from '../sealed/ownChanges.ts';
import type { Session } from '../session.ts';
import type { Acknowledgements } from './acknowledgements.ts';
import { type DeviceSessions, lacksKeys } from './deviceSessions.ts';
import { makeMessage } from './madeMessages.ts';
import { addressMentions, keepMentions } from './mentions.ts';
import { toWireId } from './messageIds.ts';
import { keyOf, quotedOf } from './messageKeys.ts';
import { toBaileysContent } from './outgoingContent.ts';
import type { Pacing } from './pacing.ts';
import type { Recipients } from './recipients.ts';
import { withCaption } from './richContent.ts';
import {
  ANSWER_REFUSED,
  BUSY,
  NO_NEW_CHATS,
  refused,
  sendFailure,
  UNCONFIRMED,
  WARNINGS,
  WITHOUT_CHAT,
  WRONG_ADDRESSES,
} from './sendErrors.ts';
import { editSent, findSent, keepSent, type Restore, withdrawSent } from './sentMessages.ts';
import { stanzaOptionsOf } from './stanzaOptions.ts';
import type { StatusAddresses } from './statusAudience.ts';
import { toVote } from './votes.ts';

/** Callers of the host wait half a minute, plus the time for a file. This leaves some of it for the answer. */
const TIMEOUT_MS = 25_000;

/**
 * Limit for fetching the keys for a message to many, and for each pause in its encryption: 2,500 devices, at about
 * 3 ms of CPU each on a free core. The caller may have its answer by then, which says that the message can still go out.
 * Ending the connection would only begin the work again (tulir/whatsmeow#1077: 30 s for 700 to 1,000 members).
 */
const ENCRYPTION_MS = 2 * 60_000;

/** Baileys encrypts one message of a session at a time: a later one waits this long for its turn, or until its deadline. */
const MIN_TURN_MS = 5000;

/** A message on its way to the server, over one connection or several. */
interface Delivery {
  /** The first one is used. The second one is for an answer that WhatsApp refuses at the first. */
  readonly addresses: readonly [string, ...string[]];
  /** For a status, in place of the second address. */
  readonly audience?: StatusAddresses;
  /** Receives the users with a device that the message was encrypted for. */
  readonly reached?: Set<string>;
  /** Left out for a status or a post. */
  readonly chat?: NetworkChat;
  readonly makeContent: () => Promise<AnyMessageContent>;
  /** Takes the place of the content that Baileys would make. */
  readonly wire?: proto.IMessage | undefined;
  readonly prepare?: Prepare | undefined;
  readonly options: MiscMessageGenerationOptions & { readonly messageId: string };
  readonly deadline: number;
  readonly hasFile: boolean;
}

interface Progress {
  /** Whether the server may have the message although it did not confirm it. */
  isUncertain: boolean;
  /** Call it after the message, once its sessions were repaired. */
  endRepair?: () => Promise<void>;
}

/** Something that is for no chat. */
type Post = Omit<Delivery, 'addresses' | 'chat' | 'deadline'> & { readonly jid: string };

interface Accepted extends ArrivedMessage {
  readonly timestamp: number;
  /** The number of a post in its channel. */
  readonly serverId: string | null;
}

/** A message that changes another one, or its chat. */
interface Change {
  /** Left out if `wire` is given. */
  readonly content?: AnyMessageContent;
  readonly wire?: proto.IMessage;
  /** New if omitted. */
  readonly id?: string;
  readonly prepare?: Prepare;
}

/** Runs before something is sent. Returns how to undo it. */
type Prepare = () => Promise<Restore>;

/** The content of a change that has its own form on the wire. */
const NOTHING: AnyMessageContent = { text: '' };

interface Options {
  readonly session: Session;
  readonly acknowledgements: Acknowledgements;
  readonly pacing: Pacing;
  readonly recipients: Recipients;
  readonly addresses: Addresses;
  readonly groups: Groups;
  readonly deviceSessions: DeviceSessions;
  readonly members: MemberAddresses;
  readonly outdatedLids: OutdatedLids;
}

export class Sender {
  readonly #session: Session;
  readonly #acknowledgements: Acknowledgements;
  readonly #pacing: Pacing;
  readonly #recipients: Recipients;
  readonly #addresses: Addresses;
  readonly #groups: Groups;
  readonly #deviceSessions: DeviceSessions;
  readonly #members: MemberAddresses;
  readonly #outdatedLids: OutdatedLids;
  readonly #changes = new Set<Promise<unknown>>();
  readonly #turns = new KeyedQueue();

  constructor(options: Options) {
    const { session, acknowledgements, pacing, recipients, addresses, groups, deviceSessions, members } = options;
    this.#session = session;
    this.#acknowledgements = acknowledgements;
    this.#pacing = pacing;
    this.#recipients = recipients;
    this.#addresses = addresses;
    this.#groups = groups;
    this.#deviceSessions = deviceSessions;
    this.#members = members;
    this.#outdatedLids = options.outdatedLids;
  }

  async send(message: OutgoingMessage): Promise<ArrivedMessage & { timestamp: number }> {
    const { host } = this.#session;
    const deadline = host.clock.now() + TIMEOUT_MS;
    await this.#pacing.wait();
    let { chat } = message;
    if (chat.type === 'direct') chat = { ...chat, id: await this.#requireRecipient(chat.id, deadline) };
    const addresses = await this.#addresses.addressesOf(chat);
    const quoted = await quotedOf(this.#session, this.#members, { ...message, chat }, addresses[0]);
    const { text, mentions = [] } = message.content;
    const mentioned = await addressMentions(this.#members, chat, { text, mentions });
    const content = { ...message.content, text: mentioned.text };
    const target = { addresses, chat, deadline };
    const album = message.content.album && (await this.#beginAlbum(target, message.content.album));
    const { timestamp, address } = await this.#deliver({
      ...target,
      makeContent: () => toBaileysContent(content, album, mentioned.jids),
      options: {
        messageId: toWireId(message.networkId),
        ...(quoted && { quoted }),
        ...(message.expiresInSeconds && { ephemeralExpiration: message.expiresInSeconds }),
      },
      hasFile: message.content.media !== undefined,
    });
    return { timestamp, ...(address !== undefined && { address }) };
  }

  /** Sends something that is for no chat: a status, or a post in a channel. */
  async post({ jid, ...post }: Post): Promise<Accepted> {
    const deadline = this.#session.host.clock.now() + TIMEOUT_MS;
    await this.#pacing.wait();
    return this.#deliver({ ...post, addresses: [jid], deadline });
  }

  async react(message: MessageKey, emoji: string | null): Promise<void> {
    await this.#change(message, async (key) => {
      const sealed = this.#needsSeal(message.chat) && (await toSealedReaction(this.#session, key, emoji));
      return sealed ? { wire: sealed } : { content: { react: { text: emoji ?? '', key } } };
    });
  }

  async edit(message: MessageKey, text: string, type: MessageType = 'text'): Promise<void> {
    await this.#change(message, async (key) => {
      const id = this.#newId();
      const sent = await findSent(this.#session, key.id ?? '');
      const edited = await keepMentions(this.#addresses, sent, text);
      const prepare = () => editSent(this.#session, key.id ?? '', edited.text, id);
      const caption = type === 'text' ? undefined : this.#withCaption(sent, edited.text);
      const contextInfo = { mentionedJid: edited.jids };
      const plain = caption ?? { extendedTextMessage: { text: edited.text, contextInfo } };
      const sealed = this.#needsSeal(message.chat) ? await toSealedEdit(this.#session, key, plain) : undefined;
      const wire = sealed ?? (caption && this.#editedCaption(key, caption));
      if (wire !== undefined) return { wire, id, prepare };
      // No preview, as in a new text: the server would fetch an address that anybody may have written.
      return { content: { text: edited.text, mentions: edited.jids, linkPreview: null, edit: key }, id, prepare };
    });
  }

  async remove(message: MessageKey): Promise<void> {
    await this.#change(message, (key) => ({
      content: { delete: key },
      prepare: () => withdrawSent(this.#session, key.id ?? ''),
    }));
  }

  async vote(message: MessageKey, vote: Vote): Promise<void> {
    await this.#change(message, async (key) => ({ wire: await toVote(this.#session, key, vote) }));
  }

  /** Clients show only sealed changes in the announcement group of a community (see `sealed/ownChanges.ts`). */
  #needsSeal({ type, id }: NetworkChat): boolean {
    return type === 'group' && this.#groups.isAnnouncementGroup(id);
  }

  /** @throws {AppError} `message_state` if the original is no longer kept */
  #withCaption(sent: proto.IMessage | undefined, text: string): proto.IMessage {
    const edited = sent && withCaption(sent, text);
    if (edited === undefined)
      throw new AppError('message_state', 'The caption can no longer be edited: the session has sent too much since');
    return edited;
  }

  #editedCaption(key: WAMessageKey, editedMessage: proto.IMessage): proto.IMessage {
    const { MESSAGE_EDIT } = this.#session.baileys.proto.Message.ProtocolMessage.Type;
    const timestampMs = this.#session.host.clock.now();
    return { protocolMessage: { key, type: MESSAGE_EDIT, editedMessage, timestampMs } };
  }

  /** Sends the head of an album before the first of its files. Its id is the same for all of them, so it goes out once. */
  async #beginAlbum(
    target: Pick<Delivery, 'addresses' | 'chat' | 'deadline'>,
    { albumId, images = 0, videos = 0 }: AlbumPart,
  ): Promise<WAMessageKey> {
    const messageId = toWireId(albumId);
    if ((await findSent(this.#session, messageId)) === undefined) {
      const album = { expectedImageCount: images, expectedVideoCount: videos };
      await this.#deliver({
        ...target,
        makeContent: async () => ({ album }),
        options: { messageId },
        hasFile: false,
      });
    }
    return { id: messageId, remoteJid: target.addresses[0], fromMe: true };
  }

  /** @param seconds null removes the pin */
  async pin(message: MessageKey, seconds: number | null): Promise<void> {
    const { PIN_FOR_ALL, UNPIN_FOR_ALL } = this.#session.baileys.proto.PinInChat.Type;
    const type = seconds === null ? UNPIN_FOR_ALL : PIN_FOR_ALL;
    await this.#change(message, (pin) => ({
      content: { pin, type, ...(seconds !== null && { time: seconds as 86_400 }) },
    }));
  }

  /** Sets the timer of a direct chat. */
  async setDisappearing(chat: NetworkChat, seconds: number | null): Promise<void> {
    await this.#sendChange(chat, () => ({ content: { disappearingMessagesInChat: seconds ?? 0 } }));
  }

  /** Resolves once the reactions, edits and deletions in flight are answered, or after `timeoutMs`. */
  async drainChanges(timeoutMs: number): Promise<void> {
    await settledWithin(this.#session.host.clock, timeoutMs, Promise.allSettled(this.#changes));
  }

  /** Sends a change of a message. Resolves when the server has acknowledged it. */
  #change(message: MessageKey, make: (key: WAMessageKey) => Change | Promise<Change>): Promise<void> {
    return this.#sendChange(message.chat, async (present) => {
      const chatAddress = message.chat.type === 'direct' ? (message.address ?? present) : present;
      return make(await keyOf(this.#session, this.#members, message, chatAddress));
    });
  }

  #sendChange(chat: NetworkChat, make: (address: string) => Change | Promise<Change>): Promise<void> {
    const send = async () => {
      const addresses = await this.#addresses.addressesOf(chat);
      const { content = NOTHING, wire, prepare, id } = await make(addresses[0]);
      const options = { messageId: id ?? this.#newId() };
      const deadline = this.#session.host.clock.now() + TIMEOUT_MS;
      const makeContent = async () => content;
      await this.#deliver({ addresses, chat, makeContent, wire, prepare, options, deadline, hasFile: false });
    };
    const work = send();
    this.#changes.add(work);
    const leave = () => this.#changes.delete(work);
    work.then(leave, leave);
    return work;
  }

  /** @throws {AppError} `session_not_connected` */
  #newId(): string {
    const { baileys, link } = this.#session;
    return baileys.generateMessageIDV2(link.requireSocket().user?.id);
  }

  /** @returns the number that the network knows the recipient by */
  async #requireRecipient(phoneNumber: string, deadline: number): Promise<string> {
    const { link, requests, host } = this.#session;
    for (;;) {
      const socket = await link.whenOpen(Math.max(0, deadline - host.clock.now()));
      try {
        return await requests.run(socket, () => this.#recipients.require(socket, phoneNumber));
      } catch (error) {
        if (!(error instanceof LostSocketError) || host.clock.now() > deadline) throw sendFailure(error);
      }
    }
  }

  /** Prepares and sends a message. The preparation is undone if the network certainly did not accept the message. */
  async #deliver(delivery: Delivery): Promise<Accepted> {
    const restore = await delivery.prepare?.();
    const progress: Progress = { isUncertain: false };
    try {
      return await this.#attempt(delivery, progress);
    } catch (error) {
      if (!progress.isUncertain) await this.#undo(restore);
      throw error;
    } finally {
      // Not awaited: the caller has its answer, and the next message waits for the same lock.
      progress.endRepair?.().catch((error) => {
        this.#session.host.log.warn({ err: error }, 'failed to renew the group key of skipped devices');
      });
    }
  }

  async #undo(restore: Restore | undefined): Promise<void> {
    await restore?.().catch((error) => {
      this.#session.host.log.warn({ err: error }, 'failed to restore a sent message for retries');
    });
  }

  /** Repeated on the next connection until the server answers. It stays one message, because the id stays the same. */
  async #attempt(
    { addresses, audience, reached, chat, makeContent, wire, options, deadline, hasFile }: Delivery,
    progress: Progress,
  ): Promise<Accepted> {
    const { link, host, baileys } = this.#session;
    const { clock, log } = host;
    const { messageId } = options;
    let made = await findSent(this.#session, messageId);
    let mayHaveBeenSent = made !== undefined;
    made ??= wire;
    let until = hasFile ? clock.now() + FILE_MS : deadline;
    let isRepeated = false;
    let [target, ...others] = targetsOf(addresses, audience);
    let hasRenewed = false;
    let isSecond = false;
    for (;;) {
      const socket = await link.whenOpen(Math.max(0, until - clock.now())).catch((cause: unknown) => {
        throw mayHaveBeenSent ? new AppError('send_failed', UNCONFIRMED, { cause }) : cause;
      });
      const { jid, ...readers } = target;
      if (made === undefined) {
        // Not in turn, because an upload would delay all others.
        const make = async () => makeMessage(this.#session, socket, jid, await makeContent(), options);
        try {
          made = await this.#session.requests.run(socket, make, hasFile ? FILE_MS : TIMEOUT_MS);
        } catch (error) {
          if (error instanceof LostSocketError && clock.now() < until) continue;
          throw sendFailure(error);
        }
        if (hasFile) until = clock.now() + TIMEOUT_MS; // a file has its own time
      }
      // The same message on each connection, with its uploaded file and its secret.
      const content = made;
      const relayed = { messageId, ...stanzaOptionsOf(this.#session, content), ...readers };
      const relay = () => {
        mayHaveBeenSent = true;
        const sending = () => socket.relayMessage(jid, content, relayed);
        return reached === undefined ? sending() : this.#deviceSessions.noteReached(reached, sending);
      };
      const limitMs = isShared(baileys, jid) ? ENCRYPTION_MS : TIMEOUT_MS;
      const answer = await this.#acknowledgements.answerTo(messageId, chat?.id ?? jid, async () => {
        await this.#inTurn(until, () => this.#dispatch(socket, messageId, relay, limitMs));
        // The time of the encryption does not count, so that a lost acknowledgement leaves time for another connection.
        if (!isRepeated) until = clock.now() + TIMEOUT_MS;
        isRepeated = true;
      });
      if (answer === 'lost') {
        progress.isUncertain ||= mayHaveBeenSent;
        if (clock.now() < until) continue;
        throw mayHaveBeenSent ? new AppError('send_failed', UNCONFIRMED) : new AppError('session_not_connected');
      }
      if ('failure' in answer) {
        const { failure } = answer;
        if (progress.endRepair !== undefined || !lacksKeys(failure)) throw sendFailure(failure);
        const repair = (signal: AbortSignal) => this.#deviceSessions.repair(socket, jid, signal);
        const run = () => this.#session.requests.run(socket, repair, TIMEOUT_MS);
        progress.endRepair = await this.#inTurn(until, run).catch((error) => {
          throw sendFailure(error);
        });
        mayHaveBeenSent = progress.isUncertain;
        continue;
      }
      if ('refusal' in answer) {
        const renewed =
          answer.hasOutdatedLid && !hasRenewed ? await this.#renewedAddresses(socket, chat, jid) : undefined;
        hasRenewed ||= answer.hasOutdatedLid;
        if (renewed !== undefined) {
          [target, ...others] = targetsOf(renewed, undefined);
          mayHaveBeenSent = progress.isUncertain;
          continue;
        }
        const isAnswer = answer.refusal === NO_NEW_CHATS && (await this.#hasWritten(chat));
        const isStatus = answer.refusal === WRONG_ADDRESSES && audience !== undefined;
        const [next, ...rest] = isAnswer || isStatus ? others : [];
        if (next === undefined) throw this.#refused(answer.refusal, chat, isAnswer);
        [target, others] = [next, rest];
        isSecond = true;
        mayHaveBeenSent = progress.isUncertain;
        continue;
      }
      // Each refused attempt can count as another new chat (WhiskeySockets/Baileys, `handleBadAck`).
      if (isSecond && chat !== undefined) this.#addresses.prefer(chat, jid);
      // Not awaited: it shares the transaction that stores the answer.
      if (made !== undefined)
        keepSent(this.#session, messageId, made, addresses, audience?.flat()).catch((error) =>
          log.warn({ err: error }, 'failed to store a sent message for retries'),
        );
      const { timestamp, serverId = null } = answer;
      return { timestamp, serverId, ...(chat?.type === 'direct' && numberAddress(baileys, jid)) };
    }
  }

  /** Returns the addresses of a chat whose LID was outdated; undefined if the first one has not changed. */
  async #renewedAddresses(
    socket: WASocket,
    chat: NetworkChat | undefined,
    jid: string,
  ): Promise<Delivery['addresses'] | undefined> {
    if (chat?.type !== 'direct') return undefined;
    await this.#outdatedLids.renew(socket, jid);
    const addresses = await this.#addresses.addressesOf(chat);
    return addresses[0] === jid ? undefined : addresses;
  }

  /** Whether the person of a direct chat has written to the session. */
  async #hasWritten(chat: NetworkChat | undefined): Promise<boolean> {
    return chat?.type === 'direct' && (await this.#session.host.lastIncoming(chat.id)) !== null;
  }

  /**
   * Returns the error of a refusal, and reports one that comes before a ban.
   * @param isAnswer whether the message went to somebody who has written to the session, which starts no chat
   */
  #refused(refusal: string, chat: NetworkChat | undefined, isAnswer: boolean): AppError {
    if (isAnswer) return new AppError('send_failed', ANSWER_REFUSED);
    // A message to a group, a status or a channel starts no chat.
    if (refusal === NO_NEW_CHATS && chat?.type !== 'direct') return refused(refusal, WITHOUT_CHAT);
    const { reporter, host } = this.#session;
    const warning = WARNINGS[refusal];
    if (warning !== undefined) reporter.reportInOrder({ type: 'warned', warning, timestamp: host.clock.now() });
    return refused(refusal);
  }

  /**
   * Runs work one after the other, so that the limit of each begins with its turn.
   * @throws {AppError} `send_failed` if its turn does not come in time; the work never runs then
   */
  async #inTurn<T>(until: number, work: () => Promise<T>): Promise<T> {
    const { clock } = this.#session.host;
    const { promise: late, reject } = Promise.withResolvers<never>();
    let isLate = false;
    const cancel = clock.after(Math.max(MIN_TURN_MS, until - clock.now()), () => {
      isLate = true;
      reject(new AppError('send_failed', BUSY));
    });
    const done = this.#turns.run('', async () => {
      cancel();
      return isLate ? late : work();
    });
    return Promise.race([done, late]);
  }

  /** The connection is replaced if the message is neither encrypted for a device nor written within `limitMs`. */
  #dispatch<T>(socket: WASocket, messageId: string, work: () => Promise<T>, limitMs: number): Promise<T> {
    const abandonOnAbort = (signal: AbortSignal) => {
      signal.addEventListener('abort', () => this.#acknowledgements.abandon(messageId));
      return work();
    };
    return this.#session.requests.run(socket, abandonOnAbort, limitMs, this.#deviceSessions.observeWork());
  }
}

/** An address, and for a status the people who see it. */
interface Target {
  readonly jid: string;
  readonly statusJidList?: string[];
}

function targetsOf([jid, ...others]: Delivery['addresses'], audience: Delivery['audience']): [Target, ...Target[]] {
  if (audience === undefined) return [{ jid }, ...others.map((other) => ({ jid: other }))];
  const [first, ...rest] = audience.map((statusJidList) => ({ jid, statusJidList: [...statusJidList] }));
  return [first ?? { jid }, ...rest];
}

/** Whether it is encrypted for the devices of many people. */
const isShared = ({ isJidGroup, isJidStatusBroadcast }: Baileys, jid: string): boolean =>
  isJidGroup(jid) === true || isJidStatusBroadcast(jid);
