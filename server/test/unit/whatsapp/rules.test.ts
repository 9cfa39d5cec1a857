import assert from 'node:assert/strict';
import { it } from 'node:test';
import { backoffMs, endingOf } from '../../../src/connectors/whatsapp/link/endings.ts';
import { silenceSignal } from '../../../src/connectors/whatsapp/link/silence.ts';
import { toOwnId, toWireId } from '../../../src/connectors/whatsapp/outbound/messageIds.ts';
import { createIds } from '../../../src/ids.ts';
import { createFakeClock } from '../../support/fakeClock.ts';

const end = (code: number | undefined, message = 'Connection Failure', data = {}) => ({ code, message, data });

it('unused pairing codes are not an outage', () => {
  // The messages are those of Baileys 7.0.0-rc14 (lib/Socket/socket.js). By its code alone this is a lost connection.
  assert.equal(endingOf(end(408, 'QR refs attempts ended'), false).next, 'stop');
  assert.equal(endingOf(end(408, 'Connection was lost'), false).next, 'later');
});

it('a refusal means logged out only after the device was linked', () => {
  assert.equal(endingOf(end(401), true).next, 'unlinked');
  assert.equal(endingOf(end(401), false).next, 'stop');
});

it('a temporary ban is waited out as long as WhatsApp says', () => {
  assert.deepEqual(endingOf(end(402, undefined, { expire: '120' }), true), {
    next: 'later',
    reason: 'WhatsApp has banned the number temporarily',
    afterMs: 120_000,
  });
});

it('an unknown error is retried, with its own message as the reason', () => {
  const ending = endingOf(end(undefined, 'something new'), true);
  assert.equal(ending.next, 'later');
  assert.match('reason' in ending ? ending.reason : '', /something new/);
});

it('retries back off up to a minute, with jitter', () => {
  assert.deepEqual(
    [0, 1, 2, 5, 6, 60].map((attempts) => backoffMs(attempts, () => 0)),
    [1000, 2000, 4000, 32_000, 60_000, 60_000],
  );
  assert.equal(
    backoffMs(3, () => 1),
    4000,
  );
});

it('an id of Switchboard survives the round trip through the network, and other ids stay unchanged', () => {
  const newId = createIds(createFakeClock());
  for (let i = 0; i < 1000; i++) {
    const id = newId('msg');
    const wire = toWireId(id);
    assert.match(wire, /^[0-9A-F]{32}$/);
    assert.equal(toOwnId(wire), id);
  }
  assert.equal(toWireId('3EB0C431C26A1916E07E'), '3EB0C431C26A1916E07E');
  assert.equal(toOwnId('3EB0C431C26A1916E07E'), '3EB0C431C26A1916E07E');
});

it('session dumps of libsignal are not printed, and all other lines are', () => {
  const printed: unknown[][] = [];
  const note = (...parts: unknown[]) => printed.push(parts);
  const console = { log: note, info: note, warn: note, error: note };
  silenceSignal(console);
  silenceSignal(console);
  console.info('Closing session:', { rootKey: 'secret' });
  console.warn('Closing open session in favor of incoming prekey bundle');
  console.warn('Closing sessions for the night');
  console.log('hello', 1);
  assert.deepEqual(printed, [['Closing sessions for the night'], ['hello', 1]]);
});
