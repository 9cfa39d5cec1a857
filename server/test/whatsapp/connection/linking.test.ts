import assert from 'node:assert/strict';
import { it } from 'node:test';
import { describeOnEachDatabase } from '../../support/databases/databases.ts';
import { eventually } from '../../support/eventually.ts';
import { startFakeWhatsapp } from '../../support/fakeWhatsapp/index.ts';
import { bearer, eventOf, startAgain } from '../../support/server.ts';
import { eventsOf, inStatus, linkSession, nextPhone, showQr, useWhatsapp } from '../support.ts';

const setting = useWhatsapp();

it('a session links by QR code, and texts go both ways', async () => {
  const { whatsapp, call } = setting;
  const me = nextPhone(whatsapp, 'Me');
  const bob = nextPhone(whatsapp, 'Bob');
  const sessionId = await linkSession(call, me);
  const connected = await eventOf(call, 'session.connected', (data) => data.sessionId === sessionId);
  assert.equal(connected.phoneNumber, me.number);

  const { status, body } = await call('POST', '/messages/send', { sessionId, to: bob.number, message: 'hello Bob' });
  assert.equal(status, 201, JSON.stringify(body));
  assert.equal(body.status, 'sent');
  const got = await bob.messages.waitFor();
  assert.equal(got.message.extendedTextMessage?.text, 'hello Bob');
  await eventOf(call, 'message.delivered', ({ messageId }) => messageId === body.messageId);
  bob.read(me.number, got.id);
  await eventOf(call, 'message.read', ({ messageId }) => messageId === body.messageId);

  await bob.sendText(me.number, 'hello you');
  const incoming = await eventOf(call, 'message.incoming');
  assert.equal(incoming.from, bob.number);
  assert.equal(incoming.message, 'hello you');
  assert.equal(incoming.replayed, undefined);
  assert.deepEqual(whatsapp.troubles, []);
});

it('a session links by a pairing code', async () => {
  const { whatsapp, call } = setting;
  const me = nextPhone(whatsapp);
  const { sessionId } = await showQr(call);
  const { status, body } = await call('POST', `/sessions/${sessionId}/pairing-code`, { phoneNumber: me.number });
  assert.equal(status, 200, JSON.stringify(body));
  assert.match(body.code, /^[0-9A-Z]{4}-[0-9A-Z]{4}$/);
  await me.enterCode(body.code.replace('-', ''));
  const session = await inStatus(call, sessionId, 'connected');
  assert.equal(session.phoneNumber, me.number);
});

it('a pairing code that WhatsApp refuses returns an error, and the QR code still works', async () => {
  const { whatsapp, call } = setting;
  const me = nextPhone(whatsapp);
  const { sessionId, qr } = await showQr(call);
  whatsapp.faults.refuseCodes(429);
  try {
    const { status, body } = await call('POST', `/sessions/${sessionId}/pairing-code`, { phoneNumber: me.number });
    assert.equal(status, 502, JSON.stringify(body));
    assert.match(body.detail, /refused a pairing code for this number \(429\)/);
  } finally {
    whatsapp.faults.refuseCodes(undefined);
  }
  await me.scan(qr);
  await inStatus(call, sessionId, 'connected');
});

it('a QR code with a retired secret is replaced by one that works', async () => {
  const { whatsapp, call } = setting;
  const me = nextPhone(whatsapp);
  const { sessionId, qr } = await showQr(call);
  whatsapp.faults.retireQrSecrets();
  const { body } = await eventually(
    () => call('GET', `/sessions/${sessionId}/qr`),
    (answer) => answer.body.qr !== qr,
  );
  await me.scan(body.qr);
  await inStatus(call, sessionId, 'connected');
});

it('stops with the reason when WhatsApp requires a passkey, for a QR code and a pairing code', async () => {
  const { whatsapp, call } = setting;
  const me = nextPhone(whatsapp);
  const { sessionId } = await showQr(call);
  for (const isTyped of [false, true]) {
    if (isTyped) {
      await call('POST', `/sessions/${sessionId}/connect`);
      await inStatus(call, sessionId, 'awaiting_pairing');
      await call('POST', `/sessions/${sessionId}/pairing-code`, { phoneNumber: me.number });
    }
    whatsapp.faults.askForPasskeys();
    await inStatus(call, sessionId, 'disconnected');
    const { body } = await call('GET', `/sessions/${sessionId}/history`);
    assert.match(body.data[0].reason, /requires a passkey/);
  }
});

