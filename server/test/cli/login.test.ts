import assert from 'node:assert/strict';
import {
  chmodSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { after, before, beforeEach, describe, it } from 'node:test';
import { Profiles } from '../../src/cli/profiles.ts';
import { bearer, startServer, type TestServer } from '../support/server.ts';
import { cli, newPerson, PASSWORD, type Person } from './support.ts';

const modeOf = (path: string) => statSync(path).mode & 0o777;

describe('switchboard login', () => {
  let server: TestServer;
  let person: Person;
  let email: string;
  let token: string;
  const people: Person[] = [];
  before(async () => {
    server = await startServer();
  });
  beforeEach(async () => {
    person = newPerson();
    people.push(person);
    ({ email, token } = await server.account());
  });
  after(async () => {
    for (const each of people) each.remove();
    await server.stop();
  });
  const stored = () => JSON.parse(readFileSync(person.configFile, 'utf8')).profiles;
  const logIn = (...args: string[]) =>
    cli(person, ['login', '--url', server.url, '--email', email, ...args], { env: { SWITCHBOARD_PASSWORD: PASSWORD } });
  const keys = async () => (await bearer(server.url, token)('GET', '/api-keys')).body.data;

  it('asks for the address, the email address and the password, and stores only a new key', async () => {
    const { code, stdout, stderr } = await cli(person, ['login'], {
      answers: {
        'Address of the server': `${server.url}/\r`,
        'Email address': `${email}\r`,
        'Password of': `${PASSWORD}\r`,
      },
    });
    assert.deepEqual([code, stdout], [0, `Logged in to ${server.url} as ${email}.\n`]);
    assert.ok(!stderr.includes(PASSWORD), 'the password is not shown');
    const [key] = await keys();
    assert.deepEqual(stored().default, {
      url: server.url,
      key: stored().default.key,
      email,
      keyId: key.keyId,
      isOwnKey: true,
    });
    assert.equal(key.name, 'switchboard on testing');
    assert.equal((await bearer(server.url, stored().default.key)('GET', '/auth/me')).status, 200);
    assert.ok(![stdout, stderr].join('').includes(stored().default.key));
    assert.equal(modeOf(person.configFile), 0o600);
    assert.equal(modeOf(dirname(person.configFile)), 0o700);
    assert.deepEqual(readdirSync(dirname(person.configFile)), ['config.json'], 'no partial file is left');
  });

  it('ends with 130 after Ctrl-C at a question, and stores nothing', async () => {
    const { code, stderr } = await cli(person, ['login', '--url', server.url, '--email', email], {
      answers: { 'Password of': '\x03' },
    });
    assert.equal(code, 130);
    assert.match(stderr, /Interrupted/);
    assert.equal(existsSync(person.configFile), false);
  });

  it('reads the password from standard input without a terminal', async () => {
    const args = ['login', '--url', server.url, '--email', email, '--json'];
    const { code, json } = await cli(person, args, { stdin: `${PASSWORD}\n` });
    assert.equal(code, 0);
    assert.deepEqual(json, {
      profile: 'default',
      url: server.url,
      email,
      keyId: stored().default.keyId,
      path: person.configFile,
    });
    assert.equal((await cli(person, args)).code, 2);
    const wrong = await cli(person, args, { stdin: 'a guess\n' });
    assert.equal(wrong.code, 3);
    assert.equal(JSON.parse(wrong.stderr).error.code, 'invalid_credentials');
  });

  it('stores an existing key from the environment, standard input or an argument after checking it', async () => {
    const { key, keyId } = (await bearer(server.url, token)('POST', '/api-keys/create', { name: 'mine' })).body;
    for (const [args, options] of [
      [[], { env: { SWITCHBOARD_KEY: key } }],
      [['--key', '-'], { stdin: `${key}\n` }],
      [['--key', key], {}],
    ] as const) {
      const { code } = await cli(person, ['login', '--url', server.url, ...args], options);
      assert.equal(code, 0);
      assert.deepEqual(stored().default, { url: server.url, key, email, keyId, isOwnKey: false });
    }
    const unknown = await cli(person, ['login', '--url', server.url, '--key', '-'], { stdin: 'sb_unknown' });
    assert.equal(unknown.code, 3);
    const loginToken = await cli(person, ['login', '--url', server.url, '--key', '-'], { stdin: token });
    assert.deepEqual([loginToken.code, stored().default.key], [2, key]);
    assert.equal((await keys()).length, 1, 'no key was created');
  });

  it('replaces the key of an earlier login to the same account', async () => {
    await logIn();
    const first = stored().default;
    await logIn();
    assert.notEqual(stored().default.keyId, first.keyId);
    assert.deepEqual(
      (await keys()).map(({ keyId }: { keyId: string }) => keyId),
      [stored().default.keyId],
    );
  });

  it('leaves no key that it cannot store, and keeps the earlier one', async () => {
    assert.equal((await logIn('--profile', 'my profile')).code, 2);
    assert.deepEqual(await keys(), []);
    await logIn();
    // The file can be read, but the longer name of its replacement is one that the file system refuses.
    const file = join(person.home, 'x'.repeat(240));
    copyFileSync(person.configFile, file);
    const { code, stderr } = await cli(person, ['login', '--url', server.url, '--email', email], {
      env: { SWITCHBOARD_PASSWORD: PASSWORD, SWITCHBOARD_CONFIG: file },
    });
    assert.equal(code, 1);
    assert.match(stderr, /ENAMETOOLONG/);
    assert.deepEqual(
      (await keys()).map(({ keyId }: { keyId: string }) => keyId),
      [stored().default.keyId],
    );
  });

  it('keeps profiles apart', async () => {
    await logIn();
    await logIn('--profile', 'work');
    assert.deepEqual(Object.keys(stored()), ['default', 'work']);
    assert.equal((await cli(person, ['sessions', 'list', '--profile', 'work'])).code, 0);
    const env = { SWITCHBOARD_URL: 'http://127.0.0.1:1', SWITCHBOARD_KEY: 'x' };
    assert.equal((await cli(person, ['sessions', 'list', '--profile', 'work'], { env })).code, 0, 'it overrules both');
    assert.equal((await cli(person, ['sessions', 'list'], { env: { SWITCHBOARD_PROFILE: 'none' } })).code, 3);
    assert.equal((await logIn('--profile', '../x')).code, 2);
    assert.equal((await logIn('--profile', '__proto__')).code, 0);
    assert.equal((await cli(person, ['sessions', 'list', '--profile', 'constructor'])).code, 3);
  });

  it('logs out, and revokes the key if asked to', async () => {
    await logIn();
    const kept = await cli(person, ['logout']);
    assert.equal(kept.code, 0);
    assert.match(kept.stderr, /switchboard keys revoke key_/);
    assert.deepEqual([stored(), (await keys()).length], [{}, 1]);
    await logIn();
    assert.equal((await cli(person, ['logout', '--revoke'], { env: { SWITCHBOARD_PASSWORD: PASSWORD } })).code, 0);
    assert.equal((await keys()).length, 1);
    assert.equal((await cli(person, ['logout'])).code, 3);
  });

  it('never sends the key of a profile to another server', async () => {
    await logIn();
    const elsewhere = await cli(person, ['sessions', 'list', '--url', 'http://127.0.0.1:9']);
    assert.equal(elsewhere.code, 3);
    assert.match(elsewhere.stderr, /The profile "default" is for http:/);
    for (const url of ['ftp://x', 'no url', 'http://a:b@x', 'http://x/?key=y'])
      assert.equal((await cli(person, ['sessions', 'list', '--url', url])).code, 2, url);
  });

  it('repairs a config file and a folder that others can read', async () => {
    await logIn();
    chmodSync(person.configFile, 0o644);
    chmodSync(dirname(person.configFile), 0o755);
    assert.equal((await cli(person, ['sessions', 'list'])).code, 0);
    assert.deepEqual([modeOf(person.configFile), modeOf(dirname(person.configFile))], [0o600, 0o700]);
  });

  it('reports a broken config file and does not overwrite it', async () => {
    mkdirSync(dirname(person.configFile), { recursive: true });
    for (const text of ['{"profiles": {', '[]', '{"profiles": {"default": {"url": 1}}}', '']) {
      writeFileSync(person.configFile, text);
      for (const args of [
        ['sessions', 'list'],
        ['login', '--url', server.url, '--email', email],
      ]) {
        const { code, stderr } = await cli(person, args, { env: { SWITCHBOARD_PASSWORD: PASSWORD } });
        assert.equal(code, 1, stderr);
        assert.match(stderr, /config\.json is not a config file of Switchboard, and was not changed/);
      }
      assert.equal(readFileSync(person.configFile, 'utf8'), text);
    }
    assert.equal((await keys()).length, 0, 'no key was created that could not be stored');
  });

  it('keeps the profiles of logins at the same time, and gets past the lock of a process that died', async () => {
    const names = ['one', 'two', 'three', 'four'];
    const logins = names.map((name) =>
      cli(person, ['login', '--profile', name, '--url', server.url, '--email', email], {
        env: { SWITCHBOARD_PASSWORD: PASSWORD },
      }),
    );
    for (const { code, stderr } of await Promise.all(logins)) assert.equal(code, 0, stderr);
    const stored = () => Object.keys(JSON.parse(readFileSync(person.configFile, 'utf8')).profiles).sort();
    assert.deepEqual(stored(), names.toSorted());
    writeFileSync(`${person.configFile}.lock`, '');
    assert.equal((await cli(person, ['logout', '--profile', 'one'])).code, 0);
    assert.deepEqual(stored(), ['four', 'three', 'two']);
  });

  it('changes no mode of what is not its own file', async () => {
    const folder = join(person.home, 'switchboard');
    mkdirSync(folder, { mode: 0o755 });
    const foreign = join(folder, 'hosts');
    writeFileSync(foreign, 'not a config', { mode: 0o644 });
    for (const [path, message] of [
      [folder, /is not a file\. Set SWITCHBOARD_CONFIG to one/],
      [foreign, /is not a config file of Switchboard, and was not changed/],
    ] as const) {
      const { code, stderr } = await cli(person, ['sessions', 'list'], { env: { SWITCHBOARD_CONFIG: path } });
      assert.equal(code, 1);
      assert.match(stderr, message);
    }
    assert.deepEqual([modeOf(folder), modeOf(foreign)], [0o755, 0o644]);
  });

  it('writes through a link, and to the folder of the platform or the environment', async () => {
    const real = join(person.home, 'dotfiles.json');
    mkdirSync(dirname(person.configFile), { recursive: true });
    writeFileSync(real, '{"profiles": {}}', { mode: 0o600 });
    symlinkSync(real, person.configFile);
    await logIn();
    assert.ok(JSON.parse(readFileSync(real, 'utf8')).profiles.default);
    const other = join(person.home, 'xdg');
    await cli(person, ['login', '--url', server.url, '--email', email], {
      env: { SWITCHBOARD_PASSWORD: PASSWORD, XDG_CONFIG_HOME: other },
    });
    assert.equal(modeOf(join(other, 'switchboard', 'config.json')), 0o600);
    const file = join(person.home, 'own.json');
    chmodSync(person.home, 0o755);
    await cli(person, ['login', '--url', server.url, '--email', email], {
      env: { SWITCHBOARD_PASSWORD: PASSWORD, SWITCHBOARD_CONFIG: file },
    });
    assert.equal(modeOf(file), 0o600);
    assert.equal(modeOf(person.home), 0o755, 'a folder that others use keeps its mode');
    const pathOn = (platform: NodeJS.Platform, env = {}) => new Profiles({ platform, env, homeDir: '/home/ann' }).path;
    assert.equal(pathOn('linux'), '/home/ann/.config/switchboard/config.json');
    assert.equal(pathOn('darwin'), '/home/ann/Library/Application Support/switchboard/config.json');
    assert.equal(pathOn('win32', { APPDATA: '/roaming' }), '/roaming/switchboard/config.json');
  });
});
