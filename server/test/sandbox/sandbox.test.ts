import assert from 'node:assert/strict';
import { after, before, it } from 'node:test';
import { describeWithSessionsApart } from '../support/databases/databases.ts';
import { eventually } from '../support/eventually.ts';
import { createFakeClock } from '../support/fakeClock.ts';
import { picture } from '../support/media/media.ts';
import {
  type Answer,
  type Call,
  connectSession,
  eventOf,
  newNumber,
  startServer,
  type TestServer,
} from '../support/server.ts';

/**
 * Two nodes synchronize their steady clocks with heartbeats in real time. The fake clock advances between heartbeats,
 * so one node can be ahead of the other by that much.
 */
const BEYOND_SKEW_MS = 30_000;

describeWithSessionsApart('the sandbox network', (_, database) => {
  const clock = createFakeClock(Date.now());
  let server: TestServer;
  before(async () => {
    server = await startServer({ database, clock });
  });
  after(() => server.stop());

  /** An account with the session `me`, and `other`, a session that writes to it. */
  async function twoSessions() {
    const { call } = await server.account();
    const [mine, others] = [newNumber(), newNumber()];
    const [me, other] = [await connectSession(call, mine), await connectSession(call, others)];
    const write = async (message: string): Promise<string> => {
      const { status, body } = await call('POST', '/messages/send', { sessionId: other, to: mine, message });
      assert.equal(status, 201, JSON.stringify(body));
      return body.messageId;
    };
    const block = async (blocked: boolean) => {
      const { status } = await call('PUT', `/contacts/${others}/blocked`, { sessionId: me, blocked });
      assert.equal(status, 200);
    };
    const play = async (action: object) => {
      const { status, body } = await call('POST', `/sessions/${me}/simulate`, action);
      assert.equal(status, 200, JSON.stringify(body));
    };
    /** The incoming messages of `me`, once a final one has arrived. */
    const heard = async (): Promise<string[]> => {
      await play({ action: 'incoming', from: newNumber(), message: 'the last' });
      const { body } = await eventually(
        () => call('GET', `/messages?sessionId=${me}&direction=incoming`),
        (answer) => answer.body.data.some(({ message }: Answer['body']) => message === 'the last'),
      );
      return body.data.map(({ message }: Answer['body']) => message).reverse();
    };
    return { call, me, other, mine, others, write, block, play, heard };
  }

  const reconnect = async (call: Call, sessionId: string) => {
    assert.equal((await call('POST', `/sessions/${sessionId}/disconnect`)).status, 200);
    assert.equal((await call('POST', `/sessions/${sessionId}/connect`)).body.status, 'connected');
  };

  it('drops messages of a blocked contact, even after both sides reconnect and the contact is unblocked', async () => {
    const { call, me, other, write, block, heard } = await twoSessions();
    await block(true);
    const messageId = await write('while blocked');
    await clock.advance(1000);
    await block(false);
    await clock.advance(BEYOND_SKEW_MS);
    await reconnect(call, me);
    await reconnect(call, other);
    await write('after that');
    await eventOf(call, 'message.incoming', ({ message }) => message === 'after that');
    assert.deepEqual(await heard(), ['after that', 'the last']);
    assert.equal((await call('GET', `/messages/${messageId}`)).body.status, 'sent', 'the sender does not see it');
  });

  it('delivers messages sent after an unblock, even if the clock moved back', async () => {
    const { call, me, write, block, heard } = await twoSessions();
    await block(true);
    await clock.advance(1000);
    await block(false);
    clock.set(clock.now() - 3_600_000);
    await clock.advance(BEYOND_SKEW_MS);
    await write('an hour earlier');
    await eventOf(call, 'message.incoming', ({ message }) => message === 'an hour earlier');
    await reconnect(call, me);
    await write('nobody waited for it');
    const { replayed } = await eventOf(call, 'message.incoming', ({ message }) => message === 'nobody waited for it');
    assert.equal(replayed, undefined);
    assert.deepEqual(await heard(), ['an hour earlier', 'nobody waited for it', 'the last']);
  });

  it('drops simulated actions of a blocked contact, except in groups', async () => {
    const { call, me, others, block, play, heard } = await twoSessions();
    const { groupId } = (await call('POST', '/groups', { sessionId: me, subject: 'all', phoneNumbers: [others] })).body;
    await play({ action: 'incoming', from: others, message: 'before' });
    const before = await eventOf(call, 'message.incoming', ({ message }) => message === 'before');
    await block(true);
    await play({ action: 'incoming', from: others, message: 'in vain' });
    await play({ action: 'edit', messageId: before.messageId, message: 'in vain' });
    await play({ action: 'react', messageId: before.messageId, from: others, emoji: '👍' });
    await play({ action: 'delete', messageId: before.messageId });
    await play({ action: 'incoming', from: others, groupId, message: 'to the group' });
    assert.deepEqual(await heard(), ['before', 'to the group', 'the last']);
    const { body } = await call('GET', `/messages/${before.messageId}`);
    assert.deepEqual([body.deleted, body.edited, body.reactions], [undefined, undefined, undefined]);
    await block(false);
    await play({ action: 'edit', messageId: before.messageId, message: 'heard again' });
    assert.equal((await call('GET', `/messages/${before.messageId}`)).body.message, 'heard again');
  });

  it('lists the people who are not on the network as left out of a status', async () => {
    const { call, me, others } = await twoSessions();
    const absent = '15550001234';
    const status = { sessionId: me, message: 'We are open', phoneNumbers: [others, absent] };
    const { status: code, body } = await call('POST', '/status', status);
    assert.deepEqual([code, body.leftOut], [201, { count: 1, phoneNumbers: [absent] }]);
    const everyone = await call('POST', '/status', { ...status, phoneNumbers: [others] });
    assert.deepEqual([everyone.status, everyone.body.leftOut], [201, undefined]);
  });

  it('marks messages that arrived while the session was away as replayed', async () => {
    const { call, me, write } = await twoSessions();
    await write('at once');
    await eventOf(call, 'message.incoming', ({ message }) => message === 'at once');
    await call('POST', `/sessions/${me}/disconnect`);
    await write('meanwhile');
    await clock.advance(BEYOND_SKEW_MS);
    await call('POST', `/sessions/${me}/connect`);
    await clock.advance(BEYOND_SKEW_MS);
    await write('again at once');
    const replayed = async (text: string) =>
      (await eventOf(call, 'message.incoming', ({ message }) => message === text)).replayed;
    assert.deepEqual(
      [await replayed('at once'), await replayed('meanwhile'), await replayed('again at once')],
      [undefined, true, undefined],
    );
  });

  it('delivers files and texts in the order in which they were sent', async () => {
    const { call, me, other, mine, write, heard } = await twoSessions();
    const content = picture().toString('base64');
    const image = async (caption: string) => {
      const file = { sessionId: other, to: mine, type: 'image', content, caption };
      assert.equal((await call('POST', '/messages/send-media', file)).status, 201);
    };
    const texts = Array.from({ length: 12 }, (_, n) => `${n}`);
    for (const [n, text] of texts.entries()) await (n % 2 === 0 ? image(text) : write(text));
    await eventually(
      () => call('GET', `/messages?sessionId=${me}&direction=incoming`),
      (answer) => answer.body.data.length === texts.length,
    );
    assert.deepEqual(await heard(), [...texts, 'the last']);
  });

  it('notifies group members of a change that changes nothing', async () => {
    const { call, me, other, others, play } = await twoSessions();
    const group = { sessionId: me, subject: 'same', phoneNumbers: [others] };
    const { groupId } = (await call('POST', '/groups', group)).body;
    await eventOf(call, 'group.created', ({ sessionId }) => sessionId === other);
    await play({ action: 'group_subject', groupId, subject: 'same' });
    for (const member of [me, other]) await eventOf(call, 'group.updated', ({ sessionId }) => sessionId === member);
  });

  it('records the time of the last event, even if a disconnect follows immediately', async () => {
    const { call, me, play } = await twoSessions();
    const lastEventAt = async () => (await call('GET', `/sessions/${me}`)).body.lastEventAt;
    await clock.advance(1000);
    await play({ action: 'incoming', from: newNumber(), message: 'hello' });
    const heardAt = new Date(clock.now()).toISOString();
    assert.equal((await call('POST', `/sessions/${me}/disconnect`)).body.status, 'disconnected');
    assert.equal(await lastEventAt(), heardAt, 'disconnected by the account');
    await call('POST', `/sessions/${me}/connect`);
    await clock.advance(1000);
    await play({ action: 'disconnect', reconnectAfterMs: null });
    assert.equal(await lastEventAt(), new Date(clock.now()).toISOString(), 'disconnected by the network');
  });
});
