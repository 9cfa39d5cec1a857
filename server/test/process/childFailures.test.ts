import assert from 'node:assert/strict';
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdtempSync, readFileSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { PasswordHasher } from '../../src/auth/passwords.ts';
import { ChildHealth, Children } from '../../src/childHealth.ts';
import { ThreadReader } from '../../src/db/sqlite/threadReader.ts';
import { createLog } from '../../src/log.ts';
import { Converter } from '../../src/media/conversion/converter.ts';
import type { Order } from '../../src/media/conversion/task.ts';
import { ThreadPool } from '../../src/threadPool.ts';
import { eventually } from '../support/eventually.ts';
import { picture } from '../support/media/media.ts';
import { startServer } from '../support/server.ts';

const rule = { mimeTypes: ['image/png'], maxBytes: 1_000_000 };
const image: Order = { purpose: 'image', rule, mimeType: 'image/png' };
const readImage = async () => picture();

/** A folder with a Node binary that can be taken away and put back. */
function removableNode(test: TestContext) {
  const folder = mkdtempSync(join(tmpdir(), 'switchboard-node-'));
  const program = join(folder, 'node');
  symlinkSync(process.execPath, program);
  test.after(() => rmSync(folder, { recursive: true }));
  return {
    program,
    remove: () => renameSync(program, `${program}.away`),
    putBack: () => renameSync(`${program}.away`, program),
  };
}

const failing = (children: Children) => children.states().flatMap(({ part, isFailing }) => (isFailing ? [part] : []));

describe('the converter', () => {
  it('refuses files while its program is missing, reports it, and recovers by itself', async (test) => {
    const node = removableNode(test);
    const lines: string[] = [];
    const children = new Children(createLog('info', { write: (line: string) => void lines.push(line) }));
    const converter = new Converter({ program: node.program, health: children.of('media_conversion') });
    test.after(() => converter.stop());
    node.remove();
    const refused = { code: 'too_busy', retryAfterSeconds: 5 };
    await Promise.all(
      ['acc_1', 'acc_2', 'acc_3'].map((account) =>
        assert.rejects(converter.prepare(account, image, readImage), refused),
      ),
    );
    assert.equal(converter.processes, 0, 'no slot stays taken');
    assert.deepEqual(failing(children), ['media_conversion']);
    assert.equal(lines.filter((line) => line.includes('"level":50')).length, 1, 'logs the outage once');
    await assert.rejects(converter.prepare('acc_1', image, readImage), refused);
    node.putBack();
    await eventually(
      async () => failing(children),
      (failing) => failing.length === 0,
    );
    assert.ok(lines.at(-1)?.includes('works again'));
    assert.ok((await converter.prepare('acc_1', image, readImage)).facts.width);
  });

  it('starts a process again for the same file when the first start fails', async (test) => {
    const node = removableNode(test);
    const converter = new Converter({ program: node.program });
    test.after(() => converter.stop());
    node.remove();
    const prepared = converter.prepare('acc_1', image, readImage);
    setImmediate(() => setImmediate(node.putBack));
    assert.ok((await prepared).facts.width);
  });

  it('refuses files when a process ends before its code is loaded', async (test) => {
    const folder = mkdtempSync(join(tmpdir(), 'switchboard-node-'));
    test.after(() => rmSync(folder, { recursive: true }));
    const program = join(folder, 'node');
    writeFileSync(program, '#!/bin/sh\nexit 1\n');
    chmodSync(program, 0o755);
    const converter = new Converter({ program });
    test.after(() => converter.stop());
    await assert.rejects(converter.prepare('acc_1', image, readImage), { code: 'too_busy' });
  });

  it('rejects a file whose content is not read in time, and keeps the process', async (test) => {
    const converter = new Converter({ timeoutMs: 8000 });
    test.after(() => converter.stop());
    const never = () => new Promise<Uint8Array>(() => {});
    await assert.rejects(converter.prepare('acc_1', image, never), { code: 'storage_unavailable' });
    assert.ok((await converter.prepare('acc_1', image, readImage)).facts.width);
  });

  it('rejects a file that waits longer than the deadline', async (test) => {
    const converter = new Converter({ waitMs: 1 });
    test.after(() => converter.stop());
    const first = converter.prepare('acc_1', image, readImage);
    await assert.rejects(converter.prepare('acc_1', image, readImage), { code: 'too_busy' });
    await first;
  });
});

