import assert from 'node:assert/strict';
import { existsSync, linkSync, openSync, readdirSync, renameSync, statSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { describe, it, type TestContext } from 'node:test';
import pg from 'pg';
import { CopyError } from '../../src/conversion/copy.ts';
import { ConversionRefusedError } from '../../src/conversion/postgresConversion.ts';
import { ConversionFileError } from '../../src/conversion/sqliteConversion.ts';
import { type UpgradeOptions, upgrade } from '../../src/conversion/upgrade.ts';
import { DataInUseError, lockFolder } from '../../src/db/database.ts';
import { migrate } from '../../src/db/migrate.ts';
import { newestShape } from '../../src/db/migrations/index.ts';
import { WrongKeyError } from '../../src/db/sealing.ts';
import { fingerprintOf, readShape } from '../../src/db/shape.ts';
import { type DatabaseName, describeOnEachDatabase, type Home, newHome } from '../support/databases/databases.ts';
import {
  assertKept,
  type Changes,
  type Contents,
  openHome,
  type RestoredFixture,
  type Row,
  readContents,
  restoreFixture,
} from '../support/databases/fixtures.ts';
import { eventually } from '../support/eventually.ts';
import { createFakeClock } from '../support/fakeClock.ts';
import { queryOf } from '../support/processes/nodes.ts';
import { bearer, eventOf, sharedSandbox, startServer } from '../support/server.ts';

/** Versions with a fixture: a database that a server of that version wrote. */
const VERSIONS = [1, 4, 15, 22, 49];

class Interruption extends Error {}

/** Steps that every run reports. */
const AGAIN = ['tables', 'finish', 'check'];

async function restored(test: TestContext, version: number, database: DatabaseName): Promise<RestoredFixture> {
  const fixture = await restoreFixture(version, database);
  test.after(() => fixture.home.remove());
  return fixture;
}

interface Run extends UpgradeOptions {
  /** Breaks off after this many stored steps. */
  readonly steps?: number;
  /** Breaks off after this step. */
  readonly until?: string;
  readonly encryptionKey?: string;
}

async function convert({ home, credentials }: RestoredFixture, { steps, until, encryptionKey, ...options }: Run = {}) {
  const lines: string[] = [];
  let stored = 0;
  const settings = { databaseDirectUrl: '', encryptionKey: encryptionKey ?? credentials.encryptionKey };
  const upgraded = await upgrade({ ...home, ...settings, encryptionKeyPrevious: '' }, options, {
    line: (text) => void lines.push(text),
    stored(step) {
      if (!AGAIN.includes(step)) stored++;
      if (stored === steps || step === until) throw new Interruption(step);
    },
  });
  return { upgraded, lines };
}

/** Reads a database, converted or not. */
async function contentsOf(home: Home): Promise<Contents> {
  const store = openHome(home);
  const contents = await readContents(store);
  await store.close();
  return contents;
}

/** The rows of earlier schemas whose values change. */
function changesUpTo(after: Contents): Changes {
  const ownerOf = (number: unknown) =>
    after.get('sandbox_numbers')?.find((row) => row['number'] === number)?.['session_id'];
  return {
    events: ({ account_id: _, position: __, ...row }) => ({ table: 'events', row }),
    deliveries({ delivery_id, state, attempts, steps, last_class, last_message, settled_at }) {
      return {
        table: 'deliveries',
        row: { delivery_id, state, attempts, steps, last_class, last_message, settled_at },
      };
    },
    attempts({ account_id: _, delivery_id: __, webhook_id: ___, ...row }) {
      return row['class'] === 'class_rare' ? undefined : { table: 'attempts', row }; // of no delivery
    },
    sandbox_post({ post_id: _, number, receipt_to, is_counted: __, ...row }) {
      const session_id = ownerOf(number);
      if (session_id === undefined) return undefined; // the number is not registered
      return { table: 'sandbox_mailbox', row: { ...row, session_id, receipt_to: ownerOf(receipt_to) ?? null } };
    },
    sandbox_receipts: () => undefined, // counted the contents of the mailboxes
    sandbox_profiles: ({ state, ...row }) => ({ table: 'sandbox_numbers', row: { ...row, profile: state } }),
    schema_versions: () => undefined,
    log_origin: () => undefined,
    log_epochs: ({ written_by: _, ...row }) => ({ table: 'log_epochs', row }),
  };
}

/** The rows of all tables as text, without the times and transactions of the conversion. */
function comparable(contents: Contents): Record<string, string[]> {
  const tables = [...contents].filter(([table]) => table !== 'schema_versions');
  return Object.fromEntries(
    tables.map(([table, rows]) => [table, rows.map(({ written_by: _, ...row }) => JSON.stringify(row)).toSorted()]),
  );
}

for (const version of VERSIONS)
  describeOnEachDatabase(`switchboard upgrade of schema ${version}`, (_, database) => {
    it('keeps every row, and the earlier database', async (test) => {
      const fixture = await restored(test, version, database);
      const before = await contentsOf(fixture.home);
      const isInMemory = (table: string) => database === 'sqlite' && version === 4 && table.startsWith('sandbox_');
      for (const [table, rows] of before) assert.ok(rows.length > 0 || isInMemory(table), table);
      const { upgraded, lines } = await convert(fixture);
      assert.deepEqual([upgraded?.from, upgraded?.uncovered], [version, []]);
      assert.ok(lines.some((line) => /^messages: \d+ rows \(\d\.\d s\)$/.test(line)));
      assert.match(lines.at(-1) ?? '', /^[\d,]+ rows checked in \d+ tables$/);
      const after = await contentsOf(fixture.home);
      assertKept(before, after, changesUpTo(after));
      assert.deepEqual(pendingAfter(after), pendingBefore(before), 'pending deliveries keep their events');
      const store = openHome(fixture.home);
      assert.equal(fingerprintOf(await readShape(store.reader)), newestShape[database]);
      assert.deepEqual(await migrate(store, Date.now), []);
      await store.close();
      assert.equal((await convert(fixture)).upgraded, undefined, 'needs no second conversion');
      if (database === 'postgres') return;
      const { dataDir } = fixture.home;
      const kept = join(dataDir, `switchboard.schema-${version}.db`);
      assert.equal(upgraded?.kept, kept);
      for (const path of [join(dataDir, 'switchboard.db'), kept]) assert.equal(statSync(path).mode & 0o777, 0o600);
      assert.ok(!readdirSync(dataDir).some((name) => name.includes('upgrading')));
      const earlier = new DatabaseSync(kept, { readOnly: true });
      assert.equal(earlier.prepare('select max(version) as v from schema_versions').get()?.['v'], version);
      earlier.close();
    });

    it('opens in the server with its accounts, keys, messages, search, cursors and pending deliveries', async (test) => {
      const { home, credentials } = await restored(test, version, database);
      await convert({ home, credentials });
      const clock = createFakeClock(credentials.writtenAt);
      const server = await startServer({ home, clock, env: { ENCRYPTION_KEY: credentials.encryptionKey } });
      test.after(() => server.stop());
      const { email, password, apiKey, sessionId, webhookId, messageId } = credentials;
      const login = await server.call('POST', '/auth/login', { email, password });
      assert.equal(login.status, 200);
      const asOwner = bearer(server.url, login.body.token);
      const call = bearer(server.url, apiKey);
      const { body: found } = await call('GET', '/messages?q=quick%20fox');
      assert.ok(found.data.some((one: { messageId: string }) => one.messageId === messageId));
      const { body: settled } = await asOwner('GET', '/webhooks/deliveries?states=delivered&limit=1');
      const { body: delivered } = await asOwner('GET', `/webhooks/deliveries/${settled.data[0].deliveryId}`);
      assert.equal(delivered.attemptLog.length, delivered.attempts, 'attempts of earlier versions are listed');
      const { body: webhook } = await asOwner('GET', `/webhooks/endpoints/${webhookId}`);
      assert.deepEqual([webhook.sessionIds, webhook.metadata, webhook.paused], [null, {}, false]);
      const { body: events } = await asOwner('GET', '/events?limit=200');
      assert.ok(events.data.length > 0);
      const message = { sessionId, to: '491700000002', message: 'After the upgrade', idempotencyKey: 'upgrade' };
      const sent = await eventually(
        () => call('POST', '/messages/send', message),
        ({ status }) => status === 201, // the session is reconnecting until then
      );
      const { body: list } = await call('GET', '/messages');
      assert.equal(list.data[0].messageId, sent.body.messageId, 'newest message first');
      const { body: news } = await eventually(
        () => asOwner('GET', `/events?events=message.sent&afterCursor=${events.nextCursor}`),
        ({ body }) =>
          body.data.some(({ data }: { data: { messageId: string } }) => data.messageId === sent.body.messageId),
      );
      const before = new Set(events.data.map(({ eventId }: { eventId: string }) => eventId));
      const again = news.data.filter(({ eventId }: { eventId: string }) => before.has(eventId));
      assert.deepEqual(again, [], 'the log continues after an earlier cursor');
      assert.notEqual(news.truncated, true);
    });
  });

const rowsOf = (contents: Contents, table: string): readonly Row[] => contents.get(table) ?? [];

/** The pending deliveries of each webhook with their events. */
function pendingBefore(contents: Contents): string[] {
  const hasWaited = (row: Row) => row['state'] === 'pending' && row['due_at'] !== 0 && !isDueAtOnce(row);
  return rowsOf(contents, 'deliveries')
    .filter(({ state }) => state === 'pending')
    .map((row) => [row['webhook_id'], row['event_id'], row['delivery_id'], hasWaited(row)].join(' '))
    .toSorted();
}

function pendingAfter(contents: Contents): string[] {
  const events = new Map(rowsOf(contents, 'events').map((row) => [row['position'], row['event_id']]));
  const webhooks = new Map(rowsOf(contents, 'receivers').map((row) => [row['seq'], row['webhook_id']]));
  const deliveries = new Map(
    rowsOf(contents, 'deliveries').map((row) => [`${row['event']} ${row['webhook']}`, row['delivery_id']]),
  );
  const ordered = rowsOf(contents, 'events').toSorted((a, b) => Number(a['position']) - Number(b['position']));
  const ids = ordered.map((row) => String(row['event_id']));
  assert.equal(new Set(ordered.map((row) => row['position'])).size, ids.length, 'positions are unique');
  return (['queue', 'waiting'] as const)
    .flatMap((table) =>
      rowsOf(contents, table).map((row) => {
        const key = `${row['event']} ${row['webhook']}`;
        return [webhooks.get(row['webhook']), events.get(row['event']), deliveries.get(key), table === 'waiting'].join(
          ' ',
        );
      }),
    )
    .toSorted();
}

/** Whether a delivery of schema 1 is due immediately. */
const isDueAtOnce = (row: Row) =>
  !('position' in row) && row['attempts'] === 0 && Number(row['due_at']) <= Number(row['created_at']);

describeOnEachDatabase('an interrupted switchboard upgrade', (_, database) => {
  it('continues where it stopped, with the same result', async (test) => {
    const whole = await restored(test, 1, database);
    await convert(whole);
    const fixture = await restored(test, 1, database);
    const before = await contentsOf(fixture.home);
    let interruptions = 0;
    for (let isDone = false; !isDone; ) {
      const failure = await convert(fixture, { steps: 4, batchRows: 7 }).then(
        () => undefined,
        (error: unknown) => error,
      );
      if (failure !== undefined && !(failure instanceof Interruption)) throw failure;
      if (failure !== undefined) interruptions++;
      isDone = failure === undefined;
    }
    assert.ok(interruptions > 30);
    const after = await contentsOf(fixture.home);
    assertKept(before, after, changesUpTo(after));
    assert.deepEqual(comparable(after), comparable(await contentsOf(whole.home)));
  });

  it('finds a row of the copy that has changed, and starts again on request', async (test) => {
    const fixture = await restored(test, 22, database);
    await assert.rejects(convert(fixture, { until: 'finish' }), Interruption);
    await changeCopy(fixture.home, `update messages set body = body || '.' where seq = 3`);
    const before = await contentsOf(fixture.home);
    await assert.rejects(convert(fixture), (error) => {
      assert.ok(error instanceof CopyError);
      assert.match(error.message, /^The copy of messages differs .*switchboard upgrade --restart/);
      return true;
    });
    assert.deepEqual(comparable(await contentsOf(fixture.home)), comparable(before), 'the source is unchanged');
    assert.equal((await convert(fixture, { restart: true })).upgraded?.from, 22);
  });

  it('finds a row that the source got meanwhile', async (test) => {
    const fixture = await restored(test, 49, database);
    await assert.rejects(convert(fixture, { until: 'finish' }), Interruption);
    const store = openHome(fixture.home);
    const tx = await store.begin();
    await tx.connection.query(`insert into login_buckets (bucket, full_at) values ('late', 1)`, []);
    await tx.commit();
    await store.close();
    await assert.rejects(convert(fixture), /The copy of login_buckets differs from the source/);
  });
});

async function changeCopy({ databaseUrl, dataDir }: Home, statement: string): Promise<void> {
  if (databaseUrl === '') {
    const copy = new DatabaseSync(join(dataDir, 'switchboard.db.upgrading'));
    copy.exec(statement);
    copy.close();
    return;
  }
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  await client.query(`set search_path to switchboard_upgrade; ${statement}`);
  await client.end();
}

describeOnEachDatabase('switchboard upgrade', (_, database) => {
  it('changes nothing with another encryption key', async (test) => {
    const fixture = await restored(test, 22, database);
    const before = comparable(await contentsOf(fixture.home));
    const encryptionKey = 'another key, thirty-two characters or more';
    await assert.rejects(convert(fixture, { encryptionKey }), WrongKeyError);
    await assert.rejects(convert(fixture, { encryptionKey: '' }), WrongKeyError);
    assert.deepEqual(comparable(await contentsOf(fixture.home)), before);
    assert.ok(!existsSync(join(fixture.home.dataDir, 'switchboard.db.upgrading')));
  });

  it('refuses while a server uses the data folder', async (test) => {
    const fixture = await restored(test, 22, database);
    const unlock = lockFolder(fixture.home.dataDir);
    test.after(unlock);
    await assert.rejects(convert(fixture), DataInUseError);
  });

  it('converts and checks a copy only with --check', async (test) => {
    const fixture = await restored(test, 22, database);
    const before = comparable(await contentsOf(fixture.home));
    const { upgraded } = await convert(fixture, { dryRun: true });
    assert.deepEqual([upgraded?.from, upgraded?.kept], [22, undefined]);
    assert.deepEqual(comparable(await contentsOf(fixture.home)), before);
    assert.ok(!existsSync(join(fixture.home.dataDir, 'switchboard.db.upgrading')));
    assert.equal((await convert(fixture)).upgraded?.from, 22);
  });

  it('lists what an operator has added, and does not copy it', async (test) => {
    const fixture = await restored(test, 22, database);
    const store = openHome(fixture.home);
    const tx = await store.begin();
    for (const text of ['create table notes (id integer)', 'alter table sessions add column tag text'])
      await tx.connection.query(text, []);
    await tx.commit();
    await store.close();
    assert.deepEqual((await convert(fixture)).upgraded?.uncovered, ['notes', 'sessions.tag']);
  });

  it('refuses a database that lacks a table of its version', async (test) => {
    const fixture = await restored(test, 22, database);
    const store = openHome(fixture.home);
    const tx = await store.begin();
    await tx.connection.query('drop table labels', []);
    await tx.commit();
    await store.close();
    await assert.rejects(convert(fixture), /records schema version 22, but has no table labels/);
  });

  it('leaves a current database alone', async (test) => {
    const home = await newHome(database);
    test.after(() => home.remove());
    const { credentials } = await restored(test, 1, 'sqlite');
    assert.equal((await convert({ home, credentials }, { encryptionKey: '' })).upgraded, undefined);
  });

  it('delivers the pending mail of a disconnected sandbox session', async (test) => {
    const { home, credentials } = await restored(test, 4, database);
    await convert({ home, credentials });
    const { encryptionKey, password, sessionId, away } = credentials;
    assert.ok(away !== undefined);
    const clock = createFakeClock(credentials.writtenAt);
    const server = await startServer({ home, clock, env: { ...sharedSandbox, ENCRYPTION_KEY: encryptionKey } });
    test.after(() => server.stop());
    const loginOf = async (email: string) =>
      bearer(server.url, (await server.call('POST', '/auth/login', { email, password })).body.token);
    const [alice, bob] = [await loginOf(credentials.email), await loginOf(away.email)];
    const isSaid = (text: string) => (data: { message: string }) => data.message === text;
    const edited = isSaid('While Bob was away');
    assert.equal((await bob('POST', `/sessions/${away.sessionId}/connect`)).body.status, 'connected');
    await eventOf(bob, 'message.incoming', isSaid('To the crew'));
    const incoming = await eventually(
      () => bob('GET', '/messages?direction=incoming&limit=200'),
      ({ body }) => body.data.some(edited),
    );
    const waited = incoming.body.data.filter((data: { message: string }) => /While Bob|To the crew/.test(data.message));
    assert.equal(waited.length, 2, 'each once');
    await eventually(
      () => alice('GET', `/messages?sessionId=${sessionId}&direction=outgoing&limit=200`),
      ({ body }) => body.data.find(edited)?.status === 'delivered',
    );
  });
});

describe('switchboard upgrade on SQLite', () => {
  it('refuses a damaged database', async (test) => {
    const fixture = await restored(test, 22, 'sqlite');
    const file = join(fixture.home.dataDir, 'switchboard.db');
    const handle = openSync(file, 'r+');
    writeSync(handle, Buffer.alloc(8192, 0xaa), 0, 8192, Math.floor(statSync(file).size / 8192) * 4096);
    await assert.rejects(convert(fixture), (error) => {
      assert.ok(error instanceof ConversionFileError, String(error));
      assert.match(error.message, /is damaged: .*Restore a backup/s);
      return true;
    });
    assert.ok(!existsSync(`${file}.upgrading`));
  });

  for (const [name, keep] of [
    ['the earlier database got its second name', linkSync],
    ['the earlier database lost its name', renameSync],
  ] as const)
    it(`completes a swap that was interrupted after ${name}`, async (test) => {
      const fixture = await restored(test, 22, 'sqlite');
      const file = join(fixture.home.dataDir, 'switchboard.db');
      await assert.rejects(convert(fixture, { until: 'check' }), Interruption);
      keep(file, join(fixture.home.dataDir, 'switchboard.schema-22.db'));
      const { upgraded } = await convert(fixture);
      assert.equal(upgraded?.from, 22);
      const store = openHome(fixture.home);
      assert.deepEqual(await migrate(store, Date.now), []);
      await store.close();
      assert.ok(existsSync(upgraded?.kept ?? ''));
    });
});

describe('switchboard upgrade on PostgreSQL', () => {
  it('refuses while nodes are running, and excludes those that start', async (test) => {
    const fixture = await restored(test, 22, 'postgres');
    const query = queryOf(fixture.home);
    await query(`update nodes set expires_at = (extract(epoch from clock_timestamp()) * 1000)::bigint + 60000`);
    await assert.rejects(convert(fixture), (error) => {
      assert.ok(error instanceof ConversionRefusedError);
      assert.match(error.message, /^Nodes are running on this database: nod_dead\. Stop them/);
      return true;
    });
    await query('update nodes set expires_at = 1');
    const client = new pg.Client({ connectionString: fixture.home.databaseUrl });
    await client.connect();
    await client.query('begin; select pg_advisory_xact_lock(727274)');
    await assert.rejects(convert(fixture), /A node is starting, or another upgrade runs/);
    await client.end();
    assert.equal((await convert(fixture)).upgraded?.from, 22);
  });

  it('does not swap under a node that has started meanwhile', async (test) => {
    const fixture = await restored(test, 22, 'postgres');
    await assert.rejects(convert(fixture, { until: 'check' }), Interruption);
    const query = queryOf(fixture.home);
    await query(`update nodes set expires_at = (extract(epoch from clock_timestamp()) * 1000)::bigint + 60000`);
    await assert.rejects(convert(fixture), ConversionRefusedError);
    await query('update nodes set expires_at = 1');
    await assert.rejects(convert(fixture), /The copy of nodes differs/);
    assert.equal((await convert(fixture, { restart: true })).upgraded?.kept, 'the schema switchboard_schema_22');
  });
});
