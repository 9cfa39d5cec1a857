import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { mergePages } from '../src/livePaged.ts';

const idOf = (row: string) => row[0] ?? '';
const page = (rows: readonly string[], hasMore = true) => ({ data: rows, nextCursor: hasMore ? 'more' : null });

describe('a list that grows while it is read', () => {
  it('goes on with the older rows after the newest page', () => {
    assert.deepEqual(mergePages(page(['e', 'd', 'c']), ['d', 'c', 'b', 'a'], idOf), {
      rows: ['e', 'd', 'c', 'b', 'a'],
      hasGap: false,
    });
  });

  it('shows a row as the newest page has it', () => {
    assert.deepEqual(mergePages(page(['c delivered', 'b']), ['c pending', 'b', 'a'], idOf).rows, [
      'c delivered',
      'b',
      'a',
    ]);
  });

  it('drops what the newest page spans and has no longer', () => {
    assert.deepEqual(mergePages(page(['d', 'b']), ['d', 'c', 'b', 'a'], idOf).rows, ['d', 'b', 'a']);
  });

  it('shows a row that has moved to the newest page there and not twice', () => {
    assert.deepEqual(mergePages(page(['a', 'd', 'c']), ['d', 'c', 'b', 'a'], idOf).rows, ['a', 'd', 'c', 'b']);
  });

  it('is torn when more has come than one page holds', () => {
    assert.deepEqual(mergePages(page(['z', 'y']), ['b', 'a'], idOf), { rows: ['z', 'y'], hasGap: true });
  });

  it('is the newest page where that is all there is', () => {
    assert.deepEqual(mergePages(page(['b'], false), ['c', 'b', 'a'], idOf).rows, ['b']);
    assert.deepEqual(mergePages(page([], false), ['c'], idOf).rows, []);
  });
});
