import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { Tx } from '../../src/db/commit.ts';
import type { Database } from '../../src/db/database.ts';
import { type Connection, queryable } from '../../src/db/dialect.ts';
import type { ToolCallTable } from '../../src/db/schema.ts';
import { sqlite } from '../../src/db/sqlite/sqlite.ts';
import { AppError } from '../../src/errors.ts';
import { prunesToolCalls, ToolCalls } from '../../src/invoke/toolCalls.ts';
import { Steps } from '../../src/jobs/cleaning.ts';
import { createLog } from '../../src/log.ts';
import { describeOnEachDatabase, describeOnEachDeployment } from '../support/databases/databases.ts';
import { eventually } from '../support/eventually.ts';
import { createFakeClock } from '../support/fakeClock.ts';
import { callTool, mcpClient, type ProtocolVersion, protocolVersions } from '../support/mcp/mcp.ts';
import {
  bearer,
  type Call,
  connectSession,
  newNumber,
  pagesOf,
  startServer,
  type TestServer,
} from '../support/server.ts';

async function setUp(server: TestServer, more: object = {}) {
  const account = await server.account();
  const sessionId = await connectSession(account.call);
  const { body } = await account.call('POST', '/api-keys/create', { name: 'agent', ...more });
  return { ...account, sessionId, key: body.key as string, keyId: body.keyId as string };
}

type Listed = Record<string, unknown>;

const callsOf = async (call: Call, keyId: string, query = ''): Promise<Listed[]> => {
  const { status, body } = await call('GET', `/api-keys/${keyId}/calls${query}`);
  assert.equal(status, 200, JSON.stringify(body));
  return body.data;
};
const callsOnce = (call: Call, keyId: string, count: number) =>
  eventually(
    () => callsOf(call, keyId),
    ({ length }) => length === count,
  );

