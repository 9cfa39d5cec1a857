import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import {
  appendFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { after, afterEach, before, beforeEach, describe, it } from 'node:test';
import { startFaultyLine } from '../support/connections/faultyLine.ts';
import { describeOnEachDatabase } from '../support/databases/databases.ts';
import { eventually } from '../support/eventually.ts';
import { download, picture, upload } from '../support/media/media.ts';
import { bearer, type Call, connectSession, newNumber, startServer, type TestServer } from '../support/server.ts';
import { cli, entry, newPerson, PASSWORD, type Person } from './support.ts';

describe('switchboard backup and restore', () => {
  let server: TestServer;
  let person: Person;
  let folder: string;
  let backup: string;
  let token: string;
  let mediaId: string;
  const bytes = picture();
  before(async () => {
    server = await startServer();
    person = newPerson();
    const account = await server.account();
    token = account.token;
    await connectSession(account.call);
    mediaId = (await upload(server, token, bytes)).body.mediaId;
    backup = join(person.home, 'backup');
    const { code, json } = await cli(person, ['backup', backup, '--json'], { env: { DATA_DIR: server.home.dataDir } });
    assert.deepEqual([code, json], [0, { folder: backup, files: 1, hasLoginSecret: true }]);
  });
  after(async () => {
    await server.stop();
    person.remove();
  });
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'switchboard-restore-'));
  });
  afterEach(() => rmSync(folder, { recursive: true, force: true }));
  const restore = (from: string, env: Record<string, string> = {}, ...args: string[]) =>
    cli(person, ['restore', from, ...args], { env: { DATA_DIR: join(folder, 'data'), ...env } });
  const at = (...names: string[]) => join(folder, 'data', ...names);

  it('puts everything back, readable by the owner only', async (test) => {
    const { code, stdout } = await restore(backup);
    assert.equal(code, 0);
    assert.match(stdout, /^Restored .*\/backup to .*\/data \(database, login secret and 1 files\)\.\n$/);
    assert.deepEqual(readdirSync(at()).toSorted(), ['jwt-secret', 'media', 'switchboard.db', 'switchboard.lock']);
    assert.equal(statSync(at('switchboard.db')).mode & 0o777, 0o600);
    assert.equal(statSync(at()).mode & 0o777, 0o700);
    const restored = await startServer({ home: { ...server.home, dataDir: at() } });
    test.after(() => restored.stop());
    assert.equal((await bearer(restored.url, token)('GET', '/sessions')).body.data.length, 1);
    assert.deepEqual((await download(restored, token, mediaId)).bytes, bytes);
  });

  it('says so if the backup has no login secret', async () => {
    const without = join(folder, 'without');
    cpSync(backup, without, { recursive: true });
    rmSync(join(without, 'jwt-secret'));
    const { code, stdout, stderr } = await restore(without);
    assert.equal(code, 0);
    assert.match(stdout, /\(database, no login secret, 1 files\)/);
    assert.match(stderr, /everybody has to log in again/);
  });

  it('refuses a folder with data, and with --replace keeps the data in a folder of its own', async () => {
    assert.equal((await restore(backup)).code, 0);
    writeFileSync(at('switchboard.commits'), 'from before');
    writeFileSync(at('note'), 'mine');
    const before = readdirSync(at()).toSorted();
    const refused = await restore(backup);
    assert.equal(refused.code, 1);
    assert.match(refused.stderr, /has data already\. Set DATA_DIR to another folder, or pass --replace/);
    assert.deepEqual(readdirSync(at()).toSorted(), before, 'nothing was changed');
    const { code, json } = await restore(backup, {}, '--replace', '--json');
    assert.equal(code, 0);
    assert.deepEqual(readdirSync(json.previous).toSorted(), [
      'jwt-secret',
      'media',
      'note',
      'switchboard.commits',
      'switchboard.db',
    ]);
    assert.equal(readFileSync(join(json.previous, 'note'), 'utf8'), 'mine');
    assert.equal(existsSync(at('switchboard.commits')), false, 'it belongs to the previous database');
    assert.equal((await restore(backup, {}, '--replace')).code, 0, 'twice');
  });

  it('changes nothing if a part of the data is a mount', async (test) => {
    const namespace = ['--user', '--map-root-user', '--mount'];
    const { status } = spawnSync('unshare', [...namespace, 'true']);
    if (status !== 0) return test.skip('This machine allows no mounts in a namespace of their own');
    assert.equal((await restore(backup)).code, 0);
    const before = readdirSync(at()).toSorted();
    const script = 'mount --bind "$1" "$1" && exec "$2" "$3" restore "$4" --replace';
    const args = ['-c', script, 'sh', at('media'), process.execPath, entry, backup];
    const { status: code, stderr } = spawnSync('unshare', [...namespace, 'sh', ...args], {
      env: { ...process.env, DATA_DIR: at() },
      encoding: 'utf8',
    });
    assert.match(stderr, /media cannot be moved aside because it is a mount\. Nothing was changed\./);
    assert.equal(code, 1);
    assert.deepEqual(readdirSync(at()).toSorted(), before);
  });

  it('refuses while a server uses the folder', async () => {
    const { dataDir } = server.home;
    const before = readdirSync(dataDir).toSorted();
    const { code, stderr } = await restore(backup, { DATA_DIR: dataDir }, '--replace');
    assert.equal(code, 1);
    assert.match(stderr, /^Another Switchboard is running on /);
    assert.deepEqual(readdirSync(dataDir).toSorted(), before);
  });

  it('refuses what is not a complete backup, and changes nothing', async () => {
    const damaged = (change: (path: string) => void) => {
      const copy = mkdtempSync(join(folder, 'copy-'));
      cpSync(backup, copy, { recursive: true });
      change(copy);
      return copy;
    };
    const cases: [string, RegExp][] = [
      [join(folder, 'nothing'), /is not a backup: it has no switchboard\.db/],
      [server.home.dataDir, /is the data folder of a server/],
      [damaged((copy) => writeFileSync(join(copy, 'switchboard.db'), 'text')), /is not a database of Switchboard/],
      [damaged((copy) => overwriteEnd(join(copy, 'switchboard.db'))), /is damaged|is not a database/],
      [damaged((copy) => rmSync(join(copy, 'media'), { recursive: true })), /lacks 1 of the 1 files/],
      [damaged((copy) => truncateSync(join(copy, 'media', 'content', fileIn(copy)), 10)), /is damaged\. Use another/],
      [damaged((copy) => raiseSchema(join(copy, 'switchboard.db'))), /supports at most \d+\. Start a newer version/],
    ];
    for (const [from, expected] of cases) {
      const { code, stderr } = await restore(from);
      assert.equal(code, 1);
      assert.match(stderr, expected);
      assert.equal(existsSync(at()), false);
    }
    const postgres = await restore(backup, { DATABASE_URL: 'postgres://localhost/x' });
    assert.match(postgres.stderr, /pg_restore/);
  });

  it('restores files to MEDIA_DIR, and continues after an interrupted restore', async () => {
    mkdirSync(at('restoring', 'switchboard.db'), { recursive: true });
    const { code } = await restore(backup, { MEDIA_DIR: join(folder, 'media') });
    assert.equal(code, 0);
    assert.deepEqual(readdirSync(at()).toSorted(), ['jwt-secret', 'switchboard.db', 'switchboard.lock']);
    assert.equal(readdirSync(join(folder, 'media', 'content')).length > 0, true);
  });
});

