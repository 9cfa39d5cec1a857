import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { after, before, describe, it, type TestContext } from 'node:test';
import {
  findNode,
  newFolder,
  orSkip,
  output,
  type Packed,
  pack,
  packFolder,
  packStandIn,
  type Registry,
  startRegistry,
} from '../../server/test/support/processes/packages.ts';
import { bearer } from '../../server/test/support/server.ts';
import { startFakeGateway } from '../template/test/fakeGateway.ts';

const page = await readFile(new URL('../../docs/connectors.md', import.meta.url), 'utf8');
const template = new URL('../template/', import.meta.url);

/** The steps of the guide in their order: files to write, and commands to run. */
const steps = [
  ...page
    .slice(page.indexOf('## Writing a connector'), page.indexOf('## The connector interface'))
    .matchAll(/(?:<!-- file: (\S+) -->\n)?```(\w+)\n(.*?)```/gs),
].map(([, file, language, text = '']) => ({ file, language, text }));
const commands = (beginning: string): string =>
  steps.find(({ language, text }) => language === 'sh' && text.startsWith(beginning))?.text ??
  assert.fail(`docs/connectors.md has no commands that begin with ${beginning}`);

describe('the guide "Writing a connector", followed outside the checkout', () => {
  let folder: string;
  let project: string;
  let packages: Packed[];
  let registry: Registry;
  before(async () => {
    folder = await newFolder();
    project = join(folder, 'switchboard-connector-pager');
    packages = [
      await pack('connector-kit', folder),
      // The server and the compiler of the checkout, and the types of its Node.
      await packStandIn(
        { name: 'switchboard', version: '0.1.0', type: 'module', bin: { switchboard: 'start.js' } },
        { 'start.js': "#!/usr/bin/env node\nimport '{ROOT}server/start.js';\n" },
        folder,
      ),
      await packStandIn(
        { name: 'typescript', version: '7.0.2', type: 'module', bin: { tsc: 'tsc.js' } },
        { 'tsc.js': "#!/usr/bin/env node\nimport '{ROOT}node_modules/typescript/bin/tsc';\n" },
        folder,
      ),
      await packStandIn(
        { name: '@types/node', version: '26.0.0', types: 'index.d.ts' },
        { 'index.d.ts': '/// <reference path="{ROOT}node_modules/@types/node/index.d.ts" />\n' },
        folder,
      ),
    ];
    registry = await startRegistry(packages, folder);
  });
  after(async () => {
    await registry?.close();
    await rm(folder, { recursive: true });
  });

  const sh = (text: string, cwd = project, env: Record<string, string> = {}, node = process.execPath) =>
    output('sh', ['-e', '-c', text], { cwd, env: { ...registry.env, ...env }, node });

  /** Runs commands that start a server. @returns its URL */
  async function start(test: TestContext, text: string, cwd: string): Promise<string> {
    const data = join(await newFolder(), 'data');
    const child = spawn('sh', ['-e', '-c', text], {
      cwd,
      env: { ...process.env, ...registry.env, PORT: '0', LOG_LEVEL: 'warn', DATA_DIR: data },
      detached: true, // so that all processes of it can be ended together
    });
    test.after(async () => {
      await end(child);
      await rm(dirname(data), { recursive: true });
    });
    let printed = '';
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (printed += chunk));
    const ended = once(child, 'exit').then(([code]) => assert.fail(`it ended with ${code}: ${printed}`));
    const ready = (async () => {
      for await (const _ of child.stdout) if (printed.includes('Database')) return;
    })();
    await Promise.race([ready, ended]);
    return /API +(http:\S+)\/api\/v1/.exec(printed)?.[1] ?? assert.fail(printed);
  }

  async function account(url: string) {
    const password = 'correct horse battery';
    const { body } = await bearer(url, '')('POST', '/auth/register', { email: 'ann@example.com', password });
    return { key: body.token as string, call: bearer(url, body.token) };
  }

  it('has commands for every step', () => {
    assert.deepEqual(
      steps.map(({ file, language }) => file ?? language),
      ['sh', 'src/index.ts', 'test/fakeGateway.ts', 'test/conformance.test.ts', 'sh', 'sh', 'sh', 'sh', 'sh'],
    );
  });

  it('shows the files of the template', async () => {
    for (const { file, text } of steps)
      if (file !== undefined) assert.equal(text, await readFile(new URL(file, template), 'utf8'), file);
  });

  it('starts from an empty folder, and its tests pass', async () => {
    await sh(commands('mkdir'), folder);
    for (const { file, text } of steps) if (file !== undefined) await writeFile(join(project, file), text);
    const report = await sh(commands('node --test'));
    assert.match(report, /acknowledges a message only after it is stored/);
    assert.match(report, /fail 0/);
  });

  // The oldest one of the kit, and the oldest one of the server.
  for (const major of [22, 24]) {
    it(`passes its tests in Node ${major}`, async (test) => {
      const node = await orSkip(test, `the kit in Node ${major}`, findNode(major));
      if (node === undefined) return;
      assert.match(await sh('node --version', project, {}, node), new RegExp(`^v${major}\\.`));
      assert.match(await sh(commands('node --test'), project, {}, node), /fail 0/);
    });
  }

  it('runs the connector in a server, which creates a session on it', async (test) => {
    const url = await start(test, commands('CONNECTORS=./src/index.ts'), project);
    const { key, call } = await account(url);
    const created = JSON.parse(await sh(commands('curl'), project, { BASE_URL: url, API_KEY: key }));
    assert.deepEqual([created.connector, created.options], ['pager', { gateway: 'https://pager.example.com' }]);
    const { data } = (await call('GET', '/connectors')).body;
    assert.ok(data.some(({ name }: { name: string }) => name === 'pager'));
  });

  it('builds a package from the template, which others install beside the server', async (test) => {
    await sh(commands('cp'));
    const packed = await packFolder(project, folder);
    assert.deepEqual([...packed.files].sort(), ['dist/index.d.ts', 'dist/index.js', 'package.json']);
    packages.push(packed);
    const other = join(folder, 'other');
    await mkdir(other);
    const [install = '', run = ''] = commands('npm install switchboard').trim().split('\n');
    await sh('npm init -y', other);
    await sh(install, other);
    const gateway = await startFakeGateway();
    test.after(() => gateway.stop());
    const { call } = await account(await start(test, run, other));
    const { options, somebody, nobody } = gateway;
    const { sessionId } = (await call('POST', '/sessions', { connector: 'pager', options })).body;
    assert.equal((await call('POST', `/sessions/${sessionId}/connect`)).body.status, 'connected');
    const send = (to: string | undefined) => call('POST', '/messages/send', { sessionId, to, message: 'Hello' });
    assert.equal((await send(somebody)).status, 201);
    assert.deepEqual(await gateway.received(), ['Hello']);
    // An error of the copy of the kit in that project.
    const { status, body } = await send(nobody);
    assert.deepEqual([status, body.code], [422, 'recipient_not_on_network']);
  });
});

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.pid === undefined) return;
  process.kill(-child.pid, 'SIGTERM');
  // Not `exit`, which is that of the shell alone: the server still writes into its folder then.
  await once(child, 'close');
}
