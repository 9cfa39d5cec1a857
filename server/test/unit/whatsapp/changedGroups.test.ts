import assert from 'node:assert/strict';
import { it } from 'node:test';
import { pino } from 'pino';
import { ChangedGroups } from '../../../src/connectors/whatsapp/people/changedGroups.ts';
import { createFakeClock } from '../../support/fakeClock.ts';

const GROUP = '1@g.us';

/** @param failures how many of the first reads fail */
function start(failures = 0) {
  const clock = createFakeClock();
  const reads: string[] = [];
  const changed = new ChangedGroups({ clock, log: pino({ level: 'silent' }) }, async (group) => {
    reads.push(group);
    if (reads.length <= failures) throw new Error('rate-overlimit');
  });
  /** In steps, because each read starts the timer of the next one. */
  const pass = async (seconds: number) => {
    for (let second = 0; second < seconds; second++) await clock.advance(1000);
  };
  return { pass, changed, reads };
}

it('reads a group immediately, and once more after a burst of changes', async () => {
  const { pass, changed, reads } = start();
  for (let change = 0; change < 30; change++) changed.note(GROUP);
  changed.note('2@g.us');
  assert.deepEqual(reads, [GROUP, '2@g.us']);
  await pass(60);
  assert.deepEqual(reads, [GROUP, '2@g.us', GROUP]);
  changed.note(GROUP);
  assert.equal(reads.length, 4, 'immediately again after a quiet pause');
});

it('reads seldom while changes continue, and always after the last one', async () => {
  const { pass, changed, reads } = start();
  for (let second = 0; second < 200; second++) {
    changed.note(GROUP);
    await pass(1);
  }
  assert.ok(reads.length <= 14, `${reads.length} reads`);
  const before = reads.length;
  changed.note(GROUP);
  await pass(30);
  assert.equal(reads.length, before + 1);
});

it('reads again after a failure, a limited number of times', async () => {
  const { pass, changed, reads } = start(1);
  changed.note(GROUP);
  await pass(60);
  assert.equal(reads.length, 2);
  const failing = start(100);
  failing.changed.note(GROUP);
  await failing.pass(600);
  assert.equal(failing.reads.length, 5);
  failing.changed.note(GROUP);
  assert.equal(failing.reads.length, 6, 'with the next change');
});

it('reads nothing after the end of the connection', async () => {
  const { pass, changed, reads } = start();
  changed.note(GROUP);
  changed.note(GROUP);
  changed.stop();
  await pass(60);
  assert.equal(reads.length, 1);
});
