import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { eventually } from '../../support/eventually.ts';
import { createFakeClock } from '../../support/fakeClock.ts';
import { type FakeWhatsapp, type Phone, startFakeWhatsapp } from '../../support/fakeWhatsapp/index.ts';
import { type Call, startServer, type TestServer } from '../../support/server.ts';
import { inStatus, linkSession } from '../support.ts';

/** Longer than any of these tests takes. The session sees it at the speed of the fake clock. */
const SLOW_MS = 60_000;

describe('a slow WhatsApp server', () => {
  const clock = createFakeClock(Date.now());
  let whatsapp: FakeWhatsapp;
  let server: TestServer;
  let call: Call;
  let me: Phone;
  let bob: Phone;
  let sessionId: string;

  before(async () => {
    whatsapp = await startFakeWhatsapp();
    server = await startServer({ clock, env: whatsapp.env });
    ({ call } = await server.account());
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
