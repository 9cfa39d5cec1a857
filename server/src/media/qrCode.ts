import { crc32, deflateSync } from 'node:zlib';

/** White cells around the code. Four are the standard (ISO/IEC 18004); phones need two on a screen. */
const MARGIN = 2;
/** Greatest width of the image in pixels. */
const MAX_WIDTH = 400;

/** Draws a QR code as a PNG, black on white. */
export async function qrPng(text: string): Promise<Buffer> {
  const cells = await encode(text);
  const scale = Math.max(1, Math.floor(MAX_WIDTH / cells.length)); // cells of equal size are easier to read
  const width = cells.length * scale;
  const header = Buffer.alloc(13);
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(width, 4);
  header[8] = 1; // bits per pixel, in the color type 0, which is grayscale
  const rows = cells.flatMap((row) => Array<Buffer>(scale).fill(pngRow(row, scale)));
  return Buffer.concat([
    Buffer.from('89504e470d0a1a0a', 'hex'),
    pngChunk('IHDR', header),
    pngChunk('IDAT', deflateSync(Buffer.concat(rows))),
    pngChunk('IEND', Buffer.alloc(0)),
  ]);
}

/**
 * Draws a QR code as text, with two rows of cells in each line.
 * @param isColored draws black on white with escape sequences; without, in the colors of the terminal
 */
export async function qrText(text: string, { isColored }: { readonly isColored: boolean }): Promise<string> {
  const cells = await encode(text);
  const lines: string[] = [];
  for (let y = 0; y < cells.length; y += 2) {
    const below = cells[y + 1] ?? [];
    const line = cells[y]?.map((isDark, x) => (isDark ? (below[x] ? '█' : '▀') : below[x] ? '▄' : ' ')).join('');
    lines.push(isColored ? `\x1b[47m\x1b[30m${line}\x1b[0m` : `${line}`);
  }
  return lines.join('\n');
}

/** Returns the rows of cells with the margin; true is dark. */
async function encode(text: string): Promise<boolean[][]> {
  const { encodeQR } = await import('qr'); // needed only while a session is paired
  return encodeQR(text, 'raw', { border: MARGIN });
}

/** A row of pixels behind the byte for "no filter": eight to a byte, the leftmost in the highest bit, 1 for white. */
function pngRow(cells: readonly boolean[], scale: number): Buffer {
  const row = Buffer.alloc(1 + Math.ceil((cells.length * scale) / 8));
  for (let x = 0; x < cells.length * scale; x++) {
    const byte = 1 + (x >> 3);
    if (!cells[Math.floor(x / scale)]) row[byte] = (row[byte] ?? 0) | (0x80 >> (x & 7));
  }
  return row;
}

/** Length, type, data and checksum of type and data (RFC 2083, section 3.2). */
function pngChunk(type: string, data: Buffer): Buffer {
  const chunk = Buffer.alloc(12 + data.length);
  chunk.writeUInt32BE(data.length, 0);
  chunk.write(type, 4, 'latin1');
  data.copy(chunk, 8);
  chunk.writeUInt32BE(crc32(chunk.subarray(4, 8 + data.length)), 8 + data.length);
  return chunk;
}
