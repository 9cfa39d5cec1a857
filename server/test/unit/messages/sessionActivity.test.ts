import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { NetworkEvent } from '../../../src/connectors/contract/events.ts';
import { SessionActivity } from '../../../src/sessions/sessionActivity.ts';

const ANN = '491707654321';
const START = Date.UTC(2026, 0, 1);

const message = (more: object = {}): NetworkEvent => ({
  type: 'message',
  networkId: 'one',
  chat: { type: 'direct', id: ANN },
  from: ANN,
  content: { type: 'text', text: 'hello' },
  timestamp: START,
  replyTo: null,
  ...more,
});

describe('the activity of a session', () => {
  it('is undefined until something happens, and after it was taken', () => {
    const activity = new SessionActivity();
    assert.equal(activity.take(), undefined);
    activity.onSent(ANN, START);
    assert.equal(activity.take()?.sent, 1);
    assert.equal(activity.take(), undefined);
  });

  it('counts the messages of the busiest minute, also if they are taken in between', () => {
    const activity = new SessionActivity();
    for (const at of [0, 10_000, 59_999, 60_000]) activity.onSent(undefined, START + at);
    assert.deepEqual([activity.take()?.peak, activity.take()], [3, undefined]);
    activity.onSent(undefined, START + 61_000);
    activity.onSent(undefined, START + 62_000);
    assert.equal(activity.take()?.peak, 3);
  });

  it('counts what the network refused, and nothing that the session itself held back', () => {
    const activity = new SessionActivity();
    activity.onRefused('rate_limited');
    activity.onRefused('session_not_connected');
    assert.equal(activity.take(), undefined);
    activity.onRefused('send_failed');
    activity.onRefused('recipient_not_on_network');
    const { failed, unreachable } = activity.take() ?? {};
    assert.deepEqual([failed, unreachable], [2, 1]);
  });

  it('has the risk assessed after an unreadable message, which is counted when it is stored', () => {
    const activity = new SessionActivity();
    activity.onEvent({ type: 'unreadable', reason: 'no_session', isMessage: true });
    assert.deepEqual(Object.keys(activity.take() ?? {}).toSorted(), [
      'answered',
      'failed',
      'look_ups',
      'peak',
      'sent',
      'unreachable',
      'written',
    ]);
    assert.equal(activity.take(), undefined);
  });

  it('counts a failure that the network repeats once', () => {
    const activity = new SessionActivity();
    const failure: NetworkEvent = { type: 'receipt', networkIds: ['a', 'b'], status: 'failed', timestamp: START };
    activity.onEvent(failure);
    activity.onEvent(failure);
    assert.equal(activity.take()?.failed, 2);
    activity.onEvent(failure);
    activity.onEvent({ ...failure, status: 'read' });
    assert.equal(activity.take(), undefined);
  });

  it('counts messages that the network could not deliver to a number, each once', () => {
    const activity = new SessionActivity();
    const failure: NetworkEvent = { type: 'receipt', networkIds: ['a', 'b'], status: 'failed', timestamp: START };
    activity.onEvent({ ...failure, isUnreachable: true });
    activity.onEvent({ ...failure, isUnreachable: true });
    activity.onEvent({ ...failure, networkIds: ['c'] });
    const { failed, unreachable } = activity.take() ?? {};
    assert.deepEqual([failed, unreachable], [3, 2]);
  });

  it('tells chats that the session started from those in which the other side wrote first', () => {
    const activity = new SessionActivity();
    activity.onEvent(message());
    activity.onEvent(message({ chat: { type: 'group', id: 'team' } }));
    activity.onEvent(message({ chat: { type: 'direct', id: '491700000009' }, isOwn: true }));
    activity.onSent(ANN, START + 1);
    activity.onSent('491700000002', START + 2);
    activity.onSent('491700000002', START + 3);
    const { written, answered } = activity.take() ?? {};
    assert.deepEqual([...(written ?? [])], [['491700000002', START + 2]]);
    assert.deepEqual([...(answered ?? [])], [[ANN, START]]);
  });

  it('remembers a bounded number of chats', () => {
    const activity = new SessionActivity();
    for (let n = 0; n < 3000; n++) activity.onSent(`4917${1_000_000 + n}`, START);
    const taken = activity.take();
    assert.ok(taken !== undefined);
    assert.deepEqual([taken.sent, taken.written.size], [3000, 1000]);
    for (let n = 5000; n < 7000; n++) activity.onSent(`4917${1_000_000 + n}`, START);
    activity.putBack(taken);
    const again = activity.take();
    assert.deepEqual([again?.sent, again?.written.size], [5000, 1000]);
  });

  it('is there once the network has said something about the number', () => {
    const activity = new SessionActivity();
    activity.onEvent({ type: 'standing', newChats: null });
    assert.equal(activity.take()?.sent, 0);
    assert.equal(activity.take(), undefined);
  });

  it('is there once a received message could not be read, but not for other stanzas', () => {
    const activity = new SessionActivity();
    activity.onEvent({ type: 'unreadable', reason: 'sealed_change', isMessage: false });
    assert.equal(activity.take(), undefined);
    activity.onEvent({ type: 'unreadable', reason: 'no_session', isMessage: true });
    assert.equal(activity.take()?.sent, 0);
  });

  it('puts back what could not be stored', () => {
    const activity = new SessionActivity();
    activity.onSent(ANN, START);
    activity.onLookUps(2);
    const taken = activity.take();
    assert.ok(taken !== undefined);
    activity.onSent(ANN, START + 1000);
    activity.onRefused('send_failed');
    activity.putBack(taken);
    const { written, ...counts } = activity.take() ?? assert.fail();
    assert.deepEqual(counts, {
      sent: 2,
      failed: 1,
      unreachable: 0,
      peak: 2,
      look_ups: 2,
      answered: new Map(),
    });
    assert.deepEqual([...written], [[ANN, START]], 'the first message began the chat');
  });
});
