import assert from 'node:assert/strict';
import { it } from 'node:test';
import { startReceiver } from '../support/connections/receiver.ts';
import { eventually } from '../support/eventually.ts';
import { createFakeClock } from '../support/fakeClock.ts';
import { callTool, mcpClient } from '../support/mcp/mcp.ts';
import { picture, upload } from '../support/media/media.ts';
import { connectSession, newNumber, startServer, type TestServer } from '../support/server.ts';

/** Rows by table and name, with the columns that identify them. */
type Snapshot = ReadonlyMap<string, ReadonlyMap<string, Readonly<Record<string, unknown>>>>;

/** Columns that a user has set. The others are derived: states, counts, times. */
const CONTENT = ['body', 'content', 'subject', 'description', 'url', 'events', 'secret', 'blocked', 'role', 'left_at'];
const KEYS: Readonly<Record<string, readonly string[]>> = {
  sessions: ['session_id'],
  session_store: ['session_id', 'name'],
  chats: ['session_id', 'chat_id'],
  messages: ['message_id'],
  reactions: ['message_id', 'from_number'],
  contacts: ['session_id', 'phone_number'],
  groups: ['group_id'],
  group_participants: ['group_id', 'phone_number'],
  webhooks: ['webhook_id'],
  deliveries: ['delivery_id'],
  events: ['event_id'],
};

/** Reads every table with data of accounts. */
async function snapshot({ app }: TestServer): Promise<Snapshot> {
  const tables = Object.entries(KEYS).map(async ([table, columns]) => {
    const rows = await app.services.database.reader.kysely
      .selectFrom(table as 'messages')
      .selectAll()
      .execute();
    const named = rows.map((row: Record<string, unknown>) => [columns.map((name) => row[name]).join(), row] as const);
    return [table, new Map(named)] as const;
  });
  return new Map(await Promise.all(tables));
}

interface Changes {
  readonly isAny: boolean;
  /** Whether a value that a user had set is gone. */
  readonly isLoss: boolean;
}

function changesBetween(before: Snapshot, after: Snapshot): Changes {
  let isAny = false;
  let isLoss = false;
  for (const [table, rows] of before) {
    const now = after.get(table) ?? new Map();
    isAny ||= [...now.keys()].some((key) => !rows.has(key));
    for (const [key, row] of rows) {
      const changed = Object.keys(row).filter((column) => row[column] !== now.get(key)?.[column]);
      isAny ||= changed.length > 0;
      isLoss ||= changed.some(
        (column) => CONTENT.includes(column) && !(column === 'left_at' ? row[column] : row[column] === null),
      );
    }
  }
  return { isAny, isLoss };
}

/** Tools that affect only the network, and not the database. */
const SEEN_BY_THE_NETWORK = ['chats_set_typing', 'sessions_request_pairing_code', 'groups_get_invite_link'];

/** Tools whose second call is rejected, because the first one did everything, with the error. */
const REFUSED_AGAIN: Readonly<Record<string, string>> = {
  messages_delete: 'message_state',
  groups_leave: 'network_denied',
};

/** Tools that can become another operation. Their hints describe the worst one, which these calls do not run. */
const BRANCHED = [
  ...['messages_edit', 'messages_react', 'chats_mark_read', 'groups_update_participants', 'groups_join'],
  ...['sessions_disconnect', 'contacts_check'],
];

