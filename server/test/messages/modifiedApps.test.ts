import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { after, before, describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';
import type { MessageContent } from '../../src/connectors/contract/content.ts';
import type { NetworkEvent } from '../../src/connectors/contract/events.ts';
import type { NetworkChat } from '../../src/connectors/contract/messageKey.ts';
import { PUPPET_NUMBER, puppet } from '../support/networks/puppet.ts';
import { type Call, startServer, type TestServer } from '../support/server.ts';

const PUPPET = fileURLToPath(new URL('../support/networks/puppet.ts', import.meta.url));
const [BOB, CAROL] = ['491702222222', '491703333333'];

describe('a message from a modified app', () => {
  let server: TestServer;
  let call: Call;
  before(async () => {
    server = await startServer({ env: { CONNECTORS: PUPPET } });
    ({ call } = await server.account());
    const { sessionId } = (await call('POST', '/sessions', { connector: 'puppet' })).body;
    await call('POST', `/sessions/${sessionId}/connect`);
  });
  after(() => server.stop());

  const report = async (event: NetworkEvent) => puppet.host?.onEvent(event);

  /** Reports a message and returns it as the API shows it. */
  async function receive(content: MessageContent, chat: NetworkChat = { type: 'direct', id: BOB }) {
    const networkId = randomUUID();
    await report({ type: 'message', networkId, chat, from: BOB, content, timestamp: Date.now(), replyTo: null });
    const { body } = await call('GET', '/messages?limit=1');
    return { networkId, message: body.data[0] };
  }

  for (const [latitude, longitude] of [
    [Number.NaN, Number.NaN],
    [Number.POSITIVE_INFINITY, 0],
    [0, -1e300],
    [90.5, 0],
  ] as const) {
    it(`shows an invalid location at ${latitude}, ${longitude} as text`, async () => {
      const { message } = await receive({
        type: 'location',
        text: '',
        location: { latitude, longitude, name: 'Here' },
      });
      assert.deepEqual([message.type, message.message, message.location], ['text', 'Here', undefined]);
      const { status } = await call('POST', `/messages/${message.messageId}/forward`, { to: CAROL });
      assert.equal(status, 201);
    });
  }

  it('cannot exceed the limits of the API', async () => {
    const long = `${'x'.repeat(199)}😀${'x'.repeat(5000)}`;
    const { message: place } = await receive({
      type: 'location',
      text: '',
      location: { latitude: 90, longitude: -180, name: long, address: long },
    });
    assert.deepEqual(
      [place.location.name, place.location.address.length],
      ['x'.repeat(199), 500],
      'no character is split',
    );
    const { message: card } = await receive({
      type: 'contact',
      text: '',
      contact: {
        name: long,
        phoneNumbers: ['9'.repeat(5000), ...Array.from({ length: 20 }, (_, n) => `49170000000${n}`)],
      },
    });
    assert.deepEqual([card.contact.name.length, card.contact.phoneNumbers.length], [199, 10]);
    assert.ok(card.contact.phoneNumbers.every((number: string) => number.length <= 40));
    const options = Array.from({ length: 300 }, (_, n) => `${n} ${long}`);
    const { message: poll } = await receive({ type: 'poll', text: 'Which?', poll: { options, maxSelections: -5 } });
    assert.deepEqual([poll.poll.options.length, poll.poll.maxSelections], [12, 1]);
    assert.ok(poll.poll.options.every((option: string) => option.length <= 100));
  });

  it('is stored without parts that the API does not know', async () => {
    const unknown = 'x'.repeat(1024 * 1024);
    const content = { type: 'text', text: 'hello', isForwarded: false, unknown } as const;
    const { networkId } = await receive(content);
    const database = new DatabaseSync(join(server.home.dataDir, 'switchboard.db'), { readOnly: true });
    const stored = database.prepare('select content from messages where network_id = ?').get(networkId);
    database.close();
    assert.equal(stored?.['content'], null);
  });

  it('cannot react to, or vote in, a direct chat of other people', async () => {
    const { networkId, message } = await receive({
      type: 'poll',
      text: 'Which?',
      poll: { options: ['A', 'B'], maxSelections: 1 },
    });
    const act = async (from: string) => {
      const timestamp = Date.now();
      await report({ type: 'reaction', networkId, from, emoji: '👍', timestamp });
      await report({ type: 'vote', networkId, from, options: ['A'], timestamp });
      const { body } = await call('GET', `/messages/${message.messageId}`);
      const names = (list: readonly { from: string }[] = []) => list.map((one) => one.from).sort();
      return [names(body.reactions), names(body.votes)];
    };
    assert.deepEqual(await act(CAROL), [[], []]);
    assert.deepEqual(await act(BOB), [[BOB], [BOB]]);
    const all = [PUPPET_NUMBER, BOB].sort();
    assert.deepEqual(await act(PUPPET_NUMBER), [all, all], 'its own number on another device');
  });

  it('cannot react in a group from another chat', async () => {
    const group = {
      networkId: randomUUID(),
      subject: 'A group',
      description: null,
      picture: null,
      createdAt: Date.now(),
      inviteCode: null,
      createdBy: BOB,
      settings: { announce: false, locked: false, joinApproval: false },
      participants: [PUPPET_NUMBER, BOB].map((phoneNumber) => ({ phoneNumber, role: 'member' as const })),
    };
    await report({ type: 'group_created', group });
    const chat = { type: 'group', id: group.networkId } as const;
    const { networkId, message } = await receive({ type: 'text', text: 'To all' }, chat);
    const react = async (emoji: string, from: NetworkChat | undefined) => {
      await report({
        type: 'reaction',
        networkId,
        from: BOB,
        emoji,
        timestamp: Date.now(),
        ...(from && { chat: from }),
      });
      const { body } = await call('GET', `/messages/${message.messageId}`);
      return body.reactions?.map((one: { emoji: string }) => one.emoji);
    };
    assert.equal(await react('😈', { type: 'direct', id: BOB }), undefined);
    assert.deepEqual(await react('👍', chat), ['👍']);
    assert.deepEqual(await react('🎉', undefined), ['🎉'], 'the network does not name the chat');
  });
});