describeOnEachDeployment('the tool calls of a key', (_, database) => {
  let server: TestServer;
  before(async () => {
    server = await startServer({ database });
  });
  after(() => server.stop());

  for (const version of Object.keys(protocolVersions) as ProtocolVersion[]) {
    it(`are listed with their outcome and without texts, the newest first (${version})`, async () => {
      const { call, sessionId, key, keyId } = await setUp(server);
      const client = await mcpClient(server, key, version);
      const to = newNumber();
      const input = { to, message: 'the secret text', sessionId };
      const { messageId } = (await callTool(client, 'messages_send', input)).output;
      const [sent] = await callsOf(call, keyId);
      const isModern = version === '2026-07-28';
      const { callId, durationMs, requestId, createdAt, ...rest } = sent ?? {};
      assert.deepEqual(rest, {
        tool: 'messages_send',
        arguments: { to, message: '(15 characters)', sessionId },
        outcome: 'ok',
        clientName: isModern ? 'test' : null,
        clientVersion: isModern ? '1.0.0' : null,
      });
      assert.match(String(callId), /^cal_/);
      assert.match(String(requestId), /^req_/);
      assert.ok(Number(durationMs) >= 0 && Number.isInteger(durationMs));
      assert.ok(Math.abs(Date.parse(String(createdAt)) - Date.now()) < 600_000);

      await callTool(client, 'messages_get', { messageId });
      await callTool(client, 'messages_send', { to: 'somebody', message: 'x' });
      await callTool(client, 'messages_get', { messageId: 'msg_none' });
      await assert.rejects(client.callTool({ name: 'no_such_tool', arguments: {} }));
      await client.close();
      const all = await callsOnce(call, keyId, 4);
      assert.deepEqual(
        all.map(({ tool, outcome }) => [tool, outcome]),
        [
          ['messages_get', 'not_found'],
          ['messages_send', 'validation_failed'],
          ['messages_get', 'ok'],
          ['messages_send', 'ok'],
        ],
      );
      assert.doesNotMatch(JSON.stringify(all), /secret text|somebody/);
    });
  }

  it('include the resources that it reads, as the tools that read the same', async () => {
    const { call, key, keyId, sessionId } = await setUp(server);
    const client = await mcpClient(server, key, '2026-07-28');
    await client.readResource({ uri: `switchboard://sessions/${sessionId}` });
    await assert.rejects(client.readResource({ uri: 'switchboard://sessions/ses_none' }));
    await client.readResource({ uri: 'switchboard://event-kinds' });
    await client.close();
    const all = await callsOnce(call, keyId, 2);
    assert.deepEqual(
      all.map(({ tool, arguments: kept, outcome }) => [tool, kept, outcome]),
      [
        ['sessions_get', { sessionId: 'ses_none' }, 'not_found'],
        ['sessions_get', { sessionId }, 'ok'],
      ],
    );
  });

  it('are stored before the answer if they can change something', async () => {
    const { call, key, keyId } = await setUp(server);
    const client = await mcpClient(server, key, '2026-07-28');
    for (let count = 1; count <= 5; count++) {
      await callTool(client, 'messages_send', { to: newNumber(), message: 'x' });
      assert.equal((await callsOf(call, keyId)).length, count);
    }
    await client.close();
  });

  it('say that a message waits for approval, which is no error', async () => {
    const { call, key, keyId } = await setUp(server, { requiresApproval: true });
    const client = await mcpClient(server, key, '2026-07-28');
    const { messageId } = (await callTool(client, 'messages_send', { to: newNumber(), message: 'May I?' })).output;
    await callTool(client, 'messages_get', { messageId });
    await client.close();
    const all = await callsOnce(call, keyId, 2);
    const outcomes = Object.fromEntries(all.map(({ tool, outcome }) => [tool, outcome]));
    assert.deepEqual(outcomes, { messages_send: 'pending_approval', messages_get: 'ok' });
    assert.equal((await callsOf(call, keyId, '?outcome=pending_approval')).length, 1);
    assert.deepEqual(await callsOf(call, keyId, '?outcome=failed'), []);
  });

  it('are filtered by tool and outcome, and paged', async () => {
    const { call, key, keyId } = await setUp(server);
    const client = await mcpClient(server, key, '2026-07-28');
    const to = newNumber();
    const { messageId } = (await callTool(client, 'messages_send', { to, message: 'x' })).output;
    for (let time = 0; time < 4; time++) await callTool(client, 'messages_react', { messageId, emoji: '👍' });
    await callTool(client, 'messages_react', { messageId, emoji: 'no emoji' });
    await callTool(client, 'messages_delete', { messageId: 'msg_none' });
    await client.close();
    const path = `/api-keys/${keyId}/calls`;
    const count = async (query: string) => (await callsOf(call, keyId, query)).length;
    assert.deepEqual(
      await Promise.all(
        ['', '?tool=messages_react', '?outcome=ok', '?outcome=failed', '?outcome=not_found'].map(count),
      ),
      [7, 5, 5, 2, 1],
    );
    assert.equal(await count('?tool=messages_react&outcome=failed'), 1);
    assert.equal(await count('?tool=nothing'), 0);
    const pages = await pagesOf(call, path, 3);
    assert.deepEqual(
      pages.map(({ length }) => length),
      [3, 3, 1],
    );
    const ids = pages.flat().map(({ callId }) => callId);
    assert.deepEqual(ids, ids.toSorted().reverse());
    assert.equal((await call('GET', `${path}?cursor=x`)).status, 400);
    assert.equal((await call('GET', `${path}?nonsense=1`)).status, 400);
  });

  it('say that the user was asked, and what the user answered', async () => {
    const { call, key, keyId } = await setUp(server, { confirm: ['new_recipients'] });
    const client = await mcpClient(server, key, '2025-11-25');
    const input = { to: newNumber(), message: 'x' };
    const { confirmationToken } = (await callTool(client, 'messages_send', input)).output;
    await callTool(client, 'messages_send', { ...input, confirmationToken });
    await client.close();
    const [done, asked] = await callsOf(call, keyId);
    assert.deepEqual([done?.['outcome'], asked?.['outcome']], ['ok', 'confirmation_required']);
    assert.ok(!JSON.stringify([done, asked]).includes(confirmationToken));
  });

  it('are those of one key of the account, and stay when it is revoked', async () => {
    const { call, key, keyId } = await setUp(server);
    const { body: other } = await call('POST', '/api-keys/create', { name: 'other' });
    const client = await mcpClient(server, key, '2026-07-28');
    await callTool(client, 'messages_send', { to: newNumber(), message: 'x' });
    await client.close();
    assert.deepEqual(await callsOf(call, other.keyId), []);
    const stranger = await server.account();
    assert.equal((await stranger.call('GET', `/api-keys/${keyId}/calls`)).status, 404);
    assert.equal((await call('GET', '/api-keys/key_none/calls')).status, 404);
    const reader = async (grants: string[]) =>
      bearer(server.url, (await call('POST', '/api-keys/create', { name: 'reader', permissions: grants })).body.key)(
        'GET',
        `/api-keys/${keyId}/calls`,
      );
    assert.equal((await reader(['account:read'])).status, 200);
    assert.equal((await reader(['messages:*'])).status, 403);
    await call('DELETE', `/api-keys/${keyId}`);
    assert.equal((await callsOf(call, keyId)).length, 1);
    assert.deepEqual(await callsOf(call, keyId, '?outcome=failed'), []);
  });

  it('include each call of a batch, and none of a login', async () => {
    const { call, key, keyId, token, accountId } = await setUp(server);
    const batch = [0, 1].map((id) => ({
      ...{ jsonrpc: '2.0', id, method: 'tools/call' },
      params: { name: 'messages_send', arguments: { to: newNumber(), message: 'batch' } },
    }));
    for (const credential of [key, token])
      await fetch(`${server.url}/api/v1/mcp`, {
        method: 'POST',
        headers: {
          authorization: `Bearer ${credential}`,
          'content-type': 'application/json',
          accept: 'application/json, text/event-stream',
        },
        body: JSON.stringify(batch),
      }).then((response) => response.text());
    assert.equal((await callsOf(call, keyId)).length, 2);
    const { kysely } = server.app.services.database.reader;
    const rows = await kysely.selectFrom('tool_calls').selectAll().where('account_id', '=', accountId).execute();
    assert.equal(rows.length, 2);
  });
});

