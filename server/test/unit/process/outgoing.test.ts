import assert from 'node:assert/strict';
import { it } from 'node:test';
import { OutgoingConnections } from '../../../src/egress/outgoing.ts';

const takeAll = (connections: OutgoingConnections, accountId: string) => {
  let taken = 0;
  while (connections.take(accountId)) taken++;
  return taken;
};

it('gives one account half of the connections, two a third each, and keeps a share free', () => {
  const connections = new OutgoingConnections(1200);
  assert.equal(takeAll(connections, 'one'), 600);
  assert.equal(takeAll(connections, 'two'), 300);
  assert.equal(takeAll(connections, 'three'), 150);
  // An account above its current share gets no more connections.
  connections.release('one');
  assert.equal(takeAll(connections, 'one'), 0);
  assert.equal(connections.isFull, false);
});

it('allows released connections to be acquired again, up to the last one', () => {
  const connections = new OutgoingConnections(1);
  for (let round = 0; round < 3; round++) {
    assert.equal(takeAll(connections, 'one'), 1);
    assert.equal(connections.isFull, true);
    connections.release('one');
  }
});
