import { randomFillSync } from 'node:crypto';
import type { mediaTypes } from '../../../src/connectors/contract/content.ts';
import type { TestServer } from '../server.ts';
import { sampleMedia } from './sampleMedia.ts';

/** A PNG of one pixel, followed by bytes that make its content unique. */
export function picture(): Buffer {
  return Buffer.concat([Buffer.from(PIXEL, 'base64'), randomFillSync(Buffer.alloc(16))]);
}

const PIXEL = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg==';

type MediaType = (typeof mediaTypes)[number];

/** A small file for each type, which networks show as it is. */
export const samples: Readonly<Record<MediaType, Buffer>> = {
  image: Buffer.from(PIXEL, 'base64'),
  video: sampleMedia('clip.mp4'),
  audio: sampleMedia('tone.mp3'),
  voice: sampleMedia('voice.ogg'),
  document: Buffer.from('only text'),
  sticker: sampleMedia('sticker.webp'),
};

/** Uploads with a token. */
export async function upload(
  { url }: Pick<TestServer, 'url'>,
  token: string,
  body: NonNullable<RequestInit['body']> | Buffer,
  { query = '', headers = {} }: { query?: string; headers?: Record<string, string> } = {},
) {
  const response = await fetch(`${url}/api/v1/media${query}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, ...headers },
    body,
    duplex: 'half',
    // The DOM types know neither `duplex`, which a stream requires, nor Node's buffers.
  } as RequestInit);
  return { status: response.status, headers: response.headers, body: await response.json() };
}

/** The content of a media, with its headers. */
export async function download(
  { url }: Pick<TestServer, 'url'>,
  token: string,
  mediaId: string,
  headers: Record<string, string> = {},
  method = 'GET',
) {
  const response = await fetch(`${url}/api/v1/media/${mediaId}/content`, {
    method,
    headers: { authorization: `Bearer ${token}`, ...headers },
  });
  return { status: response.status, headers: response.headers, bytes: Buffer.from(await response.arrayBuffer()) };
}
