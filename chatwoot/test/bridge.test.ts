import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { picture } from '../../server/test/support/media/media.ts';
import { newNumber } from '../../server/test/support/server.ts';
import { openScene, sentMessages } from './scene.ts';

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
    const link = await incoming(from, 'See [our site](https://example.com)');
    assert.equal(link.content, 'See [our site]\u2060(https://example.com)');
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
    await chatwoot.write(id, '/template order\\_sent en_US\nAda \\*1\\*, a\\_b\n42');
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
          { type: 'text', text: 'Ada *1*, a_b' },
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

  it('explains a refused edit in a private note, and leaves the message as it is', async (test) => {
    const { chatwoot, incoming, conversation, sent } = await openScene(test);
    const from = newNumber();
    await incoming(from, 'Hello');
    const answer = await chatwoot.write(conversation(from).id, 'https://www.google.com/maps?q=52.5,13.4');
    await sentMessages(sent, 1);
    await chatwoot.until(() => answer.status === 'delivered', 'not delivered');
    chatwoot.edit(answer, 'Here');
    const note = await chatwoot.until(() => [...chatwoot.messages.values()].find((m) => m.private), 'no note');
    assert.match(String(note.content), /^⚠️ Not changed on WhatsApp: /);
    assert.equal(answer.status, 'delivered');
  });

  it('never sends a mistyped command for templates', async (test) => {
    const { chatwoot, incoming, conversation, sent } = await openScene(test);
    const from = newNumber();
    await incoming(from, 'Hello');
    const answer = await chatwoot.write(conversation(from).id, '/template order_sent');
    await chatwoot.until(() => answer.status === 'failed', 'not failed');
    const note = await chatwoot.until(() => [...chatwoot.messages.values()].find((m) => m.private), 'no note');
    assert.match(String(note.content), /^⚠️ Not sent to WhatsApp: write `\/template NAME LANGUAGE`/);
    assert.equal((await sent()).length, 0);
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
      if (count > 1) chatwoot.retry(message);
      await chatwoot.until(() => message.status === 'failed' && notes() === count && reports() === count, `${count}`);
    }
    assert.equal((await sent()).length, 3);
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

type Call = Awaited<ReturnType<typeof openScene>>['call'];

async function firstGroup(call: Call): Promise<string> {
  const { body } = await call('GET', '/groups');
  return body.data[0].groupId;
}

async function until(fits: () => Promise<boolean>): Promise<void> {
  while (!(await fits())) await new Promise((resolve) => setTimeout(resolve, 20));
}
