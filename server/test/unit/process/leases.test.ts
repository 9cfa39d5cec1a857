import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { shareOf } from '../../../src/cluster/leases.ts';
import type { Member } from '../../../src/cluster/members.ts';

const member = (nodeId: string): Member => ({ nodeId, url: null, acceptsWork: true, fileStore: null, isAlive: true });

/** The share of every node, in order. `counts` holds the leases of each node, and `free` those without an owner. */
function sharesOf(nodes: readonly string[], counts: Readonly<Record<string, number>>): number[] {
  const byHolder = new Map(Object.entries(counts).map(([holder, n]) => [holder === 'free' ? null : holder, n]));
  return nodes.map((nodeId) => shareOf(nodeId, nodes.map(member), byHolder));
}

describe('the fair share of a node', () => {
  it('is equal for all, with the remainder on the nodes that hold the most', () => {
    const cases: [nodes: string[], counts: Record<string, number>, shares: number[]][] = [
      [['a'], { free: 7 }, [7]],
      [['a', 'b'], {}, [0, 0]],
      [['a', 'b'], { a: 4 }, [2, 2]],
      [['a', 'b'], { a: 2, b: 3 }, [2, 3]],
      [['a', 'b'], { a: 3, b: 2 }, [3, 2]],
      [['a', 'b', 'c'], { b: 1, free: 1 }, [1, 1, 0]],
      [['a', 'b', 'c'], { a: 1, b: 5, c: 5 }, [3, 4, 4]],
      // The leases of a node that accepts no more work are distributed among the others.
      [['a', 'b'], { leaving: 5, b: 1 }, [3, 3]],
    ];
    for (const [nodes, counts, shares] of cases)
      assert.deepEqual(sharesOf(nodes, counts), shares, JSON.stringify(counts));
  });

  it('is zero for a node that does not accept work', () => {
    assert.equal(shareOf('other', [member('a')], new Map([['other', 3]])), 0);
    assert.equal(shareOf('a', [], new Map([['a', 3]])), 0);
  });

  it('adds up to the total over all nodes, with a difference of one at most', () => {
    const names = ['a', 'b', 'c', 'd', 'e'];
    const counts = fc.dictionary(fc.constantFrom(...names, 'leaving', 'free'), fc.nat(20));
    fc.assert(
      fc.property(fc.subarray(names, { minLength: 1 }), counts, (nodes, held) => {
        const shares = sharesOf(nodes, held);
        const sum = (numbers: readonly number[]) => numbers.reduce((total, n) => total + n, 0);
        assert.equal(sum(shares), sum(Object.values(held)));
        assert.ok(Math.max(...shares) - Math.min(...shares) <= 1);
      }),
    );
  });

  it('moves nothing between balanced nodes', () => {
    fc.assert(
      fc.property(fc.array(fc.constantFrom(3, 4), { minLength: 1, maxLength: 6 }), (held) => {
        const nodes = held.map((_, index) => `node ${index}`);
        const counts = Object.fromEntries(held.map((count, index) => [`node ${index}`, count]));
        assert.deepEqual(sharesOf(nodes, counts), held);
      }),
    );
  });
});
