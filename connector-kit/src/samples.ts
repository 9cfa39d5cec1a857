import { Readable } from 'node:stream';
import type { MessageContent, MessageType, NetworkMedia } from '../../server/src/connectors/connector.ts';

/** A message of each type, without its text. */
export const samples: Readonly<Record<MessageType, Partial<MessageContent>>> = {
  text: {},
  image: { media: media('image/png', 'R0lGODlhAQABAAAAACwAAAAAAQABAAA=') },
  video: { media: media('video/mp4', 'AAAAGGZ0eXBpc29tAAAAAGlzb20=') },
  audio: { media: media('audio/mpeg', 'SUQzAwAAAAAAAA==') },
  voice: { media: media('audio/ogg', 'T2dnUwACAAAAAA==') },
  document: { media: media('text/plain', 'SGVsbG8=', 'hello.txt') },
  sticker: { media: media('image/webp', 'UklGRhoAAABXRUJQVlA4TA0AAAAvAAAA') },
  location: { location: { latitude: 52.5, longitude: 13.4, name: 'Gate' } },
  contact: { contact: { name: 'Grace', phoneNumbers: ['4915112345678'] } },
  poll: { poll: { options: ['now', 'later'], maxSelections: 1 } },
  template: { template: { name: 'hello', language: 'en_US' } },
  interactive: { interactive: { buttons: [{ id: 'yes', title: 'Yes' }] } },
};

function media(mimeType: string, base64: string, fileName: string | null = null): NetworkMedia {
  const bytes = Buffer.from(base64, 'base64');
  return { mimeType, size: bytes.length, fileName, open: async () => Readable.from([bytes]) };
}
