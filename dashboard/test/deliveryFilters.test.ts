import assert from 'node:assert/strict';
import { it } from 'node:test';
import { asInput, deliveryFilters } from '../src/pages/deliveries/filters.ts';

it('filters of the delivery log reach the API under its present names', () => {
  const time = '2026-07-01T12:00:00.000Z';
  const filters = deliveryFilters({
    state: 'failed',
    event: 'message.sent',
    chatId: 'grp_1',
    after: time,
    before: time,
  });
  assert.deepEqual(asInput(filters), {
    states: ['failed'],
    events: ['message.sent'],
    chatId: 'grp_1',
    afterTime: time,
    beforeTime: time,
  });
  assert.deepEqual(asInput({}), {});
});
