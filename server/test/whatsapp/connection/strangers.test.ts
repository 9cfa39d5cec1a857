import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { proto } from 'baileys';
import { eventually } from '../../support/eventually.ts';
import type { Phone, ReceivedMessage } from '../../support/fakeWhatsapp/index.ts';
import { stanza } from '../../support/fakeWhatsapp/stanza.ts';
import { sealVote } from '../../support/networks/sealVote.ts';
import { wireIdOf } from '../../support/networks/wireId.ts';
import { type Answer, eventOf } from '../../support/server.ts';
import { eventsOf, linkSession, nextPhone, useWhatsapp } from '../support.ts';

/*
 * People outside a chat, who know a message id from it. Ids are not secret: quotes, reactions and deletions contain
 * them. No public source shows that the server checks the ids in receipts, and it cannot read those in deletions. So
 * clients look for a message by chat and id (whatsmeow, retry.go, `getMessageForRetry`).
 */

const setting = useWhatsapp({}, prepare);
let me: Phone;
let bob: Phone;
let carol: Phone;
let mallory: Phone;
let sessionId: string;
/** Has the session, Bob and Carol. */
let group: Answer['body'];
/** Has the session, Bob and Mallory, who is its admin. */
let others: string;

async function prepare() {
  [me, bob, carol, mallory] = ['Me', 'Bob', 'Carol', 'Mallory'].map((name) => nextPhone(setting.whatsapp, name)) as [
    Phone,
    Phone,
    Phone,
    Phone,
  ];
  const { call } = setting;
  sessionId = await linkSession(call, me);
  const phoneNumbers = [bob.number, carol.number];
  group = (await call('POST', '/groups', { sessionId, subject: 'Ours', phoneNumbers })).body;
  others = mallory.groups.create('Others', [me.number, bob.number]);
  await eventOf(call, 'group.created', ({ subject }) => subject === 'Others');
  await mallory.sendText(me.number, 'hello');
  await eventOf(call, 'message.incoming', ({ message }) => message === 'hello');
}

const send = async (to: string, message: string): Promise<Answer['body']> => {
  const { status, body } = await setting.call('POST', '/messages/send', { sessionId, to, message });
  assert.equal(status, 201, JSON.stringify(body));
  return body;
};

const arrived = (phone: Phone, { messageId }: Answer['body']): Promise<ReceivedMessage> =>
  phone.messages.waitFor(({ id }) => id === wireIdOf(messageId));

const again = (phone: Phone, message: ReceivedMessage): Promise<ReceivedMessage> =>
  phone.messages.waitFor((one) => one !== message && one.id === message.id);

describe('a message that is requested again', () => {
  /** Requests a message as if it had arrived from this address, and waits until that was handled. */
  async function ask(phone: Phone, { id, ...message }: ReceivedMessage, from: Record<string, string>) {
    const { participant, ...others } = message.stanza.attrs;
    await phone.askAgain({ ...message, id, stanza: { ...message.stanza, attrs: { ...others, ...from } } });
    const marker = await arrived(phone, await send(phone.number, `after ${id}`));
    await phone.askAgain(marker);
    await again(phone, marker);
  }

  const has = (phone: Phone, { id }: ReceivedMessage) => phone.messages.all.some((one) => one.id === id);

  it('goes to nobody but the person of a direct chat', async () => {
    const message = await arrived(bob, await send(bob.number, 'for Bob alone'));
    await ask(mallory, message, { from: me.lidJid });
    await ask(mallory, message, { from: me.numberJid });
    await ask(mallory, message, { from: others, participant: me.lidJid });
    assert.equal(has(mallory, message), false);
    await bob.askAgain(message);
    await again(bob, message);
  });

  it('goes to nobody but group members', async () => {
    const message = await arrived(carol, await send(group.groupId, 'for the group'));
    await ask(mallory, message, { from: me.lidJid });
    await ask(mallory, message, { from: others, participant: me.lidJid });
    await ask(mallory, message, { from: message.chat, participant: me.lidJid });
    assert.equal(has(mallory, message), false);
    await carol.askAgain(message);
    await again(carol, message);
  });
});

