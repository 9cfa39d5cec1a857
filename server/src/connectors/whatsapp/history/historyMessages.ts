import { createHash } from 'node:crypto';
import type { proto } from 'baileys';
import type { HistoryChat, HistoryMessage, RemoteFile } from '../../contract/history.ts';
import type { NetworkChat } from '../../contract/messageKey.ts';
import { associationOf } from '../content/associations.ts';
import { type Parsed, parseContent } from '../content/incomingContent.ts';
import { quotedOf } from '../content/quoted.ts';
import { mutedUntil } from '../inbound/activity.ts';
import { ownOrTheirs } from '../inbound/messageReader.ts';
import { keepSent } from '../outbound/sentMessages.ts';
import { numberAddress } from '../people/addresses.ts';
import { mentionsIn } from '../people/mentionText.ts';
import type { Session } from '../session.ts';

type Info = proto.IWebMessageInfo;
type Key = proto.IMessageKey | null | undefined;

/** Finds the digits of a person by an address. */
export type DigitsOf = (jid: string) => Promise<string>;

/** Fields that make a reference to a file long, and are not needed to fetch it. */
const NOT_NEEDED = ['caption', 'jpegThumbnail', 'contextInfo', 'scansSidecar', 'waveform', 'streamingSidecar'];

/** Whether it is a chat with a person or a group. Stories, channels and broadcast lists are none. */
export function isChat({ baileys }: Session, jid: string): boolean {
  if (baileys.isJidMetaAI(jid)) return false;
  return Boolean(
    baileys.isJidGroup(jid) ||
      baileys.isPnUser(jid) ||
      baileys.isLidUser(jid) ||
      baileys.isHostedPnUser(jid) ||
      baileys.isHostedLidUser(jid),
  );
}

/** Converts a chat of the history. Fields that it does not have are left out. */
export function toHistoryChat(chat: NetworkChat, given: proto.IConversation): HistoryChat {
  const has = (field: keyof proto.IConversation) => Object.hasOwn(given, field) && given[field] !== null;
  const unread = Number(given.unreadCount ?? 0);
  return {
    chat,
    ...(chat.type === 'group' && given.name && { name: given.name }),
    // Beyond this, it is a number that the phone uses as a mark.
    ...(unread > 0 && unread < 1_000_000 && { unreadCount: unread }),
    ...(has('archived') && { archived: given.archived === true }),
    ...(has('pinned') && { pinned: Number(given.pinned) > 0 }),
    ...(has('muteEndTime') && { mutedUntil: muteEnd(Number(given.muteEndTime)) }),
  };
}

/** Before this, a time is in seconds. */
const FIRST_MS = 100_000_000_000;

/** The field has no sign, so the mark for a mute without an end is a huge number. */
function muteEnd(time: number): number | null {
  if (time > Number.MAX_SAFE_INTEGER) return mutedUntil(-1);
  return mutedUntil(time > 0 && time < FIRST_MS ? time * 1000 : time);
}

/** Converts a message of the history; undefined if it has no content for people. */
export async function toHistoryMessage(
  session: Session,
  chat: NetworkChat,
  info: Info,
  digitsOf: DigitsOf,
): Promise<HistoryMessage | undefined> {
  const { baileys, self } = session;
  const { key } = info;
  if (!key?.id) return undefined;
  const isOwn = key.fromMe === true;
  const sender = key.participant || info.participant || (chat.type === 'direct' ? key.remoteJid : undefined);
  if (!isOwn && !sender) return undefined;
  const timestamp = Number(info.messageTimestamp ?? 0) * 1000;
  const shared = {
    networkId: ownOrTheirs(key.id, isOwn),
    chat,
    from: isOwn ? self.phoneNumber : chat.type === 'direct' ? chat.id : await digitsOf(sender ?? ''),
    isOwn,
    ...(!isOwn && info.pushName && { senderName: info.pushName }),
    timestamp,
    ...(isOwn && { status: statusOf(info) }),
    ...numberAddress(baileys, chat.type === 'group' ? sender : key.remoteJid),
  };
  if (info.messageStubType === baileys.WAMessageStubType.REVOKE) {
    const deletedAt = Number(info.revokeMessageTimestamp ?? 0) * 1000 || timestamp;
    return { ...shared, content: { type: 'text', text: '' }, replyTo: null, deletedAt };
  }
  const { whole, editedAt } = contentOf(session, info);
  const parsed = whole && parseContent(baileys, whole);
  if (whole === undefined || parsed === undefined) return undefined;
  // A file of another message, which is imported with its first file.
  if (info.message && associationOf(baileys, info.message) !== undefined) return undefined;
  if (isOwn && parsed.content.poll !== undefined) await keepPoll(session, key, whole, info);
  const { context } = parsed;
  const file = fileOf(session, key, whole, parsed);
  const [reactions, votes] = [
    await reactionsOf(session, info, digitsOf),
    await votesOf(session, info, parsed, digitsOf),
  ];
  const { text, mentions } = await mentionsIn(parsed.content.text, context, digitsOf);
  return {
    ...shared,
    content: {
      ...parsed.content,
      ...(await quotedOf(session, context, digitsOf)),
      text,
      ...(mentions.length > 0 && { mentions }),
      ...(context?.isForwarded === true && { isForwarded: true }),
    },
    ...(file && { file }),
    replyTo: context?.stanzaId ? ownOrTheirs(context.stanzaId, self.is(context.participant)) : null,
    ...(reactions.length > 0 && { reactions }),
    ...(votes.length > 0 && { votes }),
    ...(editedAt !== undefined && { editedAt }),
  };
}

