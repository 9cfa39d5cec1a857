import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { picture } from '../../server/test/support/media/media.ts';
import { newNumber } from '../../server/test/support/server.ts';
import { openBridge, openScene, sentMessages } from './scene.ts';

describe('contact messages in Chatwoot', () => {
  it('opens a conversation, and takes the answer to the contact with its ticks', async (test) => {
    const { chatwoot, simulate, incoming, conversation, sent, inboxId, call, sessionId } = await openScene(test);
    const from = newNumber();
    const question = await incoming(from, 'Is *this* available?', { senderName: 'Ada' });
    assert.equal(question.content, 'Is **this** available?');
    const [contact] = [...chatwoot.contacts.values()];
    assert.equal(contact?.name, 'Ada');
    assert.equal(contact?.phone_number, `+${from}`);
    assert.equal(conversation(from).inbox_id, inboxId);

    const answer = await chatwoot.write(conversation(from).id, 'Yes, **today**', {
      content_attributes: { in_reply_to: question.id },
    });
    const [arrived] = await sentMessages(sent, 1);
    assert.equal(arrived.message, 'Yes, *today*');
    assert.equal(arrived.chatId, from);
    assert.equal(`switchboard:${arrived.replyTo}`, question.source_id);
    await simulate({ action: 'receipt', messageId: arrived.messageId, status: 'delivered' });
    await chatwoot.until(() => answer.status === 'delivered', 'not delivered');
    await simulate({ action: 'receipt', messageId: arrived.messageId, status: 'read' });
    await chatwoot.until(() => answer.status === 'read', 'not read');
    assert.equal(chatwoot.messages.size, 2, 'an echo came back');
    const { body } = await call('GET', `/chats/${from}?sessionId=${sessionId}`);
    const address = `${chatwoot.url}/app/accounts/1/conversations/${conversation(from).id}`;
    assert.deepEqual(body.metadata, { chatwoot: address });
    assert.ok(chatwoot.webhooks.every(({ status, ms }) => status === 200 && ms < 5000));
  });

  it('copies files, locations, cards and polls', async (test) => {
    const { upload, incoming } = await openScene(test);
    const from = newNumber();
    const bytes = Uint8Array.from(picture());
    const uploaded = await upload(bytes);
    const image = await incoming(from, 'Look', { type: 'image', mediaId: uploaded });
    assert.equal(image.content, 'Look');
    assert.equal(image.attachments[0]?.file_type, 'image');
    assert.deepEqual(Buffer.from(image.attachments[0]?.bytes ?? []), Buffer.from(bytes));
    const place = await incoming(from, undefined, { location: { latitude: 52.5, longitude: 13.25, name: 'Office' } });
    assert.equal(place.content, '📍 Office\nhttps://www.google.com/maps?q=52.5,13.25');
    const card = await incoming(from, undefined, { contact: { name: 'Grace', phoneNumbers: ['491701234567'] } });
    assert.equal(card.content, '👤 Grace: +491701234567');
    assert.match(
      Buffer.from(card.attachments[0]?.bytes ?? []).toString(),
      /FN:Grace\r\n[\s\S]*TEL;TYPE=CELL:\+491701234567/,
    );
    const poll = await incoming(from, 'Lunch?', { poll: { options: ['Yes', 'No'] } });
    assert.equal(poll.content, '📊 **Lunch?**\n- Yes\n- No');
  });

  it('replaces a file that Chatwoot does not accept by a note', async (test) => {
    const { upload, incoming } = await openScene(test, { env: { CHATWOOT_MAX_FILE_BYTES: '10' } });
    const mediaId = await upload(Uint8Array.from(picture()));
    const image = await incoming(newNumber(), 'Look', { type: 'image', mediaId });
    assert.equal(image.attachments.length, 0);
    assert.match(image.content, /^Look\n\n⚠️ _A file is too large for Chatwoot/);
  });

  it('shows replies, reactions, edits and deletions', async (test) => {
    const { chatwoot, incoming, simulate } = await openScene(test);
    const from = newNumber();
    const first = await incoming(from, 'First');
    const messageId = first.source_id?.replace('switchboard:', '');
    const reply = await incoming(from, 'Second', { messageId });
    assert.equal(reply.content_attributes['in_reply_to'], first.id);
    const next = async (action: object) => {
      const before = chatwoot.messages.size;
      await simulate({ from, messageId, ...action });
      return chatwoot.until(() => [...chatwoot.messages.values()][before], 'no message');
    };
    const reaction = await next({ action: 'react', emoji: '👍' });
    assert.equal(reaction.content, '👍');
    assert.equal(reaction.content_attributes['in_reply_to'], first.id);
    const edit = await next({ action: 'edit', message: 'First, *corrected*' });
    assert.equal(edit.content, '✏️ First, **corrected**');
    await simulate({ action: 'delete', from, messageId });
    await chatwoot.until(() => first.content_attributes['deleted'] === true, 'not deleted');
    assert.equal(first.content, 'This message was deleted');
  });

  it('keeps a deleted message with a note by the setting', async (test) => {
    const { chatwoot, incoming, simulate } = await openScene(test, { env: { CHATWOOT_DELETIONS: 'note' } });
    const from = newNumber();
    const first = await incoming(from, 'First');
    await simulate({ action: 'delete', from, messageId: first.source_id?.replace('switchboard:', '') });
    await chatwoot.until(() => [...chatwoot.messages.values()].some(({ content }) => content.includes('🗑️')), 'no note');
    assert.equal(first.content, 'First');
  });

  it('shows messages written on the phone or sent by other programs, once', async (test) => {
    const { chatwoot, incoming, simulate, call, sessionId } = await openScene(test);
    const from = newNumber();
    await incoming(from, 'Hello');
    await simulate({ action: 'own_message', from, message: 'From the phone' });
    const own = await chatwoot.until(
      () => [...chatwoot.messages.values()].find(({ content }) => content === 'From the phone'),
      'no phone message',
    );
    assert.equal(own.message_type, 'outgoing');
    await call('POST', '/messages/send', { sessionId, to: from, message: 'From a program' });
    await chatwoot.until(
      () => [...chatwoot.messages.values()].find(({ content }) => content === 'From a program'),
      'no message of the program',
    );
    assert.equal(chatwoot.messages.size, 3);
    const { body } = await call('GET', `/messages?sessionId=${sessionId}&direction=outgoing`);
    assert.equal(body.data.length, 2, 'a message was sent again');
  });

  it('brings groups into the inbox by the setting', async (test) => {
    const { chatwoot, simulate, call, sent } = await openScene(test, { env: { CHATWOOT_GROUPS: 'on' } });
    const [from, other] = [newNumber(), newNumber()];
    await simulate({ action: 'group_create', from, subject: 'Team', phoneNumbers: [other] });
    const groupId = await firstGroup(call);
    await simulate({ action: 'incoming', from, groupId, message: 'Hi all', senderName: 'Ada' });
    const message = await chatwoot.until(() => [...chatwoot.messages.values()][0], 'no group message');
    assert.equal(message.content, `**Ada** (+${from}):\nHi all`);
    const [contact] = [...chatwoot.contacts.values()];
    assert.equal(contact?.name, 'Team 👥');
    assert.equal(contact?.phone_number, null);
    await chatwoot.write(message.conversationId, 'Hi Ada');
    const [answer] = await sentMessages(sent, 1);
    assert.equal(answer.chatId, groupId);
  });

  it('leaves groups out by default', async (test) => {
    const { chatwoot, simulate, call, incoming } = await openScene(test);
    const from = newNumber();
    await simulate({ action: 'group_create', from, subject: 'Team', phoneNumbers: [newNumber()] });
    await simulate({ action: 'incoming', from, groupId: await firstGroup(call), message: 'Hi all' });
    await incoming(from, 'Just you');
    assert.equal(chatwoot.messages.size, 1);
  });
});