function fileIn(backup: string): string {
  const names = readdirSync(join(backup, 'media', 'content'), { recursive: true, encoding: 'utf8' });
  return names.find((name) => /[\da-f]{64}$/.test(name)) ?? assert.fail('the backup has no file');
}

function overwriteEnd(file: string): void {
  const bytes = readFileSync(file);
  bytes.fill(0xa5, Math.floor(bytes.length / 2));
  writeFileSync(file, bytes);
}

function raiseSchema(file: string): void {
  const database = new DatabaseSync(file);
  database.exec(`insert into schema_versions values (9999, 'later', 9999, 0)`);
  database.close();
}

describeOnEachDatabase('switchboard admin reset-password', (_, name) => {
  let server: TestServer;
  let person: Person;
  let env: Record<string, string>;
  before(async () => {
    server = await startServer({ database: name });
    person = newPerson();
    env = { DATA_DIR: server.home.dataDir, DATABASE_URL: server.home.databaseUrl };
  });
  after(async () => {
    await server.stop();
    person.remove();
  });
  const reset = (args: readonly string[], stdin = '') =>
    cli(person, ['admin', 'reset-password', ...args], { env, stdin });
  const logIn = async (email: string, password: string) =>
    (await server.call('POST', '/auth/login', { email, password })).status;

  it('sets a random password beside the running server, and ends the logins of this account', async () => {
    const [ann, bob] = [await server.account(), await server.account()];
    const { key } = (await ann.call('POST', '/api-keys/create', { name: 'stays' })).body;
    let isDone = false;
    const writing = (async () => {
      while (!isDone) assert.equal((await bob.call('POST', '/sessions', {})).status, 201);
    })();
    const { code, stdout, stderr } = await reset([ann.email.toUpperCase()]).finally(() => (isDone = true));
    await writing;
    assert.equal(code, 0, stderr);
    assert.match(stdout, /^[\w-]{24}\n$/);
    assert.match(stderr, new RegExp(`"accountId":"${ann.accountId}","msg":"password reset by the operator"`));
    assert.ok(!stderr.includes(stdout.trim()));
    assert.deepEqual([await logIn(ann.email, PASSWORD), await logIn(ann.email, stdout.trim())], [401, 200]);
    await eventually(
      async () => (await ann.call('GET', '/auth/me')).status,
      (status) => status === 401,
    );
    assert.equal((await bob.call('GET', '/auth/me')).status, 200);
    assert.equal((await bearer(server.url, key)('GET', '/auth/me')).status, 200);
  });

  it('reads a password from standard input, with the rules of the server', async () => {
    const { email } = await server.account();
    for (const [weak, problem] of [
      ['short', /A password has 10 to 256 characters/],
      ['aaaaaaaaaaaa', /too simple/],
      [email, /must not be the email address/],
      ['', /Standard input has no password/],
    ] as const) {
      const { code, stderr } = await reset([email, '--password-stdin'], weak);
      assert.equal(code, 2);
      assert.match(stderr, problem);
    }
    assert.equal(await logIn(email, PASSWORD), 200);
    const { code, stdout } = await reset([email, '--password-stdin', '--json'], 'an entirely new sentence\n');
    assert.deepEqual([code, Object.keys(JSON.parse(stdout))], [0, ['accountId', 'email']]);
    assert.equal(await logIn(email, 'an entirely new sentence'), 200);
  });

  it('refuses an unknown account and a missing database', async () => {
    assert.equal((await reset(['nobody@example.com'])).code, 4);
    const missing: Record<string, string> =
      name === 'sqlite' ? { DATA_DIR: person.home } : { ...env, DATABASE_URL: 'postgres://127.0.0.1:1/x' };
    const { code, stderr } = await cli(person, ['admin', 'reset-password', 'a@example.com'], { env: missing });
    assert.equal(code, 1);
    assert.match(stderr, name === 'sqlite' ? /There is no database in/ : /DATABASE_URL: .* refused the connection/);
    assert.deepEqual(readdirSync(person.home), [], 'nothing was created');
  });

  it('leaves a database that the server starts on', async (test) => {
    if (name !== 'sqlite') return test.skip('PostgreSQL has no files here');
    const other = await startServer();
    const { email } = await other.account();
    const { dataDir } = other.home;
    await other.app.stop();
    env = { DATA_DIR: dataDir, DATABASE_URL: '' };
    const { stdout } = await reset([email]);
    const again = await startServer({ home: other.home });
    test.after(async () => {
      await again.stop();
      await other.home.remove();
    });
    assert.equal((await again.call('POST', '/auth/login', { email, password: stdout.trim() })).status, 200);
  });
});

