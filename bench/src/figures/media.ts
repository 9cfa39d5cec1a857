import { count, defineFigure, median } from '../figure.ts';
import { apiOf, newAccount } from '../harness/api.ts';
import { onSqlite } from '../harness/home.ts';
import { rssMb } from '../harness/processes.ts';

const SECONDS = 60;
const FILES = count(4, 1);

/** How long a message takes whose file has to be converted: the first one also starts the process that converts. */
export const media = defineFigure({
  about: 'time of sending a message whose file is converted, SQLite',
  rounds: count(2, 1),
  readings: {
    first: { what: 'a minute of WAV as the first voice message', unit: 'ms', goal: { atMost: 3000 } },
    voice: { what: 'a minute of WAV as a voice message, median', unit: 'ms', goal: { atMost: 3000 } },
    image: { what: 'a bitmap of 12 megapixels as an image, median', unit: 'ms' },
    sticker: { what: 'a bitmap of 1 megapixel as a sticker, median', unit: 'ms' },
    again: { what: 'a file that was converted before, median', unit: 'ms' },
    memory: { what: 'memory of the server after all of it', unit: 'MB' },
  },
  async prepare(tree, scope) {
    return async () => {
      const home = await onSqlite.open(tree, scope);
      const server = await home.start();
      const { key } = await newAccount(server);
      const api = apiOf(server.url, key);
      const upload = async (content: Buffer) => {
        const headers = { authorization: `Bearer ${key}` };
        const response = await fetch(`${server.url}/api/v1/media`, {
          method: 'POST',
          headers,
          body: new Uint8Array(content),
        });
        return ((await response.json()) as { mediaId: string }).mediaId;
      };
      const send = async (type: string, mediaId: string) => {
        const startedAt = performance.now();
        await api('POST', '/messages/send-media', { to: '491701234567', type, mediaId });
        return performance.now() - startedAt;
      };
      const times = async (type: string, contentOf: (seed: number) => Buffer) => {
        const took: number[] = [];
        for (let n = 1; n <= FILES; n++) took.push(await send(type, await upload(contentOf(n))));
        return median(took);
      };
      const known = await upload(wavOf(0));
      const first = await send('voice', known);
      const voice = await times('voice', wavOf);
      const image = await times('image', (seed) => bitmapOf(4000, 3000, seed));
      const sticker = await times('sticker', (seed) => bitmapOf(1000, 1000, seed));
      const repeats: number[] = [];
      for (let n = 0; n < FILES; n++) repeats.push(await send('voice', known));
      const memory = rssMb(server.pid);
      await server.stop();
      await home.remove();
      return { first, voice, image, sticker, again: median(repeats), memory };
    };
  },
});

/** Speech-like sound of a minute, with 44,100 samples per second. */
function wavOf(seed: number): Buffer {
  const rate = 44_100;
  const samples = Int16Array.from({ length: SECONDS * rate }, (_, at) => {
    const pitch = 150 + 60 * Math.sin(at / rate + seed);
    return 9000 * Math.sin((2 * Math.PI * pitch * at) / rate) * Math.sin((3 * at) / rate) ** 2;
  });
  const head = Buffer.alloc(44);
  head.write('RIFF', 0, 'latin1');
  head.writeUInt32LE(samples.byteLength + 36, 4);
  head.write('WAVEfmt ', 8, 'latin1');
  head.set([16, 0, 0, 0, 1, 0, 1, 0], 16);
  head.writeUInt32LE(rate, 24);
  head.writeUInt32LE(rate * 2, 28);
  head.set([2, 0, 16, 0], 32);
  head.write('data', 36, 'latin1');
  head.writeUInt32LE(samples.byteLength, 40);
  return Buffer.concat([head, Buffer.from(samples.buffer)]);
}

/** A picture as BMP, with smooth colors. */
function bitmapOf(width: number, height: number, seed: number): Buffer {
  const row = Math.ceil((width * 3) / 4) * 4;
  const content = Buffer.alloc(54 + row * height);
  content.write('BM', 0, 'latin1');
  content.writeUInt32LE(content.length, 2);
  content.writeUInt32LE(54, 10);
  content.writeUInt32LE(40, 14);
  content.writeInt32LE(width, 18);
  content.writeInt32LE(height, 22);
  content.set([1, 0, 24, 0], 26);
  for (let y = 0; y < height; y++)
    for (let x = 0; x < width * 3; x++) content[54 + y * row + x] = (x / 16 + y / 8 + seed * 40) & 0xff;
  return content;
}
