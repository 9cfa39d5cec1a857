import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { displayName, plainName } from '../src/model/displayName.ts';

describe('displayed name', () => {
  it('has no controls, also none that reverse text', () => {
    assert.equal(displayName('live \u202e name\u0007'), 'live name');
    assert.equal(displayName('two\nlines'), 'two lines');
    assert.equal(displayName('\u2066\u0000\n'), '');
  });

  it('keeps emoji that are joined of several', () => {
    assert.equal(displayName('👩‍🚀 Ada'), '👩‍🚀 Ada');
  });

  it('is isolated if it is written from right to left', () => {
    assert.equal(displayName('שלום'), '\u2068שלום\u2069');
    assert.equal(plainName(displayName('שלום')), 'שלום');
  });
});