/** HD files in one chat, by `placeOf` their message. The HD file is the newer message, so it comes first. */
export class BetterFiles {
  readonly #session: Session;
  readonly #files = new Map<string, Required<Pick<HistoryMessage, 'file' | 'fileId'>>>();
  #chat = '';

  constructor(session: Session) {
    this.#session = session;
  }

  /** Keeps the file if the message is the better version of another one. */
  note(chat: string, { key, message }: Info): void {
    if (chat !== this.#chat) this.#files.clear();
    this.#chat = chat;
    const { baileys } = this.#session;
    const association = message ? associationOf(baileys, message) : undefined;
    const whole = baileys.normalizeMessageContent(message);
    if (association?.role !== 'better_media' || !key || !whole || this.#files.size >= BETTER_FILES) return;
    const parsed = parseContent(baileys, whole);
    const file = parsed && fileOf(this.#session, key, whole, parsed);
    const place = placeOf(key, association.parent);
    // The newest comes first.
    if (file === undefined || this.#files.has(place)) return;
    this.#files.set(place, { file, fileId: ownOrTheirs(key.id, key.fromMe === true) });
  }

  /** Returns the message with its better file. */
  apply(message: HistoryMessage, { key }: Info): HistoryMessage {
    const better = key?.id ? this.#files.get(placeOf(key, key.id)) : undefined;
    const isSameType = better !== undefined && typeOf(better.file) === typeOf(message.file);
    return isSameType ? { ...message, ...better } : message;
  }
}

/** Per chat and part. */
const BETTER_FILES = 1000;

/** Only the sender can improve a file. */
const placeOf = ({ fromMe, participant }: NonNullable<Key>, id: string) => JSON.stringify([fromMe, participant, id]);

const typeOf = (file: RemoteFile | undefined) => file?.mimeType.split('/')[0];

/** Per message. Anybody can react to a message of a group. */
const ANSWERS = 1024;

/** The content without its wrappers. An edited message contains its latest text. */
function contentOf({ baileys }: Session, { message, messageTimestamp }: Info) {
  const whole = baileys.normalizeMessageContent(message) ?? undefined;
  const { protocolMessage } = whole ?? {};
  if (!protocolMessage?.editedMessage) return { whole, editedAt: undefined };
  return {
    whole: baileys.normalizeMessageContent(protocolMessage.editedMessage) ?? undefined,
    editedAt: Number(protocolMessage.timestampMs ?? 0) || Number(messageTimestamp ?? 0) * 1000,
  };
}

/** The network's statuses from 0 on: error, pending, at the server, delivered, read, played. */
const STATUSES = ['failed', 'sent', 'sent', 'delivered', 'read', 'read'] as const;

function statusOf(info: Info): NonNullable<HistoryMessage['status']> {
  if (!Object.hasOwn(info, 'status')) return 'sent';
  return STATUSES[Number(info.status)] ?? 'sent';
}

/** Keeps the secret of an own poll, with which later votes can be read. */
async function keepPoll(session: Session, { id, remoteJid }: proto.IMessageKey, whole: proto.IMessage, info: Info) {
  const messageSecret = info.messageSecret ?? info.message?.messageContextInfo?.messageSecret;
  if (!messageSecret || !id) return;
  await keepSent(session, id, { ...whole, messageContextInfo: { messageSecret } }, remoteJid ? [remoteJid] : []);
}

function fileOf(
  { baileys }: Session,
  key: NonNullable<Key>,
  whole: proto.IMessage,
  { media }: Parsed,
): RemoteFile | undefined {
  if (media?.file === undefined) return undefined;
  const { mimeType, size, fileName } = media;
  const message = Object.fromEntries(
    Object.entries(whole).map(([kind, value]) => [
      kind,
      typeof value === 'object' && value !== null
        ? Object.fromEntries(Object.entries(value).filter(([field]) => !NOT_NEEDED.includes(field)))
        : value,
    ]),
  );
  const reference = baileys.proto.WebMessageInfo.encode({ key, message }).finish();
  return { mimeType, size, fileName, reference: Buffer.from(reference).toString('base64') };
}

async function reactionsOf({ self }: Session, { reactions }: Info, digitsOf: DigitsOf) {
  const given = (reactions ?? []).slice(0, ANSWERS).filter(({ text, key }) => text && key);
  return Promise.all(
    given.map(async ({ text, key, senderTimestampMs }) => ({
      from: await authorOf(self.phoneNumber, key, digitsOf),
      emoji: text ?? '',
      timestamp: Number(senderTimestampMs ?? 0),
    })),
  );
}

/** A vote names the options by their hashes. */
async function votesOf({ self }: Session, { pollUpdates }: Info, { content }: Parsed, digitsOf: DigitsOf) {
  const { poll } = content;
  if (poll === undefined) return [];
  const byHash = new Map(poll.options.map((option) => [createHash('sha256').update(option).digest('hex'), option]));
  const given = (pollUpdates ?? []).slice(0, ANSWERS).filter(({ pollUpdateMessageKey }) => pollUpdateMessageKey);
  return Promise.all(
    given.map(async ({ pollUpdateMessageKey, vote, senderTimestampMs }) => ({
      from: await authorOf(self.phoneNumber, pollUpdateMessageKey, digitsOf),
      options: (vote?.selectedOptions ?? []).flatMap((hash) => byHash.get(Buffer.from(hash).toString('hex')) ?? []),
      timestamp: Number(senderTimestampMs ?? 0),
    })),
  );
}

async function authorOf(own: string, key: Key, digitsOf: DigitsOf): Promise<string> {
  return key?.fromMe === true ? own : digitsOf(key?.participant || key?.remoteJid || '');
}
