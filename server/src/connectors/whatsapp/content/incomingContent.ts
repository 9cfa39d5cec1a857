import type { MediaType, proto } from 'baileys';
import type { MessageContent, mediaTypes } from '../../contract/content.ts';
import type { ContactCard, LivePosition } from '../../contract/contentParts.ts';
import type { MediaFacts } from '../../contract/media.ts';
import type { Baileys } from '../link/load.ts';
import { albumOf } from './associations.ts';
import { isSealedChange, kindOf, strangeKindOf, unwrap } from './kinds.ts';
import { referralOf } from './referrals.ts';
import { type StatedFacts, statedFacts } from './statedFacts.ts';
import {
  buttonsContent,
  choiceContent,
  eventContent,
  flowContent,
  formContent,
  inviteContent,
  listContent,
  orderContent,
  productContent,
  templateContent,
} from './structuredContent.ts';
import { readVcard } from './vcard.ts';

type Message = proto.IMessage;
type Context = proto.IContextInfo;
/** The type of message with all fields of a file. */
type File = proto.Message.IDocumentMessage & StatedFacts;
/** A field of a message, which the sender may leave out. */
type Field<T> = T | null | undefined;

/** The content of a message, before its file is fetched and its mentions are resolved. */
export interface Parsed {
  readonly content: Omit<MessageContent, 'media' | 'mentions'>;
  readonly media?: ParsedMedia;
  readonly context?: Field<Context>;
}

export interface ParsedMedia {
  readonly mimeType: string;
  readonly size: number;
  readonly fileName: string | null;
  readonly facts: MediaFacts;
  /** Undefined if the message lacks data that is needed to fetch and check the file. */
  readonly file: FileReference | undefined;
}

/** The place of a file on the media host, and how to decrypt it. Untrusted: anybody may be the sender. */
export interface FileReference {
  /** Begins with a slash. */
  readonly directPath: string;
  readonly mediaKey: Uint8Array;
  /** The type for which the keys of the file are derived from its `mediaKey`. */
  readonly keyType: MediaType;
  /** SHA-256 of the file. */
  readonly hash: Uint8Array;
  /** SHA-256 of the encrypted file. */
  readonly encryptedHash: Uint8Array;
}

/**
 * Returns the content of a message, or undefined if it is only for clients.
 * @param unknownKind name of a kind that the decoder left out
 */
export function parseContent(baileys: Baileys, whole: Message, unknownKind?: string): Parsed | undefined {
  const unwrapped = unwrap(whole);
  const { message, isViewOnce, isAnimated, layers } = unwrapped;
  const kind = kindOf(message);
  const strangeKind = unknownKind ?? strangeKindOf(unwrapped);
  if (kind === undefined) return strangeKind === undefined ? undefined : { content: unsupportedContent(strangeKind) };
  const parsed = READERS[kind]?.(message) ?? unsupported(message, kind);
  const album = albumOf(baileys, layers);
  const content = {
    ...parsed.content,
    ...((isViewOnce || isMarkedViewOnce(message)) && { isViewOnce: true }),
    ...(isAnimated && { isAnimated: true }),
    ...(parsed.context?.nonJidMentions && { mentionsAll: true }),
    ...referralOf(parsed.context),
    ...(album !== undefined && { album }),
  };
  return { ...parsed, content };
}

const isMarkedViewOnce = ({ imageMessage, videoMessage, ptvMessage, audioMessage }: Message) =>
  [imageMessage, videoMessage, ptvMessage, audioMessage].some((file) => file?.viewOnce === true);

/** A kind that people can send and this server has no type for. Its text, if it has one, is in one of a few places. */
function unsupported(message: Message, kind: keyof Message): Parsed {
  const part = message[kind] as Field<Readonly<Record<string, unknown>> | string>;
  const fields = typeof part === 'object' && part !== null ? part : {};
  const { noteMessage } = fields as { readonly noteMessage?: Field<Message> };
  const texts = [
    noteMessage?.extendedTextMessage?.text,
    noteMessage?.conversation,
    ...['text', 'caption', 'note', 'title', 'name', 'newsletterName'].map((name) => fields[name]),
  ];
  return {
    content: unsupportedContent(
      kind,
      texts.find((one): one is string => typeof one === 'string' && one !== ''),
    ),
    context: (fields as { readonly contextInfo?: Field<Context> }).contextInfo,
  };
}

const unsupportedContent = (rawType: string, text?: string): Parsed['content'] => ({
  type: 'unsupported',
  text: text ?? `[WhatsApp message of a kind that cannot be shown: ${rawType}]`,
  rawType,
});