it('the hints of every tool match what it does to the database in a first and a second call', async (test) => {
  // The clock does not advance, so there are no receipts and no retries.
  const server = await startServer({ clock: createFakeClock() });
  const receiver = await startReceiver();
  test.after(async () => {
    await receiver.close();
    await server.stop();
  });
  const { call, token } = await server.account();
  const { key } = (await call('POST', '/api-keys/create', { name: 'agent' })).body;
  const client = await mcpClient(server, key, '2026-07-28');
  const { tools } = await client.listTools();
  const called = new Set<string>();

  /** @param ended waits for work that continues after the response */
  const run = async (name: string, input: Record<string, unknown> = {}, ended = async (_times: number) => {}) => {
    called.add(name);
    const hints = tools.find((tool) => tool.name === name)?.annotations;
    const before = await snapshot(server);
    const { isError, output } = await callTool(client, name, input);
    assert.ok(!isError, `${name}: ${JSON.stringify(output)}`);
    await ended(1);
    const between = await snapshot(server);
    const again = await callTool(client, name, input);
    const refusal = again.isError ? again.output.code : undefined;
    assert.equal(refusal, REFUSED_AGAIN[name], `${name} repeated: ${JSON.stringify(again.output)}`);
    await ended(2);
    const [first, second] = [changesBetween(before, between), changesBetween(between, await snapshot(server))];
    const isBranched = BRANCHED.includes(name);
    assert.equal(hints?.destructiveHint, first.isLoss || (isBranched && hints?.destructiveHint), `${name} overwrites`);
    if (SEEN_BY_THE_NETWORK.includes(name)) assert.equal(hints?.readOnlyHint, false, name);
    else {
      assert.equal(hints?.readOnlyHint, !first.isAny, `${name} only reads`);
      assert.equal(hints?.idempotentHint, !second.isAny && (!isBranched || hints?.idempotentHint), `${name} repeats`);
    }
    return output;
  };

  await run('sessions_create', { name: 'another' });
  const pairing = (await call('POST', '/sessions', { options: { pairing: true } })).body.sessionId;
  await run('sessions_connect', { sessionId: pairing });
  await run('sessions_get_qr', { sessionId: pairing });
  await run('sessions_request_pairing_code', { sessionId: pairing, phoneNumber: newNumber() });
  await run('sessions_disconnect', { sessionId: pairing });
  const sessionId = await connectSession(call);
  const simulate = (action: object) => call('POST', `/sessions/${sessionId}/simulate`, action);
  await run('sessions_list');
  await run('sessions_get', { sessionId });

  const to = newNumber();
  const send = { sessionId, to };
  const { messageId } = await run('messages_send', { ...send, message: 'hello' });
  const { mediaId } = (await upload(server, token, picture())).body;
  await run('messages_send_media', { ...send, type: 'image', mediaId });
  await run('messages_send_location', { ...send, latitude: 1, longitude: 2 });
  await run('messages_send_contact', { ...send, name: 'Ada', phoneNumbers: [to] });
  await run('messages_send_poll', { ...send, question: 'When?', options: ['now', 'later'] });
  await run('messages_forward', { messageId, to: newNumber() });
  await run('messages_react', { messageId, emoji: '👍' });
  await run('messages_edit', { messageId, message: 'other' });
  await run('messages_delete', { messageId });
  await simulate({ action: 'incoming', from: to, message: 'hi' });
  await run('messages_list');
  await run('messages_get', { messageId });
  await run('chats_list', { sessionId });
  await run('chats_set_typing', { sessionId, chatId: to, state: 'typing' });
  await run('chats_mark_read', { sessionId, chatId: to });
  await run('contacts_list', { sessionId });
  await run('contacts_check', { sessionId, phoneNumbers: [newNumber()] });
  await run('contacts_set_blocked', { sessionId, phoneNumber: to, blocked: true });
  await run('media_get', { mediaId, picture: true });

  const { groupId } = await run('groups_create', { sessionId, subject: 'walk', phoneNumbers: [to] });
  await run('groups_list', { sessionId });
  await run('groups_get', { groupId });
  await run('groups_update', { groupId, subject: 'walked', settings: { announce: true } });
  const { inviteLink } = await run('groups_get_invite_link', { groupId });
  await run('groups_update_participants', { groupId, action: 'remove', phoneNumbers: [to] });
  const other = await connectSession(call);
  await run('groups_join', { sessionId: other, invite: inviteLink });
  await run('groups_leave', { groupId });

  await call('POST', '/webhooks/set', { webhookUrl: `${receiver.url}/1`, events: ['group.created'], secret: 'secret' });
  await run('webhooks_set', { webhookUrl: receiver.url, events: ['message.sent'], rotateSecret: true });
  await run('webhooks_get');
  await run('webhooks_test');
  const sentId = (await call('POST', '/messages/send', { ...send, message: 'hello' })).body.messageId;
  const delivered = async () => (await call('GET', `/webhooks/deliveries?states=delivered&messageId=${sentId}`)).body;
  const settled = (attempts: number) => eventually(delivered, ({ data }) => data[0]?.attempts === attempts);
  const { deliveryId } = (await settled(1)).data[0];
  await run('webhooks_list_deliveries');
  await run('webhooks_get_delivery', { deliveryId });
  await run('webhooks_stats');
  await run('webhooks_get_circuit_breaker');
  await run('webhooks_reset_circuit_breaker');
  await run('webhooks_replay', { deliveryIds: [deliveryId] }, async (times) => void (await settled(times + 1)));
  await run('events_list');

  assert.deepEqual(
    tools.map(({ name }) => name).filter((name) => !called.has(name)),
    [],
  );
  await client.close();
});
