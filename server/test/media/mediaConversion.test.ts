import assert from 'node:assert/strict';
import { createServer } from 'node:net';
import { after, describe, it } from 'node:test';
import sharp from 'sharp';
import { whatsappMediaRules as rules } from '../../src/connectors/mediaRules.ts';
import { prepareAudio, prepareVoice, waveformOf } from '../../src/media/conversion/audio.ts';
import { Converter } from '../../src/media/conversion/converter.ts';
import { Ffmpeg } from '../../src/media/conversion/ffmpeg.ts';
import type { Order, Purpose } from '../../src/media/conversion/task.ts';
import { eventually } from '../support/eventually.ts';
import { damagedAt, gifOf, pngHeader, sampleMedia, wavOf } from '../support/media/sampleMedia.ts';

const converter = new Converter();
after(() => converter.stop());

function taskOf(purpose: Purpose, mimeType: string, content: Uint8Array, rule: unknown = rules[purpose]) {
  return [{ purpose, rule, mimeType } as Order, async () => content] as const;
}

const prepare = (purpose: Purpose, mimeType: string, content: Uint8Array, rule?: unknown, by = converter) =>
  by.prepare('acc_1', ...taskOf(purpose, mimeType, content, rule));

async function reasonOf(work: Promise<unknown>): Promise<string> {
  const error = await work.then(
    () => assert.fail('was converted'),
    (cause: Error & { reason?: string }) => cause,
  );
  return error.reason ?? error.message;
}

describe('voice messages', () => {
  const sources = { 'audio/mpeg': 'tone.mp3', 'audio/x-m4a': 'tone.m4a', 'video/webm': 'clip.webm' } as const;
  for (const [mimeType, name] of Object.entries(sources)) {
    it(`are made of ${mimeType}, as Opus in Ogg with one channel, a duration and a waveform`, async () => {
      const { converted, facts } = await prepare('voice', mimeType, sampleMedia(name));
      assert.equal(converted?.mimeType, 'audio/ogg');
      assert.equal(facts.durationSeconds, 2);
      assert.equal(facts.waveform?.length, 64);
      const opus = Buffer.from(converted.content);
      assert.equal(opus.toString('latin1', 28, 36), 'OpusHead');
      assert.equal(opus[37], 1, 'has one channel');
      const again = await prepare('voice', 'audio/ogg', opus);
      assert.equal(again.converted, undefined, 'is sent as it is');
      assert.deepEqual(again.facts.durationSeconds, 2);
    });
  }

  it('are made of stereo, and of a WAV whose header states days', async () => {
    const mono = await prepare('voice', 'audio/ogg', sampleMedia('stereo.ogg'));
    assert.equal(mono.converted?.mimeType, 'audio/ogg');
    const { facts } = await prepare('voice', 'audio/wav', wavOf(3, 0xff_ff_ff_00));
    assert.equal(facts.durationSeconds, 3);
  });

  it('have the loudness of each part in the waveform', () => {
    const samples = new Int16Array(640);
    samples.fill(20_000, 320);
    const waveform = waveformOf(new Uint8Array(samples.buffer));
    assert.deepEqual([waveform[0], waveform[31], waveform[32], waveform[63]], [0, 0, 100, 100]);
    assert.deepEqual(waveformOf(new Uint8Array()), new Array(64).fill(0));
  });

  it('are refused if the file has no sound, or is too large when converted', async () => {
    assert.equal(await reasonOf(prepare('voice', 'video/mp4', sampleMedia('clip444.mp4'))), 'refused');
    assert.equal(await reasonOf(prepare('voice', 'audio/wav', wavOf(2), { maxBytes: 100 })), 'refused');
  });

  it('are refused if the recording is empty, or too short to be heard', async () => {
    for (const seconds of [0, 0.001]) {
      await assert.rejects(prepare('voice', 'audio/wav', wavOf(seconds)), { message: 'it has no sound' });
      await assert.rejects(prepare('audio', 'audio/wav', wavOf(seconds)), { message: 'it has no sound' });
    }
  });

  it('are refused before their conversion if they are longer than an hour', async (test) => {
    const runs = test.mock.method(Ffmpeg.prototype, 'convert').mock;
    const long = wavOf(61 * 60, undefined, 1000);
    const rule = { mimeTypes: [], maxBytes: 1e9 };
    const error = { message: 'it is longer than an hour' };
    await assert.rejects(prepareVoice(long, 'audio/wav', rule), error);
    await assert.rejects(prepareAudio(long, 'audio/wav', rule), error);
    assert.equal(runs.callCount(), 2, 'each only looks for packets after an hour');
  });

  it('are the same for the same recording', async () => {
    const [one, other] = await Promise.all([1, 2].map(() => prepare('voice', 'audio/wav', wavOf(2))));
    assert.deepEqual(one, other);
  });
});

