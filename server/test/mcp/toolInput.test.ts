import assert from 'node:assert/strict';
import { after, before, describe, it, type TestContext } from 'node:test';
import { MAX_VALUES } from '../../src/http/jsonShape.ts';
import { toolInputReader } from '../../src/http/mcp/toolInput.ts';
import { operations } from '../../src/operations/index.ts';
import { type Receiver, startReceiver } from '../support/connections/receiver.ts';
import { eventually } from '../support/eventually.ts';
import { callTool, mcpClient } from '../support/mcp/mcp.ts';
import { walkTools } from '../support/mcp/toolWalk.ts';
import { picture, upload } from '../support/media/media.ts';
import { connectSession, newNumber, startServer, type TestServer } from '../support/server.ts';

interface Field {
  readonly anyOf?: readonly { readonly type?: string }[];
}

interface ListField {
  readonly type?: string;
  readonly maxItems?: number;
  readonly anyOf?: readonly ListField[];
}

const tools = operations.filter(({ tool }) => tool === true);

const optionalFields = tools.flatMap(({ id, input }) =>
  Object.entries(input.properties as Record<string, Field>)
    .filter(([name]) => input.required?.includes(name) !== true)
    .map(([name, { anyOf = [] }]) => ({ id, input, name, isNullable: anyOf.some(({ type }) => type === 'null') })),
);

const readerOf = (id: string) => {
  const operation = operations.find((one) => one.id === id);
  assert.ok(operation, id);
  return toolInputReader(operation.input);
};