/**
 * Returns whether a message has content or changes another message.
 * @param unknownKind name of a kind that the decoder left out
 */
export function concernsPeople(baileys: Baileys, whole: Message, unknownKind?: string): boolean {
  const { message } = unwrap(whole);
  if (message.reactionMessage || message.pollUpdateMessage || message.encEventResponseMessage) return true;
  if (message.statusMentionMessage || message.groupStatusMentionMessage || message.requestPhoneNumberMessage)
    return true;
  if (message.pinInChatMessage || isSealedChange(baileys, message)) return true;
  const type = message.protocolMessage?.type;
  const { REVOKE, MESSAGE_EDIT, EPHEMERAL_SETTING } = baileys.proto.Message.ProtocolMessage.Type;
  if (message.protocolMessage) return type === REVOKE || type === MESSAGE_EDIT || type === EPHEMERAL_SETTING;
  return parseContent(baileys, message, unknownKind) !== undefined;
}

const text = (body: Field<string>, context?: Field<Context>): Parsed => ({
  content: { type: 'text', text: body ?? '' },
  context,
});

export const READERS: Readonly<Partial<Record<keyof Message, (message: Message) => Parsed>>> = {
  conversation: ({ conversation }) => text(conversation),
  extendedTextMessage: ({ extendedTextMessage: m }) => textWithLink(m),
  imageMessage: ({ imageMessage: m }) => media('image', m, m?.caption),
  videoMessage: ({ videoMessage: m }) => media('video', m, m?.caption, m?.gifPlayback === true ? { isGif: true } : {}),
  ptvMessage: ({ ptvMessage: m }) => media('video', m, m?.caption, { isVideoNote: true }),
  audioMessage: ({ audioMessage: m }) => media(m?.ptt === true ? 'voice' : 'audio', m, ''),
  documentMessage: ({ documentMessage: m }) => media('document', m, m?.caption),
  stickerMessage: ({ stickerMessage: m }) =>
    media('sticker', m, '', m?.isAnimated || m?.isLottie ? { isAnimated: true } : {}),
  locationMessage: ({ locationMessage: m }) => location(m, m?.comment, m?.isLive === true ? liveOf(m) : undefined),
  liveLocationMessage: ({ liveLocationMessage: m }) => location(m, m?.caption, liveOf(m)),
  contactMessage: ({ contactMessage: m }) => contact(m?.displayName, [m?.vcard], m?.contextInfo),
  contactsArrayMessage: ({ contactsArrayMessage: m }) =>
    contact(m?.displayName, m?.contacts?.map(({ vcard }) => vcard) ?? [], m?.contextInfo),
  pollCreationMessage: ({ pollCreationMessage }) => poll(pollCreationMessage),
  pollCreationMessageV2: ({ pollCreationMessageV2 }) => poll(pollCreationMessageV2),
  pollCreationMessageV3: ({ pollCreationMessageV3 }) => poll(pollCreationMessageV3),
  pollCreationMessageV5: ({ pollCreationMessageV5 }) => poll(pollCreationMessageV5),
  eventMessage: ({ eventMessage: m }) => ({ content: eventContent(m), context: m?.contextInfo }),
  productMessage: ({ productMessage: m }) => ({ ...product(m), context: m?.contextInfo }),
  orderMessage: ({ orderMessage: m }) => ({ content: orderContent(m), context: m?.contextInfo }),
  buttonsMessage: ({ buttonsMessage: m }) => ({ content: buttonsContent(m), context: m?.contextInfo }),
  listMessage: ({ listMessage: m }) => ({ content: listContent(m), context: m?.contextInfo }),
  templateMessage: ({ templateMessage: m }) => ({ content: templateContent(m), context: m?.contextInfo }),
  interactiveMessage: ({ interactiveMessage: m }) => ({ content: flowContent(m), context: m?.contextInfo }),
  buttonsResponseMessage: ({ buttonsResponseMessage: m }) => ({
    content: choiceContent(m?.selectedDisplayText, m?.selectedButtonId, { kind: 'button' }),
    context: m?.contextInfo,
  }),
  templateButtonReplyMessage: ({ templateButtonReplyMessage: m }) => ({
    content: choiceContent(m?.selectedDisplayText, m?.selectedId, { kind: 'template' }),
    context: m?.contextInfo,
  }),
  listResponseMessage: ({ listResponseMessage: m }) => ({
    content: choiceContent(m?.title, m?.singleSelectReply?.selectedRowId, {
      kind: 'list',
      ...(m?.description && { description: m.description }),
    }),
    context: m?.contextInfo,
  }),
  interactiveResponseMessage: ({ interactiveResponseMessage: m }) => ({
    content: formContent(m),
    context: m?.contextInfo,
  }),
  groupInviteMessage: ({ groupInviteMessage: m }) => ({ content: inviteContent(m), context: m?.contextInfo }),
};

