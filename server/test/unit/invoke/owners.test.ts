import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { MovedError } from '../../../src/cluster/leases.ts';
import type { Member } from '../../../src/cluster/members.ts';
import { runAtOwner } from '../../../src/invoke/owners.ts';

const nodeAt = (nodeId: string): Member => ({ nodeId, url: null, acceptsWork: true, fileStore: null, isAlive: true });

/** Runs a call whose owner changes along `owners`, and records where it ran. */
async function run(owners: (Member | undefined)[], here: () => Promise<string> = async () => 'here') {
  const ran: string[] = [];
  const left = [...owners];
  const answer = runAtOwner(
    async () => left.shift(),
    () => {
      ran.push('here');
      return here();
    },
    async ({ nodeId }) => {
      ran.push(nodeId);
      return nodeId;
    },
  );
  const outcome = await answer.catch((error: unknown) => error);
  return { outcome, ran, asked: owners.length - left.length };
}

const moved = async () => {
  throw new MovedError();
};

describe('a call that requires an owner', () => {
  it('runs here if no other node owns the session', async () => {
    assert.deepEqual(await run([undefined, nodeAt('b')]), { outcome: 'here', ran: ['here'], asked: 1 });
  });

  it('is forwarded before it runs here', async () => {
    assert.deepEqual(await run([nodeAt('b'), nodeAt('c')]), { outcome: 'b', ran: ['b'], asked: 1 });
  });

  it('follows once if the session moved after the decision', async () => {
    assert.deepEqual(await run([undefined, nodeAt('b')], moved), { outcome: 'b', ran: ['here', 'b'], asked: 2 });
  });

  it('fails if nobody owns the moved session', async () => {
    const { outcome, ran } = await run([undefined, undefined], moved);
    assert.ok(outcome instanceof MovedError);
    assert.deepEqual(ran, ['here']);
  });

  it('is not repeated after any other error', async () => {
    const error = new Error('failed');
    const failing = async () => {
      throw error;
    };
    assert.deepEqual(await run([undefined, nodeAt('b')], failing), { outcome: error, ran: ['here'], asked: 1 });
  });
});
