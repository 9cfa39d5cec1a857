import type { InputAudioTrack, InputTrack, InputVideoTrack } from 'mediabunny';
import { durationOf } from './audio.ts';
import { requireIntactOgg } from './ogg.ts';
import { ConversionError, isAccepted, type Prepared, type Task } from './task.ts';
import { requirePixels } from './video.ts';

/*
 * Examines files without decoding them, on a server that has no ffmpeg. A file is sent as it is if its container is
 * whole and says that apps play it; everything else would need ffmpeg.
 */

/** The part of a recording or of its pictures that must be intact. */
const MIN_INTACT = 0.75;
/** H.264 with 8 bits per color, and colors that phones decode: Baseline, Main, Extended and High. */
const PLAYED_PROFILES = [0x42, 0x4d, 0x58, 0x64];
/** Codecs of old phones, which the library does not name. */
const PLAYED_PICTURES: readonly unknown[] = ['s263', 'h263', 'mp4v'];
const PLAYED_SOUND: readonly unknown[] = ['samr'];
const AMR_HEADER = '#!AMR\n';
/** Bytes of a frame of 20 ms with its first one, by its mode; those of other modes do not exist. */
const AMR_FRAMES = [13, 14, 16, 18, 20, 21, 27, 32, 6];
const AMR_SILENCE = 15;

/**
 * Returns what the containers of sound and videos tell.
 * @param missing thrown if the file cannot be sent as it is
 * @throws {ConversionError}
 */
export async function examine(task: Task, missing: ConversionError): Promise<Prepared> {
  if (!isAccepted(task, task.content.length)) throw missing;
  switch (task.purpose) {
    case 'image':
    case 'sticker':
      return { facts: {}, isProvisional: true };
    case 'voice':
    case 'audio':
      return { facts: durationOf(await soundSeconds(task, missing)), isProvisional: true };
    case 'video':
      return { facts: await videoFacts(task, missing), isProvisional: true };
  }
}

async function soundSeconds({ content, mimeType, purpose }: Task, missing: ConversionError): Promise<number> {
  if (mimeType === 'audio/amr') return amrSeconds(content, missing);
  if (mimeType === 'audio/ogg') requireIntactOgg(content);
  const [sound] = (await tracksOf(content)).filter((track) => track.isAudioTrack());
  if (sound === undefined) throw new ConversionError('refused', 'it has no sound');
  if (mimeType === 'audio/ogg' && (await sound.getCodec()) !== 'opus') throw missing;
  if (purpose === 'voice' && (await sound.getNumberOfChannels()) !== 1) throw missing;
  const { seconds, bytes } = await packetsOf(sound);
  if (bytes === 0) throw new ConversionError('refused', 'it has no sound');
  // These have no table of contents: their frames follow each other, and damaged ones are skipped.
  const isStream = mimeType === 'audio/mpeg' || mimeType === 'audio/aac';
  if (isStream && bytes < MIN_INTACT * (content.length - tagBytes(content))) throw damaged();
  return seconds;
}

async function videoFacts({ content }: Task, missing: ConversionError) {
  const tracks = await tracksOf(content);
  const [picture] = tracks.filter((track) => track.isVideoTrack());
  const [sound] = tracks.filter((track) => track.isAudioTrack());
  if (picture === undefined) throw new ConversionError('refused', 'it has no picture; send it as audio');
  const size = { width: await picture.getDisplayWidth(), height: await picture.getDisplayHeight() };
  requirePixels(size);
  if (!(await hasPlayedPicture(picture)) || (sound !== undefined && !(await hasPlayedSound(sound)))) throw missing;
  if ((await picture.getCodec()) === 'avc') await requireIntactPictures(picture);
  const { seconds } = await packetsOf(picture);
  return { ...size, ...durationOf(seconds) };
}

async function hasPlayedPicture(picture: InputVideoTrack): Promise<boolean> {
  if ((await picture.getCodec()) === null) return PLAYED_PICTURES.includes(await picture.getInternalCodecId());
  const [, profile] = /^avc[13]\.([0-9a-f]{2})/i.exec((await picture.getCodecParameterString()) ?? '') ?? [];
  return profile !== undefined && PLAYED_PROFILES.includes(Number.parseInt(profile, 16));
}

