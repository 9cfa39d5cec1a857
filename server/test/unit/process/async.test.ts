import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  allEnded,
  Condition,
  KeyedQueue,
  Slots,
  settledWithin,
  sleep,
  unlessAborted,
  withTimeout,
} from '../../../src/async.ts';
import type { Clock } from '../../../src/clock.ts';
import { createFakeClock } from '../../support/fakeClock.ts';

/** A clock that also counts the pending timers. */
function countingClock() {
  const fake = createFakeClock();
  let timers = 0;
  const clock: Clock = {
    ...fake,
    after(delayMs, action) {
      timers++;
      let isOver = false;
      const end = () => {
        if (!isOver) timers--;
        isOver = true;
      };
      const cancel = fake.after(delayMs, () => {
        end();
        action();
      });
      return () => {
        end();
        cancel();
      };
    },
  };
  return { clock, advance: fake.advance, timers: () => timers };
}

/** The state of a promise so far. */
function watch(promise: Promise<unknown>): { state: string } {
  const seen = { state: 'pending' };
  promise.then(
    (value) => (seen.state = `resolved ${value}`),
    (error: Error) => (seen.state = `rejected ${error.message}`),
  );
  return seen;
}
const late = () => new Error('late');

describe('sleep', () => {
  it('resolves after its duration and not before', async () => {
    const clock = createFakeClock();
    const slept = watch(sleep(clock, 1000));
    await clock.advance(999);
    assert.equal(slept.state, 'pending');
    await clock.advance(1);
    assert.equal(slept.state, 'resolved undefined');
  });
});

describe('sleep under a signal', () => {
  it('ends when the signal is aborted, and leaves no timer', async () => {
    const { clock, advance, timers } = countingClock();
    const controller = new AbortController();
    const [short, long] = [100, 1000].map((ms) => watch(sleep(clock, ms, controller.signal)));
    await advance(100);
    controller.abort(new Error('closed'));
    await advance(0);
    assert.deepEqual([short?.state, long?.state], ['resolved undefined', 'rejected closed']);
    await assert.rejects(sleep(clock, 1000, controller.signal), /closed/);
    assert.equal(timers(), 0);
  });
});

describe('a timeout', () => {
  it('resolves with the result of work that finishes in time, and leaves no timer', async () => {
    const { clock, timers } = countingClock();
    assert.equal(await withTimeout(clock, 1000, Promise.resolve(7), late), 7);
    await assert.rejects(withTimeout(clock, 1000, Promise.reject(new Error('broken')), late), /broken/);
    assert.equal(timers(), 0);
  });

  it('rejects after the timeout while the work continues', async () => {
    const { clock, advance, timers } = countingClock();
    const work = Promise.withResolvers<string>();
    const seen = watch(withTimeout(clock, 1000, work.promise, late));
    await advance(999);
    assert.equal(seen.state, 'pending');
    await advance(1);
    assert.equal(seen.state, 'rejected late');
    assert.equal(timers(), 0);
    work.resolve('done');
    assert.equal(await work.promise, 'done');
  });

  it('handles work that fails after the timeout', async () => {
    const clock = createFakeClock();
    const work = Promise.withResolvers<never>();
    const seen = watch(withTimeout(clock, 1000, work.promise, late));
    await clock.advance(1000);
    // An unhandled rejection would end the process.
    work.reject(new Error('broken'));
    await clock.advance(0);
    assert.equal(seen.state, 'rejected late');
  });
});

describe('work under a signal', () => {
  it('resolves with the result of the work', async () => {
    const { signal } = new AbortController();
    assert.equal(await unlessAborted(signal, Promise.resolve(7)), 7);
    await assert.rejects(unlessAborted(signal, Promise.reject(new Error('broken'))), /broken/);
  });

  it('rejects with the reason of the signal, even if it was aborted before', async () => {
    const controller = new AbortController();
    const work = Promise.withResolvers<never>();
    const seen = watch(unlessAborted(controller.signal, work.promise));
    controller.abort(new Error('closed'));
    await assert.rejects(unlessAborted(controller.signal, Promise.resolve(7)), /closed/);
    assert.equal(seen.state, 'rejected closed');
    // An unhandled rejection would end the process.
    work.reject(new Error('broken'));
  });
});

describe('waiting until work has settled', () => {
  it('ends with the work, whether it succeeds or fails, and leaves no timer', async () => {
    const { clock, timers } = countingClock();
    await settledWithin(clock, 1000, Promise.resolve(7));
    await settledWithin(clock, 1000, Promise.reject(new Error('broken')));
    assert.equal(timers(), 0);
  });

  it('ends after the timeout, even if the work fails later', async () => {
    const { clock, advance, timers } = countingClock();
    const work = Promise.withResolvers<never>();
    const seen = watch(settledWithin(clock, 1000, work.promise));
    await advance(999);
    assert.equal(seen.state, 'pending');
    await advance(1);
    assert.equal(seen.state, 'resolved undefined');
    work.reject(new Error('broken'));
    await advance(0);
    assert.equal(timers(), 0);
  });
});

