import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { keptArguments } from '../../../src/invoke/toolCallArguments.ts';
import { operations } from '../../../src/operations/index.ts';

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

  it('are decided for every field of every tool', () => {
    const number = '491707654321';
    const id = 'msg_01M8A3QQBE5C5YW3BNCVE7FYMT';
    const shown: Record<string, readonly (string | number)[]> = {
      to: [number, 'grp_1', '123-456@g.us', 491707654321],
      from: [number, 491707654321],
      phoneNumber: [number, 491707654321],
      phoneNumbers: [number, 491707654321],
      event: ['message.incoming'],
      events: ['message.incoming', 'message.*', '*'],
      afterCursor: ['now', '17.evt_01M8A3QQBE5C5YW3BNCVE7FYMT'],
      replyTo: [id],
      adId: [id],
      ...Object.fromEntries(
        ['message', 'chat', 'group', 'session', 'label', 'media', 'pictureMedia'].map((of) => [`${of}Id`, [id]]),
      ),
      webhookId: [id],
      deliveryId: [id],
      deliveryIds: [id],
    };
    const hidden = [
      ...['message', 'caption', 'question', 'options', 'emoji', 'subject', 'description', 'name', 'address'],
      ...['fileName', 'content', 'mimeType', 'url', 'webhookUrl', 'invite', 'secret', 'idempotencyKey', 'q'],
      ...['linkPreview', 'mentions', 'metadata', 'settings', 'connector', 'cursor', 'latitude', 'longitude'],
    ];
    const text = 'a text of the user';
    for (const operation of operations.filter(({ tool }) => tool)) {
      const kept = (name: string, value: unknown) => keptArguments(operation, { [name]: value })[name];
      for (const [name, schema] of Object.entries(operation.input.properties)) {
        const where = `${operation.id} ${name}`;
        if (where === 'messages.send_contact phoneNumbers') continue; // part of the message
        const { type, format, enum: choices, items } = schema as Record<string, unknown> & { items?: { enum?: [] } };
        if (type === 'boolean') assert.equal(kept(name, true), true, where);
        else if (type === 'integer') assert.equal(kept(name, 3), 3, where);
        else if (Array.isArray(choices)) assert.equal(kept(name, choices[0]), choices[0], where);
        else if (Array.isArray(items?.enum)) assert.deepEqual(kept(name, items.enum), items.enum, where);
        else if (format === 'date-time') {
          for (const time of ['2026-07-01T14:00:00Z', '2026-07-01T14:00:00.123+02:00'])
            assert.equal(kept(name, time), time, where);
        } else if (hidden.includes(name)) {
          for (const value of [text, number, id, 'now', '2026-07-01T14:00:00Z'])
            assert.match(String(kept(name, value)), /^\(\d+ characters\)$/, where);
        } else {
          assert.ok(shown[name], `${where}: decide whether the list of tool calls keeps its texts`);
          for (const value of shown[name]) assert.equal(kept(name, value), String(value), where);
        }
        if (type !== 'boolean') assert.notEqual(kept(name, text), text, where);
      }
    }
  });

  it('are no texts, names, places, files, secrets or URLs', () => {
    const to = '491707654321';
    assert.deepEqual(
      keptOf('messages.send', { to, message: 'Hello', mentions: ['491701112223'], idempotencyKey: 'a b' }),
      {
        to,
        message: '(5 characters)',
        mentions: '(1 entries)',
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
