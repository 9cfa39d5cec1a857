import assert from 'node:assert/strict';
import { it } from 'node:test';
import type { proto } from 'baileys';
import type { Phone } from '../support/fakeWhatsapp/index.ts';
import { bearer, eventOf } from '../support/server.ts';
import { linkSession, nextPhone, useWhatsapp } from './support.ts';

const setting = useWhatsapp({}, prepare);
let me: Phone;
let bob: Phone;
let sessionId: string;

async function prepare() {
  me = nextPhone(setting.whatsapp, 'Me');
  bob = nextPhone(setting.whatsapp, 'Bob');
  sessionId = await linkSession(setting.call, me);
}

/** Bob replies. @returns the event of the reply */
async function reply(text: string, contextInfo: proto.IContextInfo) {
  await bob.send(me.number, { extendedTextMessage: { text, contextInfo } });
  return eventOf(setting.call, 'message.incoming', ({ message }) => message === text);
}

it('a reply describes a quoted message that is older than the link', async () => {
  const { call, token, server } = setting;
  const quotedMessage = { imageMessage: { caption: `${'x'.repeat(2047)}😀 and more` } };
  const event = await reply('yes, that one', { stanzaId: 'OLD', participant: bob.lidJid, quotedMessage });
  const quoted = { networkId: 'OLD', from: bob.number, type: 'image', text: 'x'.repeat(2047) };
  assert.deepEqual([event.quoted, event.replyTo], [quoted, undefined]);
  assert.deepEqual((await call('GET', `/messages/${event.messageId}`)).body.quoted, quoted);
  const key = { name: 'metadata', permissions: ['messages:metadata'] };
  const { body } = await bearer(server.url, token)('POST', '/api-keys/create', key);
  const { body: hidden } = await bearer(server.url, body.key)('GET', `/messages/${event.messageId}`);
  assert.deepEqual([hidden.contentHidden, hidden.quoted], [true, undefined]);
  const forwarded = await call('POST', `/messages/${event.messageId}/forward`, { to: bob.number });
  assert.deepEqual([forwarded.status, forwarded.body.quoted], [201, undefined]);
});

it('marks a reply to a status that the session posted', async () => {
  const event = await reply('nice', {
    stanzaId: 'STATUS',
    participant: me.lidJid,
    remoteJid: 'status@broadcast',
    quotedMessage: { conversation: 'open from 9' },
  });
  assert.deepEqual(event.quoted, {
    networkId: 'STATUS',
    from: me.number,
    type: 'text',
    text: 'open from 9',
    isStatus: true,
  });
});

it('identifies our message and our status in a reply by their ids on the network and here', async () => {
  const { call } = setting;
  const sent = await call('POST', '/messages/send', { sessionId, to: bob.number, message: 'our question' });
  const { body: original } = await call('GET', `/messages/${sent.body.messageId}`);
  const answer = await reply('to our question', { stanzaId: original.networkId, participant: me.lidJid });
  const { messageId, networkId } = original;
  assert.deepEqual([answer.replyTo, answer.quoted], [messageId, { messageId, networkId, from: me.number }]);
  const audience = { sessionId, message: 'open all night', phoneNumbers: [bob.number] };
  const { body: status } = await call('POST', '/status', audience);
  const seen = await bob.messages.waitFor(({ message }) => message.extendedTextMessage?.text === 'open all night');
  const context = { stanzaId: seen.id, participant: me.lidJid, remoteJid: 'status@broadcast' };
  const { quoted } = await reply('how nice', context);
  const about = { statusId: status.statusId, networkId: seen.id, from: me.number, isStatus: true };
  assert.deepEqual(quoted, about);
});

it('a reply to a stored message has its id, even without the content', async () => {
  await bob.sendText(me.number, 'a question');
  const { messageId } = await eventOf(setting.call, 'message.incoming', ({ message }) => message === 'a question');
  const { body } = await setting.call('GET', `/messages/${messageId}`);
  const event = await reply('its answer', { stanzaId: body.networkId, participant: bob.lidJid });
  assert.equal(event.replyTo, messageId);
  assert.deepEqual(event.quoted, { messageId, networkId: body.networkId, from: bob.number });
});

it('the fake server recorded no errors', () => assert.deepEqual(setting.whatsapp.troubles, []));
