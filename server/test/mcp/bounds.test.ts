import assert from 'node:assert/strict';
import { randomFillSync } from 'node:crypto';
import { after, before, describe, it, type TestContext } from 'node:test';
import { crc32 } from 'node:zlib';
import sharp from 'sharp';
import { Compile } from 'typebox/compile';
import type { Caller } from '../../src/auth/authenticate.ts';
import { Tools } from '../../src/http/mcp/tools.ts';
import type { Answer, Invoke, Operation } from '../../src/invoke/operation.ts';
import { operations } from '../../src/operations/index.ts';
import { startReceiver } from '../support/connections/receiver.ts';
import { callTool, mcpClient, type ToolAnswer } from '../support/mcp/mcp.ts';
import { upload } from '../support/media/media.ts';
import { type Call, connectSession, newNumber, startServer, type TestServer } from '../support/server.ts';

/** The limit of a whole response in bytes. */
const MAX_BYTES = 60_000;

type Client = Awaited<ReturnType<typeof mcpClient>>;

let server: TestServer;
before(async () => {
  server = await startServer();
});
after(() => server.stop());

/** An account with a connected session, and an agent with a key for everything. */
async function agent(
  test: TestContext,
): Promise<{ client: Client; call: Call; token: string; sessionId: string; key: string }> {
  const { call, token } = await server.account();
  const { key } = (await call('POST', '/api-keys/create', { name: 'agent' })).body;
  const client = await mcpClient(server, key, '2026-07-28');
  test.after(() => client.close());
  return { client, call, token, key, sessionId: await connectSession(call) };
}

/** Returns the response after checking its size. */
async function small(client: Client, name: string, input: Record<string, unknown> = {}): Promise<ToolAnswer['output']> {
  const answer = await callTool(client, name, input);
  assert.ok(!answer.isError, `${name}: ${JSON.stringify(answer.output)}`);
  const bytes = Buffer.byteLength(JSON.stringify({ content: answer.content, structuredContent: answer.output }));
  assert.ok(bytes <= MAX_BYTES, `${name}: ${bytes} bytes`);
  return answer.output;
}

/** All entries of a tool, page by page. */
async function listed(client: Client, name: string, input: Record<string, unknown> = {}, cursorField = 'cursor') {
  const entries: ToolAnswer['output'][] = [];
  for (let cursor: string | undefined, pages = 0; ; pages++) {
    const page = await small(client, name, { ...input, ...(cursor !== undefined && { [cursorField]: cursor }) });
    entries.push(...page.data);
    assert.ok(pages < 100, `${name} never ends`);
    if (page.nextCursor === null || page.data.length === 0) return entries;
    cursor = page.nextCursor;
  }
}

/** Texts with the longest JSON, and one with two code units per character. */
const hostile = ['\u0001'.repeat(60_000), '"\\'.repeat(30_000), '𝕏'.repeat(30_000), 'x'.repeat(60_000)];

