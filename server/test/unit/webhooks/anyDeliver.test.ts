import assert from 'node:assert/strict';
import { it } from 'node:test';
import { AnyDeliver } from '../../../src/webhooks/delivery/anyDeliver.ts';
import type { Deliver } from '../../../src/webhooks/delivery/deliver.ts';
import type { Outcome } from '../../../src/webhooks/queue/outcome.ts';

const outcome: Outcome = {
  class: 'ok',
  status: null,
  durationMs: 1,
  message: 'Stored',
  response: null,
  retryAfterMs: null,
};

function fakeDeliver() {
  const calls: string[] = [];
  const deliver: Deliver = {
    attempt: async ({ url }) => {
      calls.push(url);
      return outcome;
    },
    probe: async ({ url }) => {
      calls.push(url);
      return { outcome, stages: [] };
    },
    close: async () => void calls.push('close'),
  };
  return { calls, deliver };
}

const request = {
  url: 'redis://127.0.0.1:6379/0',
  headers: {},
  body: '{}',
  broker: {
    accountId: 'acc_1',
    destination: { type: 'redis', stream: 'events' } as const,
    credentials: {},
    conversation: 'one',
  },
};

it('loads the part of the brokers again after a failure, which is an outcome', async () => {
  const [http, brokers] = [fakeDeliver(), fakeDeliver()];
  let loads = 0;
  const any = new AnyDeliver(http.deliver, async () => {
    loads++;
    if (loads <= 2) throw Object.assign(new Error('too many open files'), { code: 'EMFILE' });
    return brokers.deliver;
  });
  const [first, second] = await Promise.all([any.attempt(request), any.attempt(request)]);
  for (const { class: kind, message } of [first, second]) {
    assert.equal(kind, 'no_socket');
    assert.match(message, /could not load its clients of brokers \(EMFILE\)/);
  }
  assert.equal(loads, 1, 'attempts at the same time share a load');
  assert.equal((await any.probe(request)).outcome.class, 'no_socket');
  assert.equal((await any.attempt(request)).class, 'ok');
  assert.equal((await any.probe(request)).outcome.class, 'ok');
  assert.equal(loads, 3);
  await any.close();
  assert.deepEqual(brokers.calls, [request.url, request.url, 'close']);
  assert.deepEqual(http.calls, ['close']);
});
