import assert from 'node:assert/strict';
import { it } from 'node:test';
import { WahaError } from '../../../src/cli/compat/wahaErrors.ts';
import { chatOf, messageRefOf, wahaChat, wahaMessageId } from '../../../src/cli/compat/wahaIds.ts';

const OWN = '01M89NJQTNC8M197MCYMZVMRV3';
const isBadRequest = (error: unknown) => error instanceof WahaError && error.status === 400;

it('completes bare numbers, and keeps users, groups and hidden numbers', () => {
  assert.equal(chatOf(' +491707654321'), '491707654321@c.us');
  for (const chat of ['491707654321@c.us', '120363000000000000@g.us', '1234@lid']) assert.equal(chatOf(chat), chat);
  for (const chat of ['', 'a b@c.us', '../sessions', 'x'.repeat(301)]) assert.throws(() => chatOf(chat), isBadRequest);
});

it('writes addresses as WAHA does', () => {
  assert.equal(wahaChat('491707654321@s.whatsapp.net'), '491707654321@c.us');
  assert.equal(wahaChat('491707654321'), '491707654321@c.us');
  assert.equal(wahaChat('1234@lid'), '1234@lid');
  assert.equal(wahaChat('120363000000000000@g.us'), '120363000000000000@g.us');
});

it('reads its own message ids, and those of the network with or without a participant', () => {
  const chat = '491707654321@c.us';
  const own = { messageId: `msg_${OWN}`, networkId: OWN, chat };
  assert.deepEqual(messageRefOf(wahaMessageId(true, chat, `msg_${OWN}`)), own);
  for (const bare of [OWN, `msg_${OWN}`]) assert.deepEqual(messageRefOf(bare), { ...own, chat: undefined });
  const network = { messageId: undefined, networkId: '3EB0C431', chat: '120363000000000000@g.us' };
  assert.deepEqual(messageRefOf('false_120363000000000000@g.us_3EB0C431_491707654321@c.us'), network);
  assert.deepEqual(messageRefOf('3EB0C431'), { ...network, chat: undefined });
  for (const id of ['', 'false_491707654321@c.us_', '../x', 'x'.repeat(301)])
    assert.throws(() => messageRefOf(id), isBadRequest);
});