describe('a pool of threads', () => {
  const scriptOf = (test: TestContext, text: string) => {
    const folder = mkdtempSync(join(tmpdir(), 'switchboard-thread-'));
    test.after(() => rmSync(folder, { recursive: true }));
    const file = join(folder, 'thread.mjs');
    if (text !== '') writeFileSync(file, text);
    return { file, script: pathToFileURL(file) };
  };
  const ECHO = `import { parentPort } from 'node:worker_threads';
    parentPort.on('message', (task) => {
      if (task === 'die') process.exit();
      if (task !== 'never') parentPort.postMessage(task);
    });
    parentPort.postMessage('ready');`;
  const poolOf = (test: TestContext, script: URL, more: { timeoutMs?: number; idleMs?: number } = {}) => {
    const health = new ChildHealth('passwords');
    const pool = new ThreadPool<string, string>({
      script,
      size: 1,
      timeoutMs: 20_000,
      health,
      purpose: 'work',
      ...more,
    });
    test.after(() => pool.stop());
    return { pool, health };
  };

  it('refuses tasks while its code is missing, and recovers by itself', async (test) => {
    const { file, script } = scriptOf(test, '');
    const { pool, health } = poolOf(test, script);
    await assert.rejects(pool.run('a'), { code: 'too_busy' });
    await assert.rejects(pool.run('b'), { code: 'too_busy' });
    assert.equal(health.isFailing, true);
    writeFileSync(file, ECHO);
    await eventually(
      async () => health.isFailing,
      (isFailing) => !isFailing,
    );
    assert.equal(await pool.run('c'), 'c');
  });

  it('ends a thread whose task takes too long, and goes on', async (test) => {
    const { script } = scriptOf(test, ECHO);
    test.mock.timers.enable({ apis: ['setTimeout'] });
    const { pool } = poolOf(test, script, { timeoutMs: 1000 });
    assert.equal(await pool.run('a'), 'a');
    const never = assert.rejects(pool.run('never'), { code: 'too_busy' });
    test.mock.timers.tick(1000);
    await never;
    assert.equal(await pool.run('b'), 'b');
  });

  it('rejects a task that ends its thread, and starts another thread for the next one', async (test) => {
    const { script } = scriptOf(test, ECHO);
    const { pool } = poolOf(test, script);
    assert.equal(await pool.run('a'), 'a');
    await assert.rejects(pool.run('die'), { message: 'the thread ended before its task' });
    assert.equal(await pool.run('b'), 'b');
  });

  it('starts a thread again after it ended without work', async (test) => {
    const { script } = scriptOf(test, ECHO);
    const { pool } = poolOf(test, script, { idleMs: 1 });
    for (const task of ['a', 'b', 'c']) assert.equal(await pool.run(task), task);
  });
});

describe('the threads of the server', () => {
  const missing = new URL('./no-such-thread.ts', import.meta.url);

  it('reject logins instead of failing when the code of the thread is missing', async (test) => {
    const passwords = new PasswordHasher({ script: missing });
    test.after(() => passwords.stop());
    await assert.rejects(passwords.hash('correct horse', '192.0.2.1'), { code: 'too_busy' });
  });

  it('fail reads with an error of the database when the thread does not start, or not respond in time', async (test) => {
    const folder = mkdtempSync(join(tmpdir(), 'switchboard-reader-'));
    test.after(() => rmSync(folder, { recursive: true }));
    const reader = new ThreadReader(join(folder, 'a.db'), { script: missing });
    await assert.rejects(reader.query('select 1', []), { errcode: 9 });
    await reader.stop();
    const silent = join(folder, 'silent.mjs');
    writeFileSync(silent, `import { parentPort } from 'node:worker_threads'; parentPort.on('message', () => {});`);
    const health = new ChildHealth('long_reads');
    const slow = new ThreadReader(join(folder, 'a.db'), { script: pathToFileURL(silent), timeoutMs: 500, health });
    await assert.rejects(slow.query('select 1', []), { errcode: 9 });
    assert.equal(health.isFailing, true);
    await slow.stop();
  });
});

it('reports a part that fails in /ready, and stays ready', async (test) => {
  const server = await startServer();
  test.after(() => server.stop());
  const read = async () => (await fetch(`${server.url}/ready`)).json();
  assert.deepEqual(await read(), { status: 'ready' });
  const health = server.app.children.of('media_conversion');
  health.failed(new Error('no more processes'));
  assert.deepEqual(await read(), { status: 'ready', degraded: ['media_conversion'] });
  await eventually(
    async () => (await fetch(`${server.url}/metrics`)).text(),
    (metrics) => metrics.includes('switchboard_degraded{part="media_conversion"} 1'),
  );
  health.works();
  assert.deepEqual(await read(), { status: 'ready' });
});

it('refuses an image and a login at the limit of open files, and accepts them afterwards', async () => {
  const program = join(import.meta.dirname, '../support/processes/fewFiles.ts');
  const limited = ['-c', 'ulimit -n 256 && exec "$0" "$1"', process.execPath, program];
  const { stdout } = await promisify(execFile)('sh', limited);
  assert.deepEqual(JSON.parse(stdout), { image: 'too_busy', password: 'too_busy', later: [true, true] });
});

it('ends a conversion process when the server is killed', {
  skip: process.platform !== 'linux' && 'the ids of child processes are read from /proc',
}, async () => {
  const server = spawn(process.execPath, [join(import.meta.dirname, '../support/media/longConversion.ts')], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const [printed] = await once(server.stdout, 'data');
  const pid = Number(String(printed));
  assert.ok(isRunning(pid));
  server.kill('SIGKILL');
  const isGone = (running: boolean) => !running;
  await eventually(async () => isRunning(pid), isGone, 10_000); // the conversion takes longer
});

/** A process that has ended, and that nobody has waited for, still has a folder. */
function isRunning(pid: number): boolean {
  try {
    return !/^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'));
  } catch {
    return false;
  }
}
