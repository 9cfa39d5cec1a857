import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { proto } from 'baileys';
import { eventually } from '../support/eventually.ts';
import { createFakeClock } from '../support/fakeClock.ts';
import { stanza } from '../support/fakeWhatsapp/stanza.ts';
import { passUntil } from '../support/networks/cloudSession.ts';
import { startServer } from '../support/server.ts';
import { createTestStore, linkAsHost, openAsHost } from './host.ts';
import { eventsOf, linkSession, nextPhone, useWhatsapp } from './support.ts';

/* Messages that the session cannot decrypt at first, or never. */

const setting = useWhatsapp();
const ALWAYS = Number.POSITIVE_INFINITY;
const RETRIES = 5;
/** Longer than a message may wait. */
const WAIT_MS = 61_000;
const AWAITED = '[Waiting for this message: it could not be decrypted yet]';

/** Links a session whose phone passes on nothing. */
async function link(test: Parameters<typeof linkAsHost>[0], options: Parameters<typeof linkAsHost>[2] = {}) {
  const clock = createFakeClock(Date.now());
  const session = await linkAsHost(test, setting.whatsapp, { clock, keepAliveSeconds: 100_000, ...options });
  session.me.resendsToClients = false;
  const bob = nextPhone(setting.whatsapp, 'Bob');
  const messages = () => session.events.all.filter((event) => event.type === 'message');
  const unreadable = () => session.events.all.filter((event) => event.type === 'unreadable');
  return { ...session, clock, bob, messages, unreadable };
}

/** Resolves once the session has asked for messages `count` times in all. */
async function asked(count: number): Promise<void> {
  const { counters } = setting.whatsapp;
  while (counters.retriesFromClients < count) await new Promise((resolve) => setTimeout(resolve, 20));
}