describe('audio', () => {
  it('that apps play stays as it is, and other audio becomes MP3', async () => {
    const played = await prepare('audio', 'audio/mpeg', sampleMedia('tone.mp3'));
    assert.deepEqual([played.converted, played.facts], [undefined, { durationSeconds: 2 }]);
    const { converted, facts } = await prepare('audio', 'video/webm', sampleMedia('clip.webm'));
    assert.deepEqual([converted?.mimeType, facts.durationSeconds], ['audio/mpeg', 2]);
    assert.equal((await prepare('audio', 'audio/ogg', sampleMedia('voice.ogg'))).converted, undefined);
    const vorbis = await prepare('audio', 'audio/ogg', sampleMedia('vorbis.ogg'));
    assert.equal(vorbis.converted?.mimeType, 'audio/mpeg', 'Meta refuses it');
  });

  it('has the duration that the same recording has as a voice message', async () => {
    for (const purpose of ['audio', 'voice'] as const)
      assert.equal((await prepare(purpose, 'audio/ogg', sampleMedia('voice.ogg'))).facts.durationSeconds, 2);
  });

  it('is refused if it is damaged', async () => {
    const files = [
      ['voice', 'audio/ogg', damagedAt(sampleMedia('voice.ogg'), 500, 2000)],
      ['audio', 'audio/ogg', damagedAt(sampleMedia('voice.ogg'), 500, 2000)],
      ['audio', 'audio/ogg', sampleMedia('voice.ogg').subarray(0, 4000)],
      ['audio', 'audio/x-m4a', damagedAt(sampleMedia('tone.m4a'), 500, 3500)],
      ['audio', 'audio/mpeg', damagedAt(sampleMedia('tone.mp3'), 300, 4400)],
    ] as const;
    for (const [purpose, mimeType, content] of files)
      assert.equal(await reasonOf(prepare(purpose, mimeType, content)), 'unreadable', mimeType);
  });
});

describe('images', () => {
  const photo = () => sharp({ create: { width: 40, height: 20, channels: 3, background: '#cc3300' } });

  it('that apps show stay as they are, with their size and a thumbnail', async () => {
    const { converted, facts, thumbnail } = await prepare('image', 'image/png', await photo().png().toBuffer());
    assert.deepEqual([converted, facts], [undefined, { width: 40, height: 20, hasThumbnail: true }]);
    assert.equal((await sharp(thumbnail).metadata()).format, 'jpeg');
  });

  it('of other formats become JPEG', async () => {
    const files = {
      'image/tiff': await photo().tiff().toBuffer(),
      'image/webp': await photo().webp().toBuffer(),
      'image/gif': await photo().gif().toBuffer(),
      'image/avif': await photo().avif().toBuffer(),
    };
    for (const [mimeType, content] of Object.entries(files)) {
      const { converted, facts } = await prepare('image', mimeType, content);
      assert.deepEqual([mimeType, converted?.mimeType], [mimeType, 'image/jpeg']);
      assert.deepEqual([facts.width, facts.height], [40, 20]);
    }
  });

  it('that are turned by their metadata are turned for good, and lose it', async () => {
    const turned = await photo().withMetadata({ orientation: 6 }).jpeg().toBuffer();
    const { converted, facts } = await prepare('image', 'image/jpeg', turned);
    assert.deepEqual([facts.width, facts.height], [20, 40]);
    const { width, orientation, exif } = await sharp(converted?.content).metadata();
    assert.deepEqual([width, orientation, exif], [20, undefined, undefined]);
  });

  it('that are too large are made smaller until they fit', async () => {
    const noise = { type: 'gaussian', mean: 128, sigma: 60 } as const;
    const large = await sharp({ create: { width: 900, height: 900, channels: 3, background: '#888', noise } })
      .png()
      .toBuffer();
    const rule = { mimeTypes: ['image/png'], maxBytes: 500_000 };
    const { converted } = await prepare('image', 'image/png', large, rule);
    assert.ok(large.length > rule.maxBytes);
    assert.ok((converted?.content.length ?? Infinity) <= rule.maxBytes);
    assert.equal(await reasonOf(prepare('image', 'image/png', large, { ...rule, maxBytes: 100 })), 'refused');
  });
});

