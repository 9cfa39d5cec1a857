import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { assessRisk, type RiskFigures, riskLevels } from '../../../src/sessions/risk.ts';

const DAY_MS = 24 * 60 * 60 * 1000;
const now = Date.UTC(2026, 0, 1);

const quiet: RiskFigures = {
  linkedAt: now - 365 * DAY_MS,
  newChats: 0,
  sent: 0,
  unreachable: 0,
  blockReports: 0,
  spamLimits: 0,
  restrictions: 0,
  lookUps: 0,
  unreadable: 0,
  sentInHour: 0,
  failedInHour: 0,
  peakPerMinute: 0,
  startedInWeek: 0,
  answeredInWeek: 0,
  quality: null,
  maySend: true,
  standing: {},
};

type Before = Parameters<typeof assessRisk>[2];

function assess(figures: Partial<RiskFigures>, { isForBusinesses = false, before = [] as Before } = {}) {
  const { risk, reasons } = assessRisk({ ...quiet, ...figures }, { isForBusinesses, now }, before);
  return { risk, reasons, codes: reasons.map(({ code }) => code) };
}

describe('the risk of a session', () => {
  it('is low without a reason', () => {
    assert.deepEqual(assess({}), { risk: 'low', reasons: [], codes: [] });
  });

  it('is not raised by unreadable messages, which are the last reason', () => {
    const { risk, reasons } = assess({ unreadable: 1 });
    const message = '1 received message could not be decrypted within the last day.';
    assert.deepEqual([risk, reasons], ['low', [{ code: 'unreadable', risk: 'low', message }]]);
    const both = assess({ unreadable: 1000, blockReports: 1, newChats: 200 }, { before: reasons });
    assert.deepEqual([both.risk, both.codes], ['high', ['new_chats', 'block_reports', 'unreadable']]);
  });

  it('depends on the age of the number, and an unknown age counts as new', () => {
    const at = (newChats: number, linkedAt: number | null) => assess({ newChats, linkedAt }).risk;
    const days = (count: number) => now - count * DAY_MS;
    assert.deepEqual(
      [14, 15, 30].map((count) => at(count, null)),
      ['low', 'elevated', 'high'],
    );
    assert.deepEqual(
      [14, 15, 30].map((count) => at(count, now)),
      ['low', 'elevated', 'high'],
    );
    assert.deepEqual(
      [29, 30, 60].map((count) => at(count, days(1))),
      ['low', 'elevated', 'high'],
    );
    assert.deepEqual(
      [59, 60, 120].map((count) => at(count, days(7))),
      ['low', 'elevated', 'high'],
    );
    assert.deepEqual(
      [99, 100, 200].map((count) => at(count, days(30))),
      ['low', 'elevated', 'high'],
    );
    assert.equal(at(14, now + DAY_MS), 'low', 'a clock that was set back');
    assert.match(assess({ newChats: 15, linkedAt: now }).reasons[0]?.message ?? '', /started 15 chats .* linked today/);
  });

  it('comes from pace, failures, unreachable numbers and chats without an answer', () => {
    const cases: [Partial<RiskFigures>, string, string][] = [
      [{ peakPerMinute: 44 }, 'low', ''],
      [{ peakPerMinute: 45 }, 'elevated', 'pace'],
      [{ peakPerMinute: 90 }, 'high', 'pace'],
      [{ sentInHour: 1, failedInHour: 8 }, 'low', ''],
      [{ sentInHour: 8, failedInHour: 2 }, 'elevated', 'failures'],
      [{ sentInHour: 5, failedInHour: 5 }, 'high', 'failures'],
      [{ unreachable: 4 }, 'low', ''],
      [{ unreachable: 5 }, 'elevated', 'unreachable'],
      [{ unreachable: 20 }, 'high', 'unreachable'],
      [{ startedInWeek: 19, answeredInWeek: 0 }, 'low', ''],
      [{ startedInWeek: 20, answeredInWeek: 0 }, 'elevated', 'unanswered'],
      [{ startedInWeek: 50, answeredInWeek: 5 }, 'high', 'unanswered'],
      [{ startedInWeek: 50, answeredInWeek: 20 }, 'low', ''],
    ];
    for (const [figures, risk, code] of cases) {
      const found = assess(figures);
      assert.deepEqual([found.risk, found.codes.join()], [risk, code], JSON.stringify(figures));
    }
  });

  it('comes from what the network says', () => {
    const cases: [Partial<RiskFigures>, string, string][] = [
      [{ standing: { noNewChatsUntil: now + 1 } }, 'high', 'new_chats_denied'],
      [{ standing: { noNewChatsUntil: now } }, 'low', ''],
      [{ standing: { newChats: { used: 7, total: 10 } } }, 'low', ''],
      [{ standing: { newChats: { used: 8, total: 10 } } }, 'elevated', 'network_quota'],
      [{ standing: { newChats: { used: 10, total: 10 } } }, 'high', 'network_quota'],
      [{ standing: { newChats: { used: 0, total: 0 } } }, 'low', ''],
      [{ standing: { newChats: null, noNewChatsUntil: null }, quality: 'high' }, 'low', ''],
      [{ quality: 'medium' }, 'elevated', 'quality'],
      [{ quality: 'low' }, 'high', 'quality'],
      [{ restrictions: 1 }, 'high', 'restricted'],
      [{ maySend: false }, 'high', 'restricted'],
      [{ maySend: false, restrictions: 1 }, 'high', 'restricted'],
      [{ blockReports: 1 }, 'elevated', 'block_reports'],
      [{ blockReports: 3 }, 'high', 'block_reports'],
      [{ spamLimits: 1 }, 'elevated', 'spam_limits'],
      [{ spamLimits: 5 }, 'high', 'spam_limits'],
    ];
    for (const [figures, risk, code] of cases) {
      const found = assess(figures);
      assert.deepEqual([found.risk, found.codes.join()], [risk, code], JSON.stringify(figures));
    }
  });

  it('does not come from strangers on a network for businesses', () => {
    const figures = { newChats: 5000, peakPerMinute: 4000, startedInWeek: 5000, linkedAt: now };
    assert.equal(assess(figures, { isForBusinesses: true }).risk, 'low');
    assert.equal(assess({ ...figures, spamLimits: 5 }, { isForBusinesses: true }).risk, 'high');
  });

  it('names the gravest reasons first', () => {
    const { codes, risk } = assess({ newChats: 100, unreachable: 20, blockReports: 1 });
    assert.deepEqual([risk, codes], ['high', ['unreachable', 'block_reports', 'new_chats']]);
  });

  it('goes down only once the value is clearly below its limit', () => {
    const high = assess({ newChats: 200 }).reasons;
    const later = (newChats: number, before: Before) => assess({ newChats }, { before }).risk;
    assert.deepEqual([later(160, high), later(159, high)], ['high', 'elevated']);
    assert.deepEqual([later(80, high), later(79, high)], ['elevated', 'low']);
    const elevated = assess({ newChats: 100 }).reasons;
    assert.deepEqual([later(199, elevated), later(80, elevated), later(79, elevated)], ['elevated', 'elevated', 'low']);
    assert.equal(assess({ unreachable: 4 }, { before: high }).risk, 'low', 'another reason has no part in it');
  });

  it('never rises when a figure falls', () => {
    const figure = fc.constantFrom('newChats', 'unreachable', 'blockReports', 'spamLimits', 'peakPerMinute');
    fc.assert(
      fc.property(figure, fc.nat(500), fc.nat(500), (name, one, other) => {
        const rank = (value: number) => riskLevels.indexOf(assess({ [name]: value }).risk);
        assert.ok(rank(Math.min(one, other)) <= rank(Math.max(one, other)));
      }),
    );
  });
});
