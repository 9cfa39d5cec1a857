import assert from 'node:assert/strict';
import { it } from 'node:test';
import { eventually } from '../support/eventually.ts';
import type { Phone } from '../support/fakeWhatsapp/index.ts';
import { eventOf } from '../support/server.ts';
import { linkSession, nextPhone, useWhatsapp } from './support.ts';

const setting = useWhatsapp({}, prepare);
let me: Phone;
let bob: Phone;
let carol: Phone;
let sessionId: string;

async function prepare() {
  me = nextPhone(setting.whatsapp, 'Me');
  bob = nextPhone(setting.whatsapp, 'Bob');
  carol = nextPhone(setting.whatsapp, 'Carol');
  sessionId = await linkSession(setting.call, me);
}

it('receipts in a group show who received and read a message', async () => {
  const { call } = setting;
  const phoneNumbers = [bob.number, carol.number];
  const { body: group } = await call('POST', '/groups', { sessionId, subject: 'Readers', phoneNumbers });
  const { body: sent } = await call('POST', '/messages/send', { sessionId, to: group.groupId, message: 'hello all' });
  const { chat, id } = await carol.messages.waitFor(({ message }) => message.extendedTextMessage?.text === 'hello all');
  await bob.messages.waitFor((one) => one.id === id);
  carol.read(chat, id);
  const { body } = await eventually(
    () => call('GET', `/messages/${sent.messageId}/receipts`),
    ({ body }) => body.data.length === 2 && body.data.some(({ readAt }: { readAt: string | null }) => readAt !== null),
  );
  assert.deepEqual(
    body.data.map(({ phoneNumber, readAt }: { phoneNumber: string; readAt: string | null }) => [
      phoneNumber,
      readAt !== null,
    ]),
    [
      [bob.number, false],
      [carol.number, true],
    ],
  );
  const read = await eventOf(call, 'message.read', ({ messageId }) => messageId === sent.messageId);
  assert.equal(read.by, carol.number);
});

it('the fake server recorded no errors', () => assert.deepEqual(setting.whatsapp.troubles, []));
