import type { FileRule } from '../../connectors/contract/media.ts';
import { durationOf } from './audio.ts';
import { Ffmpeg, type Probe, type Stream } from './ffmpeg.ts';
import { loadSharp, thumbnailOf } from './images.ts';
import { ConversionError, type Prepared } from './task.ts';

/** Longer videos are not converted: a second takes up to half a second of a core. */
const MAX_CONVERTED_SECONDS = 60;
const MAX_PIXELS = 4096 * 2304;
/**
 * Pixels of all frames together in a video to convert: a minute of 1920 × 1080 at 30 frames per second, which takes
 * about half a minute. A movie of a few kilobytes can have any number of frames of a single color.
 */
const MAX_MOVIE_PIXELS = 4_000_000_000;
/** The longest side after a conversion. */
const SIDE = 848;

const PLAYED_SOUND: readonly (string | undefined)[] = ['aac', 'mp3', 'amr_nb'];
const PLAYED_PICTURES: readonly (string | undefined)[] = ['h264', 'mpeg4', 'h263'];

const TRACKS = ['-map', '0:v:0', '-map', '0:a:0?', '-map_metadata', '-1', '-sn', '-dn'];
const MP4 = ['-movflags', '+faststart', '-f', 'mp4'];
const H264 = ['-c:v', 'libx264', '-preset', 'ultrafast', '-crf', '26', '-pix_fmt', 'yuv420p', '-r', '30'];
const SCALED = ['-vf', `scale='trunc(min(1,${SIDE}/max(iw,ih))*iw/2)*2':'trunc(min(1,${SIDE}/max(iw,ih))*ih/2)*2'`];

/** Makes an MP4 with H.264 and AAC that phones play. @throws {ConversionError} */
export async function prepareVideo(content: Uint8Array, mimeType: string, rule: FileRule): Promise<Prepared> {
  const ffmpeg = await Ffmpeg.open(content, mimeType);
  const probe = ffmpeg.probe();
  const picture = pictureOf(probe);
  const isContainer = rule.mimeTypes.includes(mimeType);
  // Containers without an index can be read only from the start.
  const thumbnail = await thumbnail160(ffmpeg, probe, isContainer ? 2 : 1);
  const facts = {
    ...sizeOf(picture),
    ...durationOf(probe.durationSeconds),
    ...(thumbnail && { hasThumbnail: true as const }),
  };
  const shown = thumbnail && { thumbnail };
  const problem = problemOf(probe, picture);
  const fits = content.length <= rule.maxBytes;
  if (problem === undefined && fits && isContainer) return { facts, ...shown };
  // Other containers of the same content are only repackaged.
  const how = problem === undefined && fits ? ['-c', 'copy'] : conversionOf(probe, problem ?? 'it is too large');
  if (!how.includes('copy')) requireMoviePixels(picture, ffmpeg.countFrames());
  const [mp4] = ffmpeg.convert([], [[...TRACKS, ...how, ...MP4]]);
  if (mp4 === undefined || mp4.length === 0) throw new ConversionError('unreadable', 'its content is damaged');
  if (mp4.length > rule.maxBytes)
    throw new ConversionError('refused', `as an MP4 it has more than ${rule.maxBytes} bytes`);
  const converted = { content: mp4, mimeType: 'video/mp4', extension: 'mp4' };
  const size = how.includes('copy') ? {} : scaled(sizeOf(picture));
  return { converted, facts: { ...facts, ...size }, ...shown };
}

function pictureOf({ streams }: Probe): Stream {
  const picture = streams.find((one) => one.codec_type === 'video' && one.disposition?.attached_pic !== 1);
  if (picture === undefined) throw new ConversionError('refused', 'it has no picture; send it as audio');
  requirePixels(picture);
  return picture;
}

/** @throws {ConversionError} `refused` */
export function requirePixels({ width = 0, height = 0 }: { width?: number; height?: number }): void {
  if (width * height > MAX_PIXELS) throw new ConversionError('refused', 'it has more pixels than 4096 × 2304');
}

