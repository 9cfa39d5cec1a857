import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { it, type TestContext } from 'node:test';
import { fileURLToPath } from 'node:url';
import { systemClock } from '../../src/clock.ts';
import type { MessageContent } from '../../src/connectors/contract/content.ts';
import type { NetworkEvent } from '../../src/connectors/contract/events.ts';
import { Steps } from '../../src/jobs/cleaning.ts';
import { prunesRemovedPlaceholders } from '../../src/messages/messages/removedPlaceholders.ts';
import { describeOnEachDatabase } from '../support/databases/databases.ts';
import { createFakeClock } from '../support/fakeClock.ts';
import { passUntil } from '../support/networks/cloudSession.ts';
import { PUPPET_NUMBER, puppet } from '../support/networks/puppet.ts';
import { startServer } from '../support/server.ts';

const PUPPET = fileURLToPath(new URL('../support/networks/puppet.ts', import.meta.url));
const [BOB, MALLORY] = ['491702222222', '491703333333'];
const DAY_MS = 24 * 3_600_000;
const KINDS = 'message.incoming,message.sent,message.edited,message.deleted,message.reaction,message.removed,poll.vote';
const AWAITED: MessageContent = { type: 'unsupported', text: '[waiting]', isAwaited: true };

const text = (body: string): MessageContent => ({ type: 'text', text: body });
const report = async (event: NetworkEvent) => puppet.host?.onEvent(event);
const chat = { type: 'direct', id: BOB } as const;
const message = (networkId: string, content: MessageContent, more: object = {}): NetworkEvent => ({
  type: 'message',
  networkId,
  from: BOB,
  timestamp: Date.now(),
  chat,
  content,
  replyTo: null,
  ...more,
});

