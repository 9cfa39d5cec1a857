import assert from 'node:assert/strict';
import { it } from 'node:test';
import { judgeAhead } from '../../../src/messages/people/networkNumbers.ts';

it('judges the members of a large group in several turns of the event loop', async () => {
  let turns = 0;
  let isDone = false;
  const count = () => {
    turns++;
    if (!isDone) setImmediate(count);
  };
  setImmediate(count);
  await judgeAhead(Array.from({ length: 1024 }, (_, n) => `49170${1_000_000 + n}`));
  isDone = true;
  assert.ok(turns >= 10, `${turns} turns`);
});