/** @throws {ConversionError} `refused` */
function requireMoviePixels({ width = 0, height = 0 }: Stream, frames: number): void {
  if (width * height * frames <= MAX_MOVIE_PIXELS) return;
  const size = `its ${frames} frames of ${width} × ${height} pixels`;
  throw new ConversionError(
    'refused',
    `${size} are too many to convert; send it smaller, or as MP4 with H.264 and AAC`,
  );
}

/** Why phones would not play it, as a clause; undefined if they do. */
function problemOf({ streams }: Probe, { codec_name, pix_fmt, profile }: Stream): string | undefined {
  if (!PLAYED_PICTURES.includes(codec_name)) return `its picture is ${codec_name ?? 'of an unknown format'}, not H.264`;
  if (codec_name === 'h264' && !['yuv420p', 'yuvj420p'].includes(pix_fmt ?? ''))
    return `its picture is H.264 of the profile ${profile ?? pix_fmt}, which phones do not decode`;
  const sound = streams.find(({ codec_type }) => codec_type === 'audio');
  if (sound !== undefined && !PLAYED_SOUND.includes(sound.codec_name))
    return `its sound is ${sound.codec_name ?? 'of an unknown format'}, not AAC`;
  return undefined;
}

function conversionOf({ durationSeconds }: Probe, problem: string): string[] {
  if (durationSeconds === undefined || durationSeconds > MAX_CONVERTED_SECONDS) {
    const limit = `videos of more than ${MAX_CONVERTED_SECONDS} s are not converted`;
    throw new ConversionError('refused', `${problem}, and ${limit}; convert it to MP4 with H.264 and AAC`);
  }
  return [...SCALED, ...H264, '-c:a', 'aac', '-b:a', '96k', '-ac', '2', '-t', String(MAX_CONVERTED_SECONDS)];
}

/**
 * Decodes pictures of four places, to see that the video can be played, and returns a small one of the first that can
 * be decoded. Undefined without the library for images.
 * @param least pictures that must be decoded
 * @throws {ConversionError} `unreadable`
 */
async function thumbnail160(
  ffmpeg: Ffmpeg,
  { durationSeconds = 0 }: Probe,
  least: number,
): Promise<Uint8Array | undefined> {
  const later = (seconds: number, how: readonly string[]) => [...how, '-ss', String(seconds)];
  // Only the nearest key frame, because all pictures since then would take seconds.
  const places = [
    later(Math.min(1, durationSeconds / 2), []),
    [],
    ...[0.5, 0.75].map((part) => later(part * durationSeconds, ['-noaccurate_seek'])),
  ];
  const pictures = places.map((place) => pictureAt(ffmpeg, place)).filter((picture) => picture !== undefined);
  const [picture] = pictures;
  if (picture === undefined || pictures.length < least)
    throw new ConversionError('unreadable', 'its pictures are damaged');
  try {
    const sharp = await loadSharp();
    return await thumbnailOf(sharp(picture));
  } catch {
    return undefined;
  }
}

/** Undefined if it cannot be decoded. */
function pictureAt(ffmpeg: Ffmpeg, place: readonly string[]): Uint8Array | undefined {
  const frame = ['-map', '0:v:0', '-frames:v', '1', '-vf', 'scale=320:-2', '-c:v', 'mjpeg', '-f', 'image2pipe'];
  try {
    const [jpeg] = ffmpeg.convert(place, [frame]);
    return jpeg?.length ? jpeg : undefined;
  } catch {
    return undefined;
  }
}

/** As shown: phones record upright videos as turned ones. */
function sizeOf({ width = 0, height = 0, side_data_list: data = [] }: Stream) {
  if (width === 0 || height === 0) return {};
  const isTurned = data.some(({ rotation = 0 }) => Math.abs(rotation) % 180 === 90);
  return isTurned ? { width: height, height: width } : { width, height };
}

function scaled({ width, height }: { width?: number; height?: number }) {
  if (width === undefined || height === undefined) return {};
  const factor = Math.min(1, SIDE / Math.max(width, height));
  return { width: even(width * factor), height: even(height * factor) };
}

const even = (pixels: number) => Math.trunc(pixels / 2) * 2;
