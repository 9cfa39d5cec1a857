import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { picture } from '../../server/test/support/media/media.ts';
import { newNumber } from '../../server/test/support/server.ts';
import { openBridge, openScene, sentMessages } from './scene.ts';

describe('conversations and contacts', () => {
  it('reopens a resolved conversation', async (test) => {
    const { chatwoot, incoming, conversation } = await openScene(test);
    const from = newNumber();
    await incoming(from, 'Hello');
    const { id } = conversation(from);
    chatwoot.resolve(id);
    const second = await incoming(from, 'Again');
    assert.equal(second.conversationId, id);
    assert.equal(conversation(from).status, 'open');
  });

  it('opens a new conversation after a resolved one by the setting', async (test) => {
    const { chatwoot, incoming, conversation } = await openScene(test, { env: { CHATWOOT_CONVERSATIONS: 'new' } });
    const from = newNumber();
    const first = await incoming(from, 'Hello');
    const second = await incoming(from, 'Hello again');
    assert.equal(second.conversationId, first.conversationId);
    chatwoot.resolve(conversation(from).id);
    const third = await incoming(from, 'Another question');
    assert.notEqual(third.conversationId, first.conversationId);
    assert.equal(chatwoot.contacts.size, 1);
  });

  it('opens another conversation when one was deleted', async (test) => {
    const { chatwoot, incoming, conversation } = await openScene(test);
    const from = newNumber();
    await incoming(from, 'Hello');
    chatwoot.conversations.delete(conversation(from).id);
    const second = await incoming(from, 'Hello again');
    assert.equal(second.conversationId, conversation(from).id);
  });

  it('finds an existing contact by either form of a Brazilian number', async (test) => {
    const { chatwoot, incoming } = await openScene(test);
    const existing = chatwoot.addContact({ name: 'Ana', phone_number: '+5511987654321' });
    await incoming('551187654321', 'Oi');
    assert.equal(chatwoot.contacts.size, 1);
    assert.equal(existing.name, 'Ana', 'an agent has chosen the name');
  });

  it('uses the contact when "Phone number has already been taken"', async (test) => {
    const { chatwoot, incoming } = await openScene(test);
    const from = newNumber();
    // Another program creates the contact between the search and the creation.
    chatwoot.beforeRequest = (method, path) => {
      if (method === 'POST' && path.endsWith('/contacts') && chatwoot.contacts.size === 0)
        chatwoot.addContact({ name: 'Ada', phone_number: `+${from}` });
      return undefined;
    };
    await incoming(from, 'Hello');
    assert.equal(chatwoot.contacts.size, 1);
  });

  it('merges a hidden contact into the known one when the number appears', async (test) => {
    const { chatwoot, incoming, simulate } = await openScene(test);
    const number = newNumber();
    const known = await incoming(number, 'Hello', { senderName: 'Ada' });
    const hidden = await hiddenPerson(simulate, chatwoot, known.conversationId);
    await simulate({ action: 'identify', from: hidden.from, phoneNumber: number });
    await chatwoot.until(() => chatwoot.contacts.size === 1, 'the contacts were not merged');
    const next = await incoming(number, 'It is me');
    assert.equal(chatwoot.contacts.size, 1);
    assert.ok([known.conversationId, hidden.conversationId].includes(next.conversationId));
  });

  it('renames a contact unless an agent has', async (test) => {
    const { chatwoot, incoming, simulate } = await openScene(test);
    const [one, other] = [newNumber(), newNumber()];
    await incoming(one, 'Hello', { senderName: 'Ada' });
    await incoming(other, 'Hello', { senderName: 'Grace' });
    const [ada, grace] = [...chatwoot.contacts.values()];
    if (ada === undefined || grace === undefined) throw new Error('two contacts are expected');
    grace.name = 'Admiral Hopper';
    await simulate({ action: 'rename', from: other, senderName: 'Grace H.' });
    await simulate({ action: 'rename', from: one, senderName: 'Ada L.' });
    await chatwoot.until(() => ada.name === 'Ada L.', 'not renamed');
    await incoming(other, 'Bye');
    assert.equal(grace.name, 'Admiral Hopper');
  });

  it('continues when a contact was deleted in Chatwoot', async (test) => {
    const { chatwoot, incoming, simulate } = await openScene(test);
    const from = newNumber();
    const first = await incoming(from, 'Hello', { senderName: 'Ada' });
    chatwoot.deleteContact(chatwoot.conversations.get(first.conversationId)?.contactId ?? 0);
    await simulate({ action: 'rename', from, senderName: 'Ada L.' });
    await simulate({ action: 'incoming', from, message: 'Still there?' });
    await chatwoot.until(() => [...chatwoot.messages.values()].some((m) => m.content === 'Still there?'), 'no message');
    assert.equal(chatwoot.contacts.size, 1);
    assert.equal(chatwoot.conversations.size, 1);
  });

  it('shows typing both ways', async (test) => {
    const { chatwoot, incoming, conversation, simulate } = await openScene(test);
    const from = newNumber();
    await incoming(from, 'Hello');
    await simulate({ action: 'presence', from, presence: 'typing' });
    const [shown] = await chatwoot.until(() => chatwoot.typing.length > 0 && chatwoot.typing, 'no typing');
    assert.deepEqual(shown, { conversationId: conversation(from).id, status: 'on' });
    chatwoot.type(conversation(from).id, true);
    await chatwoot.until(() => chatwoot.webhooks.some(({ event }) => event === 'conversation_typing_on'), 'no webhook');
    assert.ok(chatwoot.webhooks.every(({ status }) => status === 200));
  });
});