describe('the size of MCP responses', () => {
  it('is bounded whatever third parties write, and a cursor returns every entry once', async (test) => {
    const { client, call, sessionId } = await agent(test);
    for (let n = 0; n < 12; n++) {
      const message = `${n} ${hostile[n % hostile.length]}`;
      const { status } = await call('POST', `/sessions/${sessionId}/simulate`, {
        ...{ action: 'incoming', from: newNumber(), senderName: 'x'.repeat(100), message },
      });
      assert.equal(status, 200);
    }
    const rest = async (path: string) => (await call('GET', path)).body.data;
    const ids = (entries: { messageId: string }[]) => entries.map(({ messageId }) => messageId);

    const messages = await listed(client, 'messages_list', { direction: 'incoming' });
    assert.deepEqual(ids(messages), ids(await rest('/messages?direction=incoming&limit=200')));
    for (const { message, truncated } of messages) {
      assert.ok(message.length <= 600 && message.isWellFormed());
      assert.equal(truncated, true);
    }
    const chats = await listed(client, 'chats_list');
    assert.equal(new Set(chats.map(({ chatId }) => chatId)).size, 12);
    for (const { lastMessage } of chats) {
      assert.ok(lastMessage.truncated === true && lastMessage.message.length <= 200);
      assert.deepEqual([lastMessage.chatId, lastMessage.sessionId], [undefined, undefined], 'the chat has them');
    }
    const events = await listed(client, 'events_list', { events: ['message.incoming'] }, 'afterCursor');
    assert.deepEqual(ids(events.map(({ data }) => data)), ids(messages).reverse());
    assert.ok(events.every(({ data }) => data.truncated === true && data.message.length <= 600));
    const found = await listed(client, 'messages_list', { q: 'xxxx' });
    assert.deepEqual(ids(found), ids(await rest('/messages?q=xxxx&limit=200')));
    assert.equal((await listed(client, 'contacts_list')).length, 12);

    const uri = `switchboard://sessions/${sessionId}/chats`;
    const resource = JSON.stringify(await client.readResource({ uri }));
    assert.ok(Buffer.byteLength(resource) < MAX_BYTES, `${Buffer.byteLength(resource)} bytes`);
  });

  it('is limited to 20 entries by default', async (test) => {
    const { client, call } = await agent(test);
    for (let n = 0; n < 24; n++) await call('POST', '/sessions', {});
    assert.equal((await small(client, 'sessions_list')).data.length, 20);
    assert.equal((await small(client, 'sessions_list', { limit: 25 })).data.length, 25);
    assert.equal((await call('GET', '/sessions')).body.data.length, 25, 'REST has its own page size');
  });

  it('allows reading a long text by offset, without splitting a character', async (test) => {
    const { client, call, sessionId } = await agent(test);
    for (const message of hostile) {
      await call('POST', `/sessions/${sessionId}/simulate`, { action: 'incoming', from: newNumber(), message });
      const [{ messageId }] = (await small(client, 'messages_list', { limit: 1 })).data;
      const first = await small(client, 'messages_get', { messageId });
      assert.deepEqual([first.message.length, first.truncated, first.nextOffset], [2048, true, 2048]);
      const parts = [];
      for (let offset: number | undefined = 0; offset !== undefined; ) {
        const part = await small(client, 'messages_get', { messageId, offset });
        assert.ok(part.message.isWellFormed());
        assert.ok(parts.push(part.message) < 100);
        offset = part.nextOffset;
      }
      assert.equal(parts.join(''), message);
    }
    const [{ messageId }] = (await small(client, 'messages_list', { limit: 1 })).data;
    const behind = await small(client, 'messages_get', { messageId, offset: 70_000 });
    assert.deepEqual([behind.message, behind.truncated], ['', undefined]);
    for (const offset of [-1, 1.5, 'far']) {
      const { isError, output } = await callTool(client, 'messages_get', { messageId, offset });
      assert.deepEqual([isError, output.code, output.errors[0].field], [true, 'validation_failed', 'offset']);
    }
    const { status } = await call('GET', `/messages/${messageId}?offset=5`);
    assert.equal(status, 400, 'REST has no offset');
  });

  it('allows reading all participants of a group by offset', async (test) => {
    const { client, call } = await agent(test);
    const phoneNumbers = Array.from({ length: 1000 }, (_, n) => `4915${1_000_000_000 + n}`);
    const { groupId } = (await call('POST', '/groups', { subject: 'large', phoneNumbers })).body;
    const found = new Set<string>();
    for (let offset: number | undefined = 0; offset !== undefined; ) {
      const part = await small(client, 'groups_get', { groupId, offset });
      for (const { phoneNumber } of part.participants) found.add(phoneNumber);
      offset = part.nextOffset;
    }
    assert.equal(found.size, 1001);
    const [group] = (await small(client, 'groups_list')).data;
    assert.deepEqual([group.participants.length, group.truncated], [20, true]);
  });

  it('is bounded for errors that repeat the input', async (test) => {
    const { client } = await agent(test);
    const input = Object.fromEntries(Array.from({ length: 60 }, (_, n) => [`${n}${'y'.repeat(15_000)}`, 1]));
    const { isError, content } = await callTool(client, 'messages_send', input);
    assert.ok(isError && Buffer.byteLength(JSON.stringify(content)) < MAX_BYTES);
    const long = 'z'.repeat(10_000);
    for (const attempt of [
      () => client.callTool({ name: long, arguments: {} }),
      () => client.readResource({ uri: `switchboard://${long}` }),
      () => client.getPrompt({ name: long }),
      () => client.getPrompt({ name: 'summarise_chat', arguments: { chatId: long } }),
    ])
      await assert.rejects(attempt, ({ message }: Error) => message.length < 500);
  });
});