describe('a receipt from outside the chat', () => {
  const nowS = () => String(Math.floor(Date.now() / 1000));
  const receipts = (id: string) =>
    [
      { from: mallory.lidJid },
      { from: mallory.numberJid },
      { from: others, participant: mallory.lidJid },
      { from: 'status@broadcast', participant: mallory.lidJid },
    ].map((from) => stanza('receipt', { ...from, id, type: 'read', t: nowS() }));

  async function ignored(reader: Phone, to: string, text: string) {
    const { call, whatsapp } = setting;
    for (const phone of [bob, carol]) phone.switchOff();
    const sent = await send(to, text);
    for (const receipt of receipts(wireIdOf(sent.messageId))) whatsapp.inject(me.number, receipt);
    for (const phone of [bob, carol]) phone.switchOn();
    await eventOf(call, 'message.delivered', ({ messageId }) => messageId === sent.messageId);
    const reads = async () => {
      const events = await eventsOf(call, sessionId, ['message.read']);
      return events.filter(({ data }) => data.messageId === sent.messageId);
    };
    assert.deepEqual(await reads(), []);
    const { body } = await call('GET', `/messages/${sent.messageId}/receipts`);
    const readers = body.data.map(({ phoneNumber }: { phoneNumber: string }) => phoneNumber);
    assert.ok(!readers.includes(mallory.number), JSON.stringify(body));
    const message = await arrived(reader, sent);
    reader.read(message.chat, message.id);
    await eventOf(call, 'message.read', ({ messageId }) => messageId === sent.messageId);
  }

  it('changes nothing about a direct message', () => ignored(bob, bob.number, 'read by Bob'));

  it('changes nothing about a message to a group', () => ignored(carol, group.groupId, 'read by Carol'));

  it('does not confirm a message that the server has not acknowledged', async () => {
    const { whatsapp } = setting;
    whatsapp.faults.withholdAcks(me.number);
    for (const phone of [bob, carol]) phone.switchOff();
    const sending = send(bob.number, 'on its way');
    const [sent] = await eventually(
      async () => (await setting.call('GET', `/messages?sessionId=${sessionId}&limit=1`)).body.data,
      ([newest]) => newest.message === 'on its way',
    );
    for (const receipt of receipts(wireIdOf(sent.messageId))) whatsapp.inject(me.number, receipt);
    await mallory.sendText(me.number, 'after the receipts');
    await eventOf(setting.call, 'message.incoming', ({ message }) => message === 'after the receipts');
    assert.equal((await setting.call('GET', `/messages/${sent.messageId}`)).body.status, 'queued');
    whatsapp.faults.releaseAcks(me.number);
    assert.equal((await sending).status, 'sent');
    for (const phone of [bob, carol]) phone.switchOn();
  });
});

describe('a deletion by someone who may not delete the message', () => {
  const { REVOKE } = proto.Message.ProtocolMessage.Type;

  async function revoke(phone: Phone, chat: string, id: string) {
    const key = { remoteJid: chat, fromMe: false, id, participant: me.lidJid };
    await phone.send(chat, { protocolMessage: { type: REVOKE, key } });
    await phone.sendText(chat, `deleted ${id} in ${chat}`);
    await eventOf(setting.call, 'message.incoming', ({ message }) => message === `deleted ${id} in ${chat}`);
  }

  it('keeps a direct message for retries', async () => {
    const message = await arrived(bob, await send(bob.number, 'it stays'));
    await revoke(mallory, others, message.id);
    await bob.askAgain(message);
    await again(bob, message);
  });

  it('keeps a message to a group for retries, even when a member of that group deletes it', async () => {
    const message = await arrived(carol, await send(group.groupId, 'it stays here too'));
    await revoke(mallory, others, message.id);
    await revoke(bob, message.chat, message.id);
    await carol.askAgain(message);
    await again(carol, message);
  });

  it('keeps the secret of a poll', async () => {
    const { call } = setting;
    const poll = { sessionId, to: bob.number, question: 'Tea?', options: ['Yes', 'No'] };
    const { body } = await call('POST', '/messages/send-poll', poll);
    const message = await arrived(bob, body);
    await revoke(mallory, others, message.id);
    const secret = message.message.messageContextInfo?.messageSecret ?? Buffer.alloc(0);
    const people = { author: me.lidJid, voter: bob.lidJid };
    const vote = sealVote(['Yes'], { pollId: message.id, secret, ...people });
    const pollCreationMessageKey = { remoteJid: me.lidJid, fromMe: false, id: message.id };
    await bob.send(me.number, { pollUpdateMessage: { pollCreationMessageKey, vote } });
    const counted = await eventOf(call, 'poll.vote', ({ messageId }) => messageId === body.messageId);
    assert.deepEqual(counted.options, ['Yes']);
  });
});

it('the fake server recorded no errors', () => assert.deepEqual(setting.whatsapp.troubles, []));
