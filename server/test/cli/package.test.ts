import assert from 'node:assert/strict';
import { execFile, execFileSync, spawnSync } from 'node:child_process';
import { existsSync, globSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { verify } from '../../../sdk/src/webhooks.ts';
import { startReceiver } from '../support/connections/receiver.ts';
import { findNode, orSkip } from '../support/processes/packages.ts';
import { spawnServer } from '../support/processes/process.ts';
import { callerOf, connectSession, newNumber } from '../support/server.ts';
import { PASSWORD } from './support.ts';

const run = promisify(execFile);
const root = fileURLToPath(new URL('../../../', import.meta.url));
const server = join(root, 'server');
const INSTALL_MS = 240_000;

/** The failures of npm that say nothing about the package. */
const isOffline = (error: unknown) =>
  /ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ETIMEDOUT|ENOTCACHED|ECONNRESET/.test(String(error));

describe('the package switchboard', () => {
  let folder: string;
  let offline: string | undefined;
  const packed: string[] = [];
  before(async () => {
    folder = mkdtempSync(join(tmpdir(), 'switchboard-package-'));
    const { stdout } = await run('npm', ['pack', '--json', '--pack-destination', folder], { cwd: server });
    // The build may print in front of the JSON.
    const [{ filename, files }] = JSON.parse(stdout.slice(stdout.indexOf('[\n')));
    packed.push(...files.map(({ path }: { path: string }) => path));
    writeFileSync(join(folder, 'package.json'), '{"private":true}');
    const install = ['install', '--prefer-offline', '--no-audit', '--no-fund', join(folder, filename)];
    await run('npm', install, { cwd: folder, timeout: INSTALL_MS }).catch((error) => {
      if (!isOffline(error)) throw error;
      offline = 'NOT TESTED: the installed package, because the npm registry does not answer';
    });
  });
  after(() => rmSync(folder, { recursive: true, force: true }));
  const installed = (...names: string[]) => join(folder, 'node_modules', 'switchboard', ...names);
  /** Starts it in the folder in which it is installed. */
  const start = (data: string, env: Record<string, string> = {}, node = process.execPath) =>
    spawnServer({ dataDir: join(folder, data), databaseUrl: '' }, env, {
      entry: installed('start.js'),
      cwd: folder,
      node,
    });

  it('has compiled code, and neither tests nor sources', () => {
    assert.ok(packed.includes('start.js') && packed.includes('LICENSE') && packed.includes('README.md'));
    assert.ok(packed.includes('dist/dashboard/dist/index.html'));
    assert.ok(packed.includes('dist/mcp-apps/dist/pairing.html'));
    assert.deepEqual(
      packed.filter((path) => /\/test\/|\.test\.|\.map$|(?<!\.d)\.ts$|build\.|tsconfig/.test(path)),
      [],
    );
  });

  it('has every file that its code names by URL', (t) => {
    if (offline) return t.skip(offline);
    let count = 0;
    for (const file of globSync('dist/{server,sdk}/**/*.js', { cwd: installed() })) {
      const code = readFileSync(installed(file), 'utf8');
      for (const [, path = ''] of code.matchAll(/new URL\('(\.[^']+)', import\.meta\.url\)/g)) {
        assert.ok(existsSync(join(dirname(installed(file)), path)), `${file} names ${path}`);
        count++;
      }
      for (const [, path = ''] of code.matchAll(/(?:from|import\()\s*'(\.[^']+)'/g))
        assert.ok(existsSync(join(dirname(installed(file)), path)), `${file} imports ${path}`);
    }
    assert.ok(count >= 4);
  });

  it('starts, delivers, stops with code 0, and keeps its data', async (t) => {
    if (offline) return t.skip(offline);
    const receiver = await startReceiver();
    t.after(() => receiver.close());
    const first = await start('data');
    t.after(() => first.kill());
    for (const [path, type] of [
      ['/ready', 'application/json'],
      ['/openapi.json', 'application/json'],
      ['/docs', 'text/html'],
      ['/docs/errors', 'text/html'],
      ['/', 'text/html'],
    ] as const) {
      const response = await fetch(first.url + path);
      assert.deepEqual([response.status, response.headers.get('content-type')?.split(';')[0]], [200, type], path);
      const text = await response.text();
      if (path !== '/') continue;
      const [, script = ''] = /src="(\/assets\/[^"]+\.js)"/.exec(text) ?? [];
      assert.equal((await fetch(first.url + script)).status, 200);
    }
    const email = 'package@example.com';
    const { token } = (await callerOf(first.url, {})('POST', '/auth/register', { email, password: PASSWORD })).body;
    const call = callerOf(first.url, { authorization: `Bearer ${token}` });
    const [alice, number] = [await connectSession(call), newNumber()];
    await connectSession(call, number);
    const secret = 'a secret of sixteen';
    await call('POST', '/webhooks/set', { webhookUrl: receiver.url, events: ['message.incoming'], secret });
    await call('POST', '/messages/send', { sessionId: alice, to: number, message: 'from the package' });
    await receiver.waitFor(1);
    const [{ body, headers } = assert.fail()] = receiver.deliveries;
    assert.equal((await verify({ body, headers, secret })).ok, true);
    assert.equal(await first.stop(), 0);

    const second = await start('data');
    t.after(() => second.kill());
    const again = callerOf(second.url, { authorization: `Bearer ${token}` });
    const messages = (await again('GET', '/messages?direction=incoming')).body.data;
    assert.equal(messages[0].message, 'from the package');

    const env = { PATH: process.env['PATH'], HOME: folder, SWITCHBOARD_PASSWORD: PASSWORD };
    const cli = (...args: string[]) => run(join(folder, 'node_modules/.bin/switchboard'), args, { env });
    const login = await cli('login', '--url', second.url, '--email', email);
    assert.match(login.stdout, /^Logged in to /);
    assert.match((await cli('sessions', 'list')).stdout, /connected/);
    assert.match((await cli('start', '--help')).stdout, /DATA_DIR/);
    assert.equal(await second.stop(), 0);
  });

  it('explains how to install the bridge to Chatwoot', (t) => {
    if (offline) return t.skip(offline);
    const args = [installed('start.js'), 'chatwoot'];
    const { status, stderr } = spawnSync(process.execPath, args, { cwd: folder, encoding: 'utf8' });
    assert.equal(status, 1);
    assert.match(stderr, /not installed\. Install it with: npm install -g switchboard-chatwoot/);
  });

  it('loads connectors that import its errors', async (t) => {
    if (offline) return t.skip(offline);
    writeFileSync(
      join(folder, 'connector.js'),
      `import { AppError } from 'switchboard/errors';
       export const createConnector = () => ({
         name: 'own', options: { type: 'object', properties: {} }, messageTypes: ['text'],
         async open() { throw new AppError('session_state', 'refused by the connector'); },
       });`,
    );
    const server = await start('data of a connector', { CONNECTORS: './connector.js' });
    t.after(() => server.kill());
    const { token } = (
      await callerOf(server.url, {})('POST', '/auth/register', { email: 'a@example.com', password: PASSWORD })
    ).body;
    const call = callerOf(server.url, { authorization: `Bearer ${token}` });
    const { sessionId } = (await call('POST', '/sessions', { connector: 'own' })).body;
    const { status, body } = await call('POST', `/sessions/${sessionId}/connect`);
    assert.deepEqual([status, body.detail], [409, 'refused by the connector']);
    assert.equal(await server.stop(), 0);
    const imported = `import('switchboard/errors').then(({ AppError }) => console.log(new AppError('not_found').status))`;
    assert.equal(execFileSync(process.execPath, ['-e', imported], { cwd: folder, encoding: 'utf8' }), '404\n');
  });

  it('names the version of Node that it needs', () => {
    const start = readFileSync(join(server, 'start.js'), 'utf8');
    const [, oldest] = /OLDEST_NODE = '([\d.]+)'/.exec(start) ?? [];
    const { engines } = JSON.parse(readFileSync(join(server, 'package.json'), 'utf8'));
    assert.equal(engines.node, `>=${oldest}`);
    const pretend = `Object.defineProperty(process, 'version', { value: 'v20.19.0' });
      Object.defineProperty(process, 'versions', { value: { ...process.versions, node: '20.19.0' } });`;
    const args = ['--import', `data:text/javascript,${encodeURIComponent(pretend)}`, join(server, 'start.js')];
    const { status, stderr } = spawnSync(process.execPath, args, { encoding: 'utf8' });
    assert.equal(status, 1);
    assert.match(stderr, new RegExp(`^Switchboard needs Node\\.js ${oldest} or newer, and this is v20\\.19\\.0\\. `));
  });

  it('starts on the oldest line of Node that it supports', async (t) => {
    if (offline) return t.skip(offline);
    const node = await orSkip(t, 'the server in Node 24', findNode(24));
    if (node === undefined) return;
    assert.match(execFileSync(node, ['--version'], { encoding: 'utf8' }), /^v24\./);
    const server = await start('data of Node 24', {}, node);
    t.after(() => server.kill());
    const { status } = await fetch(`${server.url}/ready`);
    assert.equal(status, 200);
    const call = callerOf(server.url, {});
    const account = { email: 'node24@example.com', password: PASSWORD };
    assert.equal((await call('POST', '/auth/register', account)).status, 201);
    assert.equal(await server.stop(), 0);
  });

  it('has an entry that an older Node can parse', async (t) => {
    const older = await orSkip(t, 'the entry in Node 20', findNode(20));
    if (older === undefined) return;
    assert.match(execFileSync(older, ['--version'], { encoding: 'utf8' }), /^v20\./);
    const { status, stdout, stderr } = spawnSync(older, [join(server, 'start.js')], { encoding: 'utf8' });
    assert.deepEqual([status, stdout], [1, '']);
    assert.match(stderr, /^Switchboard needs Node\.js /);
  });
});
