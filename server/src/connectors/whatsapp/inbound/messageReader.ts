import type { proto, WAMessage, WAMessageKey } from 'baileys';
import type { MessageContent } from '../../contract/content.ts';
import type { NetworkEvent } from '../../contract/events.ts';
import type { ArrivedMessage, NetworkChat } from '../../contract/messageKey.ts';
import type { NetworkMedia } from '../../contract/networkMedia.ts';
import { type Association, associationOf } from '../content/associations.ts';
import { type Parsed, type ParsedMedia, parseContent } from '../content/incomingContent.ts';
import { unwrap } from '../content/kinds.ts';
import { quotedOf } from '../content/quoted.ts';
import { readWire } from '../content/wireKinds.ts';
import type { Baileys } from '../link/load.ts';
import { toOwnId } from '../outbound/messageIds.ts';
import { editSent, withdrawKept } from '../outbound/sentMessages.ts';
import { type Addresses, numberAddress, STATUS } from '../people/addresses.ts';
import type { Groups } from '../people/groups.ts';
import type { MemberAddresses } from '../people/memberAddresses.ts';
import { mentionsIn } from '../people/mentionText.ts';
import { type SecretEntry, secretEntryOf } from '../sealed/messageSecrets.ts';
import { openChange } from '../sealed/openedChanges.ts';
import { keepPoll } from '../sealed/polls.ts';
import { readEventAnswer, readVote } from '../sealed/votes.ts';
import type { Session } from '../session.ts';
import { type Arrival, changeTime } from './changeTime.ts';
import { openIncomingFile } from './incomingFile.ts';
import type { Attributes, Received } from './journal.ts';
import { AWAITED_TEXT } from './placeholders.ts';
import { statusOf } from './statuses.ts';

/** Reading of a received message. */
export interface Reading {
  /** Left out if it has no content for people. */
  readonly event?: NetworkEvent | undefined;
  /** To be kept with the event. */
  readonly secret?: SecretEntry | undefined;
  /** It cannot be read before the message with this id (see `secretIdOf`) arrives. */
  readonly waitsFor?: string;
}

type Waits = Required<Pick<Reading, 'waitsFor'>>;

interface ReadOptions extends Pick<Arrival, 'firstReceivedAt'> {
  readonly withFile: boolean;
}

interface Decoded {
  readonly key: WAMessageKey;
  readonly chat: NetworkChat;
  readonly from: string;
  /** Time of the change. */
  readonly timestamp: number;
  /** The message without its wrappers. */
  readonly whole: proto.IMessage;
  /** The message with its wrappers. */
  readonly layers: readonly proto.IMessage[];
  readonly association: Association | undefined;
}

interface StatusMessage {
  readonly key: WAMessageKey;
  readonly whole: proto.IMessage;
  readonly unknownKind: string | undefined;
  readonly isOwn: boolean;
  readonly fullMessage: WAMessage;
  readonly withFile: boolean;
}

interface Options {
  readonly session: Session;
  readonly addresses: Addresses;
  readonly groups: Groups;
  readonly members: MemberAddresses;
}

export class MessageReader {
  readonly #session: Session;
  readonly #addresses: Addresses;
  readonly #groups: Groups;
  readonly #members: MemberAddresses;

  constructor({ session, addresses, groups, members }: Options) {
    this.#session = session;
    this.#addresses = addresses;
    this.#groups = groups;
    this.#members = members;
  }

  /**
   * Returns the event of a message whose content is missing; undefined if it is in no chat here. The host knows its
   * group afterwards.
   * @throws {Error} the envelope is incomplete
   */
  async readAwaited(attrs: Attributes): Promise<Extract<NetworkEvent, { type: 'message' }> | undefined> {
    const { fullMessage, isOwn, chat, from, timestamp } = await this.#addressOf(attrs);
    if (chat === undefined) return undefined;
    const address = await this.#arrivalAddress(fullMessage.key, chat, timestamp);
    if (chat.type === 'group') await this.#groups.know(chat.id);
    return {
      type: 'message',
      ...address,
      networkId: ownOrTheirs(fullMessage.key.id, isOwn),
      chat,
      from,
      ...(isOwn ? { isOwn } : fullMessage.pushName && { senderName: fullMessage.pushName }),
      content: { type: 'unsupported', text: AWAITED_TEXT, isAwaited: true },
      timestamp,
      replyTo: null,
      ...(attrs['offline'] !== undefined && { isReplayed: true }),
    };
  }

