import assert from 'node:assert/strict';
import { it } from 'node:test';
import { storable } from '../../../src/sessions/storable.ts';

it('removes NUL and unpaired surrogates from every text of a network, and keeps everything else', () => {
  const open = async () => 'a stream';
  const value = {
    type: 'reaction',
    emoji: '\0😀',
    chat: { id: '49\0' },
    list: ['a', 'b\0', 'half \ud83d'],
    media: { open },
    at: 7,
    no: null,
  };
  assert.deepEqual(storable(value), {
    ...value,
    emoji: '\ufffd😀',
    chat: { id: '49\ufffd' },
    list: ['a', 'b\ufffd', 'half \ufffd'],
  });
  const bytes = Buffer.from([0, 1]);
  const clean = { text: 'fine', bytes, nested: [{ open }] };
  assert.equal(storable(clean), clean);
});