/** The largest value that matches an output schema, and beyond it where third parties are not limited. */
function largest(schema: unknown, name = ''): unknown {
  const {
    type,
    properties,
    items,
    anyOf,
    patternProperties,
    const: fixed,
    enum: words,
  } = schema as Record<string, unknown>;
  if (fixed !== undefined) return fixed;
  if (Array.isArray(words)) return words[0];
  if (Array.isArray(anyOf)) return largest(anyOf[0], name);
  if (type === 'array') return Array(name === 'data' ? 50 : 1500).fill(largest(items));
  if (patternProperties !== undefined)
    return Object.fromEntries(Array.from({ length: 300 }, (_, n) => [`name ${n}`, free[n % free.length]]));
  if (type === 'object')
    return Object.fromEntries([
      ...Object.entries(properties as object).map(([key, member]) => [key, largest(member, key)]),
      ...((schema as { additionalProperties?: unknown }).additionalProperties === true
        ? Array.from({ length: 300 }, (_, n) => [`more ${n}`, { list: [[[free, free]]], text: free[0] }])
        : []),
    ]);
  if (type === 'string') return /Cursor$/.test(name) ? 'c'.repeat(268) : hostile[0]?.slice(0, 20_000);
  return type === 'boolean' ? true : type === 'null' ? null : 2_147_483_647;
}
const free = hostile.map((text) => text.slice(0, 20_000));

const textOf = (content: object | undefined) =>
  content !== undefined && 'text' in content ? String(content.text) : '';

describe('every tool', () => {
  const caller = { accountId: 'acc', credential: { type: 'api_key', keyId: 'k', permissions: ['*'] } };
  // Only `invoke`, which is replaced below, would look at it.
  const principal = {
    ...{ caller: caller as unknown as Caller, requestId: 'req', address: '', credential: '', trace: '' },
    selection: { toolsets: undefined, isReadOnly: false },
    showsApps: false,
    signal: () => new AbortController().signal,
    stream: () => {},
  };
  const outputs = new Map<Operation, unknown>();
  const invoke: Invoke = async (operation) => {
    const output = outputs.get(operation);
    const { data } = output as { data?: unknown[] };
    const isPage = Object.hasOwn(operation.input.properties, 'limit');
    const answer: Answer = {
      ...{ ok: true, status: 200, output, replayed: false },
      represent: async () => null,
      preview: async () => undefined,
      ...(isPage && { cursors: (data ?? []).map((_, n) => `${n}`.padEnd(268, 'c')) }),
    };
    return answer;
  };
  const tools = new Tools(operations, invoke, { addTo: async (_, output) => output });

  for (const operation of operations.filter(({ tool }) => tool)) {
    it(`${operation.id} responds within 60 KB and according to its schema, whatever the output`, async () => {
      outputs.set(operation, largest(operation.output));
      const name = operation.id.replaceAll('.', '_');
      const result = await tools.call(principal, name, {});
      assert.ok(result);
      outputs.clear();
      const bytes = Buffer.byteLength(JSON.stringify(result));
      assert.ok(bytes <= MAX_BYTES, `${bytes} bytes`);
      const schema = tools.list(principal).find((tool) => tool.name === name)?.outputSchema ?? {};
      assert.deepEqual(Compile(schema).Errors(result.structuredContent), []);
      assert.deepEqual(JSON.parse(textOf(result.content.at(-1))), result.structuredContent);
      const { data } = result.structuredContent as { data?: unknown[] };
      if (Object.hasOwn(operation.input.properties, 'limit')) assert.ok(data && data.length > 0, 'a page has entries');
    });
  }
});

