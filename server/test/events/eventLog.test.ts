import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, describe, it, type TestContext } from 'node:test';
import pg from 'pg';
import { type Home, newHome } from '../support/databases/databases.ts';
import { eventually } from '../support/eventually.ts';
import { type Call, connectSession, startServer, type TestServer } from '../support/server.ts';

/* Reading the event log on PostgreSQL while transactions are open. The steps are those of `postgresLog.ts`. */

describe('the event log on PostgreSQL', () => {
  let home: Home;
  let server: TestServer;
  before(async () => {
    home = await newHome('postgres');
    server = await startServer({ home });
  });
  after(async () => {
    await server.stop();
    await home.remove();
  });

  it('shows new events during an open write transaction in another database of the cluster', async (test) => {
    const { call } = await server.account();
    await connectSession(call);
    const other = await newHome('postgres');
    const stranger = await connectTo(test, other);
    test.after(() => other.remove());
    await stranger.query('create table things (id int); begin; insert into things values (1)');
    const sent = await send(call, '1');
    assert.ok((await logged(call)).includes(sent));
  });

  it('draws positions before it reads the webhooks, so that one which it does not see can wait for its events', async (test) => {
    const { call } = await server.account();
    await connectSession(call);
    const stranger = await connectTo(test, home);
    const last = async () =>
      Number((await stranger.query('select last_value from event_positions')).rows[0].last_value);
    await stranger.query('begin; lock table webhooks in access exclusive mode');
    const before = await last();
    const sending = send(call, '1');
    await eventually(last, (now) => now > before);
    await stranger.query('rollback');
    await sending;
  });

  it('shows new events during an open snapshot and an open write in the same database', async (test) => {
    const { call } = await server.account();
    await connectSession(call);
    const stranger = await connectTo(test, home);
    await stranger.query('create table things (id int)');
    await stranger.query('begin isolation level repeatable read');
    await stranger.query('insert into things values (1)');
    const sent = await send(call, '1');
    assert.ok((await logged(call)).includes(sent));
  });

  it('stops before a position of a running transaction, and continues when that ends', async (test) => {
    const { call, accountId } = await server.account();
    const writer = await connectTo(test, home);
    const log = server.app.services.eventLog;
    for (const end of ['commit', 'rollback']) {
      const cursor = await log.latest(accountId);
      await writer.query('begin');
      const slow = await insertEvent(writer, accountId);
      const fast = await insertEvent(pool(), accountId);
      assert.deepEqual(await read(accountId, cursor), [], 'earlier positions may still appear');
      assert.equal(await log.latest(accountId), cursor, 'a new reader starts before it');
      await writer.query(end);
      assert.deepEqual(await read(accountId, cursor), end === 'commit' ? [slow, fast] : [fast]);
    }
    assert.equal((await call('GET', '/events')).status, 200);
  });

  it('skips nothing if a writer stalls between reading the sequence, locking and taking a position', async (test) => {
    const { accountId } = await server.account();
    const [writer, reader] = [await connectTo(test, home), await connectTo(test, home)];
    const { lockOf, last, horizon } = steps(reader);
    const first = await last();
    await writer.query('begin');
    // (1) is done: the writer knows `first`. Others take positions meanwhile.
    const between = await insertEvent(pool(), accountId);
    const before = await horizon();
    assert.equal(before, await last(), 'readers are not blocked yet');
    // (2): from here on, positions after `first` are uncertain.
    await writer.query(`select pg_advisory_xact_lock_shared(${lockOf(first)})`);
    assert.equal(await horizon(), first);
    const behind = await insertEvent(pool(), accountId);
    assert.equal(await horizon(), first);
    // (3)
    await writer.query(`select set_config('switchboard.log_lock', pg_current_xact_id()::text, true)`);
    const slow = await insertEvent(writer, accountId);
    assert.equal(await horizon(), first);
    assert.ok((await positionOf(writer, slow)) > before, 'it is behind the position that readers may read');
    await writer.query('commit');
    assert.equal(await horizon(), await last());
    assert.deepEqual(await read(accountId, undefined), [between, behind, slow]);
  });

  it('stays behind a writer that takes another position after a savepoint rollback', async (test) => {
    const { accountId } = await server.account();
    const writer = await connectTo(test, home);
    await writer.query('begin; savepoint one');
    await insertEvent(writer, accountId);
    await writer.query('rollback to savepoint one');
    const fast = await insertEvent(pool(), accountId);
    const slow = await insertEvent(writer, accountId);
    assert.deepEqual(await read(accountId, undefined), [fast], 'positions taken before the second lock are certain');
    const faster = await insertEvent(pool(), accountId);
    assert.deepEqual(await read(accountId, undefined), [fast]);
    await writer.query('commit');
    assert.deepEqual(await read(accountId, undefined), [fast, slow, faster]);
  });

  it('skips nothing during many concurrent reads and writes', async (test) => {
    const { accountId } = await server.account();
    const writers = await Promise.all(Array.from({ length: 4 }, () => connectTo(test, home)));
    const log = server.app.services.eventLog;
    const written: string[] = [];
    let isWriting = true;
    const writing = Promise.all(
      writers.map(async (writer, n) => {
        for (let round = 0; round < 40; round++) {
          await writer.query('begin');
          const ids = [await insertEvent(writer, accountId), await insertEvent(writer, accountId)];
          if ((round + n) % 5 === 0) await writer.query('rollback');
          else {
            await writer.query('commit');
            written.push(...ids);
          }
        }
      }),
    ).then(() => (isWriting = false));
    const seen: string[] = [];
    let cursor: string | undefined;
    do {
      const events = await log.read(accountId, cursor, 7);
      seen.push(...events.map(({ eventId }) => eventId));
      cursor = events.at(-1)?.cursor ?? cursor;
    } while (isWriting);
    await writing;
    for (;;) {
      const events = await log.read(accountId, cursor, 100);
      if (events.length === 0) break;
      seen.push(...events.map(({ eventId }) => eventId));
      cursor = events.at(-1)?.cursor ?? cursor;
    }
    assert.deepEqual([...seen].sort(), [...written].sort());
  });

  const read = async (accountId: string, cursor: string | undefined) =>
    (await server.app.services.eventLog.read(accountId, cursor, 100)).map(({ eventId }) => eventId);

  /** Connections of the server. */
  const pool = (): Queries => ({
    query: (text) => server.app.services.database.commit(({ connection }) => connection.query(text, [])),
  });
});