describe('tool input', () => {
  it('treats null and an empty text in every optional field of every tool as absent', () => {
    assert.ok(optionalFields.length > 100, `${optionalFields.length} fields`);
    for (const { id, input, name, isNullable } of optionalFields) {
      const read = toolInputReader(input);
      assert.deepEqual(read({ [name]: '' }), {}, `${id} ${name}`);
      // Null of these fields removes what is set.
      assert.deepEqual(read({ [name]: null }), isNullable ? { [name]: null } : {}, `${id} ${name}`);
    }
  });

  it('treats words for nothing in an optional field as absent unless the field is free text', () => {
    for (const word of ['null', 'undefined', 'None', ' NULL ']) {
      const [mixed, text] = [{ q: word, limit: word, cursor: word, direction: word, afterTime: word }, { q: word }];
      assert.deepEqual(readerOf('messages.list')({ ...mixed, sessionId: word, from: word, starred: word }), text);
      const sent = { to: word, message: word, idempotencyKey: word };
      assert.deepEqual(readerOf('messages.send')({ ...sent, replyTo: word, sendAt: word, mentions: word }), sent);
      assert.deepEqual(readerOf('webhooks.list_deliveries')({ events: word, states: word, webhookId: word }), {});
      const media = { caption: word, fileName: word };
      assert.deepEqual(readerOf('messages.send_media')({ ...media, content: word, mediaId: word }), media);
      // Null of these fields removes what is set, and a word for it may or may not.
      const nullable = { description: word, pictureMediaId: word };
      assert.deepEqual(readerOf('groups.update')(nullable), nullable);
    }
    const { input } = operations.find(({ id }) => id === 'sessions.get') ?? assert.fail();
    assert.deepEqual(toolInputReader(input)({ sessionId: 'null' }), { sessionId: 'null' }, 'a required field');
  });

  it('does not parse JSON as text with more values or levels than a body may have', (test) => {
    const parse = test.mock.method(JSON, 'parse');
    const [levels, values, names] = [
      '['.repeat(100),
      `[${'0,'.repeat(MAX_VALUES)}0]`,
      `{${'"a":0,'.repeat(MAX_VALUES)}"b":0}`,
    ];
    for (const text of [levels, values, names])
      for (const { id, input } of tools) {
        const read = toolInputReader(input);
        read(text);
        for (const name of Object.keys(input.properties)) read({ [name]: text });
        assert.equal(parse.mock.callCount(), 0, id);
      }
    readerOf('messages.send')('{"to":"1"}');
    assert.equal(parse.mock.callCount(), 1);
  });

  it('reads only so many entries of a list with commas that the validation refuses them', () => {
    const text = 'a,'.repeat(100_000);
    for (const { id, input } of tools) {
      const read = toolInputReader(input);
      for (const [name, { anyOf, ...field }] of Object.entries(input.properties as Record<string, ListField>)) {
        const list = [field, ...(anyOf ?? [])].find(({ type }) => type === 'array');
        if (list === undefined) continue;
        const { [name]: found } = read({ [name]: text }) as Record<string, unknown>;
        assert.ok(Array.isArray(found), `${id} ${name}`);
        if (found.length === 1) continue; // of texts, which can contain commas
        assert.equal(found.length, MAX_VALUES + 1, `${id} ${name}`);
        assert.ok((list.maxItems ?? Number.POSITIVE_INFINITY) < found.length, `${id} ${name}`);
      }
    }
  });

  it('keeps null and an empty text in required and unknown fields', () => {
    assert.deepEqual(readerOf('messages.react')({ messageId: null, emoji: '', other: null }), {
      messageId: null,
      emoji: '',
      other: null,
    });
  });

  const converted: readonly [string, operation: string, given: object, expected: object][] = [
    ['a numeric text', 'messages.list', { limit: '5' }, { limit: 5 }],
    ['a decimal text', 'messages.send_location', { latitude: ' -52.5 ' }, { latitude: -52.5 }],
    ['a word for true', 'messages.send_media', { viewOnce: 'true', gif: 'False' }, { viewOnce: true, gif: false }],
    ['one entry of a list', 'messages.send', { mentions: '49170' }, { mentions: ['49170'] }],
    ['a number in a list', 'contacts.check', { phoneNumbers: 491701234567 }, { phoneNumbers: ['491701234567'] }],
    ['a JSON list', 'messages.send_poll', { options: '["a", "b"]' }, { options: ['a', 'b'] }],
    ['a list of JSON', 'contacts.check', { phoneNumbers: '[49170]' }, { phoneNumbers: ['49170'] }],
    ['a JSON object', 'groups.update', { settings: '{"locked": "true"}' }, { settings: { locked: true } }],
    ['JSON of a map', 'sessions.create', { metadata: '{"team": 5}' }, { metadata: { team: '5' } }],
    ['a member of a union', 'messages.send', { linkPreview: 'false' }, { linkPreview: false }],
    ['JSON of a union', 'messages.send', { linkPreview: '{"title": "x"}' }, { linkPreview: { title: 'x' } }],
    ['an absent inner field', 'groups.update', { settings: { locked: null } }, { settings: {} }],
    ['a phone number', 'messages.send', { to: 491701234567 }, { to: '491701234567' }],
    ['a date', 'messages.list', { afterTime: '2026-07-01' }, { afterTime: '2026-07-01T00:00:00Z' }],
    [
      'a time with a space',
      'messages.list',
      { afterTime: '2026-07-01 10:00:00Z' },
      { afterTime: '2026-07-01T10:00:00Z' },
    ],
    [
      'a time with an offset in words',
      'messages.list',
      { afterTime: '2026-07-01 10:00:00.5 UTC', beforeTime: '2026-07-01 10:00:00 +02:00' },
      { afterTime: '2026-07-01T10:00:00.5Z', beforeTime: '2026-07-01T10:00:00+02:00' },
    ],
    [
      'a choice in capitals',
      'messages.list',
      { direction: 'Incoming', type: ' IMAGE ' },
      { direction: 'incoming', type: 'image' },
    ],
    ['choices in capitals', 'webhooks.list_deliveries', { states: ['Failed'] }, { states: ['failed'] }],
    [
      'event types in capitals',
      'events.list',
      { events: ['MESSAGE.INCOMING', 'Session.*'] },
      { events: ['message.incoming', 'session.*'] },
    ],
    ['one event type in capitals', 'webhooks.test', { event: 'Message.Sent' }, { event: 'message.sent' }],
    [
      'a list with commas',
      'webhooks.replay',
      { events: 'message.sent, message.read,', states: 'failed,expired', deliveryIds: 'dlv_A,dlv_B' },
      { events: ['message.sent', 'message.read'], states: ['failed', 'expired'], deliveryIds: ['dlv_A', 'dlv_B'] },
    ],
    [
      'phone numbers with commas',
      'contacts.check',
      { phoneNumbers: '+49 170 1, 49171' },
      { phoneNumbers: ['+49 170 1', '49171'] },
    ],
    ['base64 for URLs', 'messages.send_media', { content: '-_8' }, { content: '+/8=' }],
    ['a data URL of it', 'messages.send_media', { content: 'data:image/png;base64,-_8=' }, { content: '+/8=' }],
    ['a data URL', 'messages.send_media', { content: 'data:image/png;charset=x;base64,iVBO' }, { content: 'iVBO' }],
  ];
  for (const [what, id, given, expected] of converted)
    it(`converts ${what}`, () => {
      assert.deepEqual(readerOf(id)(given), expected);
    });

  it('keeps values that stand for nothing else', () => {
    for (const [id, given] of [
      ['messages.list', { limit: '0x10' }],
      ['messages.list', { limit: 'five' }],
      ['messages.list', { limit: ['5'] }],
      ['messages.list', { afterTime: '2026-07-01T12:00:00' }],
      ['chats.list', { unread: 'yes' }],
      ['messages.list', { afterTime: '2026-07-01 10:00:00' }],
      ['messages.list', { afterTime: '2026-07-01 10:00' }],
      ['messages.list', { direction: 'inbound' }],
      ['messages.send', { message: 'Null' }],
      ['messages.send_poll', { question: 'a, b', options: ['a, b'] }],
      ['messages.send_media', { content: '-+8=' }],
      ['messages.send_media', { content: 'abc' }],
      ['groups.update', { settings: '{"locked"' }],
      ['groups.update', { settings: 'locked' }],
      ['messages.send', { message: '["a"]' }],
      ['messages.send', { message: 'data:text/plain;base64,aGk=' }],
      ['messages.send', { linkPreview: 'maybe' }],
    ] as const)
      assert.deepEqual(readerOf(id)(given), given);
    for (const input of ['text', ['list'], null]) assert.deepEqual(readerOf('messages.list')(input), input);
  });
});

