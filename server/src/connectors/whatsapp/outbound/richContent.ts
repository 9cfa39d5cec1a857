import type { AnyMessageContent, proto, WAMessageKey, WAUrlInfo } from 'baileys';
import type { MessageContent } from '../../contract/content.ts';
import type { EventDetails, LinkPreview } from '../../contract/contentParts.ts';

/* The parts of `connectors/contract/contentParts.ts` in the form of Baileys. */

export function urlInfoOf({ url, title, description, thumbnail }: LinkPreview): WAUrlInfo {
  return {
    'canonical-url': url,
    'matched-text': url,
    title: title ?? '',
    ...(description !== undefined && { description }),
    ...(thumbnail !== undefined && { jpegThumbnail: Buffer.from(thumbnail, 'base64') }),
  };
}

/** @param startsAt when the event begins; whole seconds, as in the protocol */
export function eventOf(name: string, event: EventDetails, startsAt: number): AnyMessageContent {
  const { description, endsAt, location, allowsExtraGuests } = event;
  const wholeSeconds = (ms: number) => new Date(Math.floor(ms / 1000) * 1000);
  return {
    event: {
      name,
      ...(description !== undefined && { description }),
      startDate: wholeSeconds(startsAt),
      ...(endsAt !== undefined && { endDate: wholeSeconds(endsAt) }),
      ...(location && {
        location: {
          degreesLatitude: location.latitude ?? 0,
          degreesLongitude: location.longitude ?? 0,
          ...(location.name !== undefined && { name: location.name }),
          ...(location.address !== undefined && { address: location.address }),
        },
      }),
      extraGuestsAllowed: allowsExtraGuests === true,
    },
  };
}

/** Fields that the content of any message can have. */
export function additionsOf({ mentionsAll, isViewOnce }: MessageContent, albumKey: WAMessageKey | undefined) {
  return {
    ...(mentionsAll === true && { mentionAll: true }),
    ...(isViewOnce === true && { viewOnce: true }),
    ...(albumKey && { albumParentKey: albumKey }),
  };
}

const CAPTIONED = ['imageMessage', 'videoMessage', 'documentMessage'] as const;

/** Returns the same message with another text or caption; undefined if it has none. */
export function withText(message: proto.IMessage, text: string): proto.IMessage | undefined {
  const { conversation, extendedTextMessage, documentWithCaptionMessage } = message;
  if (typeof conversation === 'string' && conversation !== '') return { ...message, conversation: text };
  // Without its preview, which shows an address of the former text.
  const { contextInfo } = extendedTextMessage ?? {};
  if (extendedTextMessage) return { ...message, extendedTextMessage: { text, ...(contextInfo && { contextInfo }) } };
  const file = withCaption(message, text);
  if (file === undefined) return undefined;
  return { ...message, ...(documentWithCaptionMessage ? { documentWithCaptionMessage: { message: file } } : file) };
}

/**
 * Returns the same file with another caption, which is how an edit of a caption is sent: clients replace the whole
 * message by it. Undefined if the message has no file that can have a caption.
 */
export function withCaption(message: proto.IMessage, caption: string): proto.IMessage | undefined {
  const inner = message.documentWithCaptionMessage?.message ?? message;
  const kind = CAPTIONED.find((one) => inner[one]);
  const file = kind && inner[kind];
  return file ? { [kind]: { ...file, caption } } : undefined;
}
