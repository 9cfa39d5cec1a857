import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { followPresence } from '../src/toChatwoot/conversations.ts';
import { handleToChatwoot } from '../src/toChatwoot/handler.ts';
import { MessageMirror } from '../src/toChatwoot/messages.ts';
import { type Answer, openParts } from './handmadeParts.ts';

const nothing = (): Answer => ({});

describe('the chats of the bridge', () => {
  it('opens one conversation when two jobs open a chat at the same time', async (test) => {
    const { chatwoot, attempt } = await openParts(test, nothing, { CHATWOOT_TYPING: 'off' });
    const open = () => new MessageMirror(attempt).openChat({ chatId: '491701234567' }, 'Ada');
    const chats = await Promise.all([open(), open(), open()]);
    assert.equal(chatwoot.conversations.size, 1);
    assert.equal(new Set(chats.map(({ conversationId }) => conversationId)).size, 1);
  });

  it('makes room for another followed contact when the oldest one was erased', async (test) => {
    const { parts } = await openParts(test, (request, { followed }) =>
      followed === false && request.includes('/10000/') ? { status: 404, code: 'not_found' } : {},
    );
    const sessionId = 'ses_1';
    for (let index = 0; index < 41; index++) {
      const chatId = String(10_000 + index);
      await parts.state.saveChat({
        sessionId,
        chatId,
        contactId: 1,
        sourceId: chatId,
        conversationId: 1,
        name: undefined,
      });
      if (index < 40) await parts.state.setFollowed(sessionId, chatId, index + 1);
    }
    await followPresence(parts, { sessionId, chatId: '10040' });
    const followed = await parts.state.followedChats(sessionId);
    assert.equal(followed.length, 40);
    assert.ok(followed.includes('10040') && !followed.includes('10000'));
  });

  it('waits for a group name while a key is being replaced', async (test) => {
    const answers: Answer[] = [
      { status: 401, code: 'unauthorized' },
      { status: 403, code: 'permission_denied' },
      { status: 429, code: 'rate_limited' },
    ];
    const { parts, chatwoot, attempt } = await openParts(test, () => answers.shift() ?? { name: 'Team' });
    const open = () => new MessageMirror(attempt).openChat({ chatId: 'grp_1', groupId: 'grp_1' }, 'Ada');
    for (const status of [401, 403, 429]) await assert.rejects(open, { status });
    await open();
    assert.deepEqual(
      [...chatwoot.contacts.values()].map(({ name }) => name),
      ['Team 👥'],
    );
    assert.equal((await parts.state.chat('ses_1', 'grp_1'))?.name, 'Team 👥');
  });

  it('waits for a file on the network while the session is not connected', async (test) => {
    let answer: Answer = { status: 409, code: 'session_not_connected' };
    const { parts, chatwoot, attempt } = await openParts(test, (request) =>
      request.includes('/messages/') ? answer : {},
    );
    const event = {
      event: 'message.incoming',
      data: {
        messageId: 'msg_1',
        from: '491701234567',
        chatId: '491701234567',
        message: 'Look',
        timestamp: new Date().toISOString(),
        type: 'image',
        remoteMedia: { mimeType: 'image/png', size: 1 },
      },
    };
    const job = { ...attempt.job, payload: { kind: 'event', sessionId: 'ses_1', eventId: 'evt_1', event } };
    const waiting = await handleToChatwoot(parts, job);
    assert.equal(waiting.kind === 'retry' && waiting.cause, 'outage', JSON.stringify(waiting));
    assert.equal(chatwoot.messages.size, 0);
    answer = { status: 404, code: 'not_found' };
    assert.equal((await handleToChatwoot(parts, job)).kind, 'done');
    assert.match([...chatwoot.messages.values()][0]?.content ?? '', /^Look\n\n⚠️ _A file cannot be fetched/);
  });

  it('cleans texts and contact names that Chatwoot cannot store as they are', async (test) => {
    const { chatwoot, attempt } = await openParts(test, nothing);
    const outcome = await new MessageMirror(attempt).mirror(
      {
        messageId: 'msg_1',
        from: '491701234567',
        chatId: '491701234567',
        message: 'a\0b \ud83d',
        senderName: `A\0${'a'.repeat(253)}👋`,
        timestamp: new Date().toISOString(),
      },
      'incoming',
    );
    assert.equal(outcome.kind, 'done');
    assert.equal([...chatwoot.messages.values()][0]?.content, 'ab \ufffd');
    assert.equal([...chatwoot.contacts.values()][0]?.name, `A${'a'.repeat(253)}`);
  });

  it('removes line breaks from the numbers of contact cards', async (test) => {
    const { chatwoot, attempt } = await openParts(test, nothing);
    const contact = { name: 'Ada', phoneNumbers: ['4917\r\nURL:https://evil.example'] };
    const data = { messageId: 'msg_1', from: '491701234567', chatId: '491701234567', message: '' };
    await new MessageMirror(attempt).mirror({ ...data, contact, timestamp: new Date().toISOString() }, 'incoming');
    const [message] = [...chatwoot.messages.values()];
    assert.doesNotMatch(Buffer.from(message?.attachments[0]?.bytes ?? []).toString(), /^URL:/m);
  });
});
