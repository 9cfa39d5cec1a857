import assert from 'node:assert/strict';
import { it } from 'node:test';
import { pino } from 'pino';
import type { NetworkEvent } from '../../../src/connectors/contract/events.ts';
import { UnreadableCounts } from '../../../src/connectors/whatsapp/inbound/unreadableCounts.ts';
import { createFakeClock } from '../../support/fakeClock.ts';

const PAUSE_MS = 1000;

/** Counts with a host whose database can fail. */
function setting() {
  const clock = createFakeClock(0);
  const stored: [reason: string, count: number | undefined][] = [];
  const lines: string[] = [];
  const host = { fails: false, attempts: 0 };
  const counts = new UnreadableCounts({
    clock,
    log: pino({ level: 'info' }, { write: (line: string) => void lines.push(line) }),
    async onEvent(event: NetworkEvent) {
      host.attempts++;
      if (host.fails) throw new Error('the database is full');
      if (event.type === 'unreadable') stored.push([event.reason, event.count]);
    },
  });
  const add = (times: number) => Array.from({ length: times }, () => counts.add('no_session', true));
  return { clock, stored, lines, host, counts, add };
}

it('gathers a flood into a report per second', async () => {
  const { clock, stored, lines, counts, add } = setting();
  const first = add(1);
  const others = add(999);
  void counts.add('no_group_key', false);
  await clock.advance(0);
  await clock.advance(PAUSE_MS);
  assert.deepEqual(stored, [
    ['no_session', 1],
    ['no_session', 999],
    ['no_group_key', 1],
  ]);
  assert.equal(lines.length, 3);
  assert.ok((await Promise.all([...first, ...others])).every((isStored) => isStored));
});

it('tries again once per second while the database fails, and loses no count', async () => {
  const { clock, stored, lines, host, counts, add } = setting();
  host.fails = true;
  const added = add(500);
  await clock.advance(0);
  await clock.advance(2 * PAUSE_MS);
  added.push(...add(500));
  await clock.advance(2 * PAUSE_MS);
  assert.deepEqual([host.attempts, lines.length, stored], [5, 5, []]);
  host.fails = false;
  await clock.advance(PAUSE_MS);
  assert.deepEqual(stored, [['no_session', 1000]]);
  assert.ok((await Promise.all(added)).every((isStored) => isStored));
  await counts.stop();
  assert.equal(clock.timersDueIn(PAUSE_MS), 0);
});

it('reports what is left when it stops, without a retry', async () => {
  const { stored, host, counts, add } = setting();
  add(10);
  await counts.stop();
  assert.equal(
    stored.reduce((sum, [, count = 0]) => sum + count, 0),
    10,
  );
  const another = setting();
  another.host.fails = true;
  const added = another.add(3);
  await another.counts.stop();
  assert.deepEqual(await Promise.all(added), [false, false, false]);
  assert.deepEqual([another.host.attempts, await counts.add('no_session', true)], [2, false]);
  assert.equal(host.attempts, 2);
});