describe('a message that cannot be decrypted', () => {
  it('is only reported itself if it arrives with the last retry', async (test) => {
    const { me, bob, clock, waitForEvent, messages, unreadable } = await link(test);
    await bob.sendText(me.number, 'at last', { corruptTimes: RETRIES });
    const { content } = await waitForEvent('message');
    assert.equal(content.text, 'at last');
    await clock.advance(WAIT_MS);
    assert.deepEqual([messages().length, unreadable()], [1, []]);
  });

  it('gets a placeholder after the last retry, and is counted once', async (test) => {
    const { me, bob, clock, waitForEvent, messages, unreadable } = await link(test);
    const before = setting.whatsapp.counters.retriesFromClients;
    const id = await bob.sendText(me.number, 'never', { corruptTimes: ALWAYS });
    await asked(before + RETRIES);
    assert.deepEqual(messages(), []);
    const placeholder = await clock.settle(waitForEvent('message'), 5000);
    const { networkId, chat, from, content, senderName, timestamp, unreadable: reason } = placeholder;
    assert.deepEqual(
      [networkId, chat, from, senderName, content, reason],
      [
        id,
        { type: 'direct', id: bob.number },
        bob.number,
        'Bob',
        { type: 'unsupported', text: AWAITED, isAwaited: true },
        'wrong_session',
      ],
    );
    assert.ok(Math.abs(timestamp - Date.now()) < 60_000);
    await clock.advance(WAIT_MS);
    assert.equal(setting.whatsapp.counters.retriesFromClients, before + RETRIES);
    assert.deepEqual([messages().length, unreadable()], [1, []]);
  });

  it('gets a placeholder after a minute if its sender is offline, and replaces it later', async (test) => {
    const { me, bob, clock, waitForEvent, messages } = await link(test);
    bob.switchOff();
    const before = setting.whatsapp.counters.retriesFromClients;
    const id = await bob.sendText(me.number, 'late', { corruptTimes: 1 });
    await asked(before + 1);
    const { content } = await clock.settle(waitForEvent('message'), 5000);
    assert.equal(content.isAwaited, true);
    bob.switchOn();
    const late = await waitForEvent('message', (event) => event.content.isAwaited !== true);
    assert.deepEqual([late.networkId, late.content.text, messages().length], [id, 'late', 2]);
  });

  it('comes from the phone that owns the session if its sender cannot send it again', async (test) => {
    const { me, bob, clock, waitForEvent, unreadable } = await link(test);
    me.resendsToClients = true;
    const id = await bob.sendText(me.number, 'by the phone', { corruptTimes: ALWAYS });
    const { networkId, content, from } = await waitForEvent('message');
    assert.deepEqual([networkId, content.text, from], [id, 'by the phone', bob.number]);
    await clock.advance(WAIT_MS);
    assert.deepEqual(unreadable(), []);
  });

  it('waits on after a restart of the session, and is not asked for more than five times', async (test) => {
    const store = createTestStore();
    const { me, bob, connection, clock } = await link(test, { store });
    const { counters } = setting.whatsapp;
    const before = counters.retriesFromClients;
    bob.switchOff();
    const id = await bob.sendText(me.number, 'before the restart', { corruptTimes: ALWAYS });
    await asked(before + 1);
    await connection.close();
    const again = await openAsHost(test, setting.whatsapp, { store, clock, keepAliveSeconds: 100_000 });
    await again.waitForEvent('connected');
    bob.switchOn();
    await asked(before + RETRIES);
    const { networkId, content } = await clock.settle(again.waitForEvent('message'), 5000);
    assert.deepEqual([networkId, content.isAwaited], [id, true]);
    assert.equal(counters.retriesFromClients, before + RETRIES);
  });

  it('gets a placeholder in its group', async (test) => {
    const { me, bob, clock, waitForEvent, unreadable } = await link(test);
    const group = bob.groups.create('Garbled', [me.number]);
    await waitForEvent('group_created', (event) => event.group.networkId === group);
    const before = setting.whatsapp.counters.retriesFromClients;
    await bob.sendText(group, 'never', { corruptTimes: ALWAYS });
    await asked(before + RETRIES);
    const { chat, from, content, unreadable: reason } = await clock.settle(waitForEvent('message'), 5000);
    assert.deepEqual(
      [chat, from, content.isAwaited, reason],
      [{ type: 'group', id: group }, bob.number, true, 'no_group_key'],
    );
    assert.deepEqual(unreadable(), []);
  });

  it('gets a placeholder in the chat of its recipient if the own phone sent it', async (test) => {
    const { me, bob, clock, waitForEvent } = await link(test);
    const before = setting.whatsapp.counters.retriesFromClients;
    await me.sendText(bob.number, 'by me', { corruptTimes: ALWAYS });
    await asked(before + RETRIES);
    const { chat, from, isOwn, content } = await clock.settle(waitForEvent('message'), 5000);
    assert.deepEqual(
      [chat, from, isOwn, content.isAwaited],
      [{ type: 'direct', id: bob.number }, me.number, true, true],
    );
  });

  it('gets none if it is a status, and is counted only if the session wants statuses', async (test) => {
    for (const statuses of [true, false]) {
      const { me, bob, clock, waitForEvent, messages, unreadable } = await link(test, { options: { statuses } });
      await bob.sendText('status@broadcast', 'never', { corruptTimes: ALWAYS, audience: [me.number] });
      await bob.sendText(me.number, 'after the status');
      await waitForEvent('message');
      await clock.advance(WAIT_MS);
      await eventually(
        async () => unreadable().length,
        (count) => count === Number(statuses),
      );
      assert.ok(unreadable().every(({ isMessage }) => !isMessage));
      assert.equal(messages().length, 1);
    }
  });

  it('gets none if it is a reaction, and is counted', async (test) => {
    const { me, bob, clock, waitForEvent, messages } = await link(test);
    const before = setting.whatsapp.counters.retriesFromClients;
    const key = { id: 'ANY', fromMe: true, remoteJid: me.lidJid };
    await bob.send(me.number, { reactionMessage: { key, text: '👍' } }, { corruptTimes: ALWAYS });
    await asked(before + RETRIES);
    const { isMessage } = await clock.settle(waitForEvent('unreadable'), 5000);
    assert.deepEqual([isMessage, messages()], [false, []]);
  });

  it('loses its placeholder if it turns out to be a change', async (test) => {
    const { me, bob, clock, waitForEvent } = await link(test);
    // The type of an edit that a phone does not mark as one.
    const attributes = { from: bob.lidJid, sender_pn: bob.numberJid, id: 'CHANGE01', t: '1767225600', type: 'text' };
    const sent = stanza('message', attributes, [stanza('enc', { v: '2', type: 'msg' }, Buffer.alloc(60, 5))]);
    setting.whatsapp.inject(me.number, sent);
    const { networkId } = await clock.settle(waitForEvent('message'), 5000);
    assert.equal(networkId, 'CHANGE01');
    const key = { id: 'ANY', fromMe: true, remoteJid: me.lidJid };
    await bob.send(me.number, { reactionMessage: { key, text: '👍' } }, { id: 'CHANGE01' });
    const removed = await waitForEvent('message_removed');
    assert.deepEqual(removed, {
      type: 'message_removed',
      networkId: 'CHANGE01',
      chat: { type: 'direct', id: bob.number },
      onlyAwaited: true,
    });
  });
});

