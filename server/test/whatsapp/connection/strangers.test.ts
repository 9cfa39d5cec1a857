import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Phone, ReceivedMessage } from '../../support/fakeWhatsapp/index.ts';
import { wireIdOf } from '../../support/networks/wireId.ts';
import { type Answer, eventOf } from '../../support/server.ts';
import { linkSession, nextPhone, useWhatsapp } from '../support.ts';

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

it('the fake server recorded no errors', () => assert.deepEqual(setting.whatsapp.troubles, []));
