import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { keptArguments } from '../../src/invoke/toolCallArguments.ts';
import { operations } from '../../src/operations/index.ts';

const operationOf = (id: string) => operations.find((one) => one.id === id) ?? assert.fail(id);
const keptOf = (id: string, input: unknown) => keptArguments(operationOf(id), input);

describe('the arguments of a tool call that are kept', () => {
  it('are ids, recipients, times, choices and switches', () => {
    const sent = { sessionId: 'ses_1', to: '+49 170 765-4321', replyTo: 'msg_1', sendAt: '2026-07-01T14:00:00+02:00' };
    assert.deepEqual(keptOf('messages.send', sent), sent);
    const changed = { groupId: '123-456@g.us', action: 'promote', phoneNumbers: ['491707654321', 491707654322] };
    assert.deepEqual(keptOf('groups.update_participants', changed), {
      ...changed,
      phoneNumbers: ['491707654321', '491707654322'],
    });
    const blocked = { phoneNumber: 491707654321, blocked: true };
    assert.deepEqual(keptOf('contacts.set_blocked', blocked), { phoneNumber: '491707654321', blocked: true });
    const listed = { limit: 20, direction: 'incoming', chatId: 'grp_1', q: 'invoice' };
    assert.deepEqual(keptOf('messages.list', listed), { ...listed, q: '(7 characters)' });
    const events = ['message.sent', 'not an event'];
    assert.deepEqual(keptOf('webhooks.set', { events }), { events: ['message.sent', '(12 characters)'] });
  });

  it('are no texts, names, places, files, secrets or URLs', () => {
    const to = '491707654321';
    assert.deepEqual(
      keptOf('messages.send', { to, message: 'Hello', mentions: ['491701112223'], idempotencyKey: 'a b' }),
      {
        to,
        message: '(5 characters)',
        mentions: ['(12 characters)'],
        idempotencyKey: '(3 characters)',
      },
    );
    assert.deepEqual(keptOf('messages.send_location', { to, latitude: 52, longitude: 13.4, name: 'Home' }), {
      to,
      latitude: '(number)',
      longitude: '(number)',
      name: '(4 characters)',
    });
    assert.deepEqual(keptOf('messages.send_contact', { to, name: 'Ada', phoneNumbers: ['491701112223'] }), {
      to,
      name: '(3 characters)',
      phoneNumbers: '(1 entries)',
    });
    const hook = { webhookUrl: 'https://user:secret@example.com/hook?token=1', secret: 'shared secret' };
    assert.deepEqual(keptOf('webhooks.set', hook), { webhookUrl: '(44 characters)', secret: '(13 characters)' });
    assert.deepEqual(keptOf('sessions.create', { options: { accessToken: 'x' }, metadata: { a: 'b' } }), {
      options: '(object)',
      metadata: '(object)',
    });
  });

  it('are no texts in the wrong field, and no unknown fields', () => {
    const wrong = { to: 'my password is x', message: 'msg_123456', sessionId: { a: 'text' }, replyTo: ['secret text'] };
    assert.deepEqual(keptOf('messages.send', { ...wrong, note: 'text', confirmationToken: 'x' }), {
      to: '(16 characters)',
      message: '(10 characters)',
      sessionId: '(object)',
      replyTo: ['(11 characters)'],
    });
    assert.deepEqual(keptOf('messages.send', { message: 1234, to: 12 }), { message: '(number)', to: '(number)' });
    for (const input of [undefined, null, 'text', 7, []]) assert.deepEqual(keptOf('messages.send', input), {});
  });

  it('are bounded for every tool, whatever the input', () => {
    for (const operation of operations.filter(({ tool }) => tool)) {
      for (const value of ['491707654321', `ses_${'x'.repeat(100)}`, 'x'.repeat(100_000), Number.MAX_SAFE_INTEGER]) {
        const names = Object.keys(operation.input.properties);
        const lists = Object.fromEntries(names.map((name) => [name, Array.from({ length: 5000 }, () => value)]));
        const single = Object.fromEntries(names.map((name) => [name, value]));
        for (const input of [lists, single]) {
          const { length } = JSON.stringify(keptArguments(operation, input));
          assert.ok(length <= 5000, `${operation.id}: ${length}`);
        }
      }
    }
  });
});
