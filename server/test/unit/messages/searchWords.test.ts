import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { digitsOf } from '../../../src/invoke/input/phoneNumbers.ts';
import { wordsOf } from '../../../src/messages/search.ts';

/** Two classes of diacritics in the wrong order: the normalization sorts them. */
const UNSORTED = `a${'\u0301'.repeat(20_000)}${'\u0316'.repeat(20_000)}`;

describe('words for the search', () => {
  it('have no diacritics, in whatever form the text has them', () => {
    for (const text of ['É', 'E\u0301', 'e\u0316\u0301', 'ｅ\u0301']) assert.deepEqual(wordsOf(text), ['e'], text);
    assert.deepEqual(wordsOf('ế Ångström ﬁ ﾊﾞ کِتاب'), ['e', 'angstrom', 'fi', 'ハ', 'کتاب']);
  });

  it('are the same as without the early removal of diacritics, for every character', () => {
    const plain = (text: string) => text.normalize('NFKD').replace(/\p{M}/gu, '');
    for (let code = 0; code <= 0x10ffff; code++) {
      if (code >= 0xd800 && code <= 0xdfff) continue;
      const text = String.fromCodePoint(code);
      assert.equal(plain(text.replace(/\p{M}+/gu, '')), plain(text), code.toString(16));
    }
  });

  it('are read without sorting a run of diacritics', (test) => {
    const normalize = test.mock.method(String.prototype, 'normalize');
    assert.deepEqual(wordsOf(UNSORTED), ['a']);
    assert.deepEqual(
      normalize.mock.calls.map((call) => String(call.this)),
      ['a'],
    );
  });
});

it('a text that is too long for a phone number is refused before it is normalized', (test) => {
  const normalize = test.mock.method(String.prototype, 'normalize');
  assert.equal(digitsOf(UNSORTED), undefined);
  assert.equal(normalize.mock.callCount(), 0);
  assert.equal(digitsOf('+49 170 1234567'), '491701234567');
});
