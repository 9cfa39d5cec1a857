import assert from 'node:assert/strict';
import { it } from 'node:test';
import { eventually } from '../../support/eventually.ts';
import { eventOf } from '../../support/server.ts';
import { linkSession, nextPhone, useWhatsapp } from '../support.ts';

const setting = useWhatsapp();

it('messages go out with pauses, in order', async () => {
  const { whatsapp, call } = setting;
  const [me, bob] = [nextPhone(whatsapp), nextPhone(whatsapp)];
  const sessionId = await linkSession(call, me, { pauseMs: 400 });
  const startedAt = performance.now();
  const texts = ['one', 'two', 'three', 'four'];
  const sent = texts.map((message) => call('POST', '/messages/send', { sessionId, to: bob.number, message }));
  for (const { status } of await Promise.all(sent)) assert.equal(status, 201);
  // Three pauses, each at least half of the average.
  assert.ok(performance.now() - startedAt >= 3 * 200, `${performance.now() - startedAt} ms`);
  const came = bob.messages.all.map(({ message }) => message.extendedTextMessage?.text);
  assert.equal(came.length, texts.length);
});

it('sends beyond the limit of a session are rejected immediately with Retry-After', async () => {
  const { whatsapp, call } = setting;
  const [me, bob] = [nextPhone(whatsapp), nextPhone(whatsapp)];
  const sessionId = await linkSession(call, me, { pauseMs: 40_000 });
  const send = () => call('POST', '/messages/send', { sessionId, to: bob.number, message: 'hello' });
  assert.equal((await send()).status, 201);
  const { status, headers, body } = await send();
  assert.equal(status, 429, JSON.stringify(body));
  assert.ok(Number(headers.get('retry-after')) > 1);
});

it('a session begins a limited number of chats per day, and existing chats continue', async () => {
  const { whatsapp, call } = setting;
  const [me, bob, carol, dan] = [1, 2, 3, 4].map(() => nextPhone(whatsapp));
  assert.ok(me && bob && carol && dan);
  const sessionId = await linkSession(call, me, { newChatsPerDay: 1 });
  const send = (to: string) => call('POST', '/messages/send', { sessionId, to, message: 'hello' });
  assert.equal((await send(bob.number)).status, 201);
  const { status, body } = await send(carol.number);
  assert.equal(status, 429, JSON.stringify(body));
  assert.match(body.detail, /limit of 1 new chat/);
  assert.equal((await send(bob.number)).status, 201);
  // A reply to a person who wrote first.
  await dan.sendText(me.number, 'hello');
  await eventOf(call, 'message.incoming', ({ from }) => from === dan.number);
  assert.equal((await send(dan.number)).status, 201);
});

it('only existing chats continue while WhatsApp allows a number no new ones', async () => {
  const { whatsapp, call } = setting;
  const [me, bob] = [nextPhone(whatsapp), nextPhone(whatsapp)];
  const sessionId = await linkSession(call, me);
  const send = (to: string) => call('POST', '/messages/send', { sessionId, to, message: 'hello' });
  assert.equal((await send(bob.number)).status, 201);
  me.limit({ noNewChatsUntilS: Math.floor(Date.now() / 1000) + 3600 });
  // A different person each time, because a message that still went out has begun a chat.
  const refused = await eventually(
    () => send(nextPhone(whatsapp).number),
    ({ status }) => status === 429,
  );
  assert.match(refused.body.detail, /not let this number start new chats until \d{4}-/);
  assert.equal((await send(bob.number)).status, 201);
});

it('the quota of new chats set by WhatsApp is reported, also to a session that connects later', async () => {
  const { whatsapp, call } = setting;
  const me = nextPhone(whatsapp);
  me.limit({ newChats: { total: 10, used: 10 } });
  const sessionId = await linkSession(call, me);
  const { body } = await eventually(
    () => call('POST', '/messages/send', { sessionId, to: nextPhone(whatsapp).number, message: 'hello' }),
    ({ status }) => status === 429,
  );
  assert.match(body.detail, /10 of 10/);
});
