import assert from 'node:assert/strict';
import { afterEach, describe, it } from 'node:test';
import { eventually } from '../../support/eventually.ts';
import { createFakeClock } from '../../support/fakeClock.ts';
import { createTestStore, linkAsHost, openAsHost } from '../host.ts';
import { nextPhone, useWhatsapp } from '../support.ts';

/* Queries of the client that WhatsApp refuses, by `rate-overlimit` (WhiskeySockets/Baileys#797, #1061, #1261). */

const setting = useWhatsapp();
const ALWAYS = Number.POSITIVE_INFINITY;
const HOUR_S = 3600;
afterEach(() => setting.whatsapp.faults.answerQueries());

describe('the group list', () => {
  it('is read again after the refusals at a connection', async (test) => {
    const { whatsapp } = setting;
    const clock = createFakeClock(Date.now());
    const me = nextPhone(whatsapp, 'Me');
    const group = nextPhone(whatsapp, 'Bob').groups.create('From before', [me.number]);
    const session = await openAsHost(test, whatsapp, { clock, keepAliveSeconds: HOUR_S });
    whatsapp.faults.limitQueries('w:g2', 2);
    await me.scan((await session.waitForEvent('pairing')).qr);
    await session.waitForEvent('connected');
    await session.logged.waitFor((line) => line.includes('failed to read the groups'));
    assert.ok(!session.events.all.some(({ type }) => type === 'group_created'));
    await clock.advance(30_000);
    await session.logged.waitFor((line) => line.includes('"failures":1'));
    const { group: read } = await clock.settle(session.waitForEvent('group_created'), 10_000);
    assert.equal(read.networkId, group);
  });
});

describe('changes of the shared state', () => {
  it('are read again after a refusal', async (test) => {
    const { whatsapp } = setting;
    const clock = createFakeClock(Date.now());
    const { me, waitForEvent, events } = await linkAsHost(test, whatsapp, { clock, keepAliveSeconds: HOUR_S });
    const bob = nextPhone(whatsapp, 'Bob');
    await bob.sendText(me.number, 'hello');
    await waitForEvent('message');
    await me.changeState({ pin: true }, bob.number);
    await waitForEvent('chat_updated', ({ pinned }) => pinned === true);
    const { queries } = whatsapp.counters;
    const before = queries['w:sync:app:state'] ?? 0;
    whatsapp.faults.limitQueries('w:sync:app:state', 2);
    await me.changeState({ pin: false }, bob.number);
    await eventually(
      async () => queries['w:sync:app:state'] ?? 0,
      (count) => count > before,
    );
    const isUnpinned = (event: { type: string; pinned?: boolean }) =>
      event.type === 'chat_updated' && event.pinned === false;
    assert.ok(!events.all.some(isUnpinned));
    await clock.settle(waitForEvent('chat_updated', isUnpinned), 10_000);
  });
});

describe('one-time keys', () => {
  it('are uploaded again after a refusal at the first connection', async (test) => {
    const { whatsapp } = setting;
    const clock = createFakeClock(Date.now());
    const session = await openAsHost(test, whatsapp, { clock, keepAliveSeconds: HOUR_S });
    const me = nextPhone(whatsapp, 'Me');
    const { qr } = await session.waitForEvent('pairing');
    whatsapp.faults.limitQueries('encrypt', 2);
    await me.scan(qr);
    await session.waitForEvent('connected');
    assert.equal(me.oneTimeKeys(), 0);
    const uploaded = eventually(
      async () => me.oneTimeKeys(),
      (count) => count > 0,
    );
    await clock.settle(uploaded, 10_000);
    const bob = nextPhone(whatsapp, 'Bob');
    await bob.sendText(me.number, 'hello');
    assert.equal((await session.waitForEvent('message')).content.text, 'hello');
  });

  it('that are lost here do not lose the message: its sender gets new ones', async (test) => {
    const { whatsapp } = setting;
    const store = createTestStore();
    const first = await linkAsHost(test, whatsapp, { store });
    await eventually(
      async () => first.me.oneTimeKeys(),
      (count) => count > 0,
    );
    await first.connection.close();
    for (const key of store.entries.keys()) if (key.startsWith('key/pre-key/')) store.entries.delete(key);
    const { waitForEvent, events } = await openAsHost(test, whatsapp, { store });
    await waitForEvent('connected');
    const bob = nextPhone(whatsapp, 'Bob');
    await bob.sendText(first.me.number, 'under a lost key');
    const { content } = await waitForEvent('message');
    assert.equal(content.text, 'under a lost key');
    assert.ok(!events.all.some(({ type }) => type === 'unreadable'));
  });

  it('of a recipient that are refused fail the message as rate_limited, and the next one arrives', async (test) => {
    const { whatsapp } = setting;
    const { connection } = await linkAsHost(test, whatsapp);
    const bob = nextPhone(whatsapp, 'Bob');
    const send = (networkId: string, text: string) =>
      connection.send({
        networkId,
        chat: { type: 'direct', id: bob.number },
        content: { type: 'text', text },
        replyTo: null,
      });
    whatsapp.faults.limitQueries('encrypt', ALWAYS);
    await assert.rejects(send('msg_1', 'too early'), { code: 'rate_limited' });
    whatsapp.faults.answerQueries();
    await send('msg_2', 'in time');
    const { message } = await bob.messages.waitFor((one) => one.message.extendedTextMessage?.text === 'in time');
    assert.ok(message);
    assert.equal(bob.messages.all.length, 1);
  });
});

describe('a look-up of a number', () => {
  it('that is refused fails the message as rate_limited, and the next one arrives', async (test) => {
    const { whatsapp } = setting;
    const { connection } = await linkAsHost(test, whatsapp);
    const bob = nextPhone(whatsapp, 'Bob');
    const send = (networkId: string, text: string) =>
      connection.send({
        networkId,
        chat: { type: 'direct', id: bob.number },
        content: { type: 'text', text },
        replyTo: null,
      });
    whatsapp.faults.limitQueries('usync', 1);
    await assert.rejects(send('msg_1', 'too early'), { code: 'rate_limited', retryAfterSeconds: 60 });
    await send('msg_2', 'in time');
    await bob.messages.waitFor((one) => one.message.extendedTextMessage?.text === 'in time');
    assert.equal(bob.messages.all.length, 1);
  });

  it('that is refused fails a status as rate_limited', async (test) => {
    const { whatsapp } = setting;
    const { connection } = await linkAsHost(test, whatsapp);
    const bob = nextPhone(whatsapp, 'Bob');
    const post = (networkId: string) =>
      connection.status?.post({ networkId, content: { type: 'text', text: 'hello' }, audience: [bob.number] });
    whatsapp.faults.limitQueries('usync', 1);
    await assert.rejects(async () => post('msg_3'), { code: 'rate_limited' });
  });
});

it('the fake server recorded no errors', () => assert.deepEqual(setting.whatsapp.troubles, []));
