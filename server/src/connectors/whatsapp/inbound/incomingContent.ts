import type { MediaType, proto } from 'baileys';
import type { ContactCard, MessageContent, mediaTypes } from '../../connector.ts';
import type { Baileys } from '../link/load.ts';

type Message = proto.IMessage;
type Context = proto.IContextInfo;
/** The type of message with all fields of a file. */
type File = proto.Message.IDocumentMessage;
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

/** Message kinds without content for people: keys, settings, and headers of later messages. */
const WITHOUT_CONTENT: ReadonlySet<string> = new Set([
  'senderKeyDistributionMessage',
  'protocolMessage',
  'messageContextInfo',
  'reactionMessage',
  'encReactionMessage',
  'pollUpdateMessage',
  'encEventResponseMessage',
  'secretEncryptedMessage',
  'albumMessage',
  'keepInChatMessage',
  'pinInChatMessage',
  'deviceSentMessage',
  'stickerSyncRmrMessage',
  'call',
  'placeholderMessage',
]);

/** The content of a message for a person; undefined if it has none. */
export function parseContent(baileys: Baileys, whole: Message): Parsed | undefined {
  const message = baileys.normalizeMessageContent(whole);
  const kind = baileys.getContentType(message);
  if (message === undefined || kind === undefined || WITHOUT_CONTENT.has(kind)) return undefined;
  const read = READERS[kind];
  if (read !== undefined) return read(message);
  return text(`[WhatsApp message of a kind that cannot be shown: ${kind}]`);
}

export function concernsPeople(baileys: Baileys, whole: Message): boolean {
  const message = baileys.normalizeMessageContent(whole);
  if (message === undefined) return false;
  if (message.reactionMessage || message.pollUpdateMessage) return true;
  const type = message.protocolMessage?.type;
  const { REVOKE, MESSAGE_EDIT } = baileys.proto.Message.ProtocolMessage.Type;
  if (message.protocolMessage) return type === REVOKE || type === MESSAGE_EDIT;
  return parseContent(baileys, message) !== undefined;
}

const text = (body: Field<string>, context?: Field<Context>): Parsed => ({
  content: { type: 'text', text: body ?? '' },
  context,
});

const READERS: Readonly<Partial<Record<keyof Message, (message: Message) => Parsed>>> = {
  conversation: ({ conversation }) => text(conversation),
  extendedTextMessage: ({ extendedTextMessage: m }) => text(m?.text, m?.contextInfo),
  imageMessage: ({ imageMessage: m }) => media('image', m, m?.caption),
  videoMessage: ({ videoMessage: m }) => media('video', m, m?.caption),
  ptvMessage: ({ ptvMessage: m }) => media('video', m, m?.caption),
  audioMessage: ({ audioMessage: m }) => media(m?.ptt === true ? 'voice' : 'audio', m, ''),
  documentMessage: ({ documentMessage: m }) => media('document', m, m?.caption),
  stickerMessage: ({ stickerMessage: m }) => media('sticker', m, ''),
  locationMessage: ({ locationMessage: m }) => location(m, m?.comment),
  liveLocationMessage: ({ liveLocationMessage: m }) => location(m, m?.caption),
  contactMessage: ({ contactMessage: m }) => contact(m?.displayName, [m?.vcard], m?.contextInfo),
  contactsArrayMessage: ({ contactsArrayMessage: m }) =>
    contact(m?.displayName, m?.contacts?.map(({ vcard }) => vcard) ?? [], m?.contextInfo),
  pollCreationMessage: ({ pollCreationMessage }) => poll(pollCreationMessage),
  pollCreationMessageV2: ({ pollCreationMessageV2 }) => poll(pollCreationMessageV2),
  pollCreationMessageV3: ({ pollCreationMessageV3 }) => poll(pollCreationMessageV3),
  buttonsResponseMessage: ({ buttonsResponseMessage: m }) =>
    choice(m?.selectedDisplayText, m?.selectedButtonId, m?.contextInfo),
  templateButtonReplyMessage: ({ templateButtonReplyMessage: m }) =>
    choice(m?.selectedDisplayText, m?.selectedId, m?.contextInfo),
  listResponseMessage: ({ listResponseMessage: m }) =>
    choice(m?.title, m?.singleSelectReply?.selectedRowId, m?.contextInfo),
  interactiveResponseMessage: ({ interactiveResponseMessage: m }) => text(m?.body?.text, m?.contextInfo),
  groupInviteMessage: ({ groupInviteMessage: m }) => text(m?.caption || m?.groupName, m?.contextInfo),
};

