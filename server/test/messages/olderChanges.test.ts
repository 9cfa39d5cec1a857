import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { it, type TestContext } from 'node:test';
import { fileURLToPath } from 'node:url';
import type { MessageContent } from '../../src/connectors/contract/content.ts';
import type { NetworkEvent } from '../../src/connectors/contract/events.ts';
import { describeOnEachDatabase } from '../support/databases/databases.ts';
import { PUPPET_NUMBER, puppet } from '../support/networks/puppet.ts';
import { startServer } from '../support/server.ts';

const PUPPET = fileURLToPath(new URL('../support/networks/puppet.ts', import.meta.url));
const BOB = '491702222222';
const chat = { type: 'direct', id: BOB } as const;
const report = async (event: NetworkEvent) => puppet.host?.onEvent(event);

describeOnEachDatabase('a change that arrives after a newer one', (newHome) => {
  async function setUp(test: TestContext, content: MessageContent, from = BOB) {
    const home = await newHome();
    const server = await startServer({ home, env: { CONNECTORS: PUPPET } });
    test.after(async () => {
      await server.stop();
      await home.remove();
    });
    const { call } = await server.account();
    const { sessionId } = (await call('POST', '/sessions', { connector: 'puppet' })).body;
    await call('POST', `/sessions/${sessionId}/connect`);
    const networkId = randomUUID();
    const start = Date.now() - 600_000;
    await report({ type: 'message', networkId, from, timestamp: start, chat, content, replyTo: null });
    const { messageId } = (await call('GET', '/messages')).body.data[0];
    /** The fields of a change of the message, this many seconds after it. */
    const after = (seconds: number) => ({ networkId, from, chat, timestamp: start + seconds * 1000 });
    const read = async () => (await call('GET', `/messages/${messageId}`)).body;
    const count = async (kind: string): Promise<number> =>
      (await call('GET', `/events?events=${kind}`)).body.data.length;
    return { call, after, read, count, messageId, sessionId, start };
  }
  const text = { type: 'text', text: 'v1' } as const;

  it('does not edit the message again', async (test) => {
    const { after, read, count } = await setUp(test, text);
    await report({ type: 'edited', ...after(30), text: 'v3' });
    await report({ type: 'edited', ...after(10), text: 'v2' });
    assert.deepEqual([(await read()).message, await count('message.edited')], ['v3', 1]);
    await report({ type: 'edited', ...after(40), text: 'v4' });
    assert.equal((await read()).message, 'v4');
  });

  it('wins within one second, because networks give seconds', async (test) => {
    const { after, read } = await setUp(test, text);
    const second = Math.floor(after(30).timestamp / 1000) * 1000;
    await report({ type: 'edited', ...after(30), timestamp: second + 900, text: 'first' });
    await report({ type: 'edited', ...after(30), timestamp: second, text: 'second' });
    assert.equal((await read()).message, 'second');
  });

  it('does not replace a reaction, and does not bring back a removed one', async (test) => {
    const { after, read, count } = await setUp(test, text);
    const react = (seconds: number, emoji: string | null) => report({ type: 'reaction', ...after(seconds), emoji });
    const emojis = async () => (await read()).reactions?.map(({ emoji }: { emoji: string }) => emoji) ?? [];
    await react(20, '👍');
    await react(10, '❤');
    assert.deepEqual(await emojis(), ['👍']);
    await react(15, null);
    assert.deepEqual(await emojis(), ['👍']);
    await react(40, null);
    await react(30, '😀');
    assert.deepEqual([await emojis(), await count('message.reaction')], [[], 2]);
    await react(50, '😀');
    assert.deepEqual(await emojis(), ['😀']);
  });

  it('does not bring back a reaction whose removal came first', async (test) => {
    const { after, read, count } = await setUp(test, text);
    await report({ type: 'reaction', ...after(20), emoji: null });
    await report({ type: 'reaction', ...after(10), emoji: '👍' });
    assert.deepEqual([(await read()).reactions ?? [], await count('message.reaction')], [[], 0]);
  });

  it('does not undo one that was repeated since', async (test) => {
    const { after, read } = await setUp(test, text);
    const react = (seconds: number, emoji: string | null) => report({ type: 'reaction', ...after(seconds), emoji });
    const emoji = async () => (await read()).reactions?.[0]?.emoji;
    await react(10, '👍');
    await react(30, '👍');
    await react(20, null);
    assert.equal(await emoji(), '👍');
    await react(40, null);
    await react(60, null);
    await react(50, '👍');
    assert.equal(await emoji(), undefined);
  });

  it('does not replace a vote', async (test) => {
    const options = ['a', 'b'];
    const { after, read, count } = await setUp(test, {
      type: 'poll',
      text: 'Tea?',
      poll: { options, maxSelections: 1 },
    });
    await report({ type: 'vote', ...after(20), options: ['b'] });
    await report({ type: 'vote', ...after(10), options: ['a'] });
    await report({ type: 'vote', ...after(40), options: ['b'] });
    await report({ type: 'vote', ...after(30), options: ['a'] });
    const votes = (await read()).poll.votes ?? (await read()).poll.results;
    assert.equal(await count('poll.vote'), 1, JSON.stringify(votes));
  });

  it('does not pin the message again', async (test) => {
    const { after, read, count } = await setUp(test, text);
    const until = Date.now() + 3_600_000;
    const pin = (seconds: number, ends: number | null) =>
      report({ type: 'message_pinned', ...after(seconds), until: ends });
    await pin(20, null);
    await pin(10, until);
    assert.equal((await read()).pinnedUntil, undefined);
    await pin(30, until);
    await pin(50, null);
    await pin(40, until);
    assert.deepEqual([(await read()).pinnedUntil, await count('message.pinned')], [undefined, 2]);
  });

  it('does not turn on the timer of a chat again', async (test) => {
    const { call, after } = await setUp(test, text);
    const set = (seconds: number | null, at: number) =>
      report({ type: 'disappearing', chat, seconds, timestamp: after(at).timestamp });
    const timer = async () => (await call('GET', `/chats/${BOB}`)).body.disappearingSeconds;
    await set(null, 20);
    await set(86_400, 10);
    assert.equal(await timer(), null);
    await set(86_400, 30);
    assert.equal(await timer(), 86_400);
  });

  it('of the account itself counts within a minute, because this server has another clock', async (test) => {
    const { read, after } = await setUp(test, text);
    const react = (seconds: number, emoji: string) =>
      report({ type: 'reaction', ...after(seconds), from: PUPPET_NUMBER, emoji });
    const emoji = async () => (await read()).reactions?.[0]?.emoji;
    await react(200, '👍');
    await react(150, '❤');
    assert.equal(await emoji(), '❤');
    await react(80, '😀');
    assert.equal(await emoji(), '❤');
  });
});
