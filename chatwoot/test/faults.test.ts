import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { eventually } from '../../server/test/support/eventually.ts';
import { picture } from '../../server/test/support/media/media.ts';
import { newNumber } from '../../server/test/support/server.ts';
import { openScene, sentMessages } from './scene.ts';

describe('faults', () => {
  it('shows messages of other programs while an agent message of another chat waits', async (test) => {
    const { chatwoot, incoming, conversation, sent, call, sessionId } = await openScene(test);
    const [one, other] = [newNumber(), newNumber()];
    await incoming(one, 'Hello');
    await incoming(other, 'Hello');
    let isOut = true;
    chatwoot.beforeRequest = (_, path) => (isOut && path.startsWith('/rails/') ? 503 : undefined);
    const attachments = [chatwoot.attachment('a.png', 'image/png', picture())];
    await chatwoot.write(conversation(one).id, 'File', { attachments });
    const tries = async () => chatwoot.requests.filter((line) => line.startsWith('GET /rails/')).length;
    await eventually(tries, (count) => count > 0);
    const shown = (text: string) => [...chatwoot.messages.values()].filter(({ content }) => content === text).length;
    await call('POST', '/messages/send', { sessionId, to: one, message: 'To the chat that waits' });
    await call('POST', '/messages/send', { sessionId, to: other, message: 'To the other chat' });
    await chatwoot.until(() => shown('To the other chat') === 1, 'it waits for another chat');
    assert.equal(shown('To the chat that waits'), 0);
    isOut = false;
    await chatwoot.until(() => shown('To the chat that waits') === 1, 'never decided');
    await sentMessages(sent, 3);
    assert.equal(shown('File'), 1);
  });

  it('keeps a message over an outage and a rejection, and shows the outage in the health', async (test) => {
    const { chatwoot, incoming, simulate, settings } = await openScene(test);
    const from = newNumber();
    await incoming(from, 'zero');
    const health = async () => (await fetch(`http://127.0.0.1:${settings.port}/health`)).json();
    let answers = [422, 401, 403, 429, 503];
    let isOut = true;
    chatwoot.beforeRequest = (method, path) => {
      if (method !== 'POST' || !path.endsWith('/messages')) return undefined;
      // The last answer repeats during the outage.
      return isOut && answers.length === 1 ? answers[0] : answers.shift();
    };
    await simulate({ action: 'incoming', from, message: 'one' });
    const seen = await eventually(health, ({ delayed }) => delayed?.toChatwoot.reason.includes('503'));
    assert.equal(seen.status, 'delayed');
    assert.deepEqual(seen.waiting, { toChatwoot: 1, toWhatsapp: 0 });
    assert.equal(seen.delayed.toChatwoot.jobs, 1);
    assert.equal(seen.delayed.toChatwoot.reason, 'Chatwoot responded with 503');
    isOut = false;
    answers = [422];
    await chatwoot.until(() => chatwoot.messages.size === 2, 'the message was given up');
    assert.deepEqual(await eventually(health, ({ status }) => status === 'ok'), {
      status: 'ok',
      waiting: { toChatwoot: 0, toWhatsapp: 0 },
    });
  });

  it('gives up a message that Chatwoot rejects three times, and continues', async (test) => {
    const { chatwoot, incoming, simulate } = await openScene(test);
    const from = newNumber();
    await incoming(from, 'zero');
    let rejections = 0;
    chatwoot.beforeRequest = (method, path) =>
      method === 'POST' && path.endsWith('/messages') && rejections++ < 3 ? 422 : undefined;
    await simulate({ action: 'incoming', from, message: 'one' });
    await simulate({ action: 'incoming', from, message: 'two' });
    await chatwoot.until(() => chatwoot.messages.size === 2, 'blocked');
    assert.deepEqual(
      [...chatwoot.messages.values()].map(({ content }) => content),
      ['zero', 'two'],
    );
  });

  it('moves the chat when a merge of contacts was interrupted', async (test) => {
    const { chatwoot, incoming, simulate } = await openScene(test);
    const number = newNumber();
    const known = await incoming(number, 'Hello', { senderName: 'Ada' });
    await simulate({ action: 'incoming', from: '000123456789', message: 'Hidden' });
    const hidden = await chatwoot.until(
      () => [...chatwoot.messages.values()].find(({ conversationId }) => conversationId !== known.conversationId),
      'no hidden message',
    );
    // The bridge ends between the merge and its own transaction: it never learns that the merge took effect.
    let merges = 0;
    chatwoot.afterEffect = (_, path) => !(path.endsWith('/contact_merge') && merges++ === 0);
    await simulate({ action: 'identify', from: '000123456789', phoneNumber: number });
    await chatwoot.until(() => chatwoot.contacts.size === 1, 'not merged');
    // The chat continues in the same conversation as after a merge without an interruption.
    await eventually(
      () => incoming(number, 'It is me'),
      ({ conversationId }) => conversationId === hidden.conversationId,
    );
    assert.equal(merges, 1);
  });

  it('fails a message immediately when the key forbids its recipient', async (test) => {
    const allowed = newNumber();
    const { chatwoot, incoming, conversation, sent, settings } = await openScene(test, {
      key: { allowedRecipients: [allowed] },
    });
    const forbidden = newNumber();
    await incoming(forbidden, 'Hello');
    await incoming(allowed, 'Hello');
    const answer = await chatwoot.write(conversation(forbidden).id, 'To nobody');
    const note = await chatwoot.until(() => [...chatwoot.messages.values()].find((m) => m.private), 'no note');
    assert.equal(note.content, `⚠️ Not sent to WhatsApp: This API key cannot send to ${forbidden}`);
    await chatwoot.until(() => answer.status === 'failed', 'not failed');
    await chatwoot.write(conversation(allowed).id, 'To the allowed one');
    assert.equal((await sentMessages(sent, 1))[0].message, 'To the allowed one');
    const health = async () => (await fetch(`http://127.0.0.1:${settings.port}/health`)).json();
    await eventually(health, ({ status }) => status === 'ok');
  });

  it('never reacts to a message of another chat', async (test) => {
    const { chatwoot, incoming, conversation, call } = await openScene(test);
    const [one, other] = [newNumber(), newNumber()];
    await incoming(one, 'Hello');
    const foreign = await incoming(other, 'Hello');
    // Programs set any number in `content_attributes`; Chatwoot keeps it.
    const reply = { content_attributes: { in_reply_to: foreign.id } };
    const reaction = await chatwoot.write(conversation(one).id, '👍', reply);
    await chatwoot.until(() => reaction.status === 'failed', 'not failed');
    const { body } = await call('GET', `/messages/${foreign.source_id?.replace('switchboard:', '')}`);
    assert.deepEqual(body.reactions ?? [], []);
  });
});
