import type { Metadata, Sharp, SharpOptions } from 'sharp';
import type { FileRule, StickerRule } from '../../connectors/contract/media.ts';
import { Ffmpeg } from './ffmpeg.ts';
import { ConversionError, type Prepared } from './task.ts';

type Library = typeof import('sharp').default;

/** A decoded picture of this many pixels takes 200 MB. */
const MAX_PIXELS = 50_000_000;
/** Of all frames together; the decoded frames take 400 MB. */
const MAX_ANIMATION_PIXELS = 100_000_000;
const MAX_FRAMES = 300;
const MAX_SECONDS = 30;
const MAX_SIDE = 4096;
const THUMBNAIL_SIDE = 160;
const STICKER_SIDE = 512;
const WHITE = { r: 255, g: 255, b: 255 };
const TRANSPARENT = { r: 0, g: 0, b: 0, alpha: 0 };

/** Accepted formats, with their names in the library. SVG is none of them: it can refer to other files. */
const FORMATS: Readonly<Record<string, string>> = {
  'image/jpeg': 'jpeg',
  'image/png': 'png',
  'image/apng': 'png',
  'image/webp': 'webp',
  'image/gif': 'gif',
  'image/tiff': 'tiff',
  'image/avif': 'heif',
};

/** @throws {ConversionError} */
export async function prepareImage(content: Uint8Array, mimeType: string, rule: FileRule): Promise<Prepared> {
  const image = await Picture.open(content, mimeType);
  const { width, height } = image;
  const thumbnail = await thumbnailOf(image.still());
  const facts = { width, height, hasThumbnail: true } as const;
  const isUpright = (image.metadata.orientation ?? 1) === 1;
  if (isUpright && rule.mimeTypes.includes(mimeType) && content.length <= rule.maxBytes) return { facts, thumbnail };
  const { data, info } = await jpegWithin(image, rule.maxBytes);
  return {
    converted: { content: data, mimeType: 'image/jpeg', extension: 'jpg' },
    facts: { width: info.width, height: info.height, hasThumbnail: true },
    thumbnail,
  };
}

/** @throws {ConversionError} */
export async function prepareSticker(content: Uint8Array, mimeType: string, rule: StickerRule): Promise<Prepared> {
  const image = await Picture.open(content, mimeType);
  const { width, height, frames } = image;
  const isAnimated = frames > 1;
  const maxBytes = isAnimated ? rule.maxAnimatedBytes : rule.maxBytes;
  const facts = { width: STICKER_SIDE, height: STICKER_SIDE };
  const isSticker = mimeType === 'image/webp' && width === STICKER_SIDE && height === STICKER_SIDE;
  if (isSticker && content.length <= maxBytes) return { facts };
  const sized = (isAnimated ? image.animation() : image.still()).resize({
    width: STICKER_SIDE,
    height: STICKER_SIDE,
    fit: 'contain',
    background: TRANSPARENT,
  });
  for (const quality of [80, 60, 40, 20, 5]) {
    const webp = await sized
      .clone()
      .webp({ quality, effort: isAnimated ? 2 : 4, loop: 0 })
      .toBuffer();
    if (webp.length <= maxBytes)
      return { converted: { content: webp, mimeType: 'image/webp', extension: 'webp' }, facts };
  }
  const limit = Math.floor(maxBytes / 1024);
  throw new ConversionError('refused', `as a WebP of 512 × 512 pixels it would have more than ${limit} KiB`);
}

/** A small JPEG of a picture. */
export async function thumbnailOf(picture: Sharp): Promise<Uint8Array> {
  const size = { width: THUMBNAIL_SIDE, height: THUMBNAIL_SIDE, fit: 'inside', withoutEnlargement: true } as const;
  return picture.resize(size).flatten({ background: WHITE }).jpeg({ quality: 50 }).toBuffer();
}