describeOnEachDatabase('the list of tool calls', (_, database) => {
  it('is bounded by age and by number', async (test) => {
    const clock = createFakeClock();
    const server = await startServer({ database, clock, env: { EVENT_RETENTION_DAYS: '2' } });
    test.after(() => server.stop());
    const { key, keyId } = await setUp(server);
    const client = await mcpClient(server, key, '2025-11-25');
    const send = () => callTool(client, 'messages_send', { to: newNumber(), message: 'x' });
    await send();
    clock.skip(25 * 3_600_000);
    for (let time = 0; time < 4; time++) await send();
    await client.close();
    await server.app.retention.run();
    assert.equal((await callsOf(bearer(server.url, key), keyId)).length, 5);
    clock.skip(25 * 3_600_000);
    await server.app.retention.run();
    assert.equal((await callsOf(bearer(server.url, key), keyId)).length, 4, 'the oldest is older than two days');
    const cleaning = prunesToolCalls(() => 0, 3);
    const prune = () => cleaning.run(new Steps(server.app.services.database));
    assert.deepEqual([await prune(), await prune()], [1, 0]);
    assert.equal((await callsOf(bearer(server.url, key), keyId)).length, 3);
  });

  it('gets reads within a second, and no calls above the rate limit', async (test) => {
    const clock = createFakeClock();
    const server = await startServer({ database, clock, env: { RATE_LIMIT: '6' } });
    test.after(() => server.stop());
    const { key, keyId } = await setUp(server);
    const client = await mcpClient(server, key, '2026-07-28');
    const codes: unknown[] = [];
    for (let time = 0; time < 8; time++) codes.push((await callTool(client, 'sessions_list')).output.code);
    await client.close().catch(() => {});
    const { kysely } = server.app.services.database.reader;
    const rows = () => kysely.selectFrom('tool_calls').selectAll().where('key_id', '=', keyId).execute();
    assert.deepEqual(await rows(), [], 'reads wait for the next round');
    await clock.advance(1000);
    const allowed = codes.filter((code) => code === undefined).length;
    assert.ok(allowed > 0 && allowed < 8, `${allowed} calls`);
    const stored = await eventually(rows, ({ length }) => length > 0);
    assert.deepEqual([stored.length, new Set(stored.map(({ outcome }) => outcome))], [allowed, new Set(['ok'])]);
  });
});