describe('a message without content', () => {
  it('comes from the phone', async (test) => {
    const { me, bob, clock, waitForEvent, unreadable } = await link(test);
    me.resendsToClients = true;
    await bob.sendText(me.number, 'from an ad', { unavailableAs: '' });
    assert.equal((await waitForEvent('message')).content.text, 'from an ad');
    await clock.advance(WAIT_MS);
    assert.deepEqual(unreadable(), []);
  });

  it('gets a placeholder if the phone does not answer', async (test) => {
    const { me, bob, clock, waitForEvent } = await link(test);
    await bob.sendText(me.number, 'from an ad', { unavailableAs: 'hosted_unavailable_fanout' });
    const { content, unreadable: reason } = await clock.settle(waitForEvent('message'), 5000);
    assert.deepEqual([content.isAwaited, reason], [true, 'not_encrypted_for_device']);
  });

  it('has its own text if it opens once, and none if it is for an assistant', async (test) => {
    const { me, bob, clock, waitForEvent, messages, unreadable } = await link(test);
    await bob.sendText(me.number, 'for a bot', { unavailableAs: 'bot_unavailable_fanout' });
    await bob.sendText(me.number, 'once', { unavailableAs: 'view_once' });
    assert.match((await waitForEvent('message')).content.text, /^\[View-once message/);
    await clock.advance(WAIT_MS);
    assert.deepEqual([messages().length, unreadable()], [1, []]);
  });
});

describe('over the API, a message that arrives after its placeholder', () => {
  it('replaces it, and the edit that came before both is applied', async (test) => {
    const { whatsapp } = setting;
    const clock = createFakeClock(Date.now());
    const env = { ...whatsapp.env, WHATSAPP_KEEP_ALIVE_SECONDS: '300' };
    const server = await startServer({ clock, env });
    test.after(() => server.stop());
    const { call } = await server.account();
    const [me, bob] = [nextPhone(whatsapp, 'Me'), nextPhone(whatsapp, 'Bob')];
    me.resendsToClients = false;
    const sessionId = await linkSession(call, me);
    bob.switchOff();
    const before = whatsapp.counters.retriesFromClients;
    const id = await bob.sendText(me.number, 'price 10', { corruptTimes: 1 });
    await asked(before + 1);
    const key = { id, fromMe: true, remoteJid: me.lidJid };
    const { MESSAGE_EDIT } = proto.Message.ProtocolMessage.Type;
    const edit = { protocolMessage: { type: MESSAGE_EDIT, key, editedMessage: { conversation: 'price 12' } } };
    await bob.send(me.number, edit);
    const incoming = async () => eventsOf(call, sessionId, ['message.incoming', 'message.edited']);
    const [placeholder] = await passUntil(clock, incoming, (all) => all.length === 1);
    assert.deepEqual([placeholder?.data.type, placeholder?.data.awaited], ['unsupported', true]);
    bob.switchOn();
    const all = await eventually(incoming, ({ length }) => length === 3);
    assert.deepEqual(
      all.map(({ event, data }) => [event, data.messageId, data.message, data.wasAwaited]),
      [
        ['message.incoming', placeholder?.data.messageId, AWAITED, undefined],
        ['message.incoming', placeholder?.data.messageId, 'price 10', true],
        ['message.edited', placeholder?.data.messageId, 'price 12', undefined],
      ],
    );
    const { body } = await call('GET', `/messages/${placeholder?.data.messageId}`);
    assert.deepEqual([body.type, body.message, body.networkId, body.awaited], ['text', 'price 12', id, undefined]);
  });
});

describe('a stranger who sends thousands of unreadable messages', () => {
  it('gets 20 placeholders a day, and all are counted', async (test) => {
    const { me, bob, clock, waitForEvent, messages, unreadable, events } = await link(test);
    const eve = nextPhone(setting.whatsapp, 'Eve');
    bob.switchOff();
    const send = (number: number) => {
      const attributes = {
        from: eve.lidJid,
        sender_pn: eve.numberJid,
        id: `FLOOD${number}`,
        t: '1767225600',
        type: 'text',
      };
      const parts = [stanza('enc', { v: '2', type: 'msg' }, Buffer.alloc(60, 5))];
      setting.whatsapp.inject(me.number, stanza('message', attributes, parts));
    };
    for (let number = 0; number < 30; number++) send(number);
    const missing = () => unreadable().reduce((sum, { count = 1 }) => sum + count, 0);
    const counted = (count: number) => events.waitFor(() => messages().length + missing() >= count, 60_000);
    await clock.settle(counted(30), 5000);
    for (let number = 30; number < 35; number++) send(number);
    await clock.settle(counted(35), 5000);
    assert.deepEqual([messages().length, missing()], [20, 15]);
    assert.ok(messages().every(({ unreadable: reason }) => reason !== undefined));
    assert.ok(unreadable().every(({ isMessage }) => isMessage));
    // Others are not affected.
    await bob.sendText(me.number, 'from Bob', { corruptTimes: 1 });
    await clock.settle(
      waitForEvent('message', ({ from }) => from === bob.number),
      5000,
    );
  });
});

it('the fake server recorded no errors', () => assert.deepEqual(setting.whatsapp.troubles, []));