describe('stickers', () => {
  it('are made of any image, with its transparency', async () => {
    const picture = sharp({ create: { width: 30, height: 60, channels: 4, background: '#00ff0080' } });
    const { converted, facts } = await prepare('sticker', 'image/png', await picture.png().toBuffer());
    const { format, width, height, hasAlpha } = await sharp(converted?.content).metadata();
    assert.deepEqual([format, width, height, hasAlpha], ['webp', 512, 512, true]);
    assert.deepEqual(facts, { width: 512, height: 512 });
    const again = await prepare('sticker', 'image/webp', converted?.content ?? new Uint8Array());
    assert.equal(again.converted, undefined);
  });

  it('stay animated', async () => {
    const { converted } = await prepare('sticker', 'image/gif', await gifOf(5, 24));
    const { format, width, pages, pageHeight } = await sharp(converted?.content, { animated: true }).metadata();
    assert.deepEqual([format, width, pages, pageHeight], ['webp', 512, 5, 512]);
  });
});

describe('videos', () => {
  it('that phones play stay as they are, with their facts', async () => {
    const { converted, facts, thumbnail } = await prepare('video', 'video/mp4', sampleMedia('clip.mp4'));
    assert.equal(converted, undefined);
    assert.deepEqual(facts, { width: 64, height: 48, durationSeconds: 2, hasThumbnail: true });
    assert.equal((await sharp(thumbnail).metadata()).format, 'jpeg');
  });

  it('in another container or codec become an MP4 that phones play', async () => {
    const moved = await prepare('video', 'video/quicktime', sampleMedia('clip.mp4'));
    assert.equal(moved.converted?.mimeType, 'video/mp4');
    for (const [name, mimeType] of [
      ['clip.webm', 'video/webm'],
      ['clip444.mp4', 'video/mp4'],
    ] as const) {
      const { converted } = await prepare('video', mimeType, sampleMedia(name));
      const again = await prepare('video', 'video/mp4', converted?.content ?? new Uint8Array());
      assert.equal(again.converted, undefined, `${name} is played after its conversion`);
    }
  });

  it('in a container without an index are read from the start', async () => {
    const clip = await Ffmpeg.open(sampleMedia('clip.mp4'), 'video/mp4');
    const [stream = new Uint8Array()] = clip.convert([], [['-c', 'copy', '-f', 'mpegts']]);
    const { converted, facts } = await prepare('video', 'video/mp2t', stream);
    assert.equal(converted?.mimeType, 'video/mp4');
    assert.deepEqual(facts, { width: 64, height: 48, durationSeconds: 2, hasThumbnail: true });
  });

  it('whose pictures cannot be decoded are refused', async () => {
    for (const mimeType of ['video/mp4', 'video/quicktime'])
      await assert.rejects(prepare('video', mimeType, damagedAt(sampleMedia('clip.mp4'), 200, 1200)), {
        reason: 'unreadable',
        message: 'its pictures are damaged',
      });
  });

  it('without a picture are refused', async () => {
    assert.equal(await reasonOf(prepare('video', 'video/mp4', sampleMedia('tone.m4a'))), 'refused');
  });
});

