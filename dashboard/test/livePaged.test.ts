import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { mergePages } from '../src/live/livePaged.ts';
import { readRows } from '../src/paged.ts';

const idOf = (row: string) => row[0] ?? '';
const page = (rows: readonly string[], hasMore = true) => ({ data: rows, nextCursor: hasMore ? 'more' : null });

describe('merging the pages of a growing list', () => {
  it('appends the older rows to the newest page', () => {
    assert.deepEqual(mergePages(page(['e', 'd', 'c']), ['d', 'c', 'b', 'a'], idOf), {
      rows: ['e', 'd', 'c', 'b', 'a'],
      hasGap: false,
    });
  });

  it('prefers the version of a row in the newest page', () => {
    assert.deepEqual(mergePages(page(['c delivered', 'b']), ['c pending', 'b', 'a'], idOf).rows, [
      'c delivered',
      'b',
      'a',
    ]);
  });

  it('drops rows that the newest page no longer has', () => {
    assert.deepEqual(mergePages(page(['d', 'b']), ['d', 'c', 'b', 'a'], idOf).rows, ['d', 'b', 'a']);
  });

  it('shows a row that moved to the newest page once', () => {
    assert.deepEqual(mergePages(page(['a', 'd', 'c']), ['d', 'c', 'b', 'a'], idOf).rows, ['a', 'd', 'c', 'b']);
  });

  it('reports a gap when more than one page is new', () => {
    assert.deepEqual(mergePages(page(['z', 'y']), ['b', 'a'], idOf), { rows: ['z', 'y'], hasGap: true });
  });

  it('returns the newest page when there are no others', () => {
    assert.deepEqual(mergePages(page(['b'], false), ['c', 'b', 'a'], idOf).rows, ['b']);
    assert.deepEqual(mergePages(page([], false), ['c'], idOf).rows, []);
  });

  it('keeps the older rows when the newest page is empty, and reports a gap when there are none', () => {
    assert.deepEqual(mergePages(page([]), ['b'], idOf), { rows: ['b'], hasGap: false });
    assert.deepEqual(mergePages(page([]), [], idOf), { rows: [], hasGap: true });
  });

  it('reads on while pages are empty', async () => {
    const pages = [[], [], ['b']];
    const cursors: unknown[] = [];
    const read = async ({ cursor }: { readonly cursor?: string }) => {
      cursors.push(cursor);
      const data = pages.shift() ?? [];
      return { data, nextCursor: `after ${cursors.length}` };
    };
    assert.deepEqual(await readRows(read, {}), { data: ['b'], nextCursor: 'after 3' });
    assert.deepEqual(cursors, [undefined, 'after 1', 'after 2']);
  });
});