describe('messages of agents on WhatsApp', () => {
  it('sends files, cards, locations, reactions and templates', async (test) => {
    const { chatwoot, incoming, conversation, sent, call } = await openScene(test, {
      frontendUrl: 'https://chat.example.com',
    });
    const from = newNumber();
    const question = await incoming(from, 'Hello');
    const { id } = conversation(from);
    await chatwoot.write(id, 'The **file**', {
      attachments: [
        chatwoot.attachment('a.png', 'image/png', picture()),
        chatwoot.attachment('b.txt', 'text/plain', Buffer.from('text')),
      ],
    });
    const card = Buffer.from('BEGIN:VCARD\nFN:Grace\nTEL:+491701234567\nEND:VCARD');
    await chatwoot.write(id, '', { attachments: [chatwoot.attachment('grace.vcf', 'text/vcard', card)] });
    await chatwoot.write(id, 'https://www.google.com/maps?q=52.5,13.25');
    await chatwoot.write(id, '👍', { content_attributes: { in_reply_to: question.id } });
    await chatwoot.write(id, '/template order_sent en_US\nAda\n42');
    const [image, file, contact, location, template] = await sentMessages(sent, 5);
    assert.equal(image.type, 'image');
    assert.equal(image.message, 'The *file*');
    assert.equal(file.type, 'document');
    assert.equal(file.media.fileName, 'b.txt');
    assert.deepEqual(contact.contact, { name: 'Grace', phoneNumbers: ['491701234567'] });
    assert.equal(location.location.latitude, 52.5);
    assert.equal(template.template.name, 'order_sent');
    assert.deepEqual(template.template.components, [
      {
        type: 'body',
        parameters: [
          { type: 'text', text: 'Ada' },
          { type: 'text', text: '42' },
        ],
      },
    ]);
    const messageId = question.source_id?.replace('switchboard:', '');
    const { body } = await call('GET', `/messages/${messageId}`);
    assert.equal(body.reactions?.[0]?.emoji, '👍');
    assert.equal((await sent()).length, 5);
  });

  it('deletes and edits on WhatsApp without an echo', async (test) => {
    const { chatwoot, incoming, conversation, sent, call } = await openScene(test);
    const from = newNumber();
    await incoming(from, 'Hello');
    const answer = await chatwoot.write(conversation(from).id, 'Anser');
    const [message] = await sentMessages(sent, 1);
    await chatwoot.until(() => chatwoot.webhooks.some(({ event }) => event === 'message_created'), 'no webhook');
    chatwoot.edit(answer, 'Answer');
    await until(async () => (await call('GET', `/messages/${message.messageId}`)).body.message === 'Answer');
    chatwoot.remove(answer);
    await until(async () => (await call('GET', `/messages/${message.messageId}`)).body.deleted === true);
    // The events about both have passed once a later message is there.
    await incoming(from, 'Thanks');
    assert.equal(chatwoot.messages.size, 3);
  });

  it('never sends private notes', async (test) => {
    const { chatwoot, incoming, conversation, sent } = await openScene(test);
    const from = newNumber();
    await incoming(from, 'Hello');
    await chatwoot.write(conversation(from).id, 'Secret', { private: true });
    await chatwoot.write(conversation(from).id, 'Public');
    const all = await sentMessages(sent, 1);
    assert.equal(all[0].message, 'Public');
  });

  it('reports a failure in a private note, and sends again when the agent retries', async (test) => {
    const { chatwoot, incoming, conversation, sent } = await openScene(test);
    const from = newNumber();
    await incoming(from, 'Hello');
    const attachments = [chatwoot.attachment('a.png', 'image/png', picture())];
    const answer = await chatwoot.write(conversation(from).id, 'Answer', { attachments });
    answer.attachments = []; // the storage of Chatwoot has lost the file
    await chatwoot.until(() => answer.status === 'failed', 'not failed');
    const note = await chatwoot.until(() => [...chatwoot.messages.values()].find((m) => m.private), 'no note');
    assert.equal(note.content, '⚠️ Not sent to WhatsApp: the file is no longer in Chatwoot');
    assert.equal(note.content_attributes['in_reply_to'], answer.id);
    const isReported = ({ payload }: { payload: Readonly<Record<string, unknown>> }) =>
      'external_error' in ((payload['content_attributes'] ?? {}) as object);
    await chatwoot.until(() => chatwoot.webhooks.some(isReported), 'Chatwoot has not reported the failure back');
    assert.equal((await sent()).length, 0);
    answer.attachments = attachments;
    chatwoot.retry(answer);
    const [message] = await sentMessages(sent, 1);
    assert.equal(message.message, 'Answer');
    await chatwoot.until(() => answer.status === 'delivered', 'not delivered');
  });

  it('fails at a number that is not on the network, each time that the agent tries', async (test) => {
    const { chatwoot, inboxId, sent } = await openScene(test);
    const { id } = chatwoot.open(inboxId, { name: 'Nobody', phone_number: '+15550000001' });
    const message = await chatwoot.write(id, 'Hello');
    const notes = () => [...chatwoot.messages.values()].filter((m) => m.private).length;
    const reports = () =>
      chatwoot.webhooks.filter(({ payload }) => 'external_error' in ((payload['content_attributes'] ?? {}) as object))
        .length;
    for (const count of [1, 2, 3]) {
      await chatwoot.until(() => message.status === 'failed' && notes() === count && reports() === count, `${count}`);
      chatwoot.retry(message);
    }
    assert.ok((await sent()).every(({ status }) => status === 'failed'));
  });

  it('writes to the number of a contact when an agent opens the conversation', async (test) => {
    const { chatwoot, inboxId, sent, simulate, call, sessionId } = await openScene(test);
    const to = newNumber();
    const { id } = chatwoot.open(inboxId, { name: 'Ada', phone_number: `+${to}` });
    await chatwoot.write(id, 'Hello Ada');
    const [message] = await sentMessages(sent, 1);
    assert.equal(message.chatId, to);
    const chat = async () => (await call('GET', `/chats/${to}?sessionId=${sessionId}`)).body;
    await until(async () => (await chat()).metadata.chatwoot?.endsWith(`/conversations/${id}`));
    // The answer comes into the same conversation.
    await simulate({ action: 'incoming', from: to, message: 'Hello' });
    const answer = await chatwoot.until(
      () => [...chatwoot.messages.values()].find((m) => m.content === 'Hello'),
      'no answer',
    );
    assert.equal(answer.conversationId, id);
    assert.equal(chatwoot.contacts.size, 1);
  });

  it('explains that a contact without a number cannot be reached', async (test) => {
    const { chatwoot, inboxId, sent } = await openScene(test);
    const message = await chatwoot.write(chatwoot.open(inboxId, { name: 'Ada' }).id, 'Hello');
    await chatwoot.until(() => message.status === 'failed', 'not failed');
    assert.equal(message.content_attributes['external_error'], 'the contact has no phone number');
    assert.equal((await sent()).length, 0);
  });

  it('adds agent names by the setting, and marks the chat as read', async (test) => {
    const { chatwoot, incoming, conversation, sent, call, sessionId } = await openScene(test, {
      env: { CHATWOOT_AGENT_NAMES: 'on' },
    });
    const from = newNumber();
    await incoming(from, 'Hello');
    await chatwoot.write(conversation(from).id, 'Hi');
    const [message] = await sentMessages(sent, 1);
    assert.equal(message.message, '*Alice Agent:*\nHi');
    await until(async () => (await call('GET', `/chats/${from}?sessionId=${sessionId}`)).body.unreadCount === 0);
  });
});

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

type Call = Awaited<ReturnType<typeof openScene>>['call'];

async function firstGroup(call: Call): Promise<string> {
  const { body } = await call('GET', '/groups');
  return body.data[0].groupId;
}

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

async function until(fits: () => Promise<boolean>): Promise<void> {
  while (!(await fits())) await new Promise((resolve) => setTimeout(resolve, 20));
}
