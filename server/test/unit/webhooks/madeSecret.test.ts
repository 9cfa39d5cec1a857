import assert from 'node:assert/strict';
import { it } from 'node:test';
import { Seal } from '../../../src/seal.ts';
import { hasMadeForm, makeSecret, readableSecret } from '../../../src/webhooks/endpoints/madeSecret.ts';

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
  // The clock of another node can be a little behind.
  assert.deepEqual(readableSecret(rowOf(secret), seal, now - 1000), { secret, readableUntil: until });
});

it('a secret that the server did not make is never readable', () => {
  for (const secret of [null, '', 'chosen by the caller', 'made_', `made_${'x'.repeat(60)}`, `x${makeSecret(now)}`])
    assert.equal(readableSecret(rowOf(secret), seal, now), undefined);
});

it('a secret that claims to be made later is never readable', () => {
  for (const madeAt of [now + 2 * MINUTE_MS, now + 8 * DAY_MS, 36 ** 9 - 1])
    assert.equal(readableSecret(rowOf(makeSecret(madeAt)), seal, now), undefined);
});

it('the form of a secret that the server made is recognized', () => {
  assert.equal(hasMadeForm(makeSecret(now)), true);
  assert.equal(hasMadeForm(`made_zzzzzzzzz_${'a'.repeat(43)}`), true);
  for (const secret of ['chosen by the caller', 'made_', `x${makeSecret(now)}`, `${makeSecret(now)}x`])
    assert.equal(hasMadeForm(secret), false);
});

it('each secret is new', () => {
  assert.equal(new Set(Array.from({ length: 100 }, () => makeSecret(now))).size, 100);
});