describe('an image over MCP', () => {
  /** Incompressible bytes. */
  const noise = (width: number, height: number) =>
    sharp(randomFillSync(Buffer.alloc(width * height * 3)), { raw: { width, height, channels: 3 } });

  /** The same PNG with another size in its header. */
  function claiming(png: Buffer, width: number, height: number): Buffer {
    const bomb = Buffer.from(png);
    bomb.writeUInt32BE(width, 16);
    bomb.writeUInt32BE(height, 20);
    bomb.writeUInt32BE(crc32(bomb.subarray(12, 29)), 29);
    return bomb;
  }

  it('is included on request only, scaled down, while REST returns the original', async (test) => {
    const { client, token, call } = await agent(test);
    const original = await noise(1200, 600).png({ compressionLevel: 0 }).toBuffer();
    assert.ok(original.length > 2_000_000);
    const { mediaId } = (await upload(server, token, original)).body;
    const plain = await callTool(client, 'media_get', { mediaId });
    assert.ok(plain.content.every(({ type }) => type === 'text'));
    const shown = await callTool(client, 'media_get', { mediaId, picture: true });
    const image = shown.content.find(({ type }) => type === 'image');
    const scaled = await sharp(Buffer.from(image?.data ?? '', 'base64')).metadata();
    assert.deepEqual([image?.mimeType, scaled.format, scaled.width / scaled.height], ['image/webp', 'webp', 2]);
    assert.ok(scaled.width <= 1024);
    await small(client, 'media_get', { mediaId, picture: true });
    const resource = await client.readResource({ uri: `switchboard://media/${mediaId}` });
    assert.equal(resource.contents.length, 2);
    assert.ok(Buffer.byteLength(JSON.stringify(resource)) < MAX_BYTES);
    const whole = await fetch(`${server.url}/api/v1/media/${mediaId}`, {
      headers: { authorization: `Bearer ${token}`, accept: 'image/png' },
    });
    assert.equal((await whole.arrayBuffer()).byteLength, original.length);
    assert.equal((await call('GET', `/media/${mediaId}?picture=true`)).status, 400, 'REST has no `picture`');
  });

  it('is replaced by the reason if the file is no image, damaged, or a decompression bomb', async (test) => {
    const { client, token } = await agent(test);
    const png = await noise(200, 200).png().toBuffer();
    for (const [content, reason] of [
      [Buffer.from('only text'), /cannot be shown as an image/],
      [png.subarray(0, png.length / 2), /damaged/],
      [claiming(png, 20_000, 20_000), /pixels/],
    ] as const) {
      const { mediaId } = (await upload(server, token, content)).body;
      const answer = await callTool(client, 'media_get', { mediaId, picture: true });
      assert.ok(!answer.isError);
      assert.match(answer.content.map(({ text }) => text).join('\n'), reason);
      assert.ok(answer.content.every(({ type }) => type === 'text'));
    }
  });
});

describe('the response of a receiver', () => {
  it('is bounded in a delivery, and its body can be read by offset', async (test) => {
    const receiver = await startReceiver();
    test.after(() => receiver.close());
    const { client, call, sessionId } = await agent(test);
    await call('POST', '/webhooks/set', { webhookUrl: receiver.url, events: ['message.incoming'] });
    const message = `${'"'.repeat(50_000)}end`;
    await call('POST', `/sessions/${sessionId}/simulate`, { action: 'incoming', from: newNumber(), message });
    await receiver.waitFor(1);
    const [{ deliveryId }] = (await small(client, 'webhooks_list_deliveries')).data;
    let body = '';
    for (let offset: number | undefined = 0; offset !== undefined; ) {
      const part = await small(client, 'webhooks_get_delivery', { deliveryId, offset });
      body += part.body;
      offset = part.nextOffset;
    }
    assert.equal(JSON.parse(body).data.message, message);
  });
});
