import assert from 'node:assert/strict';
import { it } from 'node:test';
import { FairTurns } from '../../../src/async.ts';

it('runs one piece of work at a time, and lets keys take turns', async () => {
  const turns = new FairTurns({ inAll: 3, perKey: 3 });
  const order: string[] = [];
  const work = (name: string) => async () => {
    await Promise.resolve();
    order.push(name);
  };
  const all = [turns.run('a', work('a1')), turns.run('a', work('a2')), turns.run('a', work('a3'))];
  all.push(turns.run('b', work('b1')));
  assert.equal(turns.hasRoomFor('a'), false, 'as much waits in all as may');
  assert.equal(turns.hasRoomFor('c'), true, 'another key has room');
  await Promise.all(all);
  assert.deepEqual(order, ['a1', 'a2', 'b1', 'a3']);
});

it('goes on after work that fails', async () => {
  const turns = new FairTurns({ inAll: 3, perKey: 3 });
  const failing = turns.run('a', () => Promise.reject(new Error('no')));
  const next = turns.run('a', async () => 1);
  await assert.rejects(failing, { message: 'no' });
  assert.equal(await next, 1);
});

it('goes on after work that throws before it returns a promise', async () => {
  const turns = new FairTurns({ inAll: 3, perKey: 3 });
  const failing = turns.run('a', () => {
    throw new Error('no');
  });
  await assert.rejects(failing, { message: 'no' });
  assert.equal(await turns.run('a', async () => 1), 1);
});