/** @throws {ConversionError} `missing` */
export async function loadSharp(): Promise<Library> {
  const library = await import('sharp').catch(() => undefined);
  if (library !== undefined) return library.default;
  throw new ConversionError('missing', 'the server has no sharp, which converts images');
}

class Picture {
  readonly metadata: Metadata;
  /** Of a frame, upright. */
  readonly width: number;
  readonly height: number;
  readonly frames: number;
  readonly #sharp: Library;
  readonly #content: Uint8Array;

  private constructor(sharp: Library, content: Uint8Array, metadata: Metadata) {
    this.#sharp = sharp;
    this.#content = content;
    this.metadata = metadata;
    this.width = metadata.autoOrient.width;
    this.height = metadata.autoOrient.height;
    this.frames = metadata.pages ?? 1;
  }

  /** @throws {ConversionError} */
  static async open(given: Uint8Array, givenType: string): Promise<Picture> {
    const isBitmap = givenType === 'image/bmp';
    const content = isBitmap ? await bitmapAsPng(given) : given;
    const mimeType = isBitmap ? 'image/png' : givenType;
    const format = FORMATS[mimeType];
    if (format === undefined) throw new ConversionError('unreadable', `the type ${mimeType} cannot be converted`);
    const sharp = await loadSharp();
    const metadata = await sharp(content, limits({})).metadata().catch(damaged);
    if (metadata.format !== format) throw new ConversionError('unreadable', 'its content is of another type');
    const picture = new Picture(sharp, content, metadata);
    picture.#requireLimits();
    return picture;
  }

  still(): Sharp {
    return this.#sharp(this.#content, limits({})).timeout({ seconds: MAX_SECONDS }).autoOrient();
  }

  animation(): Sharp {
    return this.#sharp(this.#content, limits({ animated: true })).timeout({ seconds: MAX_SECONDS });
  }

  #requireLimits(): void {
    const pixels = this.width * this.height;
    if (pixels > MAX_PIXELS) throw tooLarge();
    if (this.frames > MAX_FRAMES) throw new ConversionError('refused', `it has more than ${MAX_FRAMES} frames`);
    if (pixels * this.frames > MAX_ANIMATION_PIXELS)
      throw new ConversionError('refused', `its frames together have more than ${MAX_ANIMATION_PIXELS} pixels`);
  }
}

async function jpegWithin(image: Picture, maxBytes: number) {
  const size = { width: MAX_SIDE, height: MAX_SIDE, fit: 'inside', withoutEnlargement: true } as const;
  const picture = image.still().resize(size).flatten({ background: WHITE });
  for (const quality of [85, 70, 50, 30]) {
    const jpeg = await picture.clone().jpeg({ quality }).toBuffer({ resolveWithObject: true }).catch(damaged);
    if (jpeg.data.length <= maxBytes) return jpeg;
  }
  throw new ConversionError('refused', `as a JPEG it would have more than ${maxBytes} bytes`);
}

async function bitmapAsPng(content: Uint8Array): Promise<Uint8Array> {
  const ffmpeg = await Ffmpeg.open(content, 'image/bmp');
  const [{ width = 0, height = 0 } = {}] = ffmpeg.probe().streams;
  if (width * height > MAX_PIXELS) throw tooLarge();
  const [png] = ffmpeg.convert([], [['-frames:v', '1', '-c:v', 'png', '-f', 'image2pipe']]);
  return png ?? new Uint8Array();
}

const limits = (more: SharpOptions): SharpOptions => ({
  limitInputPixels: MAX_ANIMATION_PIXELS,
  failOn: 'error',
  ...more,
});

/** @throws {ConversionError} that says what is wrong with a picture which sharp refuses */
function damaged(error: unknown): never {
  if (error instanceof Error && /pixel limit/.test(error.message)) throw tooLarge();
  throw new ConversionError('unreadable', 'its content is damaged');
}

const tooLarge = () => new ConversionError('refused', `it has more than ${MAX_PIXELS} pixels`);
