import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { eventually } from '../../support/eventually.ts';
import { createFakeClock } from '../../support/fakeClock.ts';
import { type FakeWhatsapp, type Phone, startFakeWhatsapp } from '../../support/fakeWhatsapp/index.ts';
import { samples, upload } from '../../support/media/media.ts';
import { type Call, eventOf, startServer, type TestServer } from '../../support/server.ts';
import { inStatus, linkSession } from '../support.ts';

/** Longer than any of these tests takes. The session sees it at the speed of the fake clock. */
const SLOW_MS = 60_000;

describe('a slow WhatsApp server', () => {
  const clock = createFakeClock(Date.now());
  let whatsapp: FakeWhatsapp;
  let server: TestServer;
  let call: Call;
  let token: string;
  let me: Phone;
  let bob: Phone;
  let sessionId: string;

  before(async () => {
    whatsapp = await startFakeWhatsapp();
    whatsapp.trustMedia();
    server = await startServer({ clock, env: whatsapp.env });
    ({ call, token } = await server.account());
    me = whatsapp.phone('15551000001', 'Me');
    bob = whatsapp.phone('15551000002', 'Bob');
    sessionId = await linkSession(call, me);
    // Completes the lookups that precede a first message.
    assert.equal((await send('hello')).status, 201);
  });
  after(async () => {
    await server.stop();
    await whatsapp.close();
  });

  const send = (message: string) => call('POST', '/messages/send', { sessionId, to: bob.number, message });
  const copies = (text: string) => bob.messages.all.filter(({ message }) => message.extendedTextMessage?.text === text);
  const hasArrived = (text: string) =>
    eventually(
      async () => copies(text).length,
      (count) => count > 0,
    );

  it('delays the sent status until its acknowledgement', async () => {
    whatsapp.faults.slow(500);
    const sending = send('slowly');
    await hasArrived('slowly');
    const { body: page } = await call('GET', `/messages?sessionId=${sessionId}&status=queued`);
    assert.deepEqual(
      page.data.map(({ message }: { message: string }) => message),
      ['slowly'],
    );
    assert.deepEqual([(await sending).status, copies('slowly').length], [201, 1]);
    whatsapp.faults.slow(0);
  });

  it('keeps the connection while a message to a group waits for the keys of its members', async () => {
    const group = bob.groups.create('Large', [me.number, whatsapp.phone('15551000003', 'Carol').number]);
    const { groupId } = await eventOf(call, 'group.created', (data) => data.networkGroupId === group);
    whatsapp.faults.withholdAnswers('key');
    const { logins } = whatsapp.counters;
    const queries = whatsapp.counters.queries['encrypt'] ?? 0;
    const sending = call('POST', '/messages/send', { sessionId, to: groupId, message: 'to many' });
    await eventually(
      async () => whatsapp.counters.queries['encrypt'] ?? 0,
      (count) => count > queries,
    );
    await clock.advance(31_000);
    assert.equal((await sending).status, 502, 'the caller does not wait longer');
    whatsapp.faults.answerQueries();
    await hasArrived('to many');
    await eventually(
      async () => (await call('GET', `/messages?sessionId=${sessionId}&chatId=${groupId}`)).body.data,
      ([message]) => ['sent', 'delivered'].includes(message?.status),
    );
    assert.equal(whatsapp.counters.logins, logins);
  });

  it('keeps the connection when a message waits for the encryption of another one', async () => {
    const group = bob.groups.create('Larger', [me.number, whatsapp.phone('15551000004', 'Dave').number]);
    const { groupId } = await eventOf(call, 'group.created', (data) => data.networkGroupId === group);
    whatsapp.faults.withholdAnswers('key');
    const { logins } = whatsapp.counters;
    const queries = whatsapp.counters.queries['encrypt'] ?? 0;
    const toMany = call('POST', '/messages/send', { sessionId, to: groupId, message: 'to more' });
    await eventually(
      async () => whatsapp.counters.queries['encrypt'] ?? 0,
      (count) => count > queries,
    );
    const limits = clock.timersDueIn(25_000);
    const direct = send('in between');
    await eventually(
      async () => clock.timersDueIn(25_000),
      (count) => count > limits,
    );
    await clock.advance(31_000);
    const { status, body } = await direct;
    assert.deepEqual([status, body.code], [502, 'send_failed']);
    assert.match(body.detail, /was not sent/);
    assert.equal((await toMany).status, 502);
    assert.equal(whatsapp.counters.logins, logins);
    whatsapp.faults.answerQueries();
    await hasArrived('to more');
    assert.equal((await send('afterwards')).status, 201);
    assert.equal(copies('in between').length, 0);
    assert.equal(whatsapp.counters.logins, logins);
  });

  it('keeps the connection when a file waits for the encryption of another message', async () => {
    const group = bob.groups.create('Largest', [me.number, whatsapp.phone('15551000005', 'Erin').number]);
    const { groupId } = await eventOf(call, 'group.created', (data) => data.networkGroupId === group);
    const { body: stored } = await upload(server, token, samples.image, { headers: { 'content-type': 'image/png' } });
    const { mediaId } = stored;
    whatsapp.faults.withholdAnswers('key');
    const { logins, uploads } = whatsapp.counters;
    const queries = whatsapp.counters.queries['encrypt'] ?? 0;
    const toMany = call('POST', '/messages/send', { sessionId, to: groupId, message: 'to most' });
    await eventually(
      async () => whatsapp.counters.queries['encrypt'] ?? 0,
      (count) => count > queries,
    );
    const limits = clock.timersDueIn(25_000);
    const file = call('POST', '/messages/send-media', { sessionId, to: bob.number, type: 'image', mediaId });
    await eventually(
      async () => [whatsapp.counters.uploads - uploads, clock.timersDueIn(25_000) - limits],
      ([uploaded = 0, waiting = 0]) => uploaded > 0 && waiting > 0,
    );
    await clock.advance(31_000);
    const { status, body } = await file;
    assert.deepEqual([status, body.code], [502, 'send_failed']);
    assert.match(body.detail, /was not sent/);
    whatsapp.faults.answerQueries();
    await hasArrived('to most');
    assert.equal((await toMany).status, 502);
    assert.equal((await send('after the file')).status, 201);
    assert.equal(bob.messages.all.filter(({ message }) => message.imageMessage != null).length, 0);
    assert.equal(whatsapp.counters.logins, logins);
  });

  it('loses the connection after twelve seconds, and receives the message again with the same id', async () => {
    bob.confirmsDelivery = false;
    whatsapp.faults.slow(SLOW_MS);
    const sending = send('too slowly');
    await hasArrived('too slowly');
    await clock.advance(12_000);
    whatsapp.faults.slow(0);
    const { status, body } = await clock.settle(sending, 200);
    assert.deepEqual([status, body.status], [201, 'sent']);
    assert.equal(new Set(copies('too slowly').map(({ id }) => id)).size, 1);
    await inStatus(call, sessionId, 'connected');
  });

  it('that never responds leaves a failed message, with a note that it may have been sent', async () => {
    whatsapp.faults.slow(SLOW_MS);
    const sending = send('never');
    await hasArrived('never');
    whatsapp.faults.refuseSockets(true);
    const { status, body } = await clock.settle(sending, 200);
    assert.deepEqual([status, body.code], [502, 'send_failed']);
    assert.match(body.detail, /may or may not have been sent/);
    whatsapp.faults.slow(0);
    whatsapp.faults.refuseSockets(false);
    await clock.settle(inStatus(call, sessionId, 'connected'), 200);
  });
});