describe('tool calls while the database is unavailable', () => {
  const call = (id: string): ToolCallTable => ({
    account_id: 'acc_1',
    call_id: id,
    key_id: 'key_1',
    tool: 'messages_send',
    arguments: '{}',
    outcome: 'ok',
    duration_ms: 1,
    client_name: null,
    client_version: null,
    request_id: 'req_1',
    created_at: 1,
  });

  /** A database that commits, or throws what `error` returns for a transaction number. */
  const fakeDatabase = (error: (commit: number) => Error | undefined = () => undefined) => {
    const stored: unknown[] = [];
    const query = async (_: string, [, id]: readonly unknown[]) => ({ rows: [], changes: stored.push(id) });
    const afterCommit = (action: () => void) => action();
    const tx = { ...queryable(sqlite, { query } as unknown as Connection), afterCommit } as Tx;
    let commits = 0;
    const commit = async <T>(work: (on: Tx) => Promise<T>): Promise<T> => {
      const thrown = error(++commits);
      if (thrown !== undefined) throw thrown;
      return work(tx);
    };
    const commitJointly: Database['commitJointly'] = (work, item) =>
      commit(async (on) => (await work(on, [item]))[0] as never);
    return { database: { commit, commitJointly }, stored, commits: () => commits };
  };
  const log = createLog('silent');

  it('keep their answers, and are stored once it is back', async () => {
    const clock = createFakeClock();
    let isAway = true;
    const { database, stored, commits } = fakeDatabase(() =>
      isAway ? new AppError('storage_unavailable') : undefined,
    );
    const calls = new ToolCalls({ database, clock, log });
    calls.start();
    await calls.recordChange(call('cal_1'));
    calls.recordRead(call('cal_2'));
    await clock.advance(1000);
    assert.deepEqual([commits(), stored], [2, []]);
    isAway = false;
    await clock.advance(1000);
    assert.deepEqual([commits(), stored], [3, ['cal_1', 'cal_2']]);
    await clock.advance(5000);
    assert.equal(commits(), 3, 'nothing waits any longer');
    calls.recordRead(call('cal_3'));
    await calls.stop();
    assert.equal(commits(), 4, 'a stop stores what waits');
    await calls.stop();
  });

  it('are stored in parts, and an outage repeats only what is left', async () => {
    const clock = createFakeClock();
    const { database, stored } = fakeDatabase((commit) =>
      commit === 2 ? new AppError('storage_unavailable') : undefined,
    );
    const calls = new ToolCalls({ database, clock, log });
    const ids = Array.from({ length: 1000 }, (_, n) => `cal_${n}`);
    for (const id of ids) calls.recordRead(call(id));
    calls.start();
    await clock.advance(1000);
    assert.ok(stored.length > 0 && stored.length < ids.length, `${stored.length} of the first part`);
    await clock.advance(1000);
    await calls.stop();
    assert.deepEqual(stored, ids);
  });

  it('take bounded memory, and say how many were dropped', async () => {
    const clock = createFakeClock();
    const lines: { msg: string; calls?: number }[] = [];
    const { database } = fakeDatabase();
    const warnings = createLog('warn', { write: (line) => void lines.push(JSON.parse(line)) });
    const calls = new ToolCalls({ database, clock, log: warnings });
    for (let count = 0; count < 5003; count++) calls.recordRead(call(`cal_${count}`));
    await calls.stop();
    assert.deepEqual(
      lines.map(({ msg, calls: dropped }) => [msg, dropped]),
      [['dropped tool calls that could not be stored', 3]],
    );
  });
});
