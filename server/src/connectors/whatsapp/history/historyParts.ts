import type { proto } from 'baileys';
import { fieldsOf } from '../content/wireKinds.ts';
import type { Baileys } from '../link/load.ts';
import { encodeVarint, FieldStream, HistoryError } from './fieldStream.ts';

/** The fields of `HistorySync` and `Conversation` that are read. */
const CONVERSATIONS = 2;
const PUSH_NAMES = 7;
const LID_MAPPINGS = 15;
const CHAT_ID = 1;
const MESSAGES = 2;
/** Members of a group, which are read from the server instead. */
const PARTICIPANTS = 20;

const MAX_MESSAGE_BYTES = 1024 * 1024;
const MAX_CHAT_BYTES = 256 * 1024;
const MAX_ENTRY_BYTES = 16 * 1024;

/** An entry of a part of the history. A chat follows its messages, the newest of which comes first. */
export type HistoryPart =
  | { readonly kind: 'message'; readonly chat: string; readonly info: proto.IWebMessageInfo }
  | { readonly kind: 'chat'; readonly chat: proto.IConversation }
  | { readonly kind: 'name'; readonly name: proto.IPushname }
  | { readonly kind: 'mapping'; readonly mapping: proto.IPhoneNumberToLIDMapping };

/**
 * Reads a compressed `HistorySync`, one entry at a time.
 * @param withMessages whether messages are wanted
 * @throws {HistoryError} if it is not one, or is too large
 */
export async function* readParts(
  { proto: types }: Baileys,
  compressed: Uint8Array,
  withMessages: boolean,
): AsyncGenerator<HistoryPart> {
  const stream = new FieldStream(compressed);
  try {
    for (let tag = await stream.tag(); tag !== undefined; tag = await stream.tag()) {
      const { field, wire } = tag;
      if (field === 0) throw new HistoryError('a part of the history cannot be read');
      if (wire === 2 && field === CONVERSATIONS) yield* readChat(types, stream, withMessages);
      else if (wire === 2 && (field === PUSH_NAMES || field === LID_MAPPINGS)) {
        const bytes = await stream.bytes(await stream.varint(), MAX_ENTRY_BYTES);
        if (field === PUSH_NAMES) yield { kind: 'name', name: decode(() => types.Pushname.decode(bytes)) };
        else yield { kind: 'mapping', mapping: decode(() => types.PhoneNumberToLIDMapping.decode(bytes)) };
      } else await stream.skip(wire);
    }
  } finally {
    stream.close();
  }
}

async function* readChat(
  types: Baileys['proto'],
  stream: FieldStream,
  withMessages: boolean,
): AsyncGenerator<HistoryPart> {
  const length = await stream.varint();
  const end = stream.position + length;
  let chat = '';
  const rest: Buffer[] = [];
  let restBytes = 0;
  while (stream.position < end) {
    const tag = await stream.tag();
    if (tag === undefined) throw new HistoryError('a part of the history ends too early');
    const { field, wire } = tag;
    if (field === MESSAGES && wire === 2 && withMessages) {
      const bytes = await stream.bytes(await stream.varint(), MAX_MESSAGE_BYTES);
      const message = messageOf(types, bytes);
      if (message) yield { kind: 'message', chat, info: message };
    } else if (field === MESSAGES || field === PARTICIPANTS) await stream.skip(wire);
    else {
      const value = await stream.raw(wire, MAX_CHAT_BYTES);
      if (field === CHAT_ID && wire === 2) chat = textOf(value);
      rest.push(encodeVarint(field * 8 + wire), value);
      restBytes += value.length;
      if (restBytes > MAX_CHAT_BYTES) throw new HistoryError('a chat of the history is too large');
    }
  }
  const bytes = Buffer.concat(rest);
  yield { kind: 'chat', chat: usedOf(decode(() => types.Conversation.decode(bytes))) };
}

/** Field of `HistorySyncMsg`. */
const WEB_MESSAGE_INFO = 1;
/** Fields of `WebMessageInfo`: key, time, status and participant. */
const ENVELOPE: readonly number[] = [1, 3, 4, 5];

/**
 * Returns a message with its envelope and an empty content if the content cannot be read; undefined without an
 * envelope.
 */
function messageOf(types: Baileys['proto'], bytes: Uint8Array): proto.IWebMessageInfo | undefined {
  try {
    return types.HistorySyncMsg.decode(bytes).message ?? undefined;
  } catch {
    const info = fieldsOf(bytes).find(({ field }) => field === WEB_MESSAGE_INFO)?.value;
    const envelope = info && fieldsOf(info).flatMap(({ field, raw }) => (ENVELOPE.includes(field) ? [raw] : []));
    return envelope && envelopeOf(types, Buffer.concat(envelope));
  }
}

function envelopeOf(types: Baileys['proto'], bytes: Uint8Array): proto.IWebMessageInfo | undefined {
  try {
    return { ...types.WebMessageInfo.decode(bytes), message: {} };
  } catch {
    return undefined;
  }
}

/** The fields that are read. All chats of a part are in memory, the others would make them large. */
const USED = [
  'id',
  'name',
  'unreadCount',
  'archived',
  'pinned',
  'muteEndTime',
  'pnJid',
  'lidJid',
  'accountLid',
  'tcToken',
  'tcTokenTimestamp',
  'tcTokenSenderTimestamp',
] as const satisfies readonly (keyof proto.IConversation)[];

function usedOf(chat: proto.IConversation): proto.IConversation {
  const { tcToken } = chat;
  const used = USED.flatMap((field) => (Object.hasOwn(chat, field) ? [[field, chat[field]]] : []));
  // A copy, because the token is a view of the whole chat.
  return { id: chat.id, ...Object.fromEntries(used), ...(tcToken && { tcToken: Buffer.from(tcToken) }) };
}

/** The text of a field, behind its length. */
function textOf(value: Buffer): string {
  const start = value.findIndex((byte) => byte < 128) + 1;
  return value.toString('utf8', start);
}

function decode<T>(work: () => T): T {
  try {
    return work();
  } catch (cause) {
    throw new HistoryError('an entry of the history cannot be read', { cause });
  }
}