interface Queries {
  query(text: string): Promise<unknown>;
}

/** A connection that ends with the test, along with its transaction. */
async function connectTo(test: TestContext, { databaseUrl }: Home): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: databaseUrl });
  test.after(() => client.end());
  await client.connect();
  return client;
}

/** Writes an event like a node of this or the previous version: the default of the column assigns its position. */
async function insertEvent(on: Queries, accountId: string): Promise<string> {
  const eventId = `evt_${randomUUID().replaceAll('-', '').slice(0, 26).toUpperCase()}`;
  await on.query(`insert into events (account, event_id, kind, conversation, body, is_test, created_at)
    values ((select seq from accounts where account_id = '${accountId}'), '${eventId}', 'message.sent', 'chat', '{"event":"message.sent","data":{}}', 0, 0)`);
  return eventId;
}

const positionOf = async (on: pg.Client, eventId: string): Promise<number> => {
  const { rows } = await on.query(`select position from events where event_id = '${eventId}'`);
  return Number(rows[0].position);
};

/** The steps of readers and writers, one by one. */
function steps(on: pg.Client) {
  const ask = async (text: string): Promise<number> => Number((await on.query(text)).rows[0].n);
  return {
    last: () => ask('select last_value as n from event_positions'),
    horizon: () => ask('select event_horizon() as n'),
    lockOf: (position: number) => ((21_334n << 48n) | BigInt(position)).toString(),
  };
}

async function send(call: Call, message: string): Promise<string> {
  const { status, body } = await call('POST', '/messages/send', { to: '491702222222', message });
  assert.equal(status, 201);
  return body.messageId;
}

async function logged(call: Call): Promise<string[]> {
  const { body } = await call('GET', '/events?events=message.sent&limit=200');
  return body.data.map(({ data }: { data: { messageId: string } }) => data.messageId);
}
