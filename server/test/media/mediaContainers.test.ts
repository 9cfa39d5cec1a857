import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { whatsappMediaRules as rules } from '../../src/connectors/mediaRules.ts';
import { examine } from '../../src/media/conversion/containers.ts';
import { Ffmpeg } from '../../src/media/conversion/ffmpeg.ts';
import { ConversionError, type Order, type Purpose } from '../../src/media/conversion/task.ts';
import { damagedAt, sampleMedia, wavOf } from '../support/media/sampleMedia.ts';

const look = (purpose: Purpose, mimeType: string, content: Uint8Array) =>
  examine(
    { ...({ purpose, mimeType, rule: rules[purpose] } as Order), content },
    new ConversionError('missing', 'it would have to be converted'),
  );

const factsOf = async (...file: Parameters<typeof look>) => (await look(...file)).facts;

/** The sound of a tone, encoded. */
async function encoded(...output: string[]): Promise<Uint8Array> {
  const [content] = (await Ffmpeg.open(wavOf(3), 'audio/wav')).convert([], [['-map_metadata', '-1', ...output]]);
  assert.ok(content);
  return content;
}

const amr = (frames: number, head = [0x3c]) =>
  Buffer.concat([Buffer.from('#!AMR\n'), ...Array(frames).fill(Buffer.from([...head, ...Array(31).fill(0)]))]);

/** An MP3 behind a tag with a picture that is larger than the recording. */
function withCover(mp3: Buffer): Buffer {
  const [head, cover] = [Buffer.from([0x49, 0x44, 0x33, 4, 0, 0, 0, 2, 0, 0]), Buffer.alloc(2 * 2 ** 14)];
  return Buffer.concat([head, cover, mp3.subarray(mp3.indexOf(0xff))]);
}

describe('without ffmpeg', () => {
  it('recordings that apps play are sent as they are, with their duration', async () => {
    const files = [
      ['voice', 'audio/ogg', sampleMedia('voice.ogg'), 2],
      ['audio', 'audio/ogg', sampleMedia('stereo.ogg'), 2],
      ['audio', 'audio/mpeg', sampleMedia('tone.mp3'), 2],
      ['audio', 'audio/mpeg', withCover(sampleMedia('tone.mp3')), 2],
      ['audio', 'audio/x-m4a', sampleMedia('tone.m4a'), 2],
      ['audio', 'audio/aac', await encoded('-c:a', 'aac', '-f', 'adts'), 3],
      ['audio', 'audio/wav', wavOf(3), 3],
      ['audio', 'audio/wav', wavOf(3, 0xff_ff_ff_00), 3],
      ['audio', 'audio/amr', amr(50), 1],
    ] as const;
    for (const [purpose, mimeType, content, durationSeconds] of files)
      assert.deepEqual(await factsOf(purpose, mimeType, content), { durationSeconds }, mimeType);
  });

  it('videos that phones play are sent as they are, with their size and duration', async () => {
    const facts = { width: 64, height: 48, durationSeconds: 2 };
    assert.deepEqual(await factsOf('video', 'video/mp4', sampleMedia('clip.mp4')), facts);
    const old = (await Ffmpeg.open(sampleMedia('clip.mp4'), 'video/mp4')).convert(
      [],
      [['-an', '-c:v', 'mpeg4', '-f', '3gp']],
    );
    assert.deepEqual(await factsOf('video', 'video/3gpp', old[0] ?? new Uint8Array()), facts);
  });

  it('files that would have to be converted are refused as such', async () => {
    const files = [
      ['voice', 'audio/mpeg', sampleMedia('tone.mp3')],
      ['voice', 'audio/ogg', sampleMedia('stereo.ogg')],
      ['audio', 'audio/ogg', sampleMedia('vorbis.ogg')],
      ['audio', 'audio/flac', await encoded('-f', 'flac')],
      ['audio', 'audio/amr', Buffer.from('#!AMR-WB\n')],
      ['video', 'video/mp4', sampleMedia('clip444.mp4')],
      ['video', 'video/webm', sampleMedia('clip.webm')],
    ] as const;
    for (const [purpose, mimeType, content] of files)
      await assert.rejects(look(purpose, mimeType, content), { reason: 'missing' }, `${purpose} ${mimeType}`);
  });

  it('damaged and empty files are refused', async () => {
    const files = [
      ['voice', 'audio/ogg', damagedAt(sampleMedia('voice.ogg'), 500, 2000)],
      ['voice', 'audio/ogg', sampleMedia('voice.ogg').subarray(0, 4000)],
      ['audio', 'audio/mpeg', damagedAt(sampleMedia('tone.mp3'), 300, 4400)],
      ['audio', 'audio/mpeg', Buffer.alloc(5000, 7)],
      ['audio', 'audio/x-m4a', sampleMedia('tone.m4a').subarray(0, 3000)],
      ['audio', 'audio/wav', wavOf(0)],
      ['audio', 'audio/amr', amr(3, [0x4c])],
      ['audio', 'audio/amr', amr(0)],
      ['video', 'video/mp4', damagedAt(sampleMedia('clip.mp4'), 200, 1200)],
      ['video', 'video/mp4', sampleMedia('clip.mp4').subarray(0, 4000)],
      ['video', 'video/mp4', sampleMedia('tone.m4a')],
    ] as const;
    for (const [purpose, mimeType, content] of files)
      await assert.rejects(look(purpose, mimeType, content), (error: Error & { reason?: string }) => {
        assert.notEqual(error.reason, 'missing', mimeType);
        return true;
      });
  });
});