describe('a keyed queue', () => {
  /** Work that records its start and ends on command. */
  function setting() {
    const queue = new KeyedQueue();
    const begun: string[] = [];
    const run = (key: string, name: string) => {
      const work = Promise.withResolvers<string>();
      const result = queue.run(key, () => {
        begun.push(name);
        return work.promise;
      });
      return { result, end: () => work.resolve(name), fail: () => work.reject(new Error(name)) };
    };
    return { queue, begun, run };
  }
  const turn = () => new Promise((resolve) => setImmediate(resolve));

  it('runs work with the same key in order, one at a time', async () => {
    const { begun, run } = setting();
    const [first, second, third] = ['1', '2', '3'].map((name) => run('a', name));
    await turn();
    assert.deepEqual(begun, ['1']);
    third?.end();
    first?.end();
    await turn();
    assert.deepEqual(begun, ['1', '2']);
    second?.end();
    assert.equal(await third?.result, '3');
    assert.deepEqual(begun, ['1', '2', '3']);
  });

  it('runs work with other keys concurrently', async () => {
    const { begun, run } = setting();
    run('a', 'a1');
    run('a', 'a2');
    run('b', 'b1');
    await turn();
    assert.deepEqual(begun, ['a1', 'b1']);
  });

  it('continues after failed work, which only its own caller sees', async () => {
    const { queue, run } = setting();
    const first = run('a', '1');
    const second = run('a', '2');
    first.fail();
    second.end();
    await assert.rejects(first.result, /^Error: 1$/);
    assert.equal(await second.result, '2');
    const thrown = queue.run('a', () => {
      throw new Error('before it returns a promise');
    });
    await assert.rejects(thrown, /before it returns/);
    assert.equal(await queue.run('a', async () => 'next'), 'next');
  });

  it('counts running and waiting work, and forgets a key without work', async () => {
    const { queue, run } = setting();
    assert.equal(queue.length('a'), 0);
    const first = run('a', '1');
    const second = run('a', '2');
    assert.deepEqual([queue.length('a'), queue.length('b')], [2, 0]);
    first.end();
    await first.result;
    assert.equal(queue.length('a'), 1);
    second.fail();
    await assert.rejects(second.result);
    assert.equal(queue.length('a'), 0);
    const third = run('a', '3');
    assert.equal(queue.length('a'), 1);
    third.end();
    await third.result;
  });

  it('is idle once all queued work has settled', async () => {
    const { queue, run } = setting();
    await queue.idle();
    const all = [run('a', '1'), run('a', '2'), run('b', '3')];
    const idle = watch(queue.idle());
    all[0]?.end();
    all[2]?.fail();
    await assert.rejects(all[2]?.result ?? assert.fail());
    await turn();
    assert.equal(idle.state, 'pending');
    const later = run('b', '4');
    all[1]?.end();
    await turn();
    assert.equal(idle.state, 'resolved undefined', 'later work does not delay it');
    later.end();
    await later.result;
  });
});

describe('slots', () => {
  it('limit concurrent work, run the rest in order, and continue after failed work', async () => {
    const slots = new Slots(2);
    const begun: string[] = [];
    const start = (name: string) => {
      const work = Promise.withResolvers<void>();
      const result = slots.run(() => {
        begun.push(name);
        return work.promise;
      });
      return { ...work, result };
    };
    const [first, second, third] = [start('1'), start('2'), start('3')];
    start('4');
    assert.deepEqual(begun, ['1', '2']);
    second.reject(new Error('broken'));
    await assert.rejects(second.result, /broken/);
    assert.deepEqual(begun, ['1', '2', '3']);
    first.resolve();
    third.resolve();
    await Promise.all([first.result, third.result]);
    start('5');
    assert.deepEqual(begun, ['1', '2', '3', '4', '5']);
  });
});

describe('a condition', () => {
  it('wakes its callers when it holds, not on every change', async () => {
    const condition = new Condition();
    let count = 2;
    const waits = [watch(condition.until(() => count === 0)), watch(condition.until(() => count === 0))];
    const change = async () => {
      count--;
      condition.notify();
      await new Promise((resolve) => setImmediate(resolve));
      return waits.map(({ state }) => state);
    };
    assert.deepEqual(await change(), ['pending', 'pending']);
    assert.deepEqual(await change(), ['resolved undefined', 'resolved undefined']);
    await condition.until(() => count === 0);
  });

  it('is awaited on if it no longer holds when the caller resumes', async () => {
    const condition = new Condition();
    let holds = true;
    const first = watch(condition.until(() => !holds));
    holds = false;
    condition.notify();
    holds = true;
    await new Promise((resolve) => setImmediate(resolve));
    assert.equal(first.state, 'pending');
    holds = false;
    condition.notify();
    await new Promise((resolve) => setImmediate(resolve));
    assert.equal(first.state, 'resolved undefined');
  });

  it('can be awaited with a timeout', async () => {
    const { clock, advance, timers } = countingClock();
    const condition = new Condition();
    let holds = false;
    const other = watch(condition.until(() => holds));
    const late = watch(condition.untilOrAfter(clock, 1000, () => holds));
    const longer = watch(condition.untilOrAfter(clock, 2000, () => holds));
    await advance(1000);
    assert.deepEqual([late.state, longer.state, other.state], ['resolved undefined', 'pending', 'pending']);
    holds = true;
    condition.notify();
    await advance(0);
    assert.deepEqual([longer.state, other.state], ['resolved undefined', 'resolved undefined']);
    assert.equal(timers(), 0);
  });
});

describe('allEnded', () => {
  it('returns the results in order', async () => {
    const later = Promise.withResolvers<string>();
    const ended = allEnded(later.promise, Promise.resolve(2));
    later.resolve('one');
    assert.deepEqual(await ended, ['one', 2]);
  });

  it('throws the error that came first, once all have ended', async () => {
    const [slow, failing] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    let isOver = false;
    const ended = allEnded(slow.promise, failing.promise).finally(() => {
      isOver = true;
    });
    failing.reject(new Error('the cause'));
    await new Promise(setImmediate);
    assert.equal(isOver, false);
    slow.reject(new Error('a consequence'));
    await assert.rejects(ended, /the cause/);
  });
});
