import type { AnyMessageContent, proto, WAMessageKey } from 'baileys';
import { AppError } from '../../../errors.ts';
import type { MessageContent } from '../../contract/content.ts';
import type { ContactCard } from '../../contract/contentParts.ts';
import { jidOf } from '../people/addresses.ts';
import { factsOf } from './mediaFacts.ts';
import { additionsOf, eventOf, urlInfoOf } from './richContent.ts';

/**
 * A message in the form of Baileys. Its file is opened, and read once.
 * @param albumKey the head of the album that the file belongs to
 * @param mentions addresses of the mentioned people; by number if omitted
 */
export async function toBaileysContent(
  content: MessageContent,
  albumKey?: WAMessageKey,
  mentions: string[] = content.mentions?.map(jidOf) ?? [],
): Promise<AnyMessageContent> {
  const { type, text, location, contact, poll, event, linkPreview } = content;
  const contextInfo: proto.IContextInfo = {
    // Clients show a score of 1 as "forwarded". The number of earlier forwards is unknown.
    ...(content.isForwarded === true && { isForwarded: true, forwardingScore: 1 }),
  };
  const around = { mentions, contextInfo, ...additionsOf(content, albumKey) };
  switch (type) {
    case 'text':
      // Baileys must not make a preview: it would fetch an address that anybody may have written.
      return { text, linkPreview: linkPreview ? urlInfoOf(linkPreview) : null, ...around };
    case 'location':
      if (location === undefined) break;
      return {
        location: {
          degreesLatitude: location.latitude,
          degreesLongitude: location.longitude,
          ...(location.name !== undefined && { name: location.name }),
          ...(location.address !== undefined && { address: location.address }),
        },
        contextInfo,
      };
    case 'contact':
      if (contact === undefined) break;
      return {
        contacts: { displayName: contact.name, contacts: [{ displayName: contact.name, vcard: toVcard(contact) }] },
        contextInfo,
      };
    case 'poll':
      if (poll === undefined) break;
      return {
        poll: {
          name: text,
          values: [...poll.options],
          selectableCount: poll.maxSelections >= poll.options.length ? 0 : poll.maxSelections,
        },
        contextInfo,
      };
    case 'event':
      if (event?.startsAt === undefined) break;
      return eventOf(text, event, event.startsAt);
    default:
      return fileOf(content, around);
  }
  throw new AppError('not_supported', `The message has no ${type}`);
}

async function fileOf(
  { type, text, media, isGif, isVideoNote }: MessageContent,
  around: { mentions: string[]; contextInfo: proto.IContextInfo } & ReturnType<typeof additionsOf>,
): Promise<AnyMessageContent> {
  if (media === undefined) throw new AppError('not_supported', `WhatsApp does not support messages of type ${type}`);
  const { mimeType: mimetype } = media;
  const file = { stream: await media.open() };
  const caption = text === '' ? {} : { caption: text };
  const facts = await factsOf(media);
  switch (type) {
    case 'image':
      return { image: file, mimetype, ...facts.picture, ...caption, ...around };
    case 'video':
      return {
        video: file,
        mimetype,
        ...facts.picture,
        ...facts.duration,
        ...(isGif === true && { gifPlayback: true }),
        ...(isVideoNote === true ? { ptv: true } : caption),
        ...around,
      };
    case 'audio':
      return { audio: file, mimetype, ...facts.duration, ...around };
    case 'voice':
      // Phones play voice messages as Opus in Ogg, and require the matching MIME type.
      return {
        audio: file,
        ptt: true,
        mimetype: mimetype.startsWith('audio/ogg') ? OPUS : mimetype,
        ...facts.duration,
        ...facts.waveform,
        ...around,
      };
    case 'sticker':
      return { sticker: file, mimetype, ...facts.size, ...around };
    default:
      return { document: file, mimetype, fileName: media.fileName ?? 'file', ...caption, ...around };
  }
}

const OPUS = 'audio/ogg; codecs=opus';

/** A vCard as WhatsApp's clients write it: `waid` makes it possible to write to a number. */
function toVcard({ name, phoneNumbers }: ContactCard): string {
  const escaped = name.replace(/[\\,;]/g, (sign) => `\\${sign}`).replace(/\n/g, '\\n');
  const numbers = phoneNumbers.map((digits) => `TEL;type=CELL;type=VOICE;waid=${digits}:+${digits}`);
  return ['BEGIN:VCARD', 'VERSION:3.0', `N:;${escaped};;;`, `FN:${escaped}`, ...numbers, 'END:VCARD'].join('\n');
}
