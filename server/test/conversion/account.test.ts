import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { sql } from 'kysely';
import { systemClock } from '../../src/clock.ts';
import { readSettings } from '../../src/config.ts';
import { AccountFileError, AccountFileWriter, readLines } from '../../src/conversion/account/accountFile.ts';
import { readRows, valuesOf } from '../../src/conversion/account/accountRows.ts';
import { accountTables, type Values } from '../../src/conversion/account/accountTables.ts';
import { exportAccount } from '../../src/conversion/account/exportAccount.ts';
import { importAccount } from '../../src/conversion/account/importAccount.ts';
import { AccountMoveError } from '../../src/conversion/account/offlineDatabase.ts';
import { upgrade } from '../../src/conversion/upgrade.ts';
import { openStore } from '../../src/media/openStore.ts';
import { Seal } from '../../src/seal.ts';
import { startReceiver } from '../support/connections/receiver.ts';
import { type Home, newHome } from '../support/databases/databases.ts';
import { openHome, restoreFixture } from '../support/databases/fixtures.ts';
import { eventually } from '../support/eventually.ts';
import { download, picture, upload } from '../support/media/media.ts';
import { bearer, connectSession, startServer, type TestServer } from '../support/server.ts';

const PASSPHRASE = 'correct horse battery staple';
const KEY = 'another key, thirty-two characters or more';
const quiet = { line: () => {} };

