import assert from 'node:assert/strict';
import { Readable } from 'node:stream';
import { describe, it } from 'node:test';
import { BodyBudget } from '../../../src/http/bodyBudget.ts';

const session = (sessionId: string, accountId = 'one') => ({ accountId, sessionId });
const bytes = (...lengths: number[]) => Readable.from(lengths.map((length) => Buffer.alloc(length)));

describe('the budget for unauthenticated bodies', () => {
  it('limits the received bytes per body, session and account', async () => {
    const budget = new BodyBudget({ body: 10, session: 15, all: 48 });
    await assert.rejects(budget.open(session('a')).read(bytes(5, 6)), { code: 'payload_too_large' });

    const first = budget.open(session('b'));
    assert.equal((await first.read(bytes(4, 6))).length, 10);
    await assert.rejects(budget.open(session('b')).read(bytes(6)), { code: 'rate_limited', retryAfterSeconds: 1 });
    const other = budget.open(session('c'));
    await assert.rejects(other.read(bytes(5, 5)), { code: 'rate_limited' }); // 5 bytes of `a` and 10 of `b` have arrived
    other.release();
    first.release();
    first.release();
    assert.equal((await budget.open(session('b')).read(bytes(10))).length, 10);
  });

  it('releases the bytes of an aborted body', async () => {
    const budget = new BodyBudget({ body: 10, session: 10, all: 20 });
    const body = budget.open(session('a'));
    const slow = new Readable({ read() {} });
    slow.push(Buffer.alloc(8));
    const reading = body.read(slow);
    await assert.rejects(budget.open(session('b')).read(bytes(3)), { code: 'rate_limited' });
    body.release();
    slow.destroy();
    await assert.rejects(reading);
    assert.equal((await budget.open(session('b')).read(bytes(10))).length, 10);
  });

  it('leaves room for other accounts, however many sessions of one account receive bodies', async () => {
    const budget = new BodyBudget({ body: 4, session: 16, all: 64 });
    const fill = async (accountId: string) => {
      let held = 0;
      for (let at = 0; at < 64; at++) {
        const body = budget.open(session(`${accountId} ${at % 4}`, accountId));
        held += await body.read(bytes(4)).then(
          ({ length }) => length,
          () => 0,
        );
      }
      return held;
    };
    assert.deepEqual([await fill('one'), await fill('two'), await fill('three')], [32, 16, 8]);
  });
});
