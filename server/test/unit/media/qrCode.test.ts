import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import decodeQR from 'qr/decode.js';
import sharp from 'sharp';
import { qrPng, qrText } from '../../../src/media/qrCode.ts';

/** As long as the codes of WhatsApp, which have a reference and three keys. */
const CODE = `2@${'aB3+/='.repeat(38)}`;

describe('QR codes', () => {
  it('are images that can be scanned, of at most 400 pixels', async () => {
    for (const code of ['x', CODE]) {
      const image = sharp(await qrPng(code));
      const { data, info } = await image
        .ensureAlpha()
        .toColourspace('srgb')
        .raw()
        .toBuffer({ resolveWithObject: true });
      assert.equal(info.width, info.height);
      assert.ok(info.width <= 400 && info.width > 200, `${info.width}`);
      assert.equal(decodeQR({ width: info.width, height: info.height, data }), code);
    }
  });

  it('are text that can be scanned, black on white if colored', async () => {
    const plain = await qrText(CODE, { isColored: false });
    const lines = plain.split('\n');
    const rows = lines.flatMap((line) => [
      [...line].map((cell) => cell === '█' || cell === '▀'),
      [...line].map((cell) => cell === '█' || cell === '▄'),
    ]);
    const width = rows[0]?.length ?? 0;
    assert.ok(rows.every((row) => row.length === width));
    const SCALE = 4;
    const side = width * SCALE;
    const data = new Uint8Array(side * side * 4).fill(255);
    for (let y = 0; y < side; y++)
      for (let x = 0; x < side; x++)
        if (rows[Math.floor(y / SCALE)]?.[Math.floor(x / SCALE)])
          data.fill(0, (y * side + x) * 4, (y * side + x) * 4 + 3);
    assert.equal(decodeQR({ width: side, height: side, data }), CODE);

    const colored = await qrText(CODE, { isColored: true });
    assert.deepEqual(
      colored.split('\n'),
      lines.map((line) => `\x1b[47m\x1b[30m${line}\x1b[0m`),
    );
  });
});
