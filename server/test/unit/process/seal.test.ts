import assert from 'node:assert/strict';
import { it } from 'node:test';
import { Seal, SealError } from '../../../src/seal.ts';

const KEY = 'a key of more than thirty-two characters';
const OTHER_KEY = 'another key of more than thirty-two chars';
const SECRET = 'Schlüssel für die Prüfung';

it('opens a sealed text only with the same key and context', () => {
  const seal = new Seal(KEY);
  const stored = seal.close(SECRET, 'webhooks/whk_1/secret');
  assert.ok(!stored.includes(SECRET) && stored.startsWith('sealed:v1:'));
  assert.equal(new Seal(KEY).open(stored, 'webhooks/whk_1/secret'), SECRET);
  assert.notEqual(seal.close(SECRET, 'webhooks/whk_1/secret'), stored, 'every nonce is new');
  assert.throws(() => seal.open(stored, 'webhooks/whk_2/secret'), SealError);
  assert.throws(() => new Seal(OTHER_KEY).open(stored, 'webhooks/whk_1/secret'), SealError);
  assert.throws(() => new Seal('').open(stored, 'webhooks/whk_1/secret'), /ENCRYPTION_KEY is not set/);
});

it('rejects a sealed text that is truncated or has any bit changed', () => {
  const seal = new Seal(KEY);
  const stored = seal.close('secret', 'a');
  const bytes = Buffer.from(stored.slice('sealed:v1:'.length), 'base64url');
  for (let bit = 0; bit < bytes.length * 8; bit++) {
    const changed = Buffer.from(bytes);
    changed.writeUInt8(changed.readUInt8(bit >> 3) ^ (1 << (bit & 7)), bit >> 3);
    assert.throws(() => seal.open(`sealed:v1:${changed.toString('base64url')}`, 'a'), SealError, `bit ${bit}`);
  }
  for (let length = 0; length < bytes.length; length++) {
    const cut = bytes.subarray(0, length).toString('base64url');
    assert.throws(() => seal.open(`sealed:v1:${cut}`, 'a'), SealError, `${length} bytes`);
  }
});

it('keeps texts unchanged without a key, even if they look sealed', () => {
  const seal = new Seal('');
  assert.equal(seal.close(SECRET, 'a'), SECRET);
  for (const text of ['sealed:v1:abc', 'plain:v1:abc', 'plain:v1:plain:v1:', '']) {
    assert.equal(seal.open(seal.close(text, 'a'), 'a'), text);
    assert.equal(new Seal(KEY).open(seal.close(text, 'a'), 'a'), text, 'a later key reads them');
  }
});