describe('tool calls', () => {
  let server: TestServer;
  let receiver: Receiver;
  before(async () => {
    server = await startServer();
    receiver = await startReceiver();
  });
  after(async () => {
    await receiver.close();
    await server.stop();
  });

  async function agent(test: TestContext) {
    const account = await server.account();
    const { key } = (await account.call('POST', '/api-keys/create', { name: 'agent' })).body;
    const client = await mcpClient(server, key, '2026-07-28');
    test.after(() => client.close());
    return { ...account, key: key as string, client };
  }

  for (const empty of [null, '']) {
    it(`succeed for every tool with ${JSON.stringify(empty)} in all unused fields`, async (test) => {
      const { call, token, client } = await agent(test);
      const { mediaId } = (await upload(server, token, picture())).body;
      const simulate = (sessionId: string, action: object) => call('POST', `/sessions/${sessionId}/simulate`, action);
      const seen = receiver.deliveries.length;
      const run = async (id: string, input: Record<string, unknown> = {}) => {
        const unused = optionalFields.filter((one) => one.id === id && !(empty === null && one.isNullable));
        const filled = { ...Object.fromEntries(unused.map(({ name }) => [name, empty])), ...input };
        const { isError, output } = await callTool(client, id.replaceAll('.', '_'), filled);
        assert.ok(!isError, `${id}: ${JSON.stringify(output)}`);
        return output;
      };
      await walkTools(run, {
        phoneNumber: newNumber(),
        receiverUrl: receiver.url,
        mediaId,
        pair: async (sessionId) => void (await simulate(sessionId, { action: 'pair' })),
        write: async (sessionId, from) => void (await simulate(sessionId, { action: 'incoming', from, message: 'hi' })),
        arrived: () => receiver.waitFor(seen + 1),
      });
    });
  }

  it('are listed with the converted arguments', async (test) => {
    const { call, client } = await agent(test);
    await callTool(client, 'messages_list', { limit: '5', afterTime: '2026-07-01', q: '' });
    const { keyId } = (await call('GET', '/api-keys')).body.data[0];
    const listed = async () => (await call('GET', `/api-keys/${keyId}/calls`)).body.data;
    const [{ arguments: kept }] = await eventually(listed, (calls) => calls.length > 0);
    assert.deepEqual(kept, { limit: 5, afterTime: '2026-07-01T00:00:00Z' });
  });

  it('accept a file with the prefix of a data URL, which REST rejects', async (test) => {
    const { call, client } = await agent(test);
    await connectSession(call);
    const content = `data:image/png;base64,${picture().toString('base64')}`;
    const input = { to: newNumber(), type: 'image', content };
    const { isError, output } = await callTool(client, 'messages_send_media', input);
    assert.ok(!isError, JSON.stringify(output));
    assert.equal((await call('POST', '/messages/send-media', input)).status, 400);
    const strict = await call('POST', '/messages/send', { to: newNumber(), message: 'x', mentions: null });
    assert.equal(strict.status, 400);
  });

  describe('without a session, with several sessions', () => {
    async function twoSessions(test: TestContext) {
      const found = await agent(test);
      const sessions = [await connectSession(found.call), await connectSession(found.call)] as const;
      const simulate = (sessionId: string, action: object) =>
        found.call('POST', `/sessions/${sessionId}/simulate`, action);
      return { ...found, sessions, simulate };
    }

    it('use the only session that has the chat, group or message', async (test) => {
      const { call, client, sessions, simulate } = await twoSessions(test);
      const [, second] = sessions;
      const from = newNumber();
      await simulate(second, { action: 'incoming', from, message: 'hi' });
      const { groupId } = (await call('POST', '/groups', { sessionId: second, subject: 'g', phoneNumbers: [from] }))
        .body;
      const [{ messageId }] = (await call('GET', '/messages?direction=incoming')).body.data;
      for (const [name, input] of [
        ['messages_send', { to: from, message: 'by chat' }],
        ['messages_send', { to: `+${from.slice(0, 2)} ${from.slice(2)}`, message: 'by typed number' }],
        ['messages_send', { to: groupId, message: 'by group' }],
        ['messages_send', { to: from, replyTo: messageId, message: 'by message' }],
        ['chats_mark_read', { chatId: from }],
        ['chats_set_typing', { chatId: groupId, state: 'typing' }],
        ['contacts_set_blocked', { phoneNumber: from, blocked: false }],
      ] as const) {
        const { isError, output } = await callTool(client, name, input);
        assert.ok(!isError, `${JSON.stringify(input)}: ${JSON.stringify(output)}`);
        if (name === 'messages_send') assert.equal(output.sessionId, second);
      }
      const rest = await call('POST', '/messages/send', { to: from, message: 'x' });
      assert.equal(rest.body.code, 'session_required', 'REST names its session');
    });

    it('fail with the list of sessions if several have the chat, and for a stranger', async (test) => {
      const { client, sessions, simulate } = await twoSessions(test);
      const from = newNumber();
      for (const sessionId of sessions) await simulate(sessionId, { action: 'incoming', from, message: 'hi' });
      const { isError, output } = await callTool(client, 'messages_send', { to: from, message: 'x' });
      assert.deepEqual([isError, output.code], [true, 'session_required']);
      for (const sessionId of sessions) assert.match(output.detail, new RegExp(sessionId));
      const stranger = await callTool(client, 'messages_send', { to: newNumber(), message: 'x' });
      assert.equal(stranger.output.code, 'session_required');
    });

    it('neither use nor name sessions outside the limits of the key', async (test) => {
      const { call, sessions, simulate } = await twoSessions(test);
      const third = await connectSession(call);
      const { key } = (await call('POST', '/api-keys/create', { name: 'limited', sessionIds: sessions })).body;
      const client = await mcpClient(server, key, '2026-07-28');
      test.after(() => client.close());
      const from = newNumber();
      await simulate(third, { action: 'incoming', from, message: 'hi' });
      const elsewhere = await callTool(client, 'messages_send', { to: from, message: 'x' });
      assert.equal(elsewhere.output.code, 'session_required');
      assert.doesNotMatch(JSON.stringify(elsewhere.output), new RegExp(third));
      await simulate(sessions[0], { action: 'incoming', from, message: 'hi' });
      const { output } = await callTool(client, 'messages_send', { to: from, message: 'x' });
      assert.equal(output.sessionId, sessions[0]);
    });

    it('return the first result of an idempotency key after another session has the chat', async (test) => {
      const { client, sessions, simulate } = await twoSessions(test);
      const from = newNumber();
      await simulate(sessions[0], { action: 'incoming', from, message: 'hi' });
      const input = { to: from, message: 'x', idempotencyKey: 'once' };
      const first = await callTool(client, 'messages_send', input);
      assert.ok(!first.isError, JSON.stringify(first.output));
      await simulate(sessions[1], { action: 'incoming', from, message: 'hi' });
      const second = await callTool(client, 'messages_send', input);
      assert.equal(second.output.messageId, first.output.messageId);
    });
  });
});
