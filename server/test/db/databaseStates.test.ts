import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import { createLog } from '../../src/log.ts';
import { DatabaseFaults } from '../support/databases/databaseFaults.ts';
import { newHome } from '../support/databases/databases.ts';
import { eventually } from '../support/eventually.ts';
import { createFakeClock } from '../support/fakeClock.ts';
import { callTool, mcpClient } from '../support/mcp/mcp.ts';
import { type Answer, type Call, connectSession, newNumber, startServer } from '../support/server.ts';

const writesMessages = (statement: string) => /^\s*update "?messages"?\s/.test(statement);
/** More than two transactions make, one after the other, before they fail. */
const ATTEMPTS = 200;

/** A server on PostgreSQL with two sessions that write to each other. */
async function setUp(test: TestContext) {
  const home = await newHome('postgres');
  const faults = new DatabaseFaults();
  const clock = createFakeClock();
  const lines: string[] = [];
  const log = createLog('warn', { write: (line: string) => void lines.push(line) });
  const server = await startServer({ home, clock, log, wrapStore: faults.wrap });
  test.after(async () => {
    faults.end();
    await server.stop();
    await home.remove();
  });
  const { call, accountId } = await server.account();
  const [mine, other] = [newNumber(), newNumber()];
  const sessionId = await connectSession(call, mine);
  const otherId = await connectSession(call, other);
  const send = (more: object) => call('POST', '/messages/send', { sessionId, to: other, message: 'hello', ...more });
  const logged = (text: string) =>
    eventually(
      async () => lines.some((line) => line.includes(text)),
      (isLogged) => isLogged,
    );
  /** A message can be stored as sent a moment before the other session stores it. */
  const arrive = (count: number) =>
    eventually(
      async () => (await call('GET', `/messages?sessionId=${otherId}&direction=incoming`)).body.data,
      ({ length }) => length === count,
    );
  return { server, faults, clock, call, accountId, sessionId, send, logged, arrive };
}

/** Waits for the status of a message while time goes on. */
async function becomes(call: Call, clock: ReturnType<typeof createFakeClock>, messageId: string, statuses: string[]) {
  await eventually(
    async () => {
      await clock.advance(1000);
      return (await call('GET', `/messages/${messageId}`)).body.status as string;
    },
    (status) => statuses.includes(status),
  );
}

const SENT = ['sent', 'delivered', 'read'];

