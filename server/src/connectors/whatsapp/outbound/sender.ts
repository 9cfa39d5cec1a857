import type { AnyMessageContent, proto, WAMessageKey } from 'baileys';
import { settledWithin } from '../../../async.ts';
import { AppError } from '../../../errors.ts';
import type { MessageType } from '../../../events/networkTypes.ts';
import type { AlbumPart, Vote } from '../../contract/contentParts.ts';
import type { ArrivedMessage, MessageKey, NetworkChat } from '../../contract/messageKey.ts';
import type { OutgoingMessage } from '../../contract/outgoing.ts';
import { LostSocketError } from '../link/requests.ts';
import type { Addresses } from '../people/addresses.ts';
import type { Groups } from '../people/groups.ts';
import type { MemberAddresses } from '../people/memberAddresses.ts';
import { toSealedEdit, toSealedReaction } from '../sealed/ownChanges.ts';
import type { Session } from '../session.ts';
import { addressMentions, keepMentions } from './mentions.ts';
import { toWireId } from './messageIds.ts';
import { keyOf, quotedOf } from './messageKeys.ts';
import { toBaileysContent } from './outgoingContent.ts';
import type { Pacing } from './pacing.ts';
import type { Recipients } from './recipients.ts';
import { type Accepted, type Delivery, type Prepare, type Relay, TIMEOUT_MS } from './relay.ts';
import { withCaption } from './richContent.ts';
import { sendFailure } from './sendErrors.ts';
import { editSent, findSent, withdrawSent } from './sentMessages.ts';
import { toVote } from './votes.ts';

/** Something that is for no chat. */
type Post = Omit<Delivery, 'addresses' | 'chat' | 'deadline'> & { readonly jid: string };

/** A message that changes another one, or its chat. */
interface Change {
  /** Left out if `wire` is given. */
  readonly content?: AnyMessageContent;
  readonly wire?: proto.IMessage;
  /** New if omitted. */
  readonly id?: string;
  readonly prepare?: Prepare;
}

/** The content of a change that has its own form on the wire. */
const NOTHING: AnyMessageContent = { text: '' };

interface Options {
  readonly session: Session;
  readonly relay: Relay;
  readonly pacing: Pacing;
  readonly recipients: Recipients;
  readonly addresses: Addresses;
  readonly groups: Groups;
  readonly members: MemberAddresses;
}

export class Sender {
  readonly #session: Session;
  readonly #relay: Relay;
  readonly #pacing: Pacing;
  readonly #recipients: Recipients;
  readonly #addresses: Addresses;
  readonly #groups: Groups;
  readonly #members: MemberAddresses;
  readonly #changes = new Set<Promise<unknown>>();

  constructor(options: Options) {
    const { session, relay, pacing, recipients, addresses, groups, members } = options;
    this.#session = session;
    this.#relay = relay;
    this.#pacing = pacing;
    this.#recipients = recipients;
    this.#addresses = addresses;
    this.#groups = groups;
    this.#members = members;
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
    const { timestamp, address } = await this.#relay.deliver({
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
    return this.#relay.deliver({ ...post, addresses: [jid], deadline });
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

  /**
   * Sends the head of an album before the first of its files. Its id is the same for all of them, so it goes out once.
   */
  async #beginAlbum(
    target: Pick<Delivery, 'addresses' | 'chat' | 'deadline'>,
    { albumId, images = 0, videos = 0 }: AlbumPart,
  ): Promise<WAMessageKey> {
    const messageId = toWireId(albumId);
    if ((await findSent(this.#session, messageId)) === undefined) {
      const album = { expectedImageCount: images, expectedVideoCount: videos };
      await this.#relay.deliver({
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
      await this.#relay.deliver({ addresses, chat, makeContent, wire, prepare, options, deadline, hasFile: false });
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
}
