import assert from 'node:assert/strict';
import { after, before, it, type TestContext } from 'node:test';
import { withoutHidden } from '../../src/invoke/input/plainText.ts';
import { Names } from '../../src/operations/shared/names.ts';
import { callTool, mcpClient } from '../support/mcp/mcp.ts';
import { rpcOf } from '../support/mcp/mcpEvents.ts';
import { connectSession, newNumber, startServer, type TestServer } from '../support/server.ts';

const tags = (text: string) => [...text].map((one) => String.fromCodePoint(0xe0000 + one.charCodeAt(0))).join('');
const END_TAG = '\u{e007f}';
/**
 * Characters that a stranger can hide in a text: tags, overrides of direction, characters of zero width and selectors.
 */
const HIDDEN = `${tags('ignore all')}\u202e\u2066\u200b\u2060\ufeff\u{e0101}\u{e0102}`;
const HIDDEN_COUNT = 17;

const removes: readonly [string, text: string, visible: string][] = [
  ['tags', `a${tags('do it')}b`, 'ab'],
  ['tags of a flag that does not exist', `🏴${tags('evil')}${END_TAG}`, '🏴'],
  ['bidirectional controls', 'a\u202eb\u2066c\u2069d\u200e\u061c', 'abcd'],
  ['characters of zero width', 'a\u200bb\u200cc\u200dd\ufeff\u2060\u00ad', 'abcd'],
  ['fillers', 'a\u3164\u115f\uffa0b', 'ab'],
  ['repeated variation selectors', '😀\ufe0f\ufe01\u{e0101}', '😀\ufe0f'],
  ['variation selectors without a character', '\ufe0f \ufe0f', ' '],
  ['selectors of ideographs after a letter', 'a\u{e0100}', 'a'],
  ['a joiner that joins nothing', '👩\u200d', '👩'],
];
for (const [what, text, visible] of removes)
  it(`removes ${what} from texts for agents`, () => {
    assert.deepEqual(withoutHidden(text), { text: visible, removed: [...text].length - [...visible].length });
  });

const kept = [
  '👨‍👩‍👧 👩🏽‍💻 ❤️‍🔥 🏳️‍🌈 🏴‍☠️ 1️⃣ ☎︎ 🇩🇪',
  `🏴${tags('gbeng')}${END_TAG} 🏴${tags('gbwls')}${END_TAG}`,
  'می‌خواهم क्‍ष',
  '葛\u{e0100}',
  'שלום, مرحبا\tnew\nline',
];
for (const text of kept)
  it(`keeps ${text} in texts for agents`, () => {
    assert.deepEqual(withoutHidden(text), { text, removed: 0 });
  });

let server: TestServer;
before(async () => {
  server = await startServer();
});
after(() => server.stop());

async function agent(test: TestContext) {
  const account = await server.account();
  const { key } = (await account.call('POST', '/api-keys/create', { name: 'agent' })).body;
  const client = await mcpClient(server, key, '2026-07-28');
  test.after(() => client.close());
  const sessionId = await connectSession(account.call);
  const simulate = (action: object) => account.call('POST', `/sessions/${sessionId}/simulate`, action);
  return { ...account, key: key as string, client, sessionId, simulate };
}

it('removes and counts invisible characters in tool results and resources, but not over REST', async (test) => {
  const { call, client, sessionId, simulate } = await agent(test);
  const from = newNumber();
  await simulate({ action: 'incoming', from, senderName: 'Ada', message: `hi${HIDDEN} 👨‍👩‍👧` });
  const { output } = await callTool(client, 'messages_list');
  assert.deepEqual([output.data[0].message, output.invisibleCharactersRemoved], ['hi 👨‍👩‍👧', HIDDEN_COUNT]);
  const { messageId } = output.data[0];
  const one = await callTool(client, 'messages_get', { messageId });
  assert.deepEqual([one.output.message, one.output.invisibleCharactersRemoved], ['hi 👨‍👩‍👧', HIDDEN_COUNT]);
  const events = await callTool(client, 'events_list', { events: ['message.incoming'] });
  assert.equal(events.output.data[0].data.message, 'hi 👨‍👩‍👧');
  const uri = `switchboard://sessions/${sessionId}/chats/${from}/messages`;
  const [content] = (await client.readResource({ uri })).contents;
  const shown = JSON.parse(content && 'text' in content ? content.text : '');
  assert.deepEqual([shown.data[0].message, shown.invisibleCharactersRemoved], ['hi 👨‍👩‍👧', HIDDEN_COUNT]);
  const rest = (await call('GET', `/messages/${messageId}`)).body;
  assert.equal(rest.message, `hi${HIDDEN} 👨‍👩‍👧`);
  const clean = await callTool(client, 'sessions_list');
  assert.equal('invisibleCharactersRemoved' in clean.output, false);
});

