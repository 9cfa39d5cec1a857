import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { progressOf, type Receipt } from '../../../src/messages/status.ts';

type Progress = Parameters<typeof progressOf>[0];

const AT = Date.UTC(2026, 0, 1);
const queued: Progress = {
  status: 'queued',
  error: null,
  error_code: null,
  sent_at: null,
  delivered_at: null,
  read_at: null,
  failed_at: null,
};
const sent: Progress = { ...queued, status: 'sent', sent_at: 1 };
const delivered: Progress = { ...sent, status: 'delivered', delivered_at: 2 };
const read: Progress = { ...delivered, status: 'read', read_at: 3 };
/** The network did not answer in time. */
const unanswered: Progress = { ...queued, status: 'failed', error: 'no answer', failed_at: 4 };
/** The network accepted the message and reported a failure later. */
const rejected: Progress = { ...sent, status: 'failed', error: 'not delivered', failed_at: 4 };

const after = (before: Progress, status: Receipt['status']) => progressOf(before, { status, timestamp: AT });

describe('a receipt', () => {
  it('moves a message forward, with one step for each status in between', () => {
    const cases: [before: Progress, status: Receipt['status'], steps: string[]][] = [
      [queued, 'sent', ['sent']],
      [queued, 'delivered', ['sent', 'delivered']],
      [queued, 'read', ['sent', 'delivered', 'read']],
      [sent, 'delivered', ['delivered']],
      [sent, 'read', ['delivered', 'read']],
      [delivered, 'read', ['read']],
      [unanswered, 'sent', ['sent']],
      [unanswered, 'delivered', ['sent', 'delivered']],
      [unanswered, 'read', ['sent', 'delivered', 'read']],
    ];
    for (const [before, status, steps] of cases) {
      const progress = after(before, status);
      assert.deepEqual([progress?.after.status, progress?.steps], [status, steps], `${before.status} → ${status}`);
    }
  });

  it('is ignored when it reports an earlier status or the same one', () => {
    const cases: [before: Progress, status: Receipt['status']][] = [
      [sent, 'sent'],
      [delivered, 'sent'],
      [delivered, 'delivered'],
      [read, 'sent'],
      [read, 'delivered'],
      [read, 'read'],
    ];
    for (const [before, status] of cases)
      assert.equal(after(before, status), undefined, `${before.status} → ${status}`);
  });

  it('keeps the known error codes of a failure', () => {
    const fail = (errorCode: string) =>
      progressOf(sent, { status: 'failed', timestamp: AT, errorCode: errorCode as 'send_failed' })?.after.error_code;
    assert.deepEqual([fail('template_required'), fail('made_up')], ['template_required', null]);
  });

  it('fails an undelivered message without a step', () => {
    for (const before of [queued, sent, unanswered]) {
      const progress = progressOf(before, { status: 'failed', timestamp: AT, error: 'blocked' });
      assert.deepEqual(progress?.steps, []);
      assert.equal(progress.after.status, 'failed');
      assert.equal(progress.after.error, 'blocked');
      assert.equal(progress.after.failed_at, AT);
    }
    assert.equal(after(delivered, 'failed'), undefined);
    assert.equal(after(read, 'failed'), undefined);
  });

  it('sets a reason for a failure even if the network gives none', () => {
    assert.equal(after(sent, 'failed')?.after.error, 'failed');
  });

  it('cannot revive a message that the network accepted and then failed', () => {
    for (const status of ['sent', 'delivered', 'read'] as const) assert.equal(after(rejected, status), undefined);
  });

  it('clears the failure of a message that was delivered after all', () => {
    assert.deepEqual(after(unanswered, 'delivered')?.after, {
      status: 'delivered',
      error: null,
      error_code: null,
      failed_at: null,
      sent_at: AT,
      delivered_at: AT,
      read_at: null,
    });
  });

  it('fills in the times of skipped statuses and keeps known ones', () => {
    assert.deepEqual(after(queued, 'read')?.after, {
      ...queued,
      status: 'read',
      sent_at: AT,
      delivered_at: AT,
      read_at: AT,
    });
    assert.deepEqual(after(delivered, 'read')?.after, { ...delivered, status: 'read', read_at: AT });
    assert.deepEqual(after(sent, 'delivered')?.after, { ...sent, status: 'delivered', delivered_at: AT });
  });
});

const receipts = fc.array(
  fc.record({
    status: fc.constantFrom('sent', 'delivered', 'read', 'failed'),
    timestamp: fc.integer({ min: 1, max: 1e12 }),
  }),
  { maxLength: 12 },
);

describe('any series of receipts', () => {
  it('moves a status only forward, and a failure is final', () => {
    const ranks = ['queued', 'sent', 'delivered', 'read'];
    fc.assert(
      fc.property(receipts, (series) => {
        let progress = queued;
        for (const receipt of series) {
          const before = progress;
          progress = progressOf(before, receipt)?.after ?? before;
          if (before.status === 'failed') assert.equal(progress.status, 'failed');
          else if (progress.status === 'failed') assert.ok(['queued', 'sent'].includes(before.status));
          else assert.ok(ranks.indexOf(progress.status) >= ranks.indexOf(before.status));
        }
      }),
    );
  });

  it('emits each step once and in order', () => {
    fc.assert(
      fc.property(fc.constantFrom(queued, unanswered), receipts, (start, series) => {
        let progress = start;
        const taken: string[] = [];
        for (const receipt of series) {
          const next = progressOf(progress, receipt);
          progress = next?.after ?? progress;
          taken.push(...(next?.steps ?? []));
        }
        assert.deepEqual(taken, ['sent', 'delivered', 'read'].slice(0, taken.length));
      }),
    );
  });

  it('never changes the time of a reached status', () => {
    fc.assert(
      fc.property(receipts, (series) => {
        let progress = queued;
        for (const receipt of series) {
          const before = progress;
          progress = progressOf(before, receipt)?.after ?? before;
          for (const name of ['sent_at', 'delivered_at', 'read_at'] as const)
            if (before[name] !== null) assert.equal(progress[name], before[name], name);
        }
      }),
    );
  });
});
