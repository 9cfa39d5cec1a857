import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { createHmac } from 'node:crypto';
import { once } from 'node:events';
import { copyFile, cp, mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { basename, join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { launch } from '../../dashboard/test/support/browser.ts';
import { portOf } from '../../server/test/support/connections/listening.ts';
import {
  fetched,
  findNode,
  findRuntime,
  link,
  newFolder,
  orSkip,
  output,
  type Packed,
  pack,
  type Registry,
  startRegistry,
} from '../../server/test/support/processes/packages.ts';
import { startServer, type TestServer } from '../../server/test/support/server.ts';

const CONSUMERS = fileURLToPath(new URL('consumers/', import.meta.url));
const TSC = fileURLToPath(new URL('../../node_modules/typescript/bin/tsc', import.meta.url));

describe('the package @switchboard/sdk, installed outside the checkout', () => {
  let folder: string;
  let project: string;
  let packed: Packed;
  let registry: Registry;
  let server: TestServer;
  before(async () => {
    folder = await newFolder();
    packed = await pack('sdk', folder);
    registry = await startRegistry([packed], folder);
    project = join(folder, 'project');
    await mkdir(project);
    await output('npm', ['init', '-y'], { cwd: project, env: registry.env });
    await output('npm', ['install', '@switchboard/sdk'], { cwd: project, env: registry.env });
    await link(project, ['express', 'fastify', 'hono', '@hono/node-server', '@types/node', '@types/express']);
    server = await startServer();
  });
  after(async () => {
    await server?.stop();
    await registry?.close();
    await rm(folder, { recursive: true });
  });

  /** Copies a script of a user into the project, and returns its name. */
  async function consumer(name: string): Promise<string> {
    await copyFile(join(CONSUMERS, name), join(project, name));
    return name;
  }

  /** An account of its own, as the environment of a script. */
  async function environment(): Promise<Record<string, string>> {
    const { call } = await server.account();
    const { body } = await call('POST', '/api-keys/create', { name: 'sdk' });
    return { SWITCHBOARD_URL: server.url, SWITCHBOARD_KEY: body.key };
  }

  it('has code, types, source maps with their sources, a page for npm and a license, and nothing else', async () => {
    const others = packed.files.filter((file) => !/^dist\/(cjs\/)?\w+\.(js|js\.map|d\.ts)$/.test(file));
    assert.deepEqual(others.sort(), ['LICENSE', 'README.md', 'dist/cjs/package.json', 'package.json']);
    for (const key of ['private', 'dependencies', 'peerDependencies', 'scripts.prepare'])
      assert.ok(!(key in packed.manifest));
    const installed = join(project, 'node_modules/@switchboard/sdk');
    for (const entry of Object.values(packed.manifest['exports'] as Record<string, Entry | string>).flatMap(
      modulesOf,
    )) {
      const { types, default: code } = entry;
      assert.ok(packed.files.includes(code.slice(2)) && packed.files.includes(types.slice(2)), code);
      const map = JSON.parse(await readFile(join(installed, `${code}.map`), 'utf8'));
      assert.equal(map.sourcesContent.length, map.sources.length);
    }
  });

  for (const major of [20, 22, 24, 26]) {
    it(`works in Node ${major}`, async (test) => {
      const node = await orSkip(test, `the SDK in Node ${major}`, findNode(major));
      if (node === undefined) return;
      const options = { cwd: project, env: await environment(), node };
      assert.match(await output(node, ['--version'], options), new RegExp(`^v${major}\\.`));
      await output(node, [await consumer('plain.mjs')], options);
      await output(node, [await consumer('plain.cjs')], options);
    });
  }

  for (const runtime of ['deno', 'bun'] as const) {
    it(`works in ${runtime}`, async (test) => {
      const binary = await orSkip(test, `the SDK in ${runtime}`, findRuntime(runtime));
      if (binary === undefined) return;
      const options = { cwd: project, env: await environment() };
      const flags = runtime === 'deno' ? ['run', '--allow-all', '--node-modules-dir=manual'] : ['run'];
      await output(binary, [...flags, await consumer('plain.mjs')], options);
    });
  }

  const node = { module: 'nodenext', moduleResolution: 'nodenext' };
  const bundler = { module: 'esnext', moduleResolution: 'bundler' };
  for (const [title, file, options] of [
    ['of nodenext with the types of Node alone', 'typed.ts', { ...node, lib: ['es2022'], types: ['node'] }],
    ['of nodenext with the types of browsers alone', 'typed.ts', { ...node, lib: ['es2022', 'dom'], types: [] }],
    ['of a bundler with the types of browsers alone', 'typed.ts', { ...bundler, lib: ['es2022', 'dom'], types: [] }],
    ['of nodenext with inputs that can be undefined', 'inputs.ts', { ...node, types: ['node'] }],
    ['of nodenext with the frameworks', 'frameworks.ts', { ...node, types: ['node'] }],
    ['of a bundler with the frameworks', 'frameworks.ts', { ...bundler, types: ['node'] }],
  ] as const) {
    it(`passes strict type checks under the resolution ${title}`, async () => {
      const strict = { strict: true, exactOptionalPropertyTypes: true, noUncheckedIndexedAccess: true, noEmit: true };
      const compilerOptions = { target: 'es2022', skipLibCheck: false, ...strict, ...options };
      const config = join(project, 'tsconfig.json');
      await writeFile(config, JSON.stringify({ compilerOptions, files: [await consumer(file)] }));
      await output(process.execPath, [TSC, '-p', config], { cwd: project });
    });
  }

  const commonjs = { module: 'commonjs', moduleResolution: 'node10' };
  for (const [title, options] of [
    ['nodenext', node],
    ['commonjs', commonjs],
    ['commonjs without exactOptionalPropertyTypes', { ...commonjs, exactOptionalPropertyTypes: false }],
  ] as const) {
    it(`passes the type checks of TypeScript 5.6 in a CommonJS project with module ${title}`, async (test) => {
      // No dependency of the checkout: its `tsc` would take the place of ours in `node_modules/.bin`.
      const typescript = await orSkip(test, 'the SDK in TypeScript 5.6', fetched('typescript@5.6.3'));
      if (typescript === undefined) return;
      const compiler = join(typescript, 'node_modules/typescript/bin/tsc');
      const strict = { strict: true, exactOptionalPropertyTypes: true, skipLibCheck: false };
      const compilerOptions = {
        target: 'es2022',
        lib: ['es2022'],
        types: ['node'],
        outDir: 'out',
        ...strict,
        ...options,
      };
      const config = join(project, 'tsconfig.json');
      const files = [await consumer('typed.ts'), await consumer('inputs.ts')];
      await writeFile(config, JSON.stringify({ compilerOptions, files }));
      await output(process.execPath, [compiler, '-p', config], { cwd: project });
      assert.match(await readFile(join(project, 'out/typed.js'), 'utf8'), /require\("@switchboard\/sdk"\)/);
      await output(process.execPath, [join(project, 'out/typed.js')], { cwd: project });
    });
  }

  it('has types that match its code for every way to import it', async (test) => {
    const checker = await orSkip(test, 'Are the types wrong?', fetched('@arethetypeswrong/core@0.18.5'));
    if (checker === undefined) return;
    const core = join(checker, 'node_modules/@arethetypeswrong/core/dist/index.js');
    const { checkPackage, createPackageFromTarballData } = await import(pathToFileURL(core).href);
    const { problems } = await checkPackage(createPackageFromTarballData(await readFile(packed.tarball)));
    assert.deepEqual(problems, []);
  });

  describe('in a browser', () => {
    let browser: Awaited<ReturnType<typeof launch>>;
    before(async () => {
      browser = await launch();
    });
    after(() => browser?.close());

    /** Opens an empty page of the server, which can import the files of the package. */
    async function openPage() {
      const page = await browser.newPage();
      const installed = join(project, 'node_modules/@switchboard/sdk/dist');
      await page.route('**/sdk/*.js', async (route) => {
        const body = await readFile(join(installed, basename(new URL(route.request().url()).pathname)));
        await route.fulfill({ contentType: 'text/javascript', body });
      });
      await page.route('**/worker.js', (route) => route.fulfill({ contentType: 'text/javascript', body: WORKER }));
      await page.route('**/empty', (route) => route.fulfill({ contentType: 'text/html', body: IMPORT_MAP }));
      await page.goto(`${server.url}/empty`);
      return page;
    }

    it('calls the server, reports the progress of uploads and verifies deliveries in a page', async () => {
      const page = await openPage();
      const { name, hello, progress, verified } = await page.evaluate(useSdk, await signedDelivery());
      assert.deepEqual([name, hello, verified], ['from a browser', 'Hello', 'message.incoming']);
      assert.deepEqual(progress, { sentBytes: 5, totalBytes: 5 });
    });

    it('calls the server in a worker', async () => {
      const page = await openPage();
      const answer = await page.evaluate(
        (env) =>
          new Promise((resolve, reject) => {
            const worker = new Worker('/worker.js', { type: 'module' });
            worker.onmessage = ({ data }) => resolve(data);
            worker.onerror = ({ message }) => reject(new Error(message));
            worker.postMessage(env);
          }),
        await environment(),
      );
      assert.deepEqual(answer, { data: [], nextCursor: null });
    });

    /** The environment of a script, and a delivery that was signed with Node's own code. */
    async function signedDelivery() {
      const secret = 'between us';
      const at = String(Math.floor(Date.now() / 1000));
      const data = {
        messageId: 'msg_1',
        from: '491707654321',
        message: 'Grüße 👋',
        timestamp: '2026-01-01T00:00:00.000Z',
      };
      const body = JSON.stringify({ event: 'message.incoming', data });
      const signature = createHmac('sha256', secret).update(`evt_1.${at}.${body}`).digest('base64');
      const headers = { 'webhook-id': 'evt_1', 'webhook-timestamp': at, 'webhook-signature': `v1,${signature}` };
      return { ...(await environment()), body, headers, secret };
    }
  });

  it('receives a delivery as a route of Next.js', async (test) => {
    const next = await orSkip(test, 'the SDK in Next.js', fetched('next@16.4.6', 'react@19', 'react-dom@19'));
    if (next === undefined) return;
    const app = join(folder, 'app');
    // Next.js treats everything below a folder `node_modules`, such as the cache, as code of others.
    await cp(next, app, { recursive: true, verbatimSymlinks: true });
    await output('npm', ['install', '--no-save', packed.tarball], { cwd: app, env: registry.env });
    await mkdir(join(app, 'app/hook'), { recursive: true });
    await writeFile(join(app, 'app/hook/route.js'), NEXT_ROUTE);
    const env = { NEXT_TELEMETRY_DISABLED: '1', SWITCHBOARD_URL: server.url };
    const program = join(app, 'node_modules/next/dist/bin/next');
    // Without a secret: a build must not need one.
    await output(process.execPath, [program, 'build'], { cwd: app, env });
    const port = await freePort();
    const child = spawn(process.execPath, [program, 'start', '-H', '127.0.0.1', '-p', String(port)], {
      cwd: app,
      env: { ...process.env, ...env, WEBHOOK_SECRET: 'between us and Next.js' },
    });
    test.after(() => child.kill());
    let printed = '';
    for await (const chunk of child.stdout) {
      printed += chunk;
      if (printed.includes('Ready')) break;
    }
    const { call } = await server.account();
    const webhookUrl = `http://127.0.0.1:${port}/hook`;
    await call('POST', '/webhooks/set', { webhookUrl, events: ['message.incoming'], secret: 'between us and Next.js' });
    const tested = (await call('GET', '/webhooks/test')).body;
    assert.deepEqual([tested.class, tested.status], ['ok', 204], JSON.stringify(tested));
    await call('POST', '/webhooks/set', {
      webhookUrl,
      events: ['message.incoming'],
      secret: 'another secret of the webhook',
    });
    assert.equal((await call('GET', '/webhooks/test')).body.status, 401);
  });
});

interface Entry {
  readonly types: string;
  readonly default: string;
  readonly require?: Entry;
}

/** The ES module and the CommonJS module of an entry in `exports`. */
function modulesOf(entry: Entry | string): readonly Entry[] {
  if (typeof entry === 'string') return [];
  return entry.require === undefined ? [entry] : [entry, entry.require];
}

const IMPORT_MAP = `<!doctype html><title>Empty</title><script type="importmap">
  { "imports": { "@switchboard/sdk": "/sdk/client.js", "@switchboard/sdk/webhooks": "/sdk/webhooks.js" } }
</script>`;

const WORKER = `
  import { createClient } from '/sdk/client.js';
  onmessage = async ({ data }) => {
    const sb = createClient({ baseUrl: data.SWITCHBOARD_URL, credential: data.SWITCHBOARD_KEY });
    postMessage(await sb.sessions.list());
  };
`;

/** Runs in a page. */
async function useSdk({ SWITCHBOARD_URL, SWITCHBOARD_KEY, body, headers, secret }: Delivered) {
  const { createClient } = await import('@switchboard/sdk');
  const { verifyAndParse } = await import('@switchboard/sdk/webhooks');
  const sb = createClient({ baseUrl: SWITCHBOARD_URL ?? '', credential: SWITCHBOARD_KEY ?? '' });
  const { sessionId } = await sb.sessions.create({ name: 'from a browser' });
  const { name } = await sb.sessions.get({ sessionId });
  let progress: object = {};
  const onProgress = (now: object) => {
    progress = now;
  };
  const file = new Blob(['Hello'], { type: 'text/plain' });
  const { mediaId } = await sb.media.upload(file, { fileName: 'hello.txt' }, { onProgress });
  const hello = await (await sb.media.content({ mediaId })).text();
  const result = await verifyAndParse({ body, headers, secret });
  return { name, hello, progress, verified: result.ok ? result.event.event : result.reason };
}

interface Delivered {
  readonly SWITCHBOARD_URL?: string;
  readonly SWITCHBOARD_KEY?: string;
  readonly body: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly secret: string;
}

const NEXT_ROUTE = `
  import { webhookHandler } from '@switchboard/sdk/next';
  export const POST = webhookHandler({ secret: () => process.env.WEBHOOK_SECRET, onEvent: ({ event }) => event });
`;

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const port = portOf(server);
  server.close();
  await once(server, 'close');
  return port;
}
