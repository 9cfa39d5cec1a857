import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Commit, Tx } from '../../src/db/commit.ts';
import { Pace } from '../../src/db/pace.ts';

/** Runs work as a database does that takes some time per row. */
function databaseOf(msPerRow: number, hasConcurrentWriters = false) {
  const transactions: number[] = [];
  const tx = { dialect: { hasConcurrentWriters } } as unknown as Tx;
  const commit: Commit = (work) => work(tx);
  const work = async (_tx: Tx, rows: readonly number[]) => {
    transactions.push(rows.length);
    const end = performance.now() + rows.length * msPerRow;
    while (performance.now() < end);
    return rows.length;
  };
  return { commit, work, transactions };
}

describe('the pace of long work', () => {
  it('shortens transactions on a slow database', async () => {
    const { commit, work, transactions } = databaseOf(0.5);
    const items = Array.from({ length: 400 }, (_, n) => n);
    assert.equal(await new Pace().inSlices(commit, items, work), 400);
    assert.equal(transactions[0], 100);
    assert.ok(Math.max(...transactions.slice(3)) <= 25, `${transactions}`);
  });

  it('lengthens transactions on a fast database, up to a maximum', async () => {
    const { commit, work, transactions } = databaseOf(0);
    const items = Array.from({ length: 10_000 }, (_, n) => n);
    assert.equal(await new Pace().inSlices(commit, items, work), 10_000);
    assert.ok(Math.max(...transactions) <= 500, `${transactions}`);
    assert.ok(transactions.length < 60, `${transactions}`);
  });

  it('uses the maximum where other transactions do not wait', async () => {
    const { commit, work, transactions } = databaseOf(0, true);
    const items = Array.from({ length: 1000 }, (_, n) => n);
    await new Pace().inSlices(commit, items, work);
    assert.deepEqual(transactions, [500, 500]);
  });

  it('repeats a step until it changes fewer rows than it may', async () => {
    const { commit } = databaseOf(0);
    let left = 1234;
    const step = async (_tx: Tx, limit: number) => {
      const changed = Math.min(left, limit);
      left -= changed;
      return changed;
    };
    assert.equal(await new Pace().repeat(commit, step), 1234);
    assert.equal(left, 0);
  });

  it('passes the same rows to a transaction that is repeated', async () => {
    const { commit, work, transactions } = databaseOf(0);
    const twice: Commit = async (run) => {
      await commit(run);
      return commit(run);
    };
    assert.equal(await new Pace().inSlices(twice, [1, 2, 3], work), 3);
    assert.deepEqual(transactions, [3, 3]);
  });
});
