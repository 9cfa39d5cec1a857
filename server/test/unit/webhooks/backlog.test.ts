import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Backlog } from '../../../src/webhooks/lanes/backlog.ts';
import type { Due } from '../../../src/webhooks/queue/due.ts';

const due = (deliveryId: string, conversation: string, attempts = 0): Due => ({
  webhook: 1,
  deliveryId,
  eventId: `evt_${deliveryId}`,
  kind: 'message.sent',
  conversation,
  attempts,
  steps: attempts,
  // A retry is due at a time of its schedule; after an outage it is due in its place instead.
  dueAt: attempts,
  body: '{}',
  trace: null,
  sequence: 1,
  createdAt: 0,
});

function backlogOf(...all: Due[]): Backlog {
  const backlog = new Backlog();
  for (const one of all) {
    backlog.add(one);
    assert.ok(backlog.has(one.deliveryId));
  }
  return backlog;
}

function takeAll(backlog: Backlog): string[] {
  const taken: string[] = [];
  for (let next = backlog.takeReady(); next !== undefined; next = backlog.takeReady()) taken.push(next.deliveryId);
  return taken;
}

describe('the backlog of a lane', () => {
  it('starts the first attempts of a conversation one after the other, and those of others meanwhile', () => {
    const [first, second] = [due('a1', 'a'), due('a2', 'a')];
    const backlog = backlogOf(first, second, due('b1', 'b'));
    assert.deepEqual(takeAll(backlog), ['a1', 'b1']);
    backlog.moveUp(first);
    assert.deepEqual(takeAll(backlog), ['a2']);
  });

  it('starts a retry without waiting for its conversation', () => {
    const retry = due('a1', 'a', 1);
    const backlog = backlogOf(due('a2', 'a'), due('a3', 'a'), retry);
    assert.deepEqual(takeAll(backlog), ['a2', 'a1']);
    backlog.moveUp(retry);
    assert.deepEqual(takeAll(backlog), []);
  });

  it('starts a delivery that failed before an outage in its turn', () => {
    const failed = { ...due('a1', 'a', 1), dueAt: 0 };
    assert.deepEqual(takeAll(backlogOf(failed, due('a2', 'a'))), ['a1']);
  });

  it('has no room for more than 17 deliveries of a conversation until half of those that wait have started', () => {
    const first = due('a', 'a');
    const backlog = backlogOf(first, ...Array.from({ length: 16 }, (_, n) => due(`a${n}`, 'a')));
    assert.deepEqual(backlog.beginRead().conversations, ['a']);
    const late = due('late', 'a');
    backlog.add(late);
    assert.equal(backlog.has(late.deliveryId), false);
    assert.equal(backlog.has('late'), false);
    const other = due('b', 'b');
    backlog.add(other);
    assert.ok(backlog.has(other.deliveryId));
    const hasRoom = Array.from({ length: 8 }, () => backlog.moveUp(first));
    assert.deepEqual(hasRoom, [...Array(7).fill(false), true]);
    assert.deepEqual(backlog.beginRead().conversations, []);
  });

  it('appends no delivery to a conversation that has earlier ones outside', () => {
    const first = due('a', 'a');
    const backlog = backlogOf(first, ...Array.from({ length: 16 }, (_, n) => due(`a${n}`, 'a')));
    backlog.append(due('a16', 'a'));
    backlog.moveUp(first); // there is room now, but a16 was left outside
    for (const late of [due('a17', 'a'), due('b1', 'b')]) backlog.append(late);
    assert.deepEqual([backlog.has('a16'), backlog.has('a17'), backlog.has('b1')], [false, false, true]);
    backlog.beginRead();
    for (const read of [due('a16', 'a'), due('a17', 'a')]) backlog.add(read);
    assert.deepEqual([backlog.has('a16'), backlog.has('a17')], [true, false]);

    const other = backlogOf(first, ...Array.from({ length: 16 }, (_, n) => due(`a${n}`, 'a')));
    assert.deepEqual(other.beginRead().conversations, ['a']);
    other.moveUp(first);
    other.append(due('a17', 'a'));
    assert.equal(other.has('a17'), false, 'the read left out a conversation without room');
  });

  it('lets retries take turns with their conversation if the order is strict', () => {
    const backlog = new Backlog();
    backlog.isStrict = true;
    const retry = due('a1', 'a', 1);
    for (const one of [retry, due('a2', 'a'), due('b1', 'b')]) backlog.add(one);
    assert.deepEqual(takeAll(backlog), ['a1', 'b1']);
    assert.deepEqual([backlog.isLast(retry), backlog.isLast(due('b1', 'b'))], [false, true]);
    backlog.moveUp(retry);
    assert.deepEqual(takeAll(backlog), ['a2']);
  });

  it('frees a conversation and forgets what waits in it', () => {
    const [first, second] = [due('a1', 'a'), due('a2', 'a')];
    const backlog = backlogOf(first, second);
    takeAll(backlog);
    backlog.forgetBehind(first);
    assert.deepEqual([backlog.has('a1'), backlog.has('a2')], [true, false]);
    backlog.add(second);
    assert.deepEqual(takeAll(backlog), ['a2']);
  });

  it('still knows a retry that started before the order became strict', () => {
    const retry = due('a1', 'a', 1);
    const backlog = backlogOf(due('a2', 'a'), due('a3', 'a'), retry);
    takeAll(backlog);
    backlog.isStrict = true;
    backlog.moveUp(retry);
    assert.deepEqual(takeAll(backlog), [], 'a2 is still in flight');
  });

  it('keeps deliveries until they are settled', () => {
    const first = due('a1', 'a');
    const backlog = backlogOf(first);
    takeAll(backlog);
    backlog.moveUp(first);
    assert.deepEqual([backlog.has('a1'), backlog.size], [true, 1]);
    assert.deepEqual(backlog.beginRead().deliveryIds, ['a1']);
    backlog.remove(first);
    assert.deepEqual([backlog.has('a1'), backlog.size], [false, 0]);
    assert.deepEqual(backlog.beginRead().deliveryIds, []);
  });

  it('forgets what has not started, and still lets nothing overtake what has', () => {
    const backlog = backlogOf(due('a1', 'a'), due('a2', 'a'), due('b1', 'b'), due('b2', 'b'), due('c1', 'c', 2));
    const started = backlog.takeReady();
    assert.equal(started?.deliveryId, 'a1');
    backlog.forgetWaiting();
    assert.equal(backlog.size, 1);
    for (const again of [due('a2', 'a'), due('b1', 'b')]) backlog.add(again);
    assert.deepEqual(takeAll(backlog), ['b1']);
  });
});
