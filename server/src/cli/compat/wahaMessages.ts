import type { Message } from '../../../../sdk/src/api.ts';
import type { Client } from '../../../../sdk/src/client.ts';
import { unlessGone, WahaError } from './wahaErrors.ts';
import { bareId, type MessageRef, messageRefOf, wahaChat, wahaMessageId } from './wahaIds.ts';

/* Messages in the shape of WAHA's `WAMessage` (`src/structures/responses.dto.ts` of devlikeapro/waha). */

/** Names of `WAMessageAck` (`src/structures/enums.dto.ts`). */
export const ackNames = { '-1': 'ERROR', 0: 'PENDING', 1: 'SERVER', 2: 'DEVICE', 3: 'READ' } as const;
export type Ack = -1 | 0 | 1 | 2 | 3;

export const ackOf = (status: string): Ack =>
  (({ failed: -1, sent: 1, delivered: 2, read: 3 }) as const)[status as 'failed'] ?? 0;

/** The parts that events and messages of the API share. */
export interface Content {
  readonly messageId: string;
  readonly timestamp: string;
  readonly message?: string | undefined;
  readonly replyTo?: string | undefined;
  readonly media?: Message['media'] | undefined;
  readonly location?: Message['location'] | undefined;
}

export interface Place {
  /** The chat, as WAHA writes it. */
  readonly chat: string;
  readonly fromMe: boolean;
  /** Number of the session. */
  readonly me: string | undefined;
  /** The author, in groups. */
  readonly participant?: string | undefined;
  readonly ack: Ack;
  /** Address where clients of WAHA reach this command. */
  readonly publicUrl: string;
}

export function wahaMessage(content: Content, { chat, fromMe, me, participant, ack, publicUrl }: Place) {
  const { messageId, timestamp, message = '', replyTo, media, location } = content;
  const own = me === undefined ? null : wahaChat(me);
  const url = media && fileUrl(publicUrl, media.mediaId, media.mimeType);
  return {
    id: wahaMessageId(fromMe, chat, messageId),
    timestamp: secondsOf(timestamp),
    // The chat of a message to us, and our number for a message from us (`WAMessageBase`).
    from: fromMe ? (own ?? chat) : chat,
    fromMe,
    to: fromMe ? chat : own,
    participant: participant ?? null,
    body: message,
    hasMedia: media !== undefined,
    media: media ? { url, mimetype: media.mimeType, filename: media.fileName, error: null } : null,
    mediaUrl: url ?? null,
    ack,
    ackName: ackNames[ack],
    ...(location && {
      location: {
        latitude: String(location.latitude),
        longitude: String(location.longitude),
        description: location.name,
      },
    }),
    replyTo: replyTo === undefined ? null : { id: bareId(replyTo) },
  };
}

export const secondsOf = (time: string) => Math.floor(Date.parse(time) / 1000);

const ENDINGS: Readonly<Record<string, string>> = { ogg: 'oga', mpeg: 'mp3', plain: 'txt' };

/** WAHA's URLs end like a file. */
function fileUrl(publicUrl: string, mediaId: string, mimeType: string): string {
  const [, type = 'bin'] = /^\w+\/([a-z0-9]+)/.exec(mimeType) ?? [];
  return `${publicUrl}/api/files/${mediaId}.${ENDINGS[type] ?? type}`;
}

/** Maximum number of messages in a chat, the newest first, that a search for a network id reads. */
const SEARCHED = 500;

/**
 * Finds the message of an id of WAHA, or of an id that WAHA itself gave out before.
 * @throws {WahaError} 404
 */
export async function findMessage(client: Client, sessionId: string, given: string): Promise<string> {
  const ref = messageRefOf(given);
  const find = ref.messageId === undefined ? searchChat : ownMessage;
  const found = await find(client, sessionId, ref);
  if (found === undefined) throw messageNotFound(given);
  return found;
}

/**
 * Requires that the session has the message. An id of WAHA is not searched, because old messages can count as read,
 * too.
 * @throws {WahaError} 404
 */
export async function requireOwnMessage(client: Client, sessionId: string, given: string): Promise<void> {
  const ref = messageRefOf(given);
  if (ref.messageId === undefined) return;
  if ((await ownMessage(client, sessionId, ref)) === undefined) throw messageNotFound(given);
}

const messageNotFound = (given: string) => new WahaError(404, `Message with id '${given}' not found`);

/** Finds a message by our id. The id alone would lead to other sessions of the account. */
async function ownMessage(client: Client, sessionId: string, { messageId }: MessageRef): Promise<string | undefined> {
  if (messageId === undefined) return undefined;
  const message = await unlessGone(client.messages.get({ messageId }));
  return message?.sessionId === sessionId ? messageId : undefined;
}

async function searchChat(client: Client, sessionId: string, { networkId, chat }: MessageRef) {
  if (chat === undefined) return undefined;
  let seen = 0;
  for await (const message of client.messages.list.all({ sessionId, chatId: chat, limit: 200 })) {
    if (message.networkId === networkId) return message.messageId;
    if (++seen >= SEARCHED) return undefined;
  }
  return undefined;
}
