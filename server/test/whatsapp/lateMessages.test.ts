import assert from 'node:assert/strict';
import { it } from 'node:test';
import { proto } from 'baileys';
import { eventually } from '../support/eventually.ts';
import type { Phone } from '../support/fakeWhatsapp/index.ts';
import { sealAnswer, sealVote } from '../support/networks/sealVote.ts';
import { eventOf } from '../support/server.ts';
import { eventsOf, linkSession, nextPhone, useWhatsapp } from './support.ts';

/*
 * Messages that arrive after their changes. A client that cannot decrypt a message asks for it again, and the phone
 * answers when it is online; later stanzas do not wait for it (fazer-ai/chatwoot #373, #395: its edit, deletion and
 * reaction were lost).
 */

const setting = useWhatsapp({}, prepare);
const { REVOKE, MESSAGE_EDIT } = proto.Message.ProtocolMessage.Type;
let me: Phone;
let bob: Phone;
let mallory: Phone;
let sessionId: string;

async function prepare() {
  me = nextPhone(setting.whatsapp, 'Me');
  bob = nextPhone(setting.whatsapp, 'Bob');
  mallory = nextPhone(setting.whatsapp, 'Mallory');
  sessionId = await linkSession(setting.call, me);
}

const incoming = (text: string) => eventOf(setting.call, 'message.incoming', ({ message }) => message === text);
const edit = (id: string, text: string): proto.IMessage => ({
  protocolMessage: {
    type: MESSAGE_EDIT,
    key: { id, fromMe: true, remoteJid: me.lidJid },
    editedMessage: { conversation: text },
  },
});
const revoke = (id: string): proto.IMessage => ({
  protocolMessage: { type: REVOKE, key: { id, fromMe: true, remoteJid: me.lidJid } },
});
const reaction = (id: string, text: string): proto.IMessage => ({
  reactionMessage: { key: { id, fromMe: true, remoteJid: me.lidJid }, text },
});

it('are edited, reacted to and deleted as if they had come first', async () => {
  bob.switchOff(); // it answers no request for a message until it is on again
  const edited = await bob.sendText(me.number, 'price 10', { isCorrupt: true });
  const withdrawn = await bob.sendText(me.number, 'withdrawn', { isCorrupt: true });
  await bob.send(me.number, edit(edited, 'price 12'));
  await bob.send(me.number, reaction(edited, '👍'));
  await mallory.send(me.number, revoke(edited));
  await bob.send(me.number, revoke(withdrawn));
  await bob.sendText(me.number, 'sent last');
  await incoming('sent last');
  bob.switchOn();
  const { messageId } = await incoming('price 10');
  await incoming('withdrawn');
  const kinds = ['message.incoming', 'message.edited', 'message.reaction', 'message.deleted'] as const;
  const events = await eventually(
    () => eventsOf(setting.call, sessionId, kinds),
    (all) => all.some(({ event }) => event === 'message.deleted'),
  );
  const ofMessage = events.filter(({ data }) => data.messageId === messageId);
  assert.deepEqual(
    ofMessage.map(({ event }) => event),
    ['message.incoming', 'message.edited', 'message.reaction'],
  );
  const { body: shown } = await setting.call('GET', `/messages/${messageId}`);
  assert.deepEqual([shown.message, shown.deleted, shown.reactions[0].emoji], ['price 12', undefined, '👍']);
  const last = events.at(-1);
  assert.equal(last?.event, 'message.deleted');
  const { body: deleted } = await setting.call('GET', `/messages/${last?.data.messageId}`);
  assert.deepEqual([deleted.message, deleted.deleted], ['', true]);
});

it('are voted in and answered as if they had come first', async () => {
  bob.switchOff();
  const poll = { name: 'Tea?', options: [{ optionName: 'Yes' }, { optionName: 'No' }], selectableOptionsCount: 1 };
  const pollId = await bob.send(me.number, { pollCreationMessageV3: poll }, { isCorrupt: true });
  const event = { name: 'Lunch', startTime: 1_900_000_000 };
  const eventId = await bob.send(me.number, { eventMessage: event }, { isCorrupt: true });
  const key = (id: string) => ({ remoteJid: me.lidJid, fromMe: true, id });
  const people = { author: bob.lidJid, voter: bob.lidJid, person: bob.lidJid };
  const vote = sealVote(['No'], { pollId, secret: bob.secretOf(pollId), ...people });
  await bob.send(me.number, { pollUpdateMessage: { pollCreationMessageKey: key(pollId), vote } });
  const answer = sealAnswer(1, { eventId, secret: bob.secretOf(eventId), ...people });
  await bob.send(me.number, { encEventResponseMessage: { eventCreationMessageKey: key(eventId), ...answer } });
  await bob.sendText(me.number, 'sent after the vote');
  await incoming('sent after the vote');
  bob.switchOn();
  const { messageId } = await incoming('Tea?');
  const voted = await eventOf(setting.call, 'poll.vote', (data) => data.messageId === messageId);
  assert.deepEqual([voted.from, voted.options], [bob.number, ['No']]);
  const lunch = await incoming('Lunch');
  const answered = await eventOf(setting.call, 'event.answer', (data) => data.messageId === lunch.messageId);
  assert.deepEqual([answered.from, answered.answer], [bob.number, 'going']);
});

it("are changed in the server's order, regardless of the phone's clock", async () => {
  const id = await bob.sendText(me.number, 'at ten');
  const { messageId } = await incoming('at ten');
  const react = (text: string, clockMs: number, options: object = {}) =>
    bob.send(
      me.number,
      { reactionMessage: { ...reaction(id, text).reactionMessage, senderTimestampMs: clockMs } },
      options,
    );
  const shown = async () => (await setting.call('GET', `/messages/${messageId}`)).body.reactions?.[0]?.emoji;
  await react('👍', Date.now());
  await react('❤', Date.now() - 600_000); // another device, whose clock is slow
  await eventually(shown, (emoji) => emoji === '❤');
  bob.switchOff();
  await react('😀', Date.now() + 600_000, { isCorrupt: true });
  const secondS = Math.floor(Date.now() / 1000);
  await react('🎉', Date.now(), { sentAtS: secondS + 1 });
  await eventually(shown, (emoji) => emoji === '🎉');
  // The server gives the change that is sent again its own, later time.
  await eventually(
    async () => Date.now(),
    (now) => now >= (secondS + 2) * 1000,
  );
  bob.switchOn();
  await bob.sendText(me.number, 'after the retry');
  await incoming('after the retry');
  assert.equal(await shown(), '🎉');
});

it('the fake server recorded no errors', () => assert.deepEqual(setting.whatsapp.troubles, []));