describe('outages', () => {
  it('keeps the order of a conversation while Chatwoot is down', async (test) => {
    const { chatwoot, incoming, simulate } = await openScene(test);
    const from = newNumber();
    await incoming(from, 'zero');
    let failures = 6;
    chatwoot.beforeRequest = (method) => (method === 'POST' && failures-- > 0 ? 502 : undefined);
    for (const message of ['one', 'two', 'three']) await simulate({ action: 'incoming', from, message });
    await chatwoot.until(() => chatwoot.messages.size === 4, 'messages are missing');
    assert.deepEqual(
      [...chatwoot.messages.values()].map(({ content }) => content),
      ['zero', 'one', 'two', 'three'],
    );
  });

  it('goes on after a message and a file that were deleted in Switchboard while Chatwoot was down', async (test) => {
    const { chatwoot, incoming, simulate, call, sessionId, upload } = await openScene(test);
    const from = newNumber();
    await incoming(from, 'zero');
    chatwoot.beforeRequest = (method) => (method === 'POST' ? 502 : undefined);
    await simulate({ action: 'incoming', from, message: 'one' });
    const mediaId = await upload(Uint8Array.from(picture()));
    await simulate({ action: 'incoming', from, message: 'Look', type: 'image', mediaId });
    const { body } = await call('POST', '/messages/send', { sessionId, to: from, message: 'From a program' });
    await simulate({ action: 'incoming', from, message: 'two' });
    const received = (await call('GET', `/messages?sessionId=${sessionId}&chatId=${from}`)).body.data;
    const image = received.find(({ type }: { type: string }) => type === 'image');
    assert.equal((await call('DELETE', `/media/${image.media.mediaId}`)).status, 200);
    assert.equal((await call('DELETE', `/messages/${body.messageId}?for=me`)).status, 200);
    chatwoot.beforeRequest = () => undefined;
    await chatwoot.until(() => [...chatwoot.messages.values()].some(({ content }) => content === 'two'), 'blocked');
    const contents = [...chatwoot.messages.values()].map(({ content }) => content);
    assert.match(contents[2] ?? '', /^Look\n\n⚠️ _A file is no longer in Switchboard/);
    assert.equal(contents.at(-1), 'two');
  });

  it('shows a message without a file that a proxy in front of Chatwoot refuses', async (test) => {
    const { chatwoot, incoming, upload } = await openScene(test);
    const mediaId = await upload(Uint8Array.from(picture()));
    const from = newNumber();
    await incoming(from, 'zero');
    let refusals = 1;
    chatwoot.beforeRequest = (_, path) => (path.endsWith('/messages') && refusals-- > 0 ? 413 : undefined);
    const image = await incoming(from, 'Look', { type: 'image', mediaId });
    assert.match(image.content, /^Look\n\n⚠️ _A file is too large for Chatwoot/);
  });

  it('creates a message once when its answer is lost', async (test) => {
    const { chatwoot, incoming, simulate } = await openScene(test);
    const from = newNumber();
    await incoming(from, 'zero');
    let lost = 2;
    chatwoot.afterEffect = (method, path) => !(method === 'POST' && path.endsWith('/messages') && lost-- > 0);
    for (const message of ['one', 'two', 'three']) await simulate({ action: 'incoming', from, message });
    await chatwoot.until(
      () => [...chatwoot.messages.values()].some(({ content }) => content === 'three'),
      'incomplete',
    );
    assert.deepEqual(
      [...chatwoot.messages.values()].map(({ content }) => content),
      ['zero', 'one', 'two', 'three'],
    );
  });

  it('sends a message that Chatwoot could not deliver once the agent retries', async (test) => {
    const scene = await openScene(test);
    const { chatwoot, incoming, conversation, sent } = scene;
    const from = newNumber();
    await incoming(from, 'Hello');
    await scene.bridge.stop();
    const answer = await chatwoot.write(conversation(from).id, 'Answer');
    await chatwoot.until(() => answer.status === 'failed', 'not failed');
    scene.bridge = await openBridge(scene.settings);
    await scene.bridge.start();
    chatwoot.retry(answer);
    await sentMessages(sent, 1);
  });

  it('refuses webhooks while the queue is full', async (test) => {
    const { chatwoot, incoming, conversation, sent, simulate } = await openScene(test, {
      env: { CHATWOOT_MAX_QUEUE: '1' },
    });
    const from = newNumber();
    await incoming(from, 'Hello');
    const { id } = conversation(from);
    chatwoot.beforeRequest = (method) => (method === 'POST' ? 503 : undefined);
    // The first one waits, and Switchboard keeps the second one.
    await simulate({ action: 'incoming', from, message: 'one' });
    await simulate({ action: 'incoming', from, message: 'two' });
    await chatwoot.until(() => chatwoot.requests.filter((line) => line.startsWith('POST')).length > 5, 'no attempts');
    chatwoot.beforeRequest = () => undefined;
    await chatwoot.until(() => chatwoot.messages.size === 3, 'a message was lost');
    await chatwoot.write(id, 'Answer');
    await sentMessages(sent, 1);
  });
});

async function hiddenPerson(
  simulate: (action: object) => Promise<void>,
  chatwoot: Awaited<ReturnType<typeof openScene>>['chatwoot'],
  knownConversation: number,
) {
  await simulate({ action: 'incoming', from: '000123456789', message: 'Hidden' });
  const message = await chatwoot.until(
    () => [...chatwoot.messages.values()].find(({ conversationId }) => conversationId !== knownConversation),
    'no hidden message',
  );
  return { from: '000123456789', conversationId: message.conversationId };
}
