import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { checkHistory, findLost } from './history.ts';
import { Load } from './load.ts';

const expectations = {
  eventsOf: Load.eventsOf,
  /** Covers a request that is aborted after 40 s, a takeover within 20 s, and the fault itself. */
  acknowledgedWithinMs: 90_000,
  deliveredWithinMs: 90_000,
};
/** Duplicates may still be in flight when nothing is missing. */
const SETTLED_MS = 3000;
const SHOWN = 20;

/** Waits for outstanding events, and fails the test with every violation. */
export async function judge(test: TestContext, load: Load, faults: readonly string[]): Promise<void> {
  const givesUpAt = performance.now() + expectations.deliveredWithinMs;
  while (findLost(await load.history(), expectations).length > 0 && performance.now() < givesUpAt) await delay(250);
  await delay(SETTLED_MS);
  const history = await load.history();
  const acknowledged = history.calls.filter(({ acknowledgement }) => acknowledgement !== undefined).length;
  const repeats = history.arrivals.length - new Set(history.arrivals.map(({ eventId }) => eventId)).size;
  test.diagnostic(`${acknowledged} messages acknowledged, ${history.arrivals.length} requests, ${repeats} repeats`);
  test.diagnostic(`faults: ${faults.join('; ')}`);
  assert.ok(acknowledged > 0, 'no message was acknowledged');
  assert.deepEqual(load.unexpected.slice(0, SHOWN), []);
  assert.deepEqual((await load.failed()).slice(0, SHOWN), [], 'deliveries that were given up');
  const violations = checkHistory(history, expectations).map(({ kind, what }) => `${kind}: ${what}`);
  assert.deepEqual(violations.slice(0, SHOWN), [], `${violations.length} violations`);
}
