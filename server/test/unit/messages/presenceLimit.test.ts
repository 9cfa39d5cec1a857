import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Presence } from '../../../src/connectors/contract/presence.ts';
import { PresenceLimit } from '../../../src/sessions/presenceLimit.ts';

describe('the limit of presence reports', () => {
  const report = (from: string, presence: Presence, timestamp: number) =>
    ({ type: 'presence', chat: { type: 'direct', id: from }, from, presence, timestamp }) as const;

  it('admits changes, and drops repetitions within 30 s', () => {
    const limit = new PresenceLimit();
    assert.equal(limit.admits(report('1', 'typing', 0)), true);
    assert.equal(limit.admits(report('1', 'typing', 29_999)), false);
    assert.equal(limit.admits(report('2', 'typing', 29_999)), true);
    assert.equal(limit.admits(report('1', 'paused', 29_999)), true);
    assert.equal(limit.admits(report('1', 'typing', 30_000)), true);
    assert.equal(limit.admits(report('1', 'typing', 60_000)), true);
  });

  it('admits 60 in a minute from all people together', () => {
    const limit = new PresenceLimit();
    const admittedAt = (at: number) =>
      Array.from({ length: 2000 }, (_, n) => limit.admits(report(String(n), 'online', at))).filter(Boolean).length;
    assert.equal(admittedAt(1000), 60);
    assert.equal(admittedAt(60_000), 60); // a new window, because the first one began at 0
    assert.equal(admittedAt(61_000), 0);
    assert.equal(admittedAt(120_000), 60);
    assert.equal(admittedAt(0), 60); // the clock was set back
  });

  it('keeps a share for followed contacts, which is bounded too', () => {
    const limit = new PresenceLimit();
    limit.followed.add('friend');
    for (let n = 0; n < 100; n++) limit.admits(report(String(n), 'typing', 1000));
    const inGroup = { ...report('friend', 'typing', 1000), chat: { type: 'group', id: 'grp_1' } } as const;
    assert.equal(limit.admits(inGroup), false);
    const admitted = Array.from({ length: 100 }, (_, n) =>
      limit.admits(report('friend', n % 2 === 0 ? 'online' : 'offline', 1000 + n)),
    );
    assert.equal(admitted.filter(Boolean).length, 60);
  });
});
