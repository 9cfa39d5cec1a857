import assert from 'node:assert/strict';
import { it } from 'node:test';
import { SignJWT } from 'jose';
import { LoginTokens } from '../../../src/auth/tokens.ts';
import { createFakeClock } from '../../support/fakeClock.ts';

const SECRET = 'a secret that other programs share';

it('rejects login tokens whose claims have another type', async () => {
  const clock = createFakeClock(Date.now());
  const tokens = new LoginTokens(SECRET, clock);
  const valid = { sub: 'acc_1', ver: 1, exp: Math.floor(clock.now() / 1000) + 60, iss: 'switchboard' };
  const verify = async (claims: object) =>
    tokens.verify(
      await new SignJWT({ ...valid, ...claims })
        .setProtectedHeader({ alg: 'HS256' })
        .sign(new TextEncoder().encode(SECRET)),
    );
  assert.deepEqual(await verify({}), { accountId: 'acc_1', version: 1, expiresAt: valid.exp * 1000 });
  for (const claims of [
    { sub: [] },
    { sub: ['acc_1'] },
    { sub: {} },
    { sub: 7 },
    { sub: true },
    { sub: '' },
    { sub: 'acc_\0' },
    { sub: 'a'.repeat(1000) },
    { ver: '1' },
    { ver: [1] },
    { ver: 1.5 },
    { ver: null },
    { exp: 'soon' },
    { exp: 1e300 },
  ])
    assert.equal(await verify(claims), undefined, JSON.stringify(claims));
});