async function hasPlayedSound(sound: InputAudioTrack): Promise<boolean> {
  const codec = await sound.getCodec();
  return codec === null ? PLAYED_SOUND.includes(await sound.getInternalCodecId()) : ['aac', 'mp3'].includes(codec);
}

async function tracksOf(content: Uint8Array): Promise<InputTrack[]> {
  const { ALL_FORMATS, BufferSource, Input } = await import('mediabunny');
  const tracks = await new Input({ formats: ALL_FORMATS, source: new BufferSource(content) }).getTracks();
  if (tracks.length === 0) throw damaged();
  return tracks;
}

/** Reads all packets, which must be in the file. */
async function packetsOf(track: InputTrack): Promise<{ seconds: number; bytes: number }> {
  const { EncodedPacketSink } = await import('mediabunny');
  let [seconds, bytes] = [0, 0];
  for await (const { timestamp, duration, data } of new EncodedPacketSink(track).packets()) {
    seconds = Math.max(seconds, timestamp + duration);
    bytes += data.length;
  }
  return { seconds, bytes };
}

/** H.264 in MP4 is a sequence of units, each with its length in front, which random bytes are not. */
async function requireIntactPictures(picture: InputVideoTrack): Promise<void> {
  const { EncodedPacketSink } = await import('mediabunny');
  const { description } = (await picture.getDecoderConfig()) ?? {};
  if (!(description instanceof Uint8Array)) throw damaged();
  const lengthBytes = ((description[4] ?? 0) & 3) + 1;
  const all = { key: 0, delta: 0 };
  const intact = { key: 0, delta: 0 };
  for await (const { type, data } of new EncodedPacketSink(picture).packets()) {
    all[type] += 1;
    if (isSequenceOfUnits(data, lengthBytes)) intact[type] += 1;
  }
  const isPlayed = all.key > 0 && intact.key >= MIN_INTACT * all.key && intact.delta >= MIN_INTACT * all.delta;
  if (!isPlayed) throw new ConversionError('unreadable', 'its pictures are damaged');
}

function isSequenceOfUnits(packet: Uint8Array, lengthBytes: number): boolean {
  const bytes = Buffer.from(packet.buffer, packet.byteOffset, packet.length);
  let at = 0;
  while (at + lengthBytes <= bytes.length) at += lengthBytes + bytes.readUIntBE(at, lengthBytes);
  return at === bytes.length;
}

/** The tags around an MP3: ID3v2 in front of it, which can have a picture, and ID3v1 behind it. */
function tagBytes(content: Uint8Array): number {
  const at = (from: number, to: number) => Buffer.from(content.subarray(from, to)).toString('latin1');
  const [a = 0, b = 0, c = 0, d = 0] = content.subarray(6, 10);
  const front = at(0, 3) === 'ID3' ? 10 + a * 2 ** 21 + b * 2 ** 14 + c * 2 ** 7 + d : 0;
  const behind = at(content.length - 128, content.length - 125) === 'TAG' ? 128 : 0;
  return Math.min(front + behind, content.length);
}

/** https://datatracker.ietf.org/doc/html/rfc4867#section-5 */
function amrSeconds(content: Uint8Array, missing: ConversionError): number {
  if (!Buffer.from(content.subarray(0, AMR_HEADER.length)).equals(Buffer.from(AMR_HEADER))) throw missing;
  let frames = 0;
  let at = AMR_HEADER.length;
  while (at < content.length) {
    const mode = ((content[at] ?? 0) >> 3) & 15;
    const bytes = mode === AMR_SILENCE ? 1 : AMR_FRAMES[mode];
    if (bytes === undefined) throw damaged();
    frames += 1;
    at += bytes;
  }
  if (frames === 0) throw new ConversionError('refused', 'it has no sound');
  return frames * 0.02;
}

const damaged = () => new ConversionError('unreadable', 'its content is damaged');