function textWithLink(m: Field<proto.Message.IExtendedTextMessage>): Parsed {
  const { matchedText: url, title, description } = m ?? {};
  const preview = { ...(title && { title }), ...(description && { description }) };
  return {
    content: { type: 'text', text: m?.text ?? '', ...(url && { linkPreview: { url, ...preview } }) },
    context: m?.contextInfo,
  };
}

function media(
  type: (typeof mediaTypes)[number],
  file: Field<File>,
  caption: Field<string>,
  flags: Pick<MessageContent, 'isGif' | 'isVideoNote' | 'isAnimated'> = {},
): Parsed {
  return {
    content: { type, text: caption ?? '', ...flags },
    media: fileOf(type, file),
    context: file?.contextInfo,
  };
}

/** A product with its picture. */
function product(m: Field<proto.Message.IProductMessage>): Parsed {
  const picture = m?.product?.productImage;
  return { content: productContent(m), ...(picture && { media: fileOf('image', picture) }) };
}

function fileOf(type: (typeof mediaTypes)[number], file: Field<File>): ParsedMedia {
  return {
    mimeType: file?.mimetype ?? 'application/octet-stream',
    size: Number(file?.fileLength ?? 0),
    fileName: file?.fileName ?? null,
    facts: statedFacts(file),
    file: file ? referenceOf(file, type === 'voice' ? 'ptt' : type) : undefined,
  };
}

/** Length of SHA-256 and of a media key. */
const KEY_BYTES = 32;

/** Whether a path cannot extend the name of the host, as `@example.com/` would. */
export function isDirectPath(path: Field<string>): path is string {
  return typeof path === 'string' && /^\/[!-[\]-~]*$/.test(path);
}

function referenceOf(
  { directPath, mediaKey, fileSha256, fileEncSha256 }: File,
  keyType: MediaType,
): FileReference | undefined {
  if (!isDirectPath(directPath)) return undefined;
  if (mediaKey?.length !== KEY_BYTES || fileSha256?.length !== KEY_BYTES) return undefined;
  if (fileEncSha256?.length !== KEY_BYTES) return undefined;
  return { directPath, mediaKey, keyType, hash: fileSha256, encryptedHash: fileEncSha256 };
}

function location(
  m: Field<proto.Message.ILocationMessage>,
  caption: Field<string>,
  live: LivePosition | undefined,
): Parsed {
  return {
    content: {
      type: 'location',
      text: caption ?? '',
      location: {
        latitude: m?.degreesLatitude ?? 0,
        longitude: m?.degreesLongitude ?? 0,
        ...(m?.name && { name: m.name }),
        ...(m?.address && { address: m.address }),
        ...(live && { live }),
      },
    },
    context: m?.contextInfo,
  };
}

function liveOf(
  m: Field<Omit<proto.Message.ILiveLocationMessage, 'caption' | 'jpegThumbnail' | 'contextInfo' | 'timeOffset'>>,
): LivePosition {
  const { accuracyInMeters, speedInMps, degreesClockwiseFromMagneticNorth: heading, sequenceNumber } = m ?? {};
  return {
    ...(accuracyInMeters && { accuracyInMeters }),
    ...(speedInMps && { metersPerSecond: speedInMps }),
    ...(heading && { heading }),
    ...(sequenceNumber && { sequence: Number(sequenceNumber) }),
  };
}

/** More cards than a message of an official app has. */
const CARDS = 257;

function contact(name: Field<string>, vcards: readonly Field<string>[], context: Field<Context>): Parsed {
  const cards = vcards.slice(0, CARDS).flatMap((vcard) => (vcard ? [readVcard(vcard)] : []));
  const card: ContactCard = {
    name: name || cards[0]?.name || '',
    phoneNumbers: cards.flatMap(({ phoneNumbers }) => phoneNumbers),
  };
  const contacts = cards.length > 1 && { contacts: cards };
  return { content: { type: 'contact', text: '', contact: card, ...contacts }, context };
}

function poll(m: Field<proto.Message.IPollCreationMessage>): Parsed {
  const options = m?.options?.map(({ optionName }) => optionName ?? '') ?? [];
  // 0 means any number.
  const maxSelections = m?.selectableOptionsCount || Math.max(1, options.length);
  return { content: { type: 'poll', text: m?.name ?? '', poll: { options, maxSelections } }, context: m?.contextInfo };
}