describe('a state of the database that says nothing about the row', () => {
  it('leaves a message queued that could not be read before it was sent', async (test) => {
    const { faults, clock, call, send, arrive } = await setUp(test);
    const quoted = (await send({})).body.messageId;
    await arrive(1);
    let isStored = false;
    // The quoted message is looked up a second time when the reply is sent.
    faults.fails = (statement, parameters) => {
      isStored ||= /^\s*insert into messages\s/.test(statement);
      const isLookUp = /^select .* from "messages" .*"message_id" = \$2$/.test(statement);
      return isStored && isLookUp && parameters.includes(quoted) && faults.count < 4;
    };
    const { status, body } = await send({ replyTo: quoted, message: 'reply' });
    assert.deepEqual([status, body.code], [503, 'storage_unavailable']);
    const { data } = (await call('GET', '/messages?direction=outgoing')).body;
    const reply = data.find(({ message }: Answer['body']) => message === 'reply');
    await becomes(call, clock, reply.messageId, SENT);
    assert.equal(faults.count, 4);
    await arrive(2);
  });

  it('stores the acceptance of a message later, and sends it once', async (test) => {
    const { server, faults, clock, call, accountId, sessionId, send, arrive } = await setUp(test);
    const connection = server.app.services.liveSessions.find({ accountId, sessionId })?.connection;
    assert.ok(connection !== undefined);
    const sends = test.mock.method(connection, 'send');
    faults.fails = writesMessages;
    const { status, body } = await send({ message: 'accepted' });
    assert.deepEqual([status, body.code], [503, 'storage_unavailable']);
    assert.ok(faults.count >= 4, `${faults.count}`);
    faults.end();
    const { data } = (await call('GET', '/messages?direction=outgoing')).body;
    await becomes(call, clock, data[0].messageId, SENT);
    await arrive(1);
    assert.equal(sends.mock.callCount(), 1);
  });

  it('keeps a scheduled message that could not be queued', async (test) => {
    const { faults, clock, call, send, logged, arrive } = await setUp(test);
    const sendAt = new Date(clock.now() + 3_600_000).toISOString();
    const { messageId } = (await send({ sendAt })).body;
    faults.fails = writesMessages;
    await clock.advance(3_600_000);
    await logged('failed to queue scheduled messages');
    assert.ok(faults.count >= 4, `${faults.count}`);
    assert.equal((await call('GET', `/messages/${messageId}`)).body.status, 'scheduled');
    faults.end();
    await becomes(call, clock, messageId, SENT);
    await arrive(1);
  });

  it('keeps a message that waits for approval until it could be expired', async (test) => {
    const { server, faults, clock, call, sessionId, logged } = await setUp(test);
    const { key } = (await call('POST', '/api-keys/create', { name: 'supervised', requiresApproval: true })).body;
    const supervised = await fetch(`${server.url}/api/v1/messages/send`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-api-key': key },
      body: JSON.stringify({ sessionId, to: newNumber(), message: 'may I' }),
    });
    const { messageId } = (await supervised.json()) as { messageId: string };
    const statusOf = () =>
      server.app.services.database.reader.kysely
        .selectFrom('messages')
        .select('status')
        .where('message_id', '=', messageId)
        .executeTakeFirstOrThrow();
    await server.app.services.database.commit(async ({ kysely }) => {
      await kysely.updateTable('messages').set({ created_at: 1 }).where('message_id', '=', messageId).execute();
      await kysely.updateTable('outbox').set({ due_at: 1 }).where('message_id', '=', messageId).execute();
    });
    faults.fails = writesMessages;
    await clock.advance(60_000);
    await logged('failed to expire messages that wait for approval');
    assert.ok(faults.count >= 4, `${faults.count}`);
    assert.equal((await statusOf()).status, 'pending_approval');
    faults.end();
    await eventually(
      async () => {
        await clock.advance(60_000);
        return (await statusOf()).status;
      },
      (status) => status !== 'pending_approval',
    );
  });

  it('continues an import of the history that could not be stored', async (test) => {
    const { faults, call, sessionId } = await setUp(test);
    faults.fails = (statement) => /^\s*insert into "?messages"?\s/.test(statement);
    const history = { generate: { messages: 30, chats: 2 } };
    const { status, body } = await call('POST', `/sessions/${sessionId}/simulate`, { action: 'history', history });
    assert.deepEqual([status, body.code], [503, 'storage_unavailable']);
    assert.ok(faults.count >= 4, `${faults.count}`);
    faults.end();
    await call('POST', `/sessions/${sessionId}/disconnect`);
    await call('POST', `/sessions/${sessionId}/connect`);
    const imported = async () => (await call('GET', `/sessions/${sessionId}`)).body.history;
    await eventually(imported, ({ state }) => state === 'complete');
    const { data } = (await call('GET', `/messages?sessionId=${sessionId}&limit=100`)).body;
    assert.equal(data.length, 30);
  });

  it('records a tool call later', async (test) => {
    const { server, faults, clock, call, sessionId, logged } = await setUp(test);
    const { key } = (await call('POST', '/api-keys/create', { name: 'agent' })).body;
    faults.fails = (statement) => /^\s*insert into "?tool_calls"?\s/.test(statement);
    const client = await mcpClient(server, key, '2026-07-28');
    const { isError } = await callTool(client, 'messages_send', { sessionId, to: newNumber(), message: 'hello' });
    assert.equal(isError, false);
    await logged('failed to store a tool call; trying again');
    const { count } = faults;
    await eventually(
      async () => {
        await clock.advance(1000);
        return faults.count;
      },
      (now) => now > count + ATTEMPTS,
    );
    faults.end();
    const recorded = await eventually(
      async () => {
        await clock.advance(1000);
        return server.app.services.database.reader.kysely.selectFrom('tool_calls').select('tool').execute();
      },
      (calls) => calls.length > 0,
    );
    assert.deepEqual(
      recorded.map(({ tool }) => tool),
      ['messages_send'],
    );
    await client.close();
  });
});