describe('switchboard export', () => {
  let server: TestServer;
  let person: Person;
  let call: Call;
  let env: Record<string, string>;
  const MESSAGES = 450;
  before(async () => {
    server = await startServer();
    person = newPerson();
    const account = await server.account();
    call = account.call;
    const { key } = (await call('POST', '/api-keys/create', { name: 'export' })).body;
    env = { SWITCHBOARD_URL: server.url, SWITCHBOARD_KEY: key };
    const session = await connectSession(call);
    await connectSession(call);
    const from = newNumber();
    for (let n = 0; n < MESSAGES; n++)
      await call('POST', `/sessions/${session}/simulate`, { action: 'incoming', from, message: `text ${n} \u2028` });
  });
  after(async () => {
    await server.stop();
    person.remove();
  });
  const linesOf = (folder: string, file: string) =>
    readFileSync(join(folder, `${file}.jsonl`), 'utf8')
      .split('\n')
      .slice(0, -1)
      .map((line) => JSON.parse(line));

  it('writes everything that the account has', async () => {
    const folder = join(person.home, 'all');
    const { code, json } = await cli(person, ['export', folder, '--json'], { env });
    assert.equal(code, 0);
    assert.deepEqual(json.counts, { sessions: 2, messages: MESSAGES, chats: 1, contacts: 1, groups: 0 });
    const texts = linesOf(folder, 'messages').map(({ message }) => message);
    assert.deepEqual(
      texts,
      Array.from({ length: MESSAGES }, (_, n) => `text ${MESSAGES - 1 - n} \u2028`),
    );
    assert.deepEqual(linesOf(folder, 'sessions'), (await call('GET', '/sessions')).body.data);
    assert.equal(statSync(join(folder, 'messages.jsonl')).mode & 0o777, 0o600);
    const again = await cli(person, ['export', folder], { env });
    assert.deepEqual([again.code, /has a complete export/.test(again.stderr)], [1, true]);
  });

  it('continues where it was interrupted, even in the middle of a line', async (test) => {
    const folder = join(person.home, 'interrupted');
    const stop = new AbortController();
    const line = await startFaultyLine();
    test.after(() => line.close());
    line.aim({ hostname: '127.0.0.1', port: new URL(server.url).port });
    line.onRequest((bytes) => bytes.includes('cursor=') && stop.abort()); // the second page
    const first = await cli(person, ['export', folder], {
      env: { ...env, SWITCHBOARD_URL: `http://127.0.0.1:${line.port}` },
      stop: stop.signal,
    });
    assert.equal(first.code, 130);
    const state = JSON.parse(readFileSync(join(folder, 'export.json'), 'utf8'));
    assert.deepEqual([state.completedAt, state.counts.messages], [null, 200]);
    appendFileSync(join(folder, 'messages.jsonl'), '{"half a li');
    const { code } = await cli(person, ['export', folder], { env });
    assert.equal(code, 0);
    const ids = linesOf(folder, 'messages').map(({ messageId }) => messageId);
    assert.deepEqual([ids.length, new Set(ids).size], [MESSAGES, MESSAGES]);
  });

  it('refuses other folders, and one of another account', async () => {
    const other = await server.account();
    const { key } = (await other.call('POST', '/api-keys/create', { name: 'x' })).body;
    const folder = join(person.home, 'other');
    mkdirSync(folder);
    writeFileSync(join(folder, 'mine'), '');
    const refused = await cli(person, ['export', folder], { env });
    assert.deepEqual([refused.code, readdirSync(folder)], [1, ['mine']]);
    rmSync(join(folder, 'mine'));
    writeFileSync(join(folder, 'export.json'), '{"format":1,"accountId":"acc_x","step":0}');
    const wrong = await cli(person, ['export', folder], { env: { ...env, SWITCHBOARD_KEY: key } });
    assert.match(wrong.stderr, /export of another account/);
    writeFileSync(join(folder, 'export.json'), '{');
    assert.match((await cli(person, ['export', folder], { env })).stderr, /cannot be read/);
  });
});
