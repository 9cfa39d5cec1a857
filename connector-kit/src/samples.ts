import { Readable } from 'node:stream';
import type { MessageContent } from '../../server/src/connectors/contract/content.ts';
import type { NetworkMedia } from '../../server/src/connectors/contract/networkMedia.ts';
import type { MessageType } from '../../server/src/events/networkTypes.ts';

/** A message of each type. Types that can have a text get one of the case, and the others none. */
export const samples: Readonly<Partial<Record<MessageType, Partial<MessageContent>>>> = {
  text: {},
  image: { media: media('image/png', 'R0lGODlhAQABAAAAACwAAAAAAQABAAA=') },
  video: { media: media('video/mp4', 'AAAAGGZ0eXBpc29tAAAAAGlzb20=') },
  audio: { text: '', media: media('audio/mpeg', 'SUQzAwAAAAAAAA==') },
  voice: { text: '', media: media('audio/ogg', 'T2dnUwACAAAAAA==') },
  document: { media: media('text/plain', 'SGVsbG8=', 'hello.txt') },
  sticker: { text: '', media: media('image/webp', 'UklGRhoAAABXRUJQVlA4TA0AAAAvAAAA') },
  location: { text: '', location: { latitude: 52.5, longitude: 13.4, name: 'Gate' } },
  contact: { text: '', contact: { name: 'Grace', phoneNumbers: ['4915112345678'] } },
  poll: { poll: { options: ['now', 'later'], maxSelections: 1 } },
  template: { text: '', template: { name: 'hello', language: 'en_US' } },
  interactive: { interactive: { buttons: [{ id: 'yes', title: 'Yes' }] } },
  event: { event: { startsAt: Date.UTC(2030, 0, 1, 18), location: { name: 'Gate' } } },
};

function media(mimeType: string, base64: string, fileName: string | null = null): NetworkMedia {
  const bytes = Buffer.from(base64, 'base64');
  return { mimeType, size: bytes.length, fileName, open: async () => Readable.from([bytes]) };
}
