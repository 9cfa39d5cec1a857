import type { AnyMessageContent, proto, WAMessageKey, WAUrlInfo } from 'baileys';
import type { EventDetails, LinkPreview, MessageContent } from '../../connector.ts';

/* The parts of `connectors/contentParts.ts` in the form of Baileys. */

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
