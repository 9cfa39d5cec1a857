import assert from 'node:assert/strict';
import { it } from 'node:test';
import { type Answer, eventOf } from '../../support/server.ts';
import { linkSession, nextPhone, useWhatsapp } from '../support.ts';

const setting = useWhatsapp();

/** A person in Brazil whose number is dialed with one digit more than in WhatsApp. */
function ana(last: number) {
  const phone = setting.whatsapp.phone(`55118765432${last}`, 'Ana');
  const written = `551198765432${last}`;
  phone.answerTo(written);
  return { phone, written };
}

it('a recipient known to WhatsApp under another number has one chat, under that number', async () => {
  const { whatsapp, call } = setting;
  const { phone, written } = ana(1);
  const me = nextPhone(whatsapp, 'Me');
  const sessionId = await linkSession(call, me);
  for (const message of ['first', 'second']) {
    const { status, body } = await call('POST', '/messages/send', { sessionId, to: written, message });
    assert.equal(status, 201, JSON.stringify(body));
    assert.equal(body.to, message === 'first' ? written : phone.number);
    const event = await eventOf(call, 'message.sent', ({ messageId }) => messageId === body.messageId);
    assert.deepEqual([event.to, event.chatId], [phone.number, phone.number]);
    await phone.messages.waitFor((came) => came.message.extendedTextMessage?.text === message);
    const { body: sent } = await call('GET', `/messages/${body.messageId}`);
    assert.deepEqual([sent.to, sent.chatId], [phone.number, phone.number]);
  }
  await phone.sendText(me.number, 'an answer');
  const answer = await eventOf(call, 'message.incoming', ({ message }) => message === 'an answer');
  assert.equal(answer.from, phone.number);
  const { body: chats } = await call('GET', `/chats?sessionId=${sessionId}`);
  assert.deepEqual(
    chats.data.map(({ chatId }: Answer['body']) => chatId),
    [phone.number],
  );
});

it('finds each of several checked numbers, under whichever number it is registered', async () => {
  const { whatsapp, call } = setting;
  const [first, second] = [ana(2), ana(3)];
  const bob = nextPhone(whatsapp, 'Bob');
  const nobody = '15559999999';
  const sessionId = await linkSession(call, nextPhone(whatsapp, 'Me'));
  // The second by both of its numbers, so the same result appears twice.
  const numbers = [first.written, bob.number, nobody, second.written, second.phone.number];
  const { body } = await call('GET', `/contacts/check?sessionId=${sessionId}&phoneNumbers=${numbers.join(',')}`);
  assert.deepEqual(
    body.data.map(({ phoneNumber, onNetwork }: Answer['body']) => [phoneNumber, onNetwork]),
    numbers.map((number) => [number, number !== nobody]),
  );
  const { status } = await call('POST', '/messages/send', { sessionId, to: second.written, message: 'to you' });
  assert.equal(status, 201);
  await second.phone.messages.waitFor(({ message }) => message.extendedTextMessage?.text === 'to you');
});

it('a block by another number applies to the number that WhatsApp knows', async () => {
  const { whatsapp, call } = setting;
  const { phone, written } = ana(4);
  const me = nextPhone(whatsapp, 'Me');
  const sessionId = await linkSession(call, me);
  const { status, body } = await call('PUT', `/contacts/${written}/blocked`, { sessionId, blocked: true });
  assert.equal(status, 200, JSON.stringify(body));
  assert.deepEqual([body.phoneNumber, body.blocked], [phone.number, true]);
  await phone.sendText(me.number, 'let me in');
  assert.equal((await call('PUT', `/contacts/${phone.number}/blocked`, { sessionId, blocked: false })).status, 200);
  await phone.sendText(me.number, 'thank you');
  await eventOf(call, 'message.incoming', ({ message }) => message === 'thank you');
  const { body: messages } = await call('GET', `/messages?sessionId=${sessionId}`);
  assert.deepEqual(
    messages.data.map(({ message }: Answer['body']) => message),
    ['thank you'],
  );
});
