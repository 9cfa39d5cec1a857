import assert from 'node:assert/strict';
import { once } from 'node:events';
import { copyFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { it, type TestContext } from 'node:test';
import { WebSocket } from 'ws';
import { createClient } from '../../../sdk/src/client.ts';
import { backUp } from '../../src/backup.ts';
import { readSettings } from '../../src/config.ts';
import { restore } from '../../src/restore.ts';
import { type DatabaseName, type Home, newHome, onServer } from '../support/databases/databases.ts';
import { createFakeClock } from '../support/fakeClock.ts';
import { makeKey, rpcOf } from '../support/mcp/mcpEvents.ts';
import { queryOf } from '../support/processes/nodes.ts';
import { bearer, type Call, connectSession, startServer } from '../support/server.ts';

const START = Date.UTC(2026, 0, 1);
const MINUTES = 60_000;

/** A server whose database goes back to an earlier state while it is stopped. */
async function scene(test: TestContext, database: DatabaseName) {
  const home = await newHome(database);
  test.after(() => home.remove());
  const clock = createFakeClock(START);
  const start = async () => {
    const server = await startServer({ home, clock });
    test.after(() => server.stop());
    return server;
  };
  const first = await start();
  const { call, token } = await first.account();
  const sessionId = await connectSession(call);
  const key = await makeKey(call);
  return { home, clock, start, first, call, token, sessionId, key };
}

async function send(call: Call, message: string): Promise<string> {
  const { status, body } = await call('POST', '/messages/send', { to: '491701234567', message });
  assert.equal(status, 201, JSON.stringify(body));
  return body.messageId;
}

const cursorAt = async (call: Call) => (await call('GET', '/events?events=*&limit=200')).body.nextCursor as string;

async function sentSince(call: Call, cursor: string) {
  const { body } = await call('GET', `/events?events=message.sent&limit=200&afterCursor=${cursor}`);
  const ids = body.data.map(({ data }: { data: { messageId: string } }) => data.messageId) as string[];
  return { ids, truncated: body.truncated as true | undefined, nextCursor: body.nextCursor as string };
}

/** Puts the tables back as of a position, as a dump that was restored has them: other transactions wrote its rows. */
async function restoreDump(home: Home, position: number): Promise<void> {
  await queryOf(home)(`
    begin;
    delete from events where position > ${position};
    select setval('event_positions', ${position});
    create temp table kept as select * from log_epochs;
    delete from log_epochs;
    insert into log_epochs select * from kept;
    commit`);
}

for (const database of ['sqlite', 'postgres'] as const) {
  it(`reports truncation to readers whose cursor a restore has overtaken (${database})`, async (test) => {
    const { home, clock, start, first, call, token, key } = await scene(test, database);
    const early = await cursorAt(call);
    const kept = await send(call, 'in the backup');
    const copy = join(home.dataDir, 'copy');
    await clock.advance(2 * MINUTES);
    const atBackup = await cursorAt(call);
    if (database === 'sqlite') await backUp(readSettings({ DATA_DIR: home.dataDir }), copy);
    await send(call, 'lost');
    await send(call, 'lost too');
    const late = await cursorAt(call);
    await first.stop();
    if (database === 'sqlite')
      await restore(readSettings({ DATA_DIR: home.dataDir }), copy, { replace: true, now: new Date(START) });
    else await restoreDump(home, Number(atBackup.split('.')[0]));

    const second = await start();
    const again = bearer(second.url, token);
    const since = await send(again, 'after the restore');
    const overtaken = await sentSince(again, late);
    assert.equal(overtaken.truncated, true);
    assert.ok(overtaken.ids.includes(since), 'nothing is skipped');
    const further = await sentSince(again, overtaken.nextCursor);
    assert.deepEqual([further.ids, further.truncated], [[], undefined]);
    const behind = await sentSince(again, early);
    assert.deepEqual([behind.ids, behind.truncated], [[kept, since], undefined], 'an earlier cursor continues');

    const poll = { name: 'message.sent', cursor: late, maxEvents: 10 };
    const { result } = await rpcOf(second, key.key)('events/poll', poll);
    assert.equal(result.truncated, true);
    assert.ok(JSON.stringify(result).includes(since));
    const stream = await fetch(`${second.url}/api/v1/events/stream?events=message.sent`, {
      headers: { authorization: `Bearer ${token}`, 'last-event-id': late },
    });
    const frames = await readUntil(stream, since);
    assert.match(frames, /^: connected\nid: (.+)\nevent: truncated\ndata: \{"cursor":"\1"\}\n\n/);
    assert.equal(frames.split('event: truncated').length, 2);
    const connected = await firstOfSocket(test, second.url, token, late);
    assert.deepEqual([connected.type, connected.truncated], ['connected', true]);
    assert.deepEqual((await sentSince(again, connected.cursor)).ids, overtaken.ids);
    const streamed = await firstOfStream(second.url, token, late);
    assert.equal(streamed.messageId, overtaken.ids[0]);
    assert.equal(streamed.truncations.length, 1);
    assert.deepEqual((await sentSince(again, streamed.truncations[0] ?? '')).ids, overtaken.ids);
    const undisturbed = await firstOfStream(second.url, token, streamed.truncations[0] ?? '');
    assert.deepEqual(undisturbed, { messageId: overtaken.ids[0], truncations: [] });

    await second.stop();
    const third = await start();
    const { truncated } = await sentSince(bearer(third.url, token), further.nextCursor);
    assert.equal(truncated, undefined, 'a restart begins no epoch');
  });
}

it('reports truncation when an older copy of the SQLite file was put back', async (test) => {
  const { home, start, first, call, token } = await scene(test, 'sqlite');
  await send(call, 'kept');
  const copy = join(home.dataDir, 'copy');
  await backUp(readSettings({ DATA_DIR: home.dataDir }), copy);
  await send(call, 'lost');
  const late = await cursorAt(call);
  await first.stop();
  for (const name of ['switchboard.db', 'switchboard.db-wal', 'switchboard.db-shm', 'switchboard.commits'])
    rmSync(join(home.dataDir, name), { force: true });
  copyFileSync(join(copy, 'switchboard.db'), join(home.dataDir, 'switchboard.db'));
  const second = await start();
  assert.equal((await sentSince(bearer(second.url, token), late)).truncated, true);
});

it('reports truncation when an older copy of the files of PostgreSQL was put back', async (test) => {
  const { home, start, first, call, token } = await scene(test, 'postgres');
  const early = await cursorAt(call);
  const kept = await send(call, 'kept');
  const [position] = (await cursorAt(call)).split('.');
  await send(call, 'lost');
  const late = await cursorAt(call);
  await first.stop();
  // Such a copy has the rows of the same transactions.
  await queryOf(home)(`
    delete from events where position > ${position};
    select setval('event_positions', ${position})`);
  const second = await start();
  const again = bearer(second.url, token);
  const since = await send(again, 'after the copy');
  const overtaken = await sentSince(again, late);
  assert.equal(overtaken.truncated, true);
  assert.ok(overtaken.ids.includes(since), 'nothing is skipped');
  const behind = await sentSince(again, early);
  assert.deepEqual([...new Set(behind.ids)], [kept, since]);
  await second.stop();
  const third = await start();
  const { truncated } = await sentSince(bearer(third.url, token), overtaken.nextCursor);
  assert.equal(truncated, undefined, 'a restart begins no epoch');
});

it('reports truncation when the database was replaced by a copy of it on the same server', async (test) => {
  const { home, start, first, token } = await scene(test, 'postgres');
  await first.stop();
  const at = home.databaseUrl.lastIndexOf('/');
  const [admin, name] = [home.databaseUrl.slice(0, at), home.databaseUrl.slice(at + 1)];
  await onServer(admin, `create database ${name}_copy template ${name}`);
  const second = await start();
  const again = bearer(second.url, token);
  await send(again, 'lost');
  const late = await cursorAt(again);
  await second.stop();
  rmSync(join(home.dataDir, 'log-position')); // as on a machine that starts for the first time
  await onServer(admin, `drop database ${name} with (force)`);
  await onServer(admin, `alter database ${name}_copy rename to ${name}`);
  const third = await start();
  const since = await send(bearer(third.url, token), 'after the copy');
  const overtaken = await sentSince(bearer(third.url, token), late);
  assert.equal(overtaken.truncated, true);
  assert.ok(overtaken.ids.includes(since), 'nothing is skipped');
});

it('ends open readers and begins an epoch, when PostgreSQL fails over under a running server', async (test) => {
  const { home, clock, first, call, token } = await scene(test, 'postgres');
  await send(call, 'replicated');
  await clock.advance(2 * MINUTES);
  const atFailover = await cursorAt(call);
  await send(call, 'not replicated');
  const late = await cursorAt(call);
  const stream = await fetch(`${first.url}/api/v1/events/stream`, { headers: { authorization: `Bearer ${token}` } });
  await restoreDump(home, Number(atFailover.split('.')[0]));
  const { ids, truncated } = await sentSince(call, late);
  assert.deepEqual([ids, truncated], [[], true]);
  await stream.text(); // ends
  const since = await send(call, 'after it');
  assert.deepEqual((await sentSince(call, late)).ids, [since]);
});

/** Reads the first event of the SDK's stream after a cursor. */
async function firstOfStream(baseUrl: string, credential: string, after: string) {
  const truncations: string[] = [];
  const onTruncated = (cursor: string) => truncations.push(cursor);
  const client = createClient({ baseUrl, credential });
  for await (const { event, data } of client.events.stream({ events: ['message.sent'], after, onTruncated })) {
    assert.equal(event, 'message.sent');
    return { messageId: data.messageId, truncations };
  }
  throw new Error('the stream ended');
}

/** Reads the first frame of the event socket after a cursor. */
async function firstOfSocket(test: TestContext, url: string, token: string, after: string) {
  const path = `${url.replace('http', 'ws')}/api/v1/events/socket?events=message.sent&afterCursor=${after}`;
  const client = new WebSocket(path, { headers: { authorization: `Bearer ${token}` } });
  test.after(() => client.terminate());
  const [data] = await once(client, 'message');
  return JSON.parse(String(data));
}

async function readUntil(response: Response, text: string): Promise<string> {
  let all = '';
  for await (const chunk of response.body as AsyncIterable<Uint8Array>) {
    all += new TextDecoder().decode(chunk);
    if (all.includes(text)) break;
  }
  return all;
}
