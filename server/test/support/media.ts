import { randomFillSync } from 'node:crypto';
import type { mediaTypes } from '../../src/connectors/connector.ts';
import type { TestServer } from './server.ts';

/** A PNG of one pixel, followed by bytes that make its content unique. */
export function picture(): Buffer {
  return Buffer.concat([Buffer.from(PIXEL, 'base64'), randomFillSync(Buffer.alloc(16))]);
}

const PIXEL = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg==';

const bytes = (...parts: (string | number[])[]) =>
  Buffer.concat(parts.map((part) => Buffer.from(part as string, 'latin1')));
const ogg = bytes('OggS', [...Array(24).fill(0)], 'OpusHead', [...Array(40).fill(0)]);

type MediaType = (typeof mediaTypes)[number];

/** The smallest file of each detected type. */
export const samples: Readonly<Record<MediaType, Buffer>> = {
  image: Buffer.from(PIXEL, 'base64'),
  video: bytes([0, 0, 0, 24], 'ftypmp42', [0, 0, 0, 0], 'mp42isom'),
  audio: bytes('ID3', [4, 0, 0, 0, 0, 0, 0], [0xff, 0xfb, 0x90, 0], [...Array(60).fill(0)]),
  voice: ogg,
  document: Buffer.from('only text'),
  sticker: bytes('RIFF', [24, 0, 0, 0], 'WEBPVP8 ', [...Array(24).fill(0)]),
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
