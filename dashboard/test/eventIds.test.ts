import assert from 'node:assert/strict';
import { it } from 'node:test';
import { eventIdOf } from '../src/live/protocol.ts';

it('finds the event id in a cursor, with or without an epoch, and in an id of the log', () => {
  const ids = ['184.evt_01A', '184.evt_01A.9f3c01ab', 'evt_01A'].map((id) => eventIdOf({ id }));
  assert.deepEqual(ids, ['evt_01A', 'evt_01A', 'evt_01A']);
  assert.notEqual(eventIdOf({ id: '184.evt_01A.9f3c01ab' }), eventIdOf({ id: '185.evt_01B.9f3c01ab' }));
});
