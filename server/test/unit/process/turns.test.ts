import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { OutgoingConnections } from '../../../src/egress/outgoing.ts';
import { Turns } from '../../../src/webhooks/lanes/turns.ts';

/** Lanes whose starts are recorded and whose attempts end on command. */
function lanesOn(connections: number) {
  const outgoing = new OutgoingConnections(connections);
  const turns = new Turns<Waiting>({ outgoing, isMember: () => true });
  const started: string[] = [];
  let reads = 0;

  class Waiting {
    readonly accountId: string;
    readonly #name: string;
    #left: number;

    constructor(accountId: string, name: string, deliveries: number) {
      this.accountId = accountId;
      this.#name = name;
      this.#left = deliveries;
      turns.offer(this);
    }

    get canStart(): boolean {
      reads++;
      return this.#left > 0;
    }

    startOne(): void {
      this.#left--;
      started.push(this.#name);
    }
  }

  return {
    outgoing,
    turns,
    started,
    lane: (accountId: string, name: string, deliveries = 1) => new Waiting(accountId, name, deliveries),
    reads: () => reads,
  };
}

describe('turns', () => {
  it('go on when a connection is released that no delivery used', () => {
    const { outgoing, started, lane } = lanesOn(1);
    assert.ok(outgoing.take('of a file'));
    lane('quiet', 'x');
    assert.deepEqual(started, []);
    outgoing.release('of a file');
    assert.deepEqual(started, ['x']);
  });

  it('go around the accounts, and around the lanes of each', () => {
    const { turns, started, lane } = lanesOn(1);
    lane('busy', 'first');
    for (const name of ['a', 'b', 'c']) lane('busy', name, 2);
    lane('quiet', 'x', 2);
    for (let n = 0; n < 8; n++) turns.release(started.at(-1) === 'x' ? 'quiet' : 'busy');
    assert.deepEqual(started, ['first', 'a', 'x', 'b', 'x', 'c', 'a', 'b', 'c']);
  });

  it('skip an account that has used up its share, until a connection is released', () => {
    const { turns, started, lane } = lanesOn(4);
    for (const name of ['a', 'b', 'c']) lane('busy', name);
    assert.deepEqual(started, ['a', 'b']);
    lane('quiet', 'x');
    assert.deepEqual(started, ['a', 'b', 'x']);
    turns.release('busy');
    assert.deepEqual(started, ['a', 'b', 'x', 'c']);
  });

  it('look at a few lanes for each start, however many wait', async () => {
    const { turns, lane, started, reads } = lanesOn(2);
    for (let n = 0; n < 1000; n++) lane('one', `${n}`);
    while (started.length < 1000) {
      turns.release('one');
      await setImmediate();
    }
    assert.ok(reads() <= 4000, `${reads()} reads`);
  });

  it('start 64 attempts in one turn of the event loop, and then more', async () => {
    const { lane, started, turns } = lanesOn(1000);
    lane('one', 'a', 200);
    assert.equal(started.length, 64);
    for (let n = 0; n < 4; n++) await setImmediate();
    assert.equal(started.length, 200);
    assert.equal(turns.inFlight, 200);
  });

  it('leave out a lane that was removed or can no longer start', () => {
    const { turns, started, lane } = lanesOn(2);
    lane('one', 'first');
    const removed = lane('one', 'removed');
    lane('one', 'empty', 0);
    lane('one', 'last');
    assert.ok(turns.has(removed));
    turns.remove(removed);
    assert.ok(!turns.has(removed));
    turns.release('one');
    assert.deepEqual(started, ['first', 'last']);
  });
});