function choice(label: Field<string>, payload: Field<string>, context: Field<Context>): Parsed {
  return { content: { type: 'text', text: label ?? '', ...(payload && { payload }) }, context };
}

function media(type: (typeof mediaTypes)[number], file: Field<File>, caption: Field<string>): Parsed {
  return {
    content: { type, text: caption ?? '' },
    media: {
      mimeType: file?.mimetype ?? 'application/octet-stream',
      size: Number(file?.fileLength ?? 0),
      fileName: file?.fileName ?? null,
      file: file ? referenceOf(file, type === 'voice' ? 'ptt' : type) : undefined,
    },
    context: file?.contextInfo,
  };
}

/** Length of SHA-256 and of a media key. */
const KEY_BYTES = 32;

function referenceOf(
  { directPath, mediaKey, fileSha256, fileEncSha256 }: File,
  keyType: MediaType,
): FileReference | undefined {
  // The path must not extend the host name, as `@example.com/` would.
  if (!directPath || !/^\/[!-[\]-~]*$/.test(directPath)) return undefined;
  if (mediaKey?.length !== KEY_BYTES || fileSha256?.length !== KEY_BYTES) return undefined;
  if (fileEncSha256?.length !== KEY_BYTES) return undefined;
  return { directPath, mediaKey, keyType, hash: fileSha256, encryptedHash: fileEncSha256 };
}

function location(m: Field<proto.Message.ILocationMessage>, caption: Field<string>): Parsed {
  return {
    content: {
      type: 'location',
      text: caption ?? '',
      location: {
        latitude: m?.degreesLatitude ?? 0,
        longitude: m?.degreesLongitude ?? 0,
        ...(m?.name && { name: m.name }),
        ...(m?.address && { address: m.address }),
      },
    },
    context: m?.contextInfo,
  };
}

function contact(name: Field<string>, vcards: readonly Field<string>[], context: Field<Context>): Parsed {
  const cards = vcards.flatMap((vcard) => (vcard ? [readVcard(vcard)] : []));
  const card: ContactCard = {
    name: name || cards[0]?.name || '',
    phoneNumbers: cards.flatMap(({ phoneNumbers }) => phoneNumbers),
  };
  return { content: { type: 'contact', text: '', contact: card }, context };
}

/** Reads the name and numbers of a vCard (RFC 6350). WhatsApp puts the digits into its own parameter, `waid`. */
function readVcard(vcard: string): ContactCard {
  // A long line continues after a line break and a space.
  const lines = vcard.replace(/\r?\n[ \t]/g, '').split(/\r?\n/);
  const name = unescaped(lines.find((line) => /^FN[;:]/i.test(line))?.replace(/^[^:]*:/, '') ?? '');
  const phoneNumbers = lines.flatMap((line) => {
    const [, parameters = '', value = ''] = /^(?:item\d+\.)?TEL([^:]*):(.*)$/i.exec(line) ?? [];
    const digits = /waid=(\d+)/i.exec(parameters)?.[1] ?? value.replace(/\D/g, '');
    return digits === '' ? [] : [digits];
  });
  return { name, phoneNumbers };
}

/** Unescapes a text of a vCard (RFC 6350, 3.4). */
function unescaped(value: string): string {
  return value.replace(/\\(.)/g, (_, sign: string) => (sign.toLowerCase() === 'n' ? '\n' : sign));
}

function poll(m: Field<proto.Message.IPollCreationMessage>): Parsed {
  const options = m?.options?.map(({ optionName }) => optionName ?? '') ?? [];
  // 0 means any number.
  const maxSelections = m?.selectableOptionsCount || Math.max(1, options.length);
  return { content: { type: 'poll', text: m?.name ?? '', poll: { options, maxSelections } }, context: m?.contextInfo };
}
