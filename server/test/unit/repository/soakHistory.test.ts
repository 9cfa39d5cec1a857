import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type Arrival, type Call, checkHistory } from '../../../soak/history.ts';

const expectations = {
  eventsOf: () => ['message.sent'],
  acknowledgedWithinMs: 1000,
  deliveredWithinMs: 5000,
};

const call = (n: number, more: Partial<Call> = {}): Call => ({
  conversation: 'one',
  text: `message ${n}`,
  askedAt: n * 100,
  acknowledgement: { messageId: `msg_${n}`, at: n * 100 + 50 },
  ...more,
});
const arrival = (n: number, more: Partial<Arrival> = {}): Arrival => ({
  eventId: `evt_${n}`,
  event: 'message.sent',
  messageId: `msg_${n}`,
  text: `message ${n}`,
  attempt: 1,
  isAccepted: true,
  at: n * 100 + 60,
  ...more,
});
const kindsOf = (calls: Call[], arrivals: Arrival[]) =>
  checkHistory({ calls, arrivals }, expectations).map(({ kind }) => kind);

describe('the history check', () => {
  it('reports nothing in a correct history', () => {
    assert.deepEqual(kindsOf([call(1), call(2)], [arrival(1), arrival(2)]), []);
  });

  it('reports an acknowledged message without its event', () => {
    assert.deepEqual(kindsOf([call(1), call(2)], [arrival(2)]), ['lost']);
    const other = arrival(1, { event: 'message.delivered' });
    assert.deepEqual(kindsOf([call(1)], [other]), ['lost']);
  });

  it('reports a message whose event was refused and did not come again', () => {
    const refused = arrival(1, { isAccepted: false });
    assert.deepEqual(kindsOf([call(1)], [refused]), ['lost']);
    assert.deepEqual(kindsOf([call(1)], [refused, arrival(1, { attempt: 2 })]), []);
  });

  it('does not report unacknowledged messages as lost', () => {
    assert.deepEqual(kindsOf([call(1, { acknowledgement: undefined })], []), []);
    assert.deepEqual(kindsOf([call(1, { acknowledgement: undefined })], [arrival(1)]), []);
  });

  it('reports two events or two messages of one send', () => {
    assert.deepEqual(kindsOf([call(1)], [arrival(1), arrival(1, { eventId: 'evt_other' })]), ['duplicated']);
    const sentTwice = arrival(1, { eventId: 'evt_other', messageId: 'msg_other' });
    assert.deepEqual(kindsOf([call(1)], [arrival(1), sentTwice]), ['duplicated']);
  });

  it('reports one message returned to two sends', () => {
    const taken = call(2, { acknowledgement: { messageId: 'msg_1', at: 250 } });
    assert.deepEqual(kindsOf([call(1), taken], [arrival(1), arrival(2)]), ['duplicated']);
  });

  it('accepts a redelivery with the same id', () => {
    assert.deepEqual(kindsOf([call(1)], [arrival(1), arrival(1), arrival(1, { attempt: 2 })]), []);
  });

  it('reports reordered messages of a conversation', () => {
    assert.deepEqual(kindsOf([call(1), call(2), call(3)], [arrival(2), arrival(1), arrival(3)]), ['reordered']);
  });

  it('accepts any order between conversations and after a retry', () => {
    const other = call(1, { conversation: 'two' });
    assert.deepEqual(kindsOf([other, call(2)], [arrival(2), arrival(1)]), []);
    assert.deepEqual(kindsOf([call(1), call(2)], [arrival(2), arrival(1, { attempt: 2 })]), []);
  });

  it('reports a late response and a late event', () => {
    assert.deepEqual(kindsOf([call(1, { askedAt: -2000 })], [arrival(1)]), ['late']);
    assert.deepEqual(kindsOf([call(1)], [arrival(1, { at: 60_000 })]), ['late']);
  });
});