describeOnEachDatabase('an awaited message', (newHome) => {
  async function setUp(test: TestContext) {
    const home = await newHome();
    const clock = createFakeClock(Date.now());
    const server = await startServer({ home, clock, env: { CONNECTORS: PUPPET } });
    test.after(async () => {
      await server.stop();
      await home.remove();
    });
    const { call } = await server.account();
    const { sessionId } = (await call('POST', '/sessions', { connector: 'puppet' })).body;
    await call('POST', `/sessions/${sessionId}/connect`);
    return {
      call,
      clock,
      sessionId,
      clean: async (days: number) => {
        const later = { ...systemClock, now: () => clock.now() + days * DAY_MS };
        await prunesRemovedPlaceholders(later).run(new Steps(server.app.services.database));
      },
      metrics: async () => (await fetch(`${server.url}/metrics`)).text(),
      events: async () => (await call('GET', `/events?events=${KINDS}&limit=200`)).body.data,
      read: async (networkId: string) =>
        (await call('GET', '/messages?limit=200')).body.data.filter(
          (one: { networkId?: string }) => one.networkId === networkId,
        ),
    };
  }

  it('is replaced by the message, with a second event and the same id', async (test) => {
    const { call, events, read } = await setUp(test);
    const [id, quoted] = [randomUUID(), randomUUID()];
    await report(message(quoted, text('the question')));
    await report(message(id, AWAITED));
    const [{ messageId: questionId }] = await read(quoted);
    const [placeholder] = await read(id);
    assert.deepEqual([placeholder.type, placeholder.message, placeholder.awaited], ['unsupported', '[waiting]', true]);
    const location = { latitude: 52.5, longitude: 13.4 };
    await report(message(id, { type: 'location', text: 'over here', location }, { replyTo: quoted }));
    const [replaced, ...others] = await read(id);
    assert.deepEqual(others, []);
    assert.deepEqual(
      [replaced.messageId, replaced.type, replaced.message, replaced.location, replaced.replyTo, replaced.awaited],
      [placeholder.messageId, 'location', 'over here', location, questionId, undefined],
    );
    const [, first, second] = await events();
    assert.deepEqual([first.event, first.data.awaited, first.data.wasAwaited], ['message.incoming', true, undefined]);
    assert.deepEqual(
      [second.event, second.data.messageId, second.data.type, second.data.wasAwaited, second.data.awaited],
      ['message.incoming', first.data.messageId, 'location', true, undefined],
    );
    const found = async (words: string) => (await call('GET', `/messages?q=${words}`)).body.data.length;
    assert.deepEqual([await found('here'), await found('waiting')], [1, 0]);
    const { body } = await call('GET', '/chats');
    assert.equal(body.data[0].unreadCount, 2);
  });

  it('is found by its ad once it is replaced', async (test) => {
    const { call } = await setUp(test);
    const id = randomUUID();
    await report(message(id, AWAITED));
    await report(message(id, { ...text('I saw your ad'), referral: { adId: '1200' } }));
    const { body } = await call('GET', '/messages?adId=1200');
    assert.deepEqual(
      body.data.map((one: { message: string }) => one.message),
      ['I saw your ad'],
    );
  });

  it('changes nothing if it is reported again, or after the message', async (test) => {
    const { events, read } = await setUp(test);
    const id = randomUUID();
    await report(message(id, AWAITED));
    await report(message(id, AWAITED));
    await report(message(id, text('here')));
    await report(message(id, AWAITED));
    await report(message(id, text('another')));
    assert.equal((await read(id))[0].message, 'here');
    assert.equal((await events()).length, 2);
  });

  it('is replaced only by a message of its sender in its chat', async (test) => {
    const { read } = await setUp(test);
    const id = randomUUID();
    await report(message(id, AWAITED));
    await report(message(id, text('by Mallory'), { from: MALLORY, chat: { type: 'direct', id: MALLORY } }));
    const rows = await read(id);
    assert.deepEqual(rows.map((row: { message: string }) => row.message).toSorted(), ['[waiting]', 'by Mallory']);
  });

  it('keeps reactions, and edits and votes wait for the message', async (test) => {
    const { events, read } = await setUp(test);
    const [id, poll] = [randomUUID(), randomUUID()];
    const at = (networkId: string) => ({ networkId, from: BOB, timestamp: Date.now() });
    for (const one of [id, poll]) await report(message(one, AWAITED));
    await report({ type: 'edited', ...at(id), text: 'edited' });
    await report({ type: 'reaction', ...at(id), chat, emoji: '👍' });
    await report({ type: 'vote', ...at(poll), chat, options: ['b'] });
    assert.equal((await read(id))[0].message, '[waiting]');
    await report(message(id, text('here')));
    await report(message(poll, { type: 'poll', text: 'Which?', poll: { options: ['a', 'b'], maxSelections: 1 } }));
    const [changed] = await read(id);
    assert.deepEqual([changed.message, changed.edited, changed.reactions[0].emoji], ['edited', true, '👍']);
    assert.deepEqual((await read(poll))[0].votes, [{ from: BOB, options: ['b'] }]);
    const kinds = (await events()).map(({ event }: { event: string }) => event);
    assert.deepEqual(kinds, [
      'message.incoming',
      'message.incoming',
      'message.reaction',
      'message.incoming',
      'message.edited',
      'message.incoming',
      'poll.vote',
    ]);
  });

  it('stays deleted if its sender has deleted it', async (test) => {
    const { events, read } = await setUp(test);
    const id = randomUUID();
    await report(message(id, AWAITED));
    await report({ type: 'deleted', networkId: id, from: BOB, timestamp: Date.now() });
    await report(message(id, text('withdrawn')));
    const [deleted] = await read(id);
    assert.deepEqual([deleted.message, deleted.deleted], ['', true]);
    assert.equal((await events()).length, 2);
  });

  it('stays deleted if it was deleted for the session, alone or with its chat', async (test) => {
    const { events, read } = await setUp(test);
    const all = [randomUUID(), randomUUID(), randomUUID(), randomUUID()] as const;
    const [alone, withdrawn, cleared, deleted] = all;
    for (const id of [alone, withdrawn]) await report(message(id, AWAITED));
    await report({ type: 'deleted', networkId: withdrawn, from: BOB, timestamp: Date.now() });
    for (const networkId of [alone, withdrawn]) await report({ type: 'message_removed', networkId, chat });
    await report(message(cleared, AWAITED));
    await report({ type: 'chat_removed', chat, isWhole: false, upTo: Date.now() });
    await report(message(deleted, AWAITED));
    await report({ type: 'chat_removed', chat, isWhole: true, upTo: Date.now() });
    const before = await events();
    for (const id of all) await report(message(id, text('late'), { isReplayed: true }));
    const imported = all.map((networkId) => ({
      ...{ networkId, chat, from: BOB, content: text('from the phone'), timestamp: Date.now() + 1000, replyTo: null },
    }));
    await report({ type: 'history', chats: [], contacts: [], messages: imported });
    for (const id of all) assert.deepEqual(await read(id), []);
    assert.deepEqual(await events(), before);
    await report(message(alone, text('by Mallory'), { from: MALLORY, chat: { type: 'direct', id: MALLORY } }));
    assert.equal((await read(alone)).length, 1);
  });

  it('comes back as a new message 90 days after it was deleted', async (test) => {
    const { read, clean } = await setUp(test);
    const id = randomUUID();
    await report(message(id, AWAITED));
    await report({ type: 'message_removed', networkId: id, chat });
    await clean(89);
    await report(message(id, text('late')));
    assert.deepEqual(await read(id), []);
    await clean(91);
    await report(message(id, text('too late')));
    assert.equal((await read(id)).length, 1);
  });

  it('is removed if it was none, and not once the message has come', async (test) => {
    const { read } = await setUp(test);
    const [none, some] = [randomUUID(), randomUUID()];
    for (const id of [none, some]) await report(message(id, AWAITED));
    await report(message(some, text('here')));
    for (const networkId of [none, some]) await report({ type: 'message_removed', networkId, chat, onlyAwaited: true });
    assert.deepEqual([(await read(none)).length, (await read(some)).length], [0, 1]);
  });

  it('is replaced by an imported history, which changes no other message', async (test) => {
    const { events, read } = await setUp(test);
    const [id, known] = [randomUUID(), randomUUID()];
    await report(message(id, AWAITED));
    await report(message(known, text('known')));
    const [{ messageId }] = await read(id);
    const imported = (networkId: string, body: string, more: object = {}) => ({
      networkId,
      chat,
      from: BOB,
      content: text(body),
      timestamp: Date.now() - 1000,
      replyTo: null,
      ...more,
    });
    const messages = [imported(id, 'from the phone', { replyTo: known }), imported(known, 'another text')];
    for (let time = 0; time < 2; time++) await report({ type: 'history', chats: [], contacts: [], messages });
    const [replaced] = await read(id);
    const [other] = await read(known);
    assert.deepEqual(
      [replaced.messageId, replaced.message, replaced.awaited, replaced.replyTo, other.message],
      [messageId, 'from the phone', undefined, other.messageId, 'known'],
    );
    const all = await events();
    assert.equal(all.length, 3);
    const { event, data } = all[2];
    assert.deepEqual(
      [event, data.messageId, data.wasAwaited, data.history, data.message],
      ['message.incoming', messageId, true, true, 'from the phone'],
    );
  });

  it('of the session itself is replaced by its message', async (test) => {
    const { events, read } = await setUp(test);
    const id = randomUUID();
    const own = { from: PUPPET_NUMBER, isOwn: true };
    await report(message(id, AWAITED, own));
    await report(message(id, text('by me'), own));
    assert.equal((await read(id))[0].message, 'by me');
    const [first, second] = await events();
    assert.deepEqual(
      [first.event, second.event, second.data.wasAwaited, second.data.message, second.data.messageId],
      ['message.sent', 'message.sent', true, 'by me', first.data.messageId],
    );
  });

  it('is counted in the metrics and the health of its session, which stays at a low risk', async (test) => {
    const { call, clock, sessionId, metrics } = await setUp(test);
    const before = await metrics();
    assert.match(before, /^switchboard_unreadable_messages_total\{reason="no_session"\} 0$/m);
    await report({ type: 'unreadable', reason: 'no_session', isMessage: true });
    await report({ type: 'unreadable', reason: 'no_session', isMessage: false, count: 3 });
    await report({ type: 'unreadable', reason: 'no_session', isMessage: true, count: 4 });
    const placeholder = message(randomUUID(), AWAITED, { unreadable: 'no_session' });
    await report(placeholder);
    // No time has passed, so what the session keeps in memory is not stored yet.
    const { health } = (await call('GET', `/sessions/${sessionId}`)).body;
    assert.equal(health.lastDay.unreadable, 6);
    assert.deepEqual(
      [health.risk, health.reasons],
      [
        'low',
        [
          {
            code: 'unreadable',
            risk: 'low',
            message: '6 received messages could not be decrypted within the last day.',
          },
        ],
      ],
    );
    await report(placeholder);
    await report({ type: 'unreadable', reason: 'no_pre_key', isMessage: false });
    const after = await passUntil(clock, metrics, (all) => all.includes('{reason="no_pre_key"} 1'));
    assert.match(
      after,
      /^switchboard_unreadable_messages_total\{reason="no_session"\} 9$/m,
      'a repeated one counts once',
    );
    await report(message(randomUUID(), AWAITED));
    const again = (await call('GET', `/sessions/${sessionId}`)).body.health.lastDay.unreadable;
    assert.equal(again, 6, 'neither a repeated report nor a message that may still come counts');
  });
});