  /** If it has content for people, the host knows its group afterwards. */
  async read(
    { attrs, message, isReplayed, isResent }: Received,
    { withFile, firstReceivedAt }: ReadOptions,
  ): Promise<Reading> {
    const { baileys, self } = this.#session;
    const { fullMessage, key, isOwn } = this.#envelopeOf(attrs);
    const { whole: decoded, unknownKind } = readWire(baileys, message);
    const inner = decoded.deviceSentMessage?.message ?? decoded;
    const whole = baileys.normalizeMessageContent(inner) ?? inner;
    const association = associationOf(baileys, inner);
    if (key.remoteJid === STATUS && association !== undefined) return {}; // the status is there without it
    if (key.remoteJid === STATUS)
      return { event: await this.#readStatus({ key, whole, unknownKind, isOwn, fullMessage, withFile }) };
    const { chat, from, timestamp } = await this.#addressOf(attrs);
    if (chat === undefined) return {};
    const address = await this.#arrivalAddress(key, chat, timestamp);
    const layers = [whole, inner, decoded];
    const opened = await openChange(this.#session, whole, key);
    if (opened === 'unreadable') return this.#unreadable(key);
    if (opened !== undefined && 'waitsFor' in opened) return opened;
    const plain = opened?.message ?? whole;
    const changedAt = changeTime(plain, { receivedAt: timestamp, firstReceivedAt, isResent });
    const change = await this.#changeOf({ key, chat, from, timestamp: changedAt, whole: plain, layers, association });
    if (change !== undefined && 'waitsFor' in change) return change;
    if (change !== undefined || opened !== undefined) return { event: change };
    const parsed = parseContent(baileys, inner, unknownKind);
    if (parsed === undefined) return {};
    const { message: content, layers: wrappers } = unwrap(inner);
    const around = [...wrappers, decoded];
    if (association !== undefined) {
      const media = withFile ? this.#fileOf({ ...fullMessage, message: whole }, parsed.media) : undefined;
      const networkId = ownOrTheirs(association.parent, isOwn);
      const fileId = ownOrTheirs(key.id, isOwn);
      const event = addedFileOf(association, parsed, media, { networkId, fileId, chat, from, timestamp: changedAt });
      return { event, secret: event && (await secretEntryOf(this.#session, key, around)) };
    }
    if (chat.type === 'group') await this.#groups.know(chat.id);
    // Votes and answers are encrypted with the secret of the poll or event, and own ones as well.
    if (parsed.content.poll !== undefined || parsed.content.type === 'event')
      await keepPoll(this.#session, key, withSecret(content, around));
    const media = withFile ? this.#fileOf({ ...fullMessage, message: whole }, parsed.media) : undefined;
    const { context } = parsed;
    const event: NetworkEvent = {
      type: 'message',
      ...address,
      networkId: ownOrTheirs(key.id, isOwn),
      chat,
      from,
      ...(isOwn ? { isOwn } : fullMessage.pushName && { senderName: fullMessage.pushName }),
      content: await this.#contentOf(parsed, media, isOwn),
      timestamp,
      replyTo: context?.stanzaId ? ownOrTheirs(context.stanzaId, self.is(context.participant)) : null,
      ...(isReplayed && { isReplayed }),
      ...(context?.expiration && { expiresInSeconds: context.expiration }),
    };
    return { event, secret: await secretEntryOf(this.#session, key, around) };
  }

  /** Returns the key of a message as its phone knows it. */
  keyOf(attrs: Attributes): WAMessageKey {
    const { remoteJid, fromMe, id, participant } = this.#envelopeOf(attrs).key;
    return { remoteJid: remoteJid ?? null, fromMe: fromMe ?? false, id: id ?? null, participant: participant ?? null };
  }

  #envelopeOf(attrs: Attributes) {
    const { baileys, self } = this.#session;
    const { id, lid } = self.addresses;
    const { fullMessage } = baileys.decodeMessageNode({ tag: 'message', attrs: { ...attrs } }, id, lid);
    const { key } = fullMessage;
    // In a broadcast list, Baileys knows the number of the session only by one of its two addresses.
    return { fullMessage, key, isOwn: key.fromMe === true || self.is(key.participant) };
  }

  /** Returns the chat of a message, and who wrote it. */
  async #addressOf(attrs: Attributes) {
    const { fullMessage, key, isOwn } = this.#envelopeOf(attrs);
    const chat = await (isOwn ? this.#ownChatOf(key, attrs) : this.#chatOf(key));
    const author = [key.participant || key.remoteJid || '', key.participantAlt || key.remoteJidAlt] as const;
    const from =
      isOwn || chat === undefined ? this.#session.self.phoneNumber : await this.#addresses.digitsOf(...author);
    return { fullMessage, isOwn, chat, from, timestamp: Number(fullMessage.messageTimestamp) * 1000 };
  }

  /** Returns the address that a reference to the message needs, if it is not the usual one of the sender or chat. */
  async #arrivalAddress(
    { remoteJid, participant }: WAMessageKey,
    chat: NetworkChat,
    timestamp: number,
  ): Promise<ArrivedMessage> {
    const { baileys } = this.#session;
    if (chat.type === 'group') {
      const address = participant ? await this.#members.noteMessage(chat.id, participant, timestamp) : undefined;
      return address === undefined ? {} : { address };
    }
    return numberAddress(baileys, baileys.isJidBroadcast(remoteJid ?? '') ? participant : remoteJid);
  }

  #unreadable({ id }: WAMessageKey): Reading {
    const { host } = this.#session;
    host.log.warn({ message: id }, 'failed to read a sealed change of a message');
    host
      .onEvent({ type: 'unreadable', reason: 'sealed_change', isMessage: false })
      .catch((error) => host.log.debug({ err: error }, 'failed to count a sealed change'));
    return {};
  }

  async #readStatus({
    key,
    whole,
    unknownKind,
    isOwn,
    fullMessage,
    withFile,
  }: StatusMessage): Promise<NetworkEvent | undefined> {
    const { baileys, self } = this.#session;
    const parsed = parseContent(baileys, whole, unknownKind);
    return statusOf(baileys, {
      id: key.id ?? '',
      from: isOwn
        ? self.phoneNumber
        : await this.#addresses.digitsOf(key.participant ?? '', key.participantAlt || key.remoteJidAlt),
      isOwn,
      senderName: fullMessage.pushName || undefined,
      timestamp: Number(fullMessage.messageTimestamp) * 1000,
      whole,
      parsed,
      media: withFile ? this.#fileOf({ ...fullMessage, message: whole }, parsed?.media) : undefined,
    });
  }

  /** For each recipient, a message to a broadcast list is a direct one. Channels have no chat. */
  async #chatOf({ remoteJid, remoteJidAlt, participant, participantAlt }: WAMessageKey) {
    const { baileys } = this.#session;
    if (!remoteJid || baileys.isJidStatusBroadcast(remoteJid) || baileys.isJidNewsletter(remoteJid)) return undefined;
    if (baileys.isJidBroadcast(remoteJid))
      return participant ? this.#addresses.chatOf(participant, participantAlt) : undefined;
    return this.#addresses.chatOf(remoteJid, remoteJidAlt);
  }

  /** Undefined for messages between devices, to Meta's assistant, and to a broadcast list: its people are unknown. */
  async #ownChatOf({ remoteJid }: WAMessageKey, attrs: Attributes): Promise<NetworkChat | undefined> {
    const { baileys, self } = this.#session;
    const { recipient } = attrs;
    if (!remoteJid || baileys.isJidBroadcast(remoteJid) || baileys.isJidNewsletter(remoteJid)) return undefined;
    if (baileys.isJidGroup(remoteJid)) return this.#addresses.chatOf(remoteJid);
    if (recipient === undefined || baileys.isJidMetaAI(recipient)) return undefined;
    if (self.is(remoteJid)) return { type: 'direct', id: self.phoneNumber };
    return this.#addresses.chatOf(remoteJid, attrs['peer_recipient_pn']);
  }

  async #changeOf({
    key,
    chat,
    from,
    timestamp,
    whole,
    layers,
    association,
  }: Decoded): Promise<NetworkEvent | Waits | undefined> {
    const { baileys, self } = this.#session;
    const { reactionMessage, protocolMessage, pollUpdateMessage, encEventResponseMessage, pinInChatMessage } = whole;
    if (pinInChatMessage) {
      const networkId = this.#targetOf(pinInChatMessage.key, key);
      const until = pinEndOf(baileys, pinInChatMessage, layers, timestamp);
      const author = await this.#authorOf(pinInChatMessage.key, chat, from);
      return { type: 'message_pinned', networkId, ...author, chat, from, until, timestamp };
    }
    if (reactionMessage) {
      if (reactionMessage.key?.remoteJid === STATUS) {
        const about = { networkId: toOwnId(reactionMessage.key.id ?? ''), from, timestamp };
        return { type: 'status_reaction', ...about, emoji: reactionMessage.text || null };
      }
      const networkId = this.#targetOf(reactionMessage.key, key);
      const author = await this.#authorOf(reactionMessage.key, chat, from);
      return { type: 'reaction', networkId, ...author, from, chat, emoji: reactionMessage.text || null, timestamp };
    }
    if (protocolMessage) {
      const { REVOKE, EPHEMERAL_SETTING } = baileys.proto.Message.ProtocolMessage.Type;
      if (protocolMessage.type === EPHEMERAL_SETTING) {
        // The timer of a group is a setting of the group, and the server checks who may change it.
        if (chat.type === 'group') return undefined;
        return {
          type: 'disappearing',
          chat,
          seconds: protocolMessage.ephemeralExpiration || null,
          timestamp,
        };
      }
      const { id, participant, fromMe } = protocolMessage.key ?? {};
      // In a group, an admin may delete a message of ours.
      const networkId = ownOrTheirs(id, key.fromMe === true ? fromMe === true : self.is(participant));
      if (protocolMessage.type === REVOKE) {
        if (id && key.fromMe === true) await withdrawKept(this.#session, id);
        else if (id && chat.type === 'group' && (await this.#groups.isAdmin(chat.id, from)))
          await withdrawKept(this.#session, id, chat.id);
        const author = await this.#authorOf(protocolMessage.key, chat, from);
        return { type: 'deleted', networkId, ...author, from, timestamp };
      }
      const { editedMessage } = protocolMessage;
      const parsed = editedMessage ? parseContent(baileys, editedMessage) : undefined;
      const edited = parsed?.content;
      // The caption of a file can be removed.
      if (edited === undefined || edited.rawType !== undefined || !(edited.text || CAPTIONED.has(edited.type)))
        return undefined;
      if (id && key.fromMe === true) await editSent(this.#session, id, edited.text);
      const content = await mentionsIn(edited.text, parsed?.context, this.#digitsOf);
      // An app can edit the better file instead (`handlewhatsapp.go` of mautrix-whatsapp).
      const { parent } = (editedMessage && associationOf(baileys, editedMessage)) ?? association ?? {};
      const target = parent === undefined ? networkId : ownOrTheirs(parent, key.fromMe === true);
      const event = edited.event && { event: edited.event };
      return { type: 'edited', networkId: target, from, ...content, ...event, timestamp };
    }
    const mention = whole.groupStatusMentionMessage ?? whole.statusMentionMessage;
    if (mention) {
      const { id, fromMe } = mention.message?.protocolMessage?.key ?? {};
      const status = id ? ownOrTheirs(id, key.fromMe === true && fromMe === true) : null;
      return { type: 'status_mentioned', chat, from, status, timestamp };
    }
    if (whole.requestPhoneNumberMessage)
      return key.fromMe === true ? undefined : { type: 'number_requested', chat, from, timestamp };
    if (encEventResponseMessage) {
      const answered = await readEventAnswer(this.#session, encEventResponseMessage, key);
      if (answered === undefined || 'waitsFor' in answered) return answered;
      return { type: 'event_answer', ...answered, from, chat, timestamp };
    }
    if (!pollUpdateMessage) return undefined;
    const vote = await readVote(this.#session, pollUpdateMessage, key);
    if (vote === undefined || 'waitsFor' in vote) return vote;
    return { type: 'vote', ...vote, from, chat, timestamp };
  }

  /** A key is written from its sender's side: in a direct chat, a message that is not the sender's is ours. */
  #targetOf(target: proto.IMessageKey | null | undefined, key: WAMessageKey): string {
    if (key.fromMe === true) return ownOrTheirs(target?.id, target?.fromMe === true);
    const isOurs = target?.participant ? this.#session.self.is(target.participant) : target?.fromMe !== true;
    return ownOrTheirs(target?.id, isOurs || (key.participant === undefined && target?.fromMe !== true));
  }

  /** Returns the sender of a message in a group that somebody refers to. */
  async #authorOf(target: proto.IMessageKey | null | undefined, chat: NetworkChat, from: string) {
    if (chat.type === 'direct') return {};
    if (target?.participant) return { author: await this.#digitsOf(target.participant) };
    return target?.fromMe === true && { author: from };
  }

  async #contentOf(
    { content, context }: Parsed,
    media: NetworkMedia | undefined,
    isOwn: boolean,
  ): Promise<MessageContent> {
    const { album } = content;
    const { text, mentions } = await mentionsIn(content.text, context, this.#digitsOf);
    const quoted = await quotedOf(this.#session, context, this.#digitsOf);
    return {
      ...content,
      ...quoted,
      text,
      ...(album && { album: { ...album, albumId: ownOrTheirs(album.albumId, isOwn) } }),
      ...(mentions.length > 0 && { mentions }),
      ...(context?.isForwarded === true && { isForwarded: true }),
      ...(media && { media }),
    };
  }

  readonly #digitsOf = async (jid: string): Promise<string> =>
    this.#session.self.is(jid) ? this.#session.self.phoneNumber : this.#addresses.digitsOf(jid);

  #fileOf(message: WAMessage, media: ParsedMedia | undefined): NetworkMedia | undefined {
    if (media === undefined) return undefined;
    const { mimeType, size, fileName, facts, file } = media;
    if (file !== undefined)
      return { mimeType, size, fileName, facts, open: () => openIncomingFile(this.#session, message) };
    this.#session.host.log.warn(
      { message: message.key.id },
      'message has an incomplete file; storing it without the file',
    );
    return undefined;
  }
}

const CAPTIONED: ReadonlySet<MessageContent['type']> = new Set(['image', 'video', 'document']);

/** Returns undefined if the file cannot be fetched, or adds nothing: its parent stays as it is. */
function addedFileOf(
  { role }: Association,
  { content: { type } }: Parsed,
  media: NetworkMedia | undefined,
  about: Pick<Decoded, 'chat' | 'from' | 'timestamp'> & { readonly networkId: string; readonly fileId: string },
): NetworkEvent | undefined {
  if (media === undefined) return undefined;
  if (role === 'live_photo' && type === 'video') return { type: 'live_photo', ...about, media };
  const isBetter = role === 'better_media' && (type === 'image' || type === 'video');
  return isBetter ? { type: 'better_media', ...about, kind: type, media } : undefined;
}

/** A message that the session sent is known by our id. */
export const ownOrTheirs = (wireId: string | null | undefined, isOurs: boolean) =>
  isOurs ? toOwnId(wireId ?? '') : (wireId ?? '');

/** Phones pin a message for a week, unless somebody chooses another time. */
const PIN_SECONDS = 7 * 86_400;
const MAX_PIN_SECONDS = 366 * 86_400;

/** When a pin ends; null if it is removed. */
function pinEndOf(
  { proto: { PinInChat } }: Baileys,
  { type }: proto.Message.IPinInChatMessage,
  layers: readonly proto.IMessage[],
  timestamp: number,
): number | null {
  if (type !== PinInChat.Type.PIN_FOR_ALL) return null;
  const [seconds = PIN_SECONDS] = layers.flatMap(
    ({ messageContextInfo }) => messageContextInfo?.messageAddOnDurationInSecs || [],
  );
  return timestamp + Math.min(seconds, MAX_PIN_SECONDS) * 1000;
}

/** The secret of a poll or event is on it, or on one of its wrappers. */
function withSecret(poll: proto.IMessage, layers: readonly proto.IMessage[]): proto.IMessage {
  const messageContextInfo = layers.find((layer) => layer.messageContextInfo?.messageSecret)?.messageContextInfo;
  return { ...poll, ...(messageContextInfo && { messageContextInfo }) };
}
