import type { Sharp } from 'sharp';
import { FairTurns } from '../async.ts';
import { AppError } from '../errors.ts';
import type { Media } from './media.ts';

/** A picture that is small enough for an answer, or the reason why there is none. */
export type Preview =
  | { readonly mimeType: string; readonly content: Buffer }
  | { readonly mimeType: null; readonly reason: string };

interface File {
  readonly mimeType: string;
  readonly size: number;
  /** SHA-256, the key of the content. */
  readonly hash: string;
}

/** Supported formats, by MIME type. The library supports more, but gets none of them. */
const FORMATS: Readonly<Record<string, string>> = {
  'image/png': 'png',
  'image/jpeg': 'jpeg',
  'image/webp': 'webp',
  'image/gif': 'gif',
};
const MAX_BYTES = 16 * 1024 * 1024;
/** A decoded WebP of this many pixels takes 160 MB, and one is decoded at a time. */
const MAX_PIXELS = 40_000_000;
const MAX_SECONDS = 10;
const MAX_WAITING = { inAll: 16, perKey: 4 };
/** With base64 a third more, which fits into an answer of 60,000 bytes. */
const PREVIEW_BYTES = 40_000;
/** Longest side and quality, tried in order until the bytes fit. The last one always fits. */
const STEPS = [
  { side: 1024, quality: 70 },
  { side: 1024, quality: 45 },
  { side: 768, quality: 45 },
  { side: 512, quality: 40 },
  { side: 256, quality: 30 },
] as const;

/**
 * Scales pictures down. They come from strangers, so bytes, pixels and time are bounded. One is processed at a time,
 * because decoding takes memory and a thread of libuv's pool, which file access shares.
 */
export class Previews {
  readonly #media: Media;
  readonly #turns = new FairTurns(MAX_WAITING);

  constructor(media: Media) {
    this.#media = media;
  }

  /** Never rejects: a file that cannot be shown returns the reason. */
  async of(accountId: string, file: File): Promise<Preview> {
    const format = FORMATS[file.mimeType];
    if (format === undefined) return none(`A file of type ${file.mimeType} cannot be shown as an image.`);
    if (file.size > MAX_BYTES) return none(`Images of more than ${MAX_BYTES} bytes are not shown.`);
    if (!this.#turns.hasRoomFor(accountId))
      return none('The server is busy with other images. Call again in a few seconds.');
    try {
      return await this.#turns.run(accountId, () => this.#scale(file.hash, format));
    } catch (error) {
      if (error instanceof AppError) return none(`${error.message}.`);
      return none(`The image cannot be shown: it is damaged or has more than ${MAX_PIXELS} pixels.`);
    }
  }

  async #scale(hash: string, format: string): Promise<Preview> {
    const library = await import('sharp').catch(() => undefined);
    if (library === undefined)
      return none('The server cannot show images because its image library (sharp) is not installed.');
    const sharp = library.default;
    const open = (content: Buffer): Sharp =>
      sharp(content, { limitInputPixels: MAX_PIXELS, failOn: 'error' }).timeout({ seconds: MAX_SECONDS });
    const original = await this.#media.read(hash);
    const found = await open(original).metadata();
    if (found.format !== format) return none('The image cannot be shown: its content is of another type.');
    const [{ side }] = STEPS;
    const { data, info } = await inside(open(original).autoOrient(), side).raw().toBuffer({ resolveWithObject: true });
    const { width, height, channels } = info;
    let content = data;
    for (const step of STEPS) {
      const image = inside(sharp(data, { raw: { width, height, channels } }), step.side);
      content = await image.webp({ quality: step.quality, effort: 2 }).toBuffer();
      if (content.length <= PREVIEW_BYTES) break;
    }
    return { mimeType: 'image/webp', content };
  }
}

const inside = (image: Sharp, side: number) =>
  image.resize({ width: side, height: side, fit: 'inside', withoutEnlargement: true });

const none = (reason: string): Preview => ({ mimeType: null, reason });