describe('hostile files', () => {
  it('with too many pixels or frames are refused', async () => {
    for (const [width, height] of [
      [60_000, 60_000],
      [9000, 9000],
    ] as const)
      assert.match(await reasonOf(prepare('image', 'image/png', pngHeader(width, height))), /^(refused|unreadable)$/);
    for (const side of [8000, 12_000, 20_000]) {
      const error = await prepare('image', 'image/png', pngHeader(side, side)).catch((cause) => cause);
      assert.deepEqual([error.reason, error.message], ['refused', 'it has more than 50000000 pixels'], String(side));
    }
    assert.equal(await reasonOf(prepare('sticker', 'image/gif', await gifOf(301, 1))), 'refused');
  });

  it('with too many frames of too many pixels are refused before their conversion', async () => {
    const [width, height] = [4096, 2304];
    const frame = await Ffmpeg.open(bitmapOf(width, height), 'image/bmp');
    const [still = assert.fail()] = frame.convert(
      [],
      [['-c:v', 'libvpx', '-deadline', 'realtime', '-cpu-used', '8', '-pix_fmt', 'yuv420p', '-f', 'webm']],
    );
    const once = await Ffmpeg.open(still, 'video/webm');
    const [movie = assert.fail()] = once.convert(['-stream_loop', '499'], [['-c', 'copy', '-f', 'webm']]);
    assert.ok(movie.length < 10_000_000, `${movie.length} bytes`);
    const error = await prepare('video', 'video/webm', movie).catch((cause) => cause);
    assert.deepEqual([error.reason, /its 500 frames of 4096 × 2304 pixels/.test(error.message)], ['refused', true]);
  });

  it('that name other files or addresses open nothing', async () => {
    let connections = 0;
    const server = createServer((socket) => {
      connections += 1;
      socket.destroy();
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const address = server.address();
    assert.ok(address !== null && typeof address === 'object');
    const url = `http://127.0.0.1:${address.port}/file`;
    const texts = [
      `#EXTM3U\n#EXT-X-TARGETDURATION:1\n#EXTINF:1,\n${url}\n#EXT-X-ENDLIST\n`,
      `ffconcat version 1.0\nfile '${url}'\nfile /etc/passwd\n`,
      `<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink" width="9" height="9"><image xlink:href="${url}" width="9" height="9"/></svg>`,
    ];
    for (const text of texts) {
      for (const type of ['audio/mpeg', 'video/mp4', 'application/vnd.apple.mpegurl', 'audio/x-mpegurl'])
        assert.equal(await reasonOf(prepare('voice', type, Buffer.from(text))), 'unreadable');
      for (const type of ['image/svg+xml', 'image/png', 'image/bmp'])
        assert.equal(await reasonOf(prepare('image', type, Buffer.from(text))), 'unreadable');
    }
    await new Promise((resolve) => server.close(resolve));
    assert.equal(connections, 0);
  });

  it('that are cut anywhere leave the converter working', async () => {
    const files = [
      ['video', 'video/mp4', sampleMedia('clip.mp4')],
      ['voice', 'audio/mpeg', sampleMedia('tone.mp3')],
      ['sticker', 'image/gif', await gifOf(5, 24)],
    ] as const;
    for (const [purpose, mimeType, content] of files)
      for (const part of [0.01, 0.2, 0.5, 0.9])
        await prepare(purpose, mimeType, content.subarray(0, Math.ceil(content.length * part))).catch(() => {});
    assert.equal((await prepare('voice', 'audio/mpeg', sampleMedia('tone.mp3'))).facts.durationSeconds, 2);
  });
});

describe('accounts that convert files at the same time', () => {
  const hour = wavOf(3500, undefined, 4000);
  const photo = () =>
    sharp({ create: { width: 40, height: 20, channels: 3, background: '#cc3300' } })
      .png()
      .toBuffer();
  const convertHour = (own: Converter, accountId: string) =>
    own.prepare(accountId, ...taskOf('voice', 'audio/wav', hour, { maxBytes: 1e9 }));
  const convertPhoto = async (own: Converter, accountId: string) =>
    own.prepare(accountId, ...taskOf('image', 'image/png', await photo()));

  it('leave a process free for others when their conversions are long', async () => {
    const own = new Converter({ longMs: 500 });
    let settled = 0;
    const long = ['acc_1', 'acc_2'].map((id) => convertHour(own, id).catch(() => {}));
    for (const one of long) void one.then(() => settled++);
    assert.equal((await convertPhoto(own, 'acc_3')).facts.width, 40);
    assert.equal(settled, 0, 'both conversions continue');
    own.stop();
    await Promise.all(long);
  });

  it('lose a process to others when all conversions are long', async () => {
    const own = new Converter({ longMs: 500 });
    const codes: string[] = [];
    const long = ['acc_1', 'acc_2', 'acc_3'].map((id) =>
      convertHour(own, id).catch(({ code }) => void codes.push(code)),
    );
    assert.equal((await convertPhoto(own, 'acc_4')).facts.width, 40);
    assert.deepEqual(codes, ['too_busy'], 'one of them can try again');
    own.stop();
    await Promise.all(long);
  });

  it('have a budget, and refuse files of the account that has used it up', async (test) => {
    const own = new Converter({ budgetMs: 1 });
    test.after(() => own.stop());
    await convertPhoto(own, 'acc_1');
    const error = await convertPhoto(own, 'acc_1').then(
      () => assert.fail('was converted'),
      (cause) => cause,
    );
    assert.equal(error.code, 'rate_limited');
    assert.ok(error.retryAfterSeconds > 0);
    assert.equal((await convertPhoto(own, 'acc_2')).facts.width, 40);
  });

  it('get a turn each, even if others fill the queue', async () => {
    const own = new Converter({ longMs: 60_000 });
    const [order, read] = taskOf('voice', 'audio/wav', wavOf(1));
    const ended: string[] = [];
    const convert = (accountId: string) =>
      own.prepare(accountId, order, read).then(
        () => ended.push(accountId),
        () => {},
      );
    const many = ['acc_1', 'acc_2', 'acc_3', 'acc_4', 'acc_5'].flatMap((id) =>
      Array.from({ length: 8 }, () => convert(id)),
    );
    await Promise.all([convert('acc_6'), convert('acc_7')]);
    const before = ended.filter((id) => id !== 'acc_6' && id !== 'acc_7').length;
    assert.ok(before <= 12, `${before} files of the others came first`);
    own.stop();
    await Promise.all(many);
  });
});

describe('the converter', () => {
  it('ends a process that takes too long or too much memory, and goes on', async () => {
    const hasty = new Converter({ timeoutMs: 1 });
    const small = new Converter({ maxBytes: 1024 * 1024 });
    try {
      assert.equal(await reasonOf(prepare('voice', 'audio/wav', wavOf(600), undefined, hasty)), 'failed');
      assert.equal(await reasonOf(prepare('voice', 'audio/wav', wavOf(600), undefined, hasty)), 'failed');
      const noise = { type: 'gaussian', mean: 128, sigma: 60 } as const;
      const create = { width: 5000, height: 5000, channels: 3, background: '#888', noise } as const;
      const large = await sharp({ create }).tiff().toBuffer();
      assert.equal(await reasonOf(prepare('image', 'image/tiff', large, undefined, small)), 'failed');
    } finally {
      hasty.stop();
      small.stop();
    }
  });

  it('keeps a bounded queue, and a process free for other accounts', async (test) => {
    const own = new Converter();
    test.after(() => own.stop());
    const voice = () => own.prepare('acc_1', ...taskOf('voice', 'audio/wav', wavOf(2)));
    const results = Promise.allSettled(Array.from({ length: 12 }, voice));
    assert.equal(own.processes, 1);
    const other = own.prepare(
      'acc_2',
      ...taskOf(
        'image',
        'image/png',
        await sharp(await gifOf(1, 8))
          .png()
          .toBuffer(),
      ),
    );
    assert.equal(own.processes, 2);
    assert.equal((await other).facts.width, 8);
    const refused = (await results).filter(({ status }) => status === 'rejected');
    assert.equal(refused.length, 3);
    assert.ok(refused.every((one) => one.status === 'rejected' && one.reason.code === 'too_busy'));
  });

  it('ends its processes when there is no work', async (test) => {
    const own = new Converter({ idleMs: 1 });
    test.after(() => own.stop());
    await own.prepare('acc_1', ...taskOf('voice', 'audio/mpeg', sampleMedia('tone.mp3')));
    await eventually(
      async () => own.processes,
      (count) => count === 0,
    );
    const again = await own.prepare('acc_1', ...taskOf('voice', 'audio/mpeg', sampleMedia('tone.mp3')));
    assert.equal(again.facts.durationSeconds, 2);
  });

  it('gives no further file to a process in which files have left too much', async (test) => {
    const own = new Converter({ keptBytes: 1 });
    test.after(() => own.stop());
    const tasks = ['image/gif', 'image/gif', 'image/gif'].map(async (type) =>
      own.prepare('acc_1', ...taskOf('sticker', type, await gifOf(1, 8))),
    );
    for (const { facts } of await Promise.all(tasks)) assert.equal(facts.width, 512);
    await eventually(
      async () => own.processes,
      (count) => count === 0,
    );
  });

  it('refuses work after it was stopped', async () => {
    const own = new Converter();
    own.stop();
    await assert.rejects(own.prepare('acc_1', ...taskOf('voice', 'audio/mpeg', sampleMedia('tone.mp3'))), {
      code: 'shutting_down',
    });
  });

  it('reads a file when its turn has come', async () => {
    const own = new Converter();
    const [order, read] = taskOf('voice', 'audio/wav', wavOf(2));
    const reads: number[] = [];
    const prepared = [0, 1, 2].map((n) =>
      own.prepare('acc_1', order, () => {
        reads.push(n);
        return read();
      }),
    );
    await prepared[0];
    assert.ok(reads.length < 3, `has read ${reads}`);
    await Promise.all(prepared);
    assert.deepEqual(reads, [0, 1, 2]);
    await assert.rejects(
      own.prepare('acc_1', order, () => Promise.reject(new Error('gone'))),
      { message: 'gone' },
    );
    assert.ok((await own.prepare('acc_1', order, read)).converted, 'the process lives on');
    own.stop();
  });

  it('gives no job to a process that it has just ended', async () => {
    const own = new Converter({ idleMs: 1 });
    for (let time = 0; time < 5; time++)
      assert.ok((await own.prepare('acc_1', ...taskOf('voice', 'audio/wav', wavOf(1)))).converted);
    own.stop();
  });

  it('rejects its running jobs when it stops', async () => {
    const own = new Converter();
    await own.prepare('acc_1', ...taskOf('voice', 'audio/wav', wavOf(1)));
    const running = own.prepare('acc_1', ...taskOf('voice', 'audio/wav', wavOf(60)));
    const { promise: isRead, resolve } = Promise.withResolvers<void>();
    const other = own.prepare('acc_2', taskOf('voice', 'audio/wav', wavOf(60))[0], async () => {
      resolve();
      return wavOf(60);
    });
    const ended = Promise.all([running, other].map((one) => assert.rejects(one, { code: 'shutting_down' })));
    await isRead;
    own.stop();
    await ended;
  });
});

/** A black picture without compression. */
function bitmapOf(width: number, height: number): Buffer {
  const head = Buffer.alloc(54);
  head.write('BM', 0, 'latin1');
  head.writeUInt32LE(54 + width * height * 3, 2);
  head.writeUInt32LE(54, 10);
  head.writeUInt32LE(40, 14);
  head.writeInt32LE(width, 18);
  head.writeInt32LE(height, 22);
  head.writeUInt16LE(1, 26);
  head.writeUInt16LE(24, 28);
  return Buffer.concat([head, Buffer.alloc(width * height * 3)]);
}
