import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { QueueState } from '../../../src/webhooks/lanes/queueState.ts';
import type { Due } from '../../../src/webhooks/queue/due.ts';

const due = (deliveryId: string, conversation = 'a') => ({ deliveryId, conversation }) as Due;
const stateOf = (queue: QueueState) => (queue.isStale ? 'stale' : queue.isComplete ? 'complete' : 'behind');

/** A queue of which everything is known. */
function completeQueue(): QueueState {
  const queue = new QueueState();
  queue.beginRead();
  queue.endRead(false);
  return queue;
}

describe('the state of a queue', () => {
  it('begins with a read of the webhook, during which nothing may start', () => {
    const queue = new QueueState();
    assert.deepEqual([stateOf(queue), queue.isLoading, queue.isReading], ['stale', true, false]);
    assert.equal(queue.beginRead(), 'webhook');
    assert.deepEqual([queue.isLoading, queue.isReading], [true, true]);
    queue.endRead(false);
    assert.deepEqual([stateOf(queue), queue.isLoading, queue.isReading], ['complete', false, false]);
  });

  it('reads deliveries when it is behind, while others may start', () => {
    const queue = completeQueue();
    queue.fallBehind();
    assert.equal(stateOf(queue), 'behind');
    assert.equal(queue.beginRead(), 'deliveries');
    assert.equal(queue.isLoading, false);
    queue.endRead(false);
    assert.equal(stateOf(queue), 'complete');
  });

  it('stays behind what a read may have missed', () => {
    const queue = completeQueue();
    queue.fallBehind();
    queue.beginRead();
    queue.fallBehind();
    queue.endRead(false);
    assert.equal(stateOf(queue), 'behind');
  });

  it('reads the webhook again that has changed during any read', () => {
    for (const isStale of [true, false]) {
      const queue = completeQueue();
      if (isStale) queue.becomeStale();
      else queue.fallBehind();
      queue.beginRead();
      queue.becomeStale();
      queue.fallBehind();
      queue.endRead(false);
      assert.equal(stateOf(queue), 'stale');
    }
  });

  it('repeats a read that has failed', () => {
    const queue = new QueueState();
    queue.beginRead();
    queue.endRead(true);
    assert.equal(stateOf(queue), 'stale');
    queue.beginRead();
    queue.endRead(false);
    queue.fallBehind();
    queue.beginRead();
    queue.endRead(true);
    assert.equal(stateOf(queue), 'behind');
  });

  it('leaves out what was settled during a read, and what a retry holds back', () => {
    const queue = completeQueue();
    queue.fallBehind();
    queue.beginRead();
    queue.onSettled(due('1', 'a'), false);
    assert.deepEqual(queue.withoutSettled([due('1', 'a'), due('2', 'a')]), [due('2', 'a')]);
    assert.equal(stateOf(queue), 'complete');
    queue.onSettled(due('3', 'b'), true);
    assert.deepEqual(queue.withoutSettled([due('4', 'b'), due('5', 'c')]), [due('5', 'c')]);
    assert.equal(stateOf(queue), 'behind');
    queue.endRead(false);
    assert.deepEqual(queue.withoutSettled([due('1', 'a')]), [due('1', 'a')]);
  });

  it('looks for the next retry again after one was stored', () => {
    const queue = completeQueue();
    queue.knowsNextRetry = true;
    queue.fallBehindWithRetries();
    assert.deepEqual([stateOf(queue), queue.knowsNextRetry], ['behind', false]);
  });
});
