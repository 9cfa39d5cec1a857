import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { clean, jsonLine, shorten, widthOf } from '../../../src/cli/text.ts';

describe('text for a terminal', () => {
  it('loses escape sequences whole, in their 7-bit and 8-bit forms', () => {
    const hostile = [
      '\x1b[31mred\x1b[0m',
      '\x9b31mred\x9b0m',
      '\x1b]0;new title\x07red',
      '\x1b]8;;http://evil.example\x1b\\red\x1b]8;;\x1b\\',
      '\x9d0;title\x9cred',
      '\x1bPpayload\x1b\\red',
      '\x1bcred', // resets the terminal
      '\x1b(0red',
      '\x1b[2J\x1b[Hred',
      '\x1b[?1049hred',
    ];
    for (const text of hostile) assert.equal(clean(text), 'red', JSON.stringify(text));
  });

  it('is one line without control characters and marks that reorder it', () => {
    assert.equal(clean('a\r\nb\tc\u2028d\u0085e'), 'a b c d e');
    assert.equal(clean('a\x00b\x07c\x08d\x7fe\x8df'), 'abcdef');
    assert.equal(clean('photo\u202egpj.exe\u2066\u200f\ufeff'), 'photogpj.exe');
    assert.equal(clean('unfinished \x1b[31'), 'unfinished ');
    assert.equal(clean('\x1b'), '');
    assert.equal(clean('lone \ud800 surrogate'), 'lone \ufffd surrogate');
  });

  it('has no invisible characters as JSON, and is the same value', () => {
    const value = { 'k\u202ey': 'a\x9bb\x7f\u200b\u2060\u{e0041}\u2066c\u2028\ufeff', emoji: '👋🏽' };
    const line = jsonLine(value);
    assert.doesNotMatch(line, /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u);
    assert.deepEqual(JSON.parse(line), value);
    assert.ok(line.includes('👋🏽'));
  });

  it('keeps everything else', () => {
    for (const text of ['Grüße 👋🏽 [31m 日本語', 'a [b] c', '\u0301']) assert.equal(clean(text), text);
  });

  it('takes linear time', () => {
    const long = 100_000;
    for (const text of ['\x1b'.repeat(long), '\x1b['.repeat(long), '\x1b]'.repeat(long), `\x1b[${'0'.repeat(long)}`])
      assert.ok(clean(text).length <= long);
  });

  it('is the same JSON with what a terminal would obey escaped', () => {
    const value = { text: '\x1b[31m\x7f\x9b31m\u202e\u2028"é' };
    const line = jsonLine(value);
    assert.deepEqual(JSON.parse(line), value);
    assert.match(line, /^[\x20-\x7e\xa0-\u1fff]+$/);
  });

  it('is measured in columns and shortened by characters', () => {
    assert.deepEqual(['abc', '日本', '👋', 'e\u0301', ''].map(widthOf), [3, 4, 2, 1, 0]);
    assert.equal(shorten('👋👋👋', 3), '👋👋👋');
    assert.equal(shorten('👋👋👋👋', 3), '👋👋…');
  });
});
