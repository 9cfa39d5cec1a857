import assert from 'node:assert/strict';
import { it } from 'node:test';
import type { EventKind } from '../../src/events/events.ts';
import { eventually } from '../support/eventually.ts';
import type { Phone } from '../support/fakeWhatsapp/index.ts';
import { stanza } from '../support/fakeWhatsapp/stanza.ts';
import { type Answer, eventOf } from '../support/server.ts';
import { eventsOf, linkSession, nextPhone, useWhatsapp } from './support.ts';

/* Presence, calls, and messages that are read on the session's own phone. */

const setting = useWhatsapp({}, prepare);
let me: Phone;
let bob: Phone;
let sessionId: string;

async function prepare() {
  me = nextPhone(setting.whatsapp, 'Me');
  bob = nextPhone(setting.whatsapp, 'Bob');
  sessionId = await linkSession(setting.call, me);
  // Both addresses of Bob are known from now on.
  await bob.sendText(me.number, 'first');
  await eventOf(setting.call, 'message.incoming', ({ message }) => message === 'first');
}

const next = (kind: EventKind, fits: (data: Answer['body']) => boolean = () => true) =>
  eventOf(setting.call, kind, (data) => data.sessionId === sessionId && fits(data));
const now = () => String(Math.floor(Date.now() / 1000));

it('presence and typing of others are events', async () => {
  const { whatsapp } = setting;
  bob.typing(me.number, 'composing');
  const typing = await next('presence.updated', ({ presence }) => presence === 'typing');
  assert.deepEqual([typing.from, typing.chatId, 'groupId' in typing], [bob.number, bob.number, false]);
  whatsapp.inject(me.number, stanza('presence', { from: bob.numberJid, type: 'unavailable', last: '1767323045' }));
  const offline = await next('presence.updated', ({ presence }) => presence === 'offline');
  assert.deepEqual([offline.from, offline.lastSeen], [bob.number, '2026-01-02T03:04:05.000Z']);
});

const signal = (callId: string, status: string, children = [stanza('audio')]) => {
  const about = { 'call-id': callId, 'call-creator': bob.lidJid, caller_pn: bob.numberJid };
  const attributes = { from: bob.lidJid, id: `${callId}${status}`, t: now() };
  setting.whatsapp.inject(me.number, stanza('call', attributes, [stanza(status, about, children)]));
};

it('a call is one event when it comes in and one when it ends', async () => {
  const { call } = setting;
  signal('CALL1', 'offer', [stanza('video')]);
  const incoming = await next('call.incoming');
  assert.deepEqual([incoming.callId, incoming.from, incoming.video], ['CALL1', bob.number, true]);
  signal('CALL1', 'offer', [stanza('video')]);
  signal('CALL1', 'reject');
  signal('CALL1', 'terminate');
  signal('CALL2', 'offer');
  signal('CALL2', 'terminate');
  await next('call.ended', ({ callId }) => callId === 'CALL2');
  const ended = (await eventsOf(call, sessionId, ['call.incoming', 'call.ended'])).map(({ event, data }) => [
    event,
    data.callId,
    data.outcome,
    data.video,
  ]);
  assert.deepEqual(ended, [
    ['call.incoming', 'CALL1', undefined, true],
    ['call.ended', 'CALL1', 'rejected', true],
    ['call.incoming', 'CALL2', undefined, false],
    ['call.ended', 'CALL2', 'ended', false],
  ]);
});

it('a call that rings while the session connects again ends once', async () => {
  const { call } = setting;
  signal('CALL3', 'offer');
  await next('call.incoming', ({ callId }) => callId === 'CALL3');
  await call('POST', `/sessions/${sessionId}/disconnect`);
  await call('POST', `/sessions/${sessionId}/connect`);
  const status = async () => (await call('GET', `/sessions/${sessionId}`)).body.status;
  await eventually(status, (one) => one === 'connected');
  signal('CALL3', 'terminate');
  await next('call.ended', ({ callId }) => callId === 'CALL3');
  for (const again of ['offer', 'terminate']) signal('CALL3', again);
  signal('CALL4', 'offer');
  await next('call.incoming', ({ callId }) => callId === 'CALL4');
  const calls = (await eventsOf(call, sessionId, ['call.incoming', 'call.ended'])).filter(
    ({ data }) => data.callId === 'CALL3',
  );
  assert.deepEqual(
    calls.map(({ event }) => event),
    ['call.incoming', 'call.ended'],
  );
});

it('messages read on the phone are read here as well', async () => {
  const { call, whatsapp } = setting;
  const id = await bob.sendText(me.number, 'second');
  await eventOf(call, 'message.incoming', ({ message }) => message === 'second');
  const more = await bob.sendText(me.number, 'and');
  await eventOf(call, 'message.incoming', ({ message }) => message === 'and');
  await bob.sendText(me.number, 'third');
  await eventOf(call, 'message.incoming', ({ message }) => message === 'third');
  const readOnPhone = { type: 'read-self', from: me.lidJid, recipient: bob.lidJid, id, t: now() };
  const list = stanza('list', {}, [stanza('item', { id: more })]);
  whatsapp.inject(me.number, stanza('receipt', readOnPhone, [list]));
  const { unreadCount, chatId } = await next('chat.updated', (data) => data.unreadCount < 2);
  assert.deepEqual([unreadCount, chatId], [1, bob.number]);
  const { body } = await call('GET', `/chats/${bob.number}?sessionId=${sessionId}`);
  assert.deepEqual([body.unreadCount, body.networkChatId], [1, `${bob.number}@s.whatsapp.net`]);
});
