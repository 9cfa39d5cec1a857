import assert from 'node:assert/strict';
import { it } from 'node:test';
import { Seal } from '../../src/seal.ts';
import { isJustMade, makeSecret, readableSecret } from '../../src/webhooks/madeSecret.ts';

const MINUTE_MS = 60_000;
const DAY_MS = 24 * 60 * MINUTE_MS;
const now = Date.UTC(2026, 6, 1);
const seal = new Seal('');
const rowOf = (secret: string | null) => ({ webhook_id: 'whk_1', secret });

it('a secret that the server made is readable for a week', () => {
  const secret = makeSecret(now);
  const until = now + 7 * DAY_MS;
  for (const at of [now, until])
    assert.deepEqual(readableSecret(rowOf(secret), seal, at), { secret, readableUntil: until });
  assert.equal(readableSecret(rowOf(secret), seal, until + 1), undefined);
  // Another node's clock can be a little behind.
  assert.deepEqual(readableSecret(rowOf(secret), seal, now - 1000), { secret, readableUntil: until });
});

it('a secret that the server did not make is never readable', () => {
  for (const secret of [null, '', 'chosen by the caller', 'made_', `made_${'x'.repeat(60)}`, `x${makeSecret(now)}`])
    assert.equal(readableSecret(rowOf(secret), seal, now), undefined);
});

it('a second request within five minutes is a repeat', () => {
  const row = rowOf(makeSecret(now));
  assert.equal(isJustMade(row, seal, now + 4 * MINUTE_MS), true);
  assert.equal(isJustMade(row, seal, now + 5 * MINUTE_MS), false);
  assert.equal(isJustMade(rowOf('chosen by the caller'), seal, now), false);
});

it('each secret is new', () => {
  assert.equal(new Set(Array.from({ length: 100 }, () => makeSecret(now))).size, 100);
});
