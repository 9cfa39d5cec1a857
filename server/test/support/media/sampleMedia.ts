import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { crc32 } from 'node:zlib';
import sharp from 'sharp';

type SampleName =
  | 'clip.mp4'
  | 'clip.webm'
  | 'clip444.mp4'
  | 'tone.mp3'
  | 'tone.m4a'
  | 'stereo.ogg'
  | 'voice.ogg'
  | 'vorbis.ogg'
  | 'sticker.webp';

/**
 * A real file of a few kilobytes; recordings last two seconds. `clip444.mp4` has no sound, and colors that phones do
 * not decode.
 */
export const sampleMedia = (name: SampleName): Buffer =>
  readFileSync(new URL(`../../fixtures/media/${name}`, import.meta.url));

/** A copy in which bytes are random, but the same each time. */
export function damagedAt(content: Uint8Array, from: number, to: number): Buffer {
  const copy = Buffer.from(content);
  createHash('shake256', { outputLength: to - from })
    .digest()
    .copy(copy, from);
  return copy;
}

/**
 * A tone as WAV.
 * @param statedBytes the length of the samples that the header states
 * @param rate samples per second
 */
export function wavOf(seconds: number, statedBytes?: number, rate = 8000): Buffer {
  const samples = Int16Array.from({ length: seconds * rate }, (_, at) => Math.sin(at / 3) * 12_000);
  const head = Buffer.alloc(44);
  head.write('RIFF', 0, 'latin1');
  head.writeUInt32LE(statedBytes ?? samples.byteLength + 36, 4);
  head.write('WAVEfmt ', 8, 'latin1');
  head.writeUInt32LE(16, 16);
  head.writeUInt16LE(1, 20);
  head.writeUInt16LE(1, 22);
  head.writeUInt32LE(rate, 24);
  head.writeUInt32LE(rate * 2, 28);
  head.writeUInt16LE(2, 32);
  head.writeUInt16LE(16, 34);
  head.write('data', 36, 'latin1');
  head.writeUInt32LE(statedBytes ?? samples.byteLength, 40);
  return Buffer.concat([head, Buffer.from(samples.buffer)]);
}

/** An animation, each frame of another color. */
export async function gifOf(frames: number, side: number): Promise<Buffer> {
  const pixels = Buffer.alloc(frames * side * side * 3);
  for (let at = 0; at < pixels.length; at++)
    pixels[at] = (Math.floor(at / (side * side * 3)) * 53 + (at % 3) * 60) % 256;
  const raw = { width: side, height: side * frames, channels: 3, pageHeight: side } as const;
  return sharp(pixels, { raw })
    .gif({ delay: Array(frames).fill(50), loop: 0 })
    .toBuffer();
}

/** A PNG that states a size, and has hardly any content. */
export function pngHeader(width: number, height: number): Buffer {
  const size = Buffer.alloc(13);
  size.writeUInt32BE(width, 0);
  size.writeUInt32BE(height, 4);
  size.set([8, 2, 0, 0, 0], 8);
  const signature = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);
  return Buffer.concat([
    signature,
    chunk('IHDR', size),
    chunk('IDAT', Buffer.alloc(20)),
    chunk('IEND', Buffer.alloc(0)),
  ]);
}

function chunk(type: string, content: Buffer): Buffer {
  const body = Buffer.concat([Buffer.from(type, 'latin1'), content]);
  const length = Buffer.alloc(4);
  length.writeUInt32BE(content.length);
  const sum = Buffer.alloc(4);
  sum.writeUInt32BE(crc32(body));
  return Buffer.concat([length, body, sum]);
}