it('an unused pairing code is dropped, and the next attempt shows a QR code again', async () => {
  const { whatsapp, call } = setting;
  const me = nextPhone(whatsapp);
  const { sessionId } = await showQr(call);
  await call('POST', `/sessions/${sessionId}/pairing-code`, { phoneNumber: me.number });
  await call('POST', `/sessions/${sessionId}/disconnect`);
  await call('POST', `/sessions/${sessionId}/connect`);
  await inStatus(call, sessionId, 'awaiting_pairing');
  const { body } = await call('GET', `/sessions/${sessionId}/qr`);
  await me.scan(body.qr);
  await inStatus(call, sessionId, 'connected');
});

it('a session that is logged out is unlinked on the phone', async () => {
  const { whatsapp, call } = setting;
  const me = nextPhone(whatsapp);
  const sessionId = await linkSession(call, me);
  const { online } = whatsapp;
  assert.equal((await call('POST', `/sessions/${sessionId}/logout`)).status, 200);
  await inStatus(call, sessionId, 'logged_out');
  assert.equal(whatsapp.online, online - 1);
  await call('POST', `/sessions/${sessionId}/connect`);
  await inStatus(call, sessionId, 'awaiting_pairing');
});

it('a session that is deleted is unlinked on the phone', async () => {
  const { whatsapp, call } = setting;
  const me = nextPhone(whatsapp);
  const sessionId = await linkSession(call, me);
  assert.equal(me.devices(), 1);
  assert.equal((await call('DELETE', `/sessions/${sessionId}`)).status, 200);
  assert.equal((await call('GET', `/sessions/${sessionId}`)).status, 404);
  await eventually(
    async () => me.devices(),
    (count) => count === 0,
  );
  const events = await eventsOf(call, sessionId, ['session.disconnected']);
  assert.deepEqual(
    events.map(({ data }) => data.reason),
    ['The account deleted the session'],
  );
});

it('rejects invalid options, and treats the proxy as a secret', async () => {
  const { call } = setting;
  const create = (options: object) => call('POST', '/sessions', { connector: 'whatsapp', options });
  for (const proxy of [
    'ftp://proxy.example',
    'http://',
    'http://[::1',
    'http://a:b',
    'http://a b',
    'http://a/path',
    'http://a%:b@h:80',
    'a:1',
  ]) {
    const { status, body } = await create({ proxy });
    assert.equal(status, 400, proxy);
    assert.match(body.detail, /^options\.proxy does not have the right form: URL of a proxy: http:\/\/, /);
  }
  assert.equal((await create({ pauseMs: -1 })).status, 400);
  const { body } = await create({ proxy: 'socks5://name:secret@proxy.example:1080', pauseMs: 5 });
  assert.deepEqual(body.options, { pauseMs: 5 });
});

describeOnEachDatabase('after a restart of the server', (newHome) => {
  it('the session reconnects without pairing or an event, and keeps its conversations', async (test) => {
    const whatsapp = await startFakeWhatsapp();
    test.after(() => whatsapp.close());
    const env = { ...whatsapp.env, ENCRYPTION_KEY: 'a key that is long enough for anybody' };
    const start = startAgain(test, newHome, { env });
    const first = await start();
    const { call, token } = await first.account();
    const me = nextPhone(whatsapp, 'Me');
    const bob = nextPhone(whatsapp, 'Bob');
    const sessionId = await linkSession(call, me);
    await call('POST', '/messages/send', { sessionId, to: bob.number, message: 'before' });
    await bob.messages.waitFor();
    await bob.sendText(me.number, 'an answer');
    await eventOf(call, 'message.incoming');
    await first.stop();
    await bob.sendText(me.number, 'meanwhile');

    const second = await start();
    const again = bearer(second.url, token);
    const meanwhile = await eventOf(again, 'message.incoming', ({ message }) => message === 'meanwhile');
    assert.equal(meanwhile.replayed, true);
    await inStatus(again, sessionId, 'connected');
    const { body } = await again('POST', '/messages/send', { sessionId, to: bob.number, message: 'after' });
    assert.equal(body.status, 'sent');
    await bob.messages.waitFor(({ message }) => message.extendedTextMessage?.text === 'after');
    // The conversations continued where they were, without any retry requests.
    assert.equal(whatsapp.counters.retriesFromClients, 0);
    const story = await eventsOf(again, sessionId, ['session.connected', 'session.disconnected']);
    assert.equal(story.length, 1);
    assert.deepEqual(whatsapp.troubles, []);
  });
});
