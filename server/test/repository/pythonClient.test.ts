import assert from 'node:assert/strict';
import { type ChildProcess, execFile, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { after, before, describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { routes } from '../../../sdk/src/api.ts';
import { eventually } from '../support/eventually.ts';
import { startServer, type TestServer } from '../support/server.ts';

const run = promisify(execFile);
const folder = fileURLToPath(new URL('../../../clients/python/', import.meta.url));
const guide = readFileSync(new URL('../../../docs/python.md', import.meta.url), 'utf8');
const isThere = spawnSync('python3', ['-c', 'import sys; sys.exit(sys.version_info < (3, 9))']).status === 0;
const SECRET = 'a secret of at least 16 characters';

describe('the Python client', { skip: isThere ? false : 'this machine has no Python 3.9' }, () => {
  let server: TestServer;
  let work: string;
  let environment: NodeJS.ProcessEnv;
  before(async () => {
    server = await startServer();
    work = mkdtempSync(join(tmpdir(), 'python-'));
    const { call } = await server.account();
    const { key } = (await call('POST', '/api-keys/create', { name: 'python' })).body;
    environment = {
      ...process.env,
      PYTHONPATH: join(folder, 'src'),
      PYTHONDONTWRITEBYTECODE: '1',
      PYTHONUNBUFFERED: '1',
      SWITCHBOARD_URL: server.url,
      SWITCHBOARD_KEY: key,
      WEBHOOK_SECRET: SECRET,
    };
  });
  after(async () => {
    await server.stop();
    rmSync(work, { recursive: true });
  });

  const python = (...args: readonly string[]) => run('python3', args, { cwd: work, env: environment });
  /** The blocks of the guide, which name another address than this server has. */
  const blocks = [...guide.matchAll(/^```python\n(.*?)^```/gms)].map(([, code = '']) => code);
  const blockWith = (text: string) => blocks.find((code) => code.includes(text)) ?? assert.fail(`no block has ${text}`);
  const here = (code: string) => code.replaceAll('http://127.0.0.1:8080', server.url);

  it('passes its own tests', async () => {
    const { stderr } = await run('python3', ['-W', 'error::ResourceWarning', '-m', 'unittest'], {
      cwd: folder,
      env: environment,
    });
    assert.match(stderr, /^Ran [1-9]\d* tests/m);
    assert.doesNotMatch(stderr, /skipped/);
  });

  it('has a method for every operation', async () => {
    const program = `import json, sys
from switchboard_client import Client
client = Client("http://127.0.0.1")
for name in json.loads(sys.argv[1]):
    target = client
    for part in name.split("."):
        target = getattr(target, part)
    assert callable(target), name`;
    await python('-c', program, JSON.stringify(Object.keys(routes)));
  });

  it('runs the examples of its guide', async () => {
    const isOther = (code: string) => /events\.stream|serve_forever/.test(code);
    const program = blocks.filter((code) => !isOther(code)).map(here);
    assert.ok(program.length >= 5);
    const file = join(work, 'guide.py');
    writeFileSync(file, program.join('\n'));
    const { stdout } = await python('-W', 'error', file);
    assert.match(stdout, /^(sent|delivered|read)\nHello\n/);
    assert.equal(readFileSync(join(work, 'copy.txt'), 'utf8'), 'Hello');
  });

  it('streams events as its guide shows', async (test) => {
    const file = join(work, 'stream.py');
    writeFileSync(file, here(`${blockWith('import Client')}\n${blockWith('events.stream')}`));
    const running = spawn('python3', [file], { cwd: work, env: environment, stdio: ['ignore', 'pipe', 'inherit'] });
    test.after(() => running.kill('SIGKILL'));
    const lines = createInterface({ input: running.stdout });
    const printed: string[] = [];
    lines.on('line', (line) => printed.push(line));
    // The stream starts with the next event, so one arrives after it has begun.
    const api = async (path: string, body?: object) => {
      const response = await fetch(`${server.url}/api/v1${path}`, {
        method: body === undefined ? 'GET' : 'POST',
        headers: { authorization: `Bearer ${environment['SWITCHBOARD_KEY']}`, 'content-type': 'application/json' },
        ...(body !== undefined && { body: JSON.stringify(body) }),
      });
      return response.json();
    };
    await eventually(
      async () => {
        const { data } = await api('/sessions');
        for (const { sessionId, status } of data) {
          if (status !== 'connected') continue;
          await api(`/sessions/${sessionId}/simulate`, {
            action: 'incoming',
            from: '491701112223',
            message: 'Grüße 👋',
          });
        }
        return printed;
      },
      (seen) => seen.some((line) => /^\d+\.evt_\w+ 491701112223 Grüße 👋$/.test(line)),
    );
  });

  it('receives webhooks as its guide shows', async (test) => {
    const port = await freePort();
    const file = join(work, 'receiver.py');
    writeFileSync(file, blockWith('serve_forever'));
    const running = spawn('python3', [file], {
      cwd: work,
      env: { ...environment, PORT: String(port) },
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    test.after(() => running.kill('SIGKILL'));
    const printed: string[] = [];
    createInterface({ input: running.stdout }).on('line', (line) => printed.push(line));
    const { call } = await server.account();
    const set = (secret: string) =>
      call('POST', '/webhooks/set', { webhookUrl: `http://127.0.0.1:${port}/`, events: ['message.incoming'], secret });
    await set(SECRET);
    const genuine = await eventually(
      async () => {
        assertRunning(running);
        return (await call('GET', '/webhooks/test')).body;
      },
      ({ status }) => status !== null,
    );
    assert.equal(genuine.status, 204, genuine.message);
    await eventually(
      async () => printed,
      ([line = '']) => /^evt_\w+ \S/.test(line),
    );
    await set('another secret of 16 characters');
    assert.equal((await call('GET', '/webhooks/test')).body.status, 401);
  });
});

function assertRunning({ exitCode }: ChildProcess): void {
  assert.equal(exitCode, null, 'the receiver exited');
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  server.close();
  await once(server, 'close');
  return typeof address === 'object' && address !== null ? address.port : 0;
}
