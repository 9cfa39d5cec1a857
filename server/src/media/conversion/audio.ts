import type { FileRule } from '../../connectors/contract/media.ts';
import { Ffmpeg, type Probe, type Stream } from './ffmpeg.ts';
import { requireIntactOgg } from './ogg.ts';
import { ConversionError, type Prepared } from './task.ts';

const MAX_SECONDS = 3600;
const MAX_STATED_SECONDS = 48 * 3600;
/** A frame of Opus. Anything shorter cannot be heard. */
const MIN_SECONDS = 0.02;
/** Of a recording that is sent as it is, this much is decoded to see that it is not damaged. An hour takes 20 s. */
const EXAMINED_SECONDS = 120;
const WAVEFORM_VALUES = 64;
/** Samples per second for the waveform, which needs only the loudness. */
const WAVEFORM_RATE = 4000;

const OPUS = ['-c:a', 'libopus', '-b:a', '32k', '-application', 'voip', '-compression_level', '5', '-f', 'ogg'];
const MP3 = ['-c:a', 'libmp3lame', '-b:a', '128k', '-f', 'mp3'];
/** The same file is converted to the same content, also by another node: an Ogg otherwise has a random number. */
const REPEATABLE = ['-fflags', '+bitexact'];
/** Only the sound, without titles and pictures. */
const SOUND = ['-map', '0:a:0', '-map_metadata', '-1'];
/** A second more than the limit, by which a longer recording is recognized: the header may state any duration. */
const UNTIL = ['-t', String(MAX_SECONDS + 1)];
const LOUDNESS = ['-ac', '1', '-ar', String(WAVEFORM_RATE), '-f', 's16le'];
const SAMPLES = [...SOUND, ...UNTIL, ...LOUDNESS];
/** Packets after the limit. They are only read, which takes a fraction of a second where decoding takes minutes. */
const BEYOND = ['-map', '0:a:0', '-c', 'copy', '-ss', String(MAX_SECONDS), '-t', '1', '-f', 'data'];

/** Makes a voice message: Opus in Ogg, mono. @throws {ConversionError} */
export async function prepareVoice(
  content: Uint8Array,
  mimeType: string,
  { maxBytes }: { readonly maxBytes: number },
): Promise<Prepared> {
  requireIntact(content, mimeType);
  const ffmpeg = await Ffmpeg.open(content, mimeType);
  const probe = ffmpeg.probe();
  const sound = soundOf(probe);
  const isVoice = mimeType === 'audio/ogg' && sound.codec_name === 'opus' && sound.channels === 1;
  if (isVoice && content.length <= maxBytes) {
    const [samples = new Uint8Array()] = ffmpeg.convert([], [SAMPLES]);
    const seconds = requireSound(samples);
    const isWhole = seconds <= MAX_SECONDS;
    return { facts: { ...durationOf(isWhole ? seconds : probe.durationSeconds), waveform: waveformOf(samples) } };
  }
  requireNothingBeyond(ffmpeg);
  const voice = [...SOUND, ...UNTIL, '-ac', '1', '-ar', '48000', ...REPEATABLE, ...OPUS];
  const [opus, samples] = ffmpeg.convert([], [voice, SAMPLES]);
  const facts = { ...durationOf(requireShort(samples)), waveform: waveformOf(samples ?? new Uint8Array()) };
  return { converted: { ...within(opus, maxBytes), mimeType: 'audio/ogg', extension: 'ogg' }, facts };
}

/** @throws {ConversionError} */
export async function prepareAudio(content: Uint8Array, mimeType: string, rule: FileRule): Promise<Prepared> {
  requireIntact(content, mimeType);
  const ffmpeg = await Ffmpeg.open(content, mimeType);
  const probe = ffmpeg.probe();
  const { codec_name: codec } = soundOf(probe);
  // The networks play Ogg only with Opus.
  const isPlayed = mimeType !== 'audio/ogg' || codec === 'opus';
  if (isPlayed && rule.mimeTypes.includes(mimeType) && content.length <= rule.maxBytes) {
    const [beginning] = ffmpeg.convert([], [[...SOUND, '-t', String(EXAMINED_SECONDS), ...LOUDNESS]]);
    const seconds = requireSound(beginning);
    return { facts: durationOf(seconds < EXAMINED_SECONDS ? seconds : probe.durationSeconds) };
  }
  requireNothingBeyond(ffmpeg);
  const [mp3, samples] = ffmpeg.convert([], [[...SOUND, ...UNTIL, ...REPEATABLE, ...MP3], SAMPLES]);
  const facts = durationOf(requireShort(samples));
  return { converted: { ...within(mp3, rule.maxBytes), mimeType: 'audio/mpeg', extension: 'mp3' }, facts };
}

function soundOf({ streams }: Probe): Stream {
  const sound = streams.find(({ codec_type }) => codec_type === 'audio');
  if (sound === undefined) throw new ConversionError('refused', 'it has no sound');
  return sound;
}

function requireIntact(content: Uint8Array, mimeType: string): void {
  if (mimeType.endsWith('/ogg')) requireIntactOgg(content);
}

function within(content: Uint8Array | undefined, maxBytes: number) {
  if (content === undefined || content.length === 0) throw new ConversionError('unreadable', 'it has no sound');
  if (content.length > maxBytes)
    throw new ConversionError('refused', `it is too long: converted it has more than ${maxBytes} bytes`);
  return { content };
}

/** @returns the duration of the samples */
function requireSound(samples: Uint8Array = new Uint8Array()): number {
  const seconds = samples.length / 2 / WAVEFORM_RATE;
  if (seconds < MIN_SECONDS) throw new ConversionError('refused', 'it has no sound');
  return seconds;
}

/** @returns the duration of the samples */
function requireShort(samples: Uint8Array | undefined): number {
  const seconds = requireSound(samples);
  if (seconds > MAX_SECONDS) throw tooLong();
  return seconds;
}

/** Refuses a long recording before it is converted, whatever duration its header states. */
function requireNothingBeyond(ffmpeg: Ffmpeg): void {
  const [packets] = ffmpeg.convert([], [BEYOND]);
  if (packets !== undefined && packets.length > 0) throw tooLong();
}

const tooLong = () => new ConversionError('refused', 'it is longer than an hour');

/** The duration that a header states is limited, because it can be anything. */
export function durationOf(seconds: number | undefined) {
  if (seconds === undefined || !(seconds > 0) || seconds > MAX_STATED_SECONDS) return {};
  return { durationSeconds: Math.max(1, Math.round(seconds)) };
}

/**
 * The average loudness of 64 equal parts, relative to the loudest one.
 * @param pcm samples of 16 bits, little endian
 */
export function waveformOf(pcm: Uint8Array): number[] {
  const view = new DataView(pcm.buffer, pcm.byteOffset, pcm.byteLength);
  const count = Math.floor(pcm.byteLength / 2);
  const parts = Array.from({ length: WAVEFORM_VALUES }, (_, part) => {
    const first = Math.floor((part * count) / WAVEFORM_VALUES);
    const end = Math.max(first + 1, Math.floor(((part + 1) * count) / WAVEFORM_VALUES));
    let sum = 0;
    for (let at = first; at < Math.min(end, count); at++) sum += Math.abs(view.getInt16(at * 2, true));
    return sum / (end - first);
  });
  const loudest = Math.max(...parts, 1);
  return parts.map((loudness) => Math.round((loudness / loudest) * 100));
}