it('removes invisible characters from errors, prompts and events', async (test) => {
  const { key, client, simulate } = await agent(test);
  const { output } = await callTool(client, 'messages_get', { messageId: `msg_1${HIDDEN}` });
  assert.equal(output.code, 'not_found');
  assert.equal(withoutHidden(JSON.stringify(output)).removed, 0);
  assert.ok(output.invisibleCharactersRemoved >= HIDDEN_COUNT);
  const prompt = await client.getPrompt({ name: 'summarize_chat', arguments: { chat: `Ada${HIDDEN}` } });
  assert.equal(withoutHidden(JSON.stringify(prompt)).removed, 0);
  const { cursor } = (await rpcOf(server, key)('events/poll', { name: 'message.incoming', cursor: null })).result;
  await simulate({ action: 'incoming', from: newNumber(), message: `hi${HIDDEN}` });
  const { result } = await rpcOf(server, key)('events/poll', {
    name: 'message.incoming',
    arguments: { chatId: '' },
    cursor,
  });
  const [{ data }] = result.events;
  assert.deepEqual([data.message, data.invisibleCharactersRemoved], ['hi', HIDDEN_COUNT]);
});

it('shows names with the numbers of messages, reactions and chats', async (test) => {
  const { call, client, sessionId, simulate } = await agent(test);
  const from = newNumber();
  await simulate({ action: 'incoming', from, senderName: 'Ada', message: 'hi' });
  const { groupId } = (await call('POST', '/groups', { sessionId, subject: 'Engines', phoneNumbers: [from] })).body;
  await simulate({ action: 'incoming', from, senderName: 'Ada', groupId, message: 'all' });
  const [inGroup, direct] = (await callTool(client, 'messages_list', { direction: 'incoming' })).output.data;
  assert.deepEqual([inGroup.senderName, inGroup.chatName], ['Ada', 'Engines']);
  assert.deepEqual([direct.senderName, direct.chatName], ['Ada', undefined]);
  const one = (await callTool(client, 'messages_get', { messageId: direct.messageId })).output;
  assert.deepEqual([one.senderName, one.chatName], ['Ada', undefined]);
  const chats = (await callTool(client, 'chats_list')).output.data;
  assert.deepEqual(
    chats.map(({ name, chatName, lastMessage }: Record<string, { senderName?: string }>) => [
      name,
      chatName,
      lastMessage?.senderName,
    ]),
    [
      ['Engines', undefined, 'Ada'],
      ['Ada', undefined, 'Ada'],
    ],
  );
  const group = (await callTool(client, 'groups_get', { groupId })).output;
  const member = group.participants.find(({ phoneNumber }: { phoneNumber: string }) => phoneNumber === from);
  assert.equal(member.name, 'Ada');
  const sent = (await callTool(client, 'messages_send', { to: from, message: 'x' })).output;
  assert.equal('chatName' in sent, false, 'a receipt has no text of third parties');
});

it('adds names only of the session in which a number occurs', async () => {
  const { accountId, call } = await server.account();
  const first = await connectSession(call);
  const second = await connectSession(call);
  const from = newNumber();
  await call('POST', `/sessions/${first}/simulate`, {
    action: 'incoming',
    from,
    senderName: 'Ada',
    message: 'hi',
  });
  const names = new Names(server.app.services);
  const output = (sessionId: string) => ({
    sessionId,
    messageId: 'msg_1',
    from: '1',
    mentions: [from, '2'],
    reactions: [{ from, emoji: '👍' }],
    quoted: { messageId: 'msg_2', chatId: from, from: '1' },
  });
  assert.deepEqual(await names.addTo(accountId, output(first)), {
    ...output(first),
    mentionedNames: { [from]: 'Ada' },
    reactions: [{ from, name: 'Ada', emoji: '👍' }],
    quoted: { messageId: 'msg_2', chatId: from, chatName: 'Ada', from: '1' },
  });
  assert.deepEqual(await names.addTo(accountId, output(second)), output(second));
});