function folderOf(test: TestContext): string {
  const folder = mkdtempSync(join(tmpdir(), 'switchboard-account-'));
  test.after(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

async function homeOf(test: TestContext, database: 'sqlite' | 'postgres'): Promise<Home> {
  const home = await newHome(database);
  test.after(() => home.remove());
  return home;
}

const settingsOf = ({ databaseUrl, dataDir }: Home, encryptionKey: string) =>
  readSettings({ DATABASE_URL: databaseUrl, DATA_DIR: dataDir, ENCRYPTION_KEY: encryptionKey });

async function exported(home: Home, encryptionKey: string, options: { account: string; file: string }) {
  const settings = settingsOf(home, encryptionKey);
  return exportAccount(settings, await openStore(settings, systemClock), { passphrase: PASSPHRASE, ...options }, quiet);
}

async function imported(home: Home, encryptionKey: string, file: string, passphrase = PASSPHRASE) {
  const settings = settingsOf(home, encryptionKey);
  return importAccount(settings, await openStore(settings, systemClock), { file, passphrase }, quiet);
}

/** Reads the account's rows, with secrets in clear. Values that a move changes are left out. */
async function rowsOf(home: Home, encryptionKey: string, accountId: string): Promise<Map<string, string[]>> {
  const store = openHome(home);
  const found = new Map<string, string[]>();
  const events = new Map<unknown, string>();
  for (const table of accountTables) {
    const rows: Values[] = [];
    for await (const page of readRows(store.reader, new Seal(encryptionKey), table, accountId)) rows.push(...page);
    const first = Math.min(...rows.map((row) => Number(row['seq'])));
    if (table.table === 'events') for (const row of rows) events.set(row['position'], String(row['event_id']));
    const kept = rows.map((row) => ({
      ...row,
      ...(table.table === 'messages' && {
        seq: Number(row['seq']) - first,
        turn: row['turn'] === null ? null : Number(row['turn']) - first * 65_536,
      }),
      ...Object.fromEntries(table.positions.map((name) => [name, events.get(row[name]) ?? null])),
    }));
    found.set(table.table, kept.map((row) => JSON.stringify(valuesOf(table, row))).toSorted());
  }
  await store.close();
  return found;
}

async function runOn(home: Home, ...statements: string[]): Promise<void> {
  const store = openHome(home);
  const tx = await store.begin();
  for (const text of statements) await tx.connection.query(text, []);
  await tx.commit();
  await store.close();
}

async function countOf(home: Home, table: string): Promise<number> {
  const store = openHome(home);
  const { rows } = await sql<{ n: number }>`select count(*) as n from ${sql.table(table)}`.execute(store.reader.kysely);
  await store.close();
  return Number(rows[0]?.n);
}

/** A database with rows of one account in every table that an account has rows in. */
async function fullAccount(test: TestContext) {
  const { home, credentials } = await restoreFixture(49, 'sqlite');
  test.after(() => home.remove());
  const { encryptionKey, email } = credentials;
  await upgrade({ ...home, databaseDirectUrl: '', encryptionKey, encryptionKeyPrevious: '' }, {}, quiet);
  const store = openHome(home);
  const { account_id: accountId } = await store.reader.kysely
    .selectFrom('accounts')
    .select('account_id')
    .where('email', '=', email)
    .executeTakeFirstOrThrow();
  const { rows: keys } = await sql<{ id: string }>`
    select key_id as id from api_keys where account_id = ${accountId} limit 1`.execute(store.reader.kysely);
  await store.close();
  const rare = accountTables.filter(({ columns }) => columns.some((name) => name === 'account_id'));
  await runOn(
    home,
    ...rare.map(({ table }) => `update ${table} set account_id = '${accountId}' where account_id = 'acc_rare'`),
    `insert into attempts select event, webhook, 1, 'timeout', null, 5, 'Timed out', null, 1 from deliveries
      where account = (select seq from accounts where account_id = '${accountId}') limit 1`,
    ...['key_sends', 'oauth_records'].map((table) => `update ${table} set key_id = '${keys[0]?.id}'`),
  );
  return { home, credentials, accountId };
}

describe('an exported account', () => {
  it('keeps every row from SQLite to PostgreSQL and back, under another encryption key', async (test) => {
    const { home, credentials, accountId } = await fullAccount(test);
    const { encryptionKey, email, apiKey, password, messageId } = credentials;
    const folder = folderOf(test);
    const files = [join(folder, 'first'), join(folder, 'second')] as const;
    const before = await rowsOf(home, encryptionKey, accountId);
    for (const [table, rows] of before) assert.ok(rows.length > 0, `${table} has no rows`);
    const settings = settingsOf(home, encryptionKey);
    const withoutFiles = { withoutFiles: true, keepRunning: true, passphrase: PASSPHRASE };
    const store = await openStore(settings, systemClock);
    const options = { account: email, file: files[0], ...withoutFiles };
    const first = await exportAccount(settings, store, options, quiet);
    assert.equal(first.accountId, accountId);
    assert.equal(statSync(files[0]).mode & 0o777, 0o600);
    assert.ok(!readFileSync(files[0]).includes('quick brown'));

    const between = await homeOf(test, 'postgres');
    const there = await imported(between, KEY, files[0]);
    assert.deepEqual([there.accountId, there.rows, there.lacksFiles], [accountId, first.rows, true]);
    assert.deepEqual(await rowsOf(between, KEY, accountId), before);
    const betweenSettings = settingsOf(between, KEY);
    await exportAccount(betweenSettings, store, { ...options, account: accountId, file: files[1] }, quiet);

    const last = await homeOf(test, 'sqlite');
    assert.equal((await imported(last, '', files[1])).rows, first.rows);
    assert.deepEqual(await rowsOf(last, '', accountId), before);
    const server = await startServer({ home: last });
    test.after(() => server.stop());
    assert.equal((await server.call('POST', '/auth/login', { email, password })).status, 200);
    const { body } = await bearer(server.url, apiKey)('GET', '/messages?q=quick%20fox');
    assert.ok(
      body.data.some((one: { messageId: string }) => one.messageId === messageId),
      'the search finds it',
    );
  });

  for (const [from, to] of [
    ['sqlite', 'postgres'],
    ['postgres', 'sqlite'],
  ] as const)
    it(`works from ${from} to ${to} with its key, cursor, files and webhook secret`, async (test) => {
      const source = await homeOf(test, from);
      const receiver = await startReceiver();
      test.after(() => receiver.close());
      let server: TestServer = await startServer({ home: source, env: { ENCRYPTION_KEY: KEY } });
      const { call, email, token, accountId } = await server.account();
      await call('POST', '/webhooks/set', {
        webhookUrl: receiver.url,
        events: ['message.sent'],
        secret: 'a secret of 16 characters',
      });
      const { body: key } = await call('POST', '/api-keys/create', { name: 'ci', permissions: ['*'] });
      const sessionId = await connectSession(call);
      await connectSession(call, '491709999999');
      const send = (as: typeof call, message: string) =>
        as('POST', '/messages/send', { sessionId, to: '491709999999', message });
      const sent = await send(call, 'Before the move');
      const bytes = picture();
      const { mediaId } = (await upload(server, token, bytes)).body;
      await receiver.waitFor(1);
      const { body: log } = await eventually(
        () => call('GET', '/events?limit=200'),
        ({ body }) => body.data.some((one: { event: string }) => one.event === 'message.sent'),
      );
      await server.stop();
      const file = join(folderOf(test), 'account');
      const { files } = await exported(source, KEY, { account: email, file });
      assert.equal(files, 1);

      const target = await homeOf(test, to);
      const other = 'yet another key, thirty-two characters or more';
      await imported(target, other, file);
      server = await startServer({ home: target, env: { ENCRYPTION_KEY: other } });
      test.after(() => server.stop());
      const there = bearer(server.url, key.key);
      assert.equal((await there('GET', `/messages/${sent.body.messageId}`)).body.message, 'Before the move');
      assert.deepEqual((await download(server, key.key, mediaId)).bytes, bytes);
      const { body: again } = await eventually(
        () => send(there, 'After the move'),
        ({ status }) => status === 201, // the session is reconnecting until then
      );
      const arrived = (deliveries: typeof receiver.deliveries) =>
        deliveries.find(({ parsed }) => parsed.data.messageId === again.messageId);
      await receiver.waitFor((deliveries) => arrived(deliveries) !== undefined);
      const delivery = arrived(receiver.deliveries) ?? assert.fail();
      const expected = createHmac('sha256', 'a secret of 16 characters').update(delivery.body).digest('hex');
      assert.equal(delivery.headers['x-webhook-signature'], `sha256=${expected}`);
      const { body: news } = await eventually(
        () => there('GET', `/events?events=message.sent&afterCursor=${log.nextCursor}`),
        ({ body }) => body.data.some(({ data }: { data: { messageId: string } }) => data.messageId === again.messageId),
      );
      const ids = news.data.map(({ data }: { data: { messageId: string } }) => data.messageId);
      // Positions of SQLite are times, which PostgreSQL cannot continue: its readers begin again.
      if (to === 'sqlite') assert.deepEqual(ids, [again.messageId], 'the log continues after the cursor');
      else assert.equal(ids.at(-1), again.messageId);

      const store = openHome(source);
      const left = await store.reader.kysely
        .selectFrom('sessions')
        .select(['wanted', 'status'])
        .where('account_id', '=', accountId)
        .execute();
      await store.close();
      assert.deepEqual(new Set(left.map(({ wanted, status }) => `${wanted} ${status}`)), new Set(['0 disconnected']));
    });
});

describe('an import', () => {
  async function setUp(test: TestContext) {
    const source = await homeOf(test, 'sqlite');
    const server = await startServer({ home: source });
    const { call, email, token, accountId } = await server.account();
    const sessionId = await connectSession(call);
    await upload(server, token, picture());
    await server.stop();
    const folder = folderOf(test);
    const file = join(folder, 'account');
    await exported(source, '', { account: email, file });
    return { source, folder, file, email, accountId, sessionId };
  }

  const refuses = async (
    home: Home,
    file: string,
    why: RegExp,
    kind: new (text: string) => Error = AccountFileError,
  ) => {
    await assert.rejects(imported(home, '', file), (error) => {
      assert.ok(error instanceof kind, String(error));
      assert.match(error.message, why);
      return true;
    });
    assert.equal(await countOf(home, 'sessions'), 0);
    assert.ok(!existsSync(join(home.dataDir, 'media', 'importing')));
    const content = join(home.dataDir, 'media', 'content');
    const left = existsSync(content) ? readdirSync(content, { recursive: true, withFileTypes: true }) : [];
    assert.deepEqual(
      left.filter((entry) => entry.isFile()).map(({ name }) => name),
      [],
    );
  };

  it('refuses an account that exists', async (test) => {
    const { source, file, accountId, email } = await setUp(test);
    await assert.rejects(imported(source, '', file), new RegExp(`The account ${accountId} exists already`));
    const home = await homeOf(test, 'sqlite');
    const server = await startServer({ home });
    await server.call('POST', '/auth/register', { email, password: 'correct horse battery' });
    await server.stop();
    await refuses(home, file, /Another account has the email address/, AccountMoveError);
  });

  it('adds an account to a log with events of others only without its own, and never loses pending deliveries', async (test) => {
    const { file } = await setUp(test);
    const home = await homeOf(test, 'postgres');
    const server = await startServer({ home });
    const { call } = await server.account();
    await connectSession(call);
    await server.stop();
    await assert.rejects(imported(home, '', file), /events of other accounts.*--without-events/);
    const settings = settingsOf(home, '');
    const store = await openStore(settings, systemClock);
    const options = { file, passphrase: PASSPHRASE, withoutEvents: true };
    const { files } = await importAccount(settings, store, options, quiet);
    assert.equal(files, 1);
    const { home: full, credentials, accountId } = await fullAccount(test);
    const pending = join(folderOf(test), 'pending');
    const source = settingsOf(full, credentials.encryptionKey);
    const exporting = { account: accountId, file: pending, passphrase: PASSPHRASE, withoutFiles: true };
    await exportAccount(source, await openStore(source, systemClock), exporting, quiet);
    const empty = settingsOf(await homeOf(test, 'sqlite'), '');
    await assert.rejects(importAccount(empty, store, { ...options, file: pending }, quiet), /are pending/);
  });

  it('finds places for events of the same milliseconds as those of others', async (test) => {
    const { home, credentials, accountId } = await fullAccount(test);
    const { encryptionKey, email } = credentials;
    const file = join(folderOf(test), 'account');
    const settings = settingsOf(home, encryptionKey);
    const options = { account: email, file, passphrase: PASSPHRASE, withoutFiles: true, keepRunning: true };
    await exportAccount(settings, await openStore(settings, systemClock), options, quiet);
    const before = await rowsOf(home, encryptionKey, accountId);
    const source = openHome(home);
    const { rows } = await sql<{ position: number }>`select position from events order by position`.execute(
      source.reader.kysely,
    );
    await source.close();

    const target = await homeOf(test, 'sqlite');
    const server = await startServer({ home: target });
    await server.call('POST', '/auth/register', { email: 'other@example.com', password: 'correct horse battery' });
    await server.stop();
    await runOn(
      target,
      ...rows.map(
        ({
          position,
        }) => `insert into events (position, account, event_id, kind, conversation, body, is_test, created_at)
          values (${position}, 1, 'evt_other', 'message.sent', 'ses_other', '{}', 0, 1)`,
      ),
    );
    await imported(target, KEY, file);
    assert.deepEqual(await rowsOf(target, KEY, accountId), before);
    assert.equal(await countOf(target, 'events'), rows.length + (before.get('events')?.length ?? 0));
  });

  it('leaves its messages to the indexer of the search, even if the newest messages here were deleted', async (test) => {
    const source = await homeOf(test, 'sqlite');
    const server = await startServer({ home: source });
    const { call, email, accountId } = await server.account();
    await connectSession(call);
    await call('POST', '/messages/send', { to: '491709999999', message: 'x' });
    await server.stop();
    const file = join(folderOf(test), 'account');
    await exported(source, '', { account: email, file });
    const target = await homeOf(test, 'postgres');
    await (await startServer({ home: target })).stop();
    await runOn(target, 'update search_cursor set seq = 1000');
    await imported(target, '', file);
    const store = openHome(target);
    const rows = await store.reader.kysely.selectFrom('messages').select(['account_id', 'seq']).execute();
    await store.close();
    assert.deepEqual(rows, [{ account_id: accountId, seq: 1001 }]);
  });

  it('refuses a file that is damaged, cut off or of another passphrase', async (test) => {
    const { folder, file } = await setUp(test);
    const home = await homeOf(test, 'sqlite');
    await assert.rejects(imported(home, '', file, 'another passphrase'), /the passphrase is wrong, or/);
    const bytes = readFileSync(file);
    const variant = (changed: Buffer) => {
      writeFileSync(join(folder, 'variant'), changed);
      return join(folder, 'variant');
    };
    await refuses(home, variant(bytes.subarray(0, -20)), /is damaged: it was cut off/);
    await refuses(home, variant(bytes.subarray(0, 46)), /is damaged: it was cut off/);
    await refuses(home, variant(Buffer.concat([bytes, Buffer.from('x')])), /goes on after its end/);
    const flipped = Buffer.from(bytes);
    flipped[flipped.length - 30] = (flipped[flipped.length - 30] ?? 0) ^ 1;
    await refuses(home, variant(flipped), /decrypted/);
    await refuses(home, variant(Buffer.from('{}')), /is not a file of switchboard admin export-account/);
    const huge = Buffer.from(bytes);
    huge.writeUInt32BE(0xff_ff_ff_ff, 45);
    await refuses(home, variant(huge), /a frame has another size/);
    assert.equal((await imported(home, '', file)).files, 1);
  });

  it('refuses a file with rows of others, unknown tables or missing parts', async (test) => {
    const { folder, file, accountId } = await setUp(test);
    const home = await homeOf(test, 'sqlite');
    const victim = await startServer({ home });
    const { accountId: other } = await victim.account();
    await victim.stop();
    await runOn(
      home,
      `insert into api_keys (account_id, key_id, name, permissions, key_hash, created_at) values ('${other}', 'key_victim', '', '[]', '', 1)`,
    );
    const lines: unknown[] = [];
    for await (const line of readLines(file, PASSPHRASE)) lines.push(line);
    let variants = 0;
    const variant = async (change: (lines: unknown[]) => unknown[]) => {
      const path = join(folder, `variant${variants++}`);
      const writer = await AccountFileWriter.create(path, PASSPHRASE);
      for (const line of change(structuredClone(lines))) await writer.line(line);
      await writer.finish();
      return path;
    };
    const rowAfter = (table: string, row: unknown) => (all: unknown[]) => {
      const at = all.findIndex((line) => (line as { table?: string }).table === table);
      return [...all.slice(0, at + 1), row, ...all.slice(at + 1)];
    };
    const ofTable = (table: string, values: Record<string, unknown>) =>
      accountTables.find((one) => one.table === table)?.columns.map((name) => values[name] ?? null);
    await refuses(
      home,
      await variant(rowAfter('key_sends', ofTable('key_sends', { key_id: 'key_victim', day: 1, sends: 1 }))),
      /belongs to another account/,
    );
    await refuses(
      home,
      await variant(rowAfter('media', ofTable('media', { account_id: other }))),
      /belongs to another account/,
    );
    await refuses(home, await variant(rowAfter('media', [1, 2])), /has other columns/);
    await refuses(home, await variant(rowAfter('media', [{ a: 1 }])), /a line of an unknown form/);
    await refuses(home, await variant((all) => all.slice(0, -1)), /has no end/);
    await refuses(home, await variant((all) => [...all, all.at(-1)]), /goes on after its end/);
    await refuses(home, await variant((all) => [all[0], ...all]), /has two accounts/);
    await refuses(home, await variant((all) => all.slice(1)), /does not begin with an account/);
    const without = (kind: string) => (all: unknown[]) =>
      all.filter((line) => (line as { kind?: string }).kind !== kind);
    await refuses(home, await variant(without('part')), /The content \w+ is damaged/);
    await refuses(home, await variant((all) => without('file')(without('part')(all))), /lacks the content/);
    await refuses(
      home,
      await variant((all) =>
        all.map((line) =>
          (line as { table?: string }).table === 'media' ? { ...(line as object), table: 'secrets' } : line,
        ),
      ),
      /The table secrets has another place/,
    );
    const dropped = await variant((all) =>
      all.filter((line) => !(Array.isArray(line) && String(line[1]).startsWith('evt_'))),
    );
    await refuses(home, dropped, /The rows of events differ/);
    assert.equal((await imported(home, '', file)).accountId, accountId);
  });
});
