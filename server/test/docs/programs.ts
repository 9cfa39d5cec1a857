import assert from 'node:assert/strict';
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { copyFileSync, mkdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { TestContext } from 'node:test';
import { eventually } from '../support/eventually.ts';
import type { Call } from '../support/server.ts';
import type { Checkout } from './checkout.ts';
import { root } from './markdown.ts';

/** A program that a page has its readers save and start. */
export interface Program {
  /** A command that succeeds if its language is installed. */
  readonly check: readonly [program: string, ...args: string[]];
  /** Files of the repository that the page has its readers copy, by their path beside the program. */
  readonly copies?: Readonly<Record<string, string>>;
}

export interface Running {
  readonly process: ChildProcess;
  /** Everything that it has printed. */
  output(): string;
}

/** The reason to skip a test; false if the language is installed. */
export function skipWithout([program, ...args]: Program['check']): string | false {
  return spawnSync(program, args).status === 0 ? false : `this machine has no ${program}`;
}

/** Starts the commands of a page in a folder, until the test ends. Port 3000 of the page becomes the given one. */
export function start(
  test: TestContext,
  { copies = {} }: Program,
  {
    checkout,
    folder,
    commands,
    port,
    environment,
  }: {
    readonly checkout: Checkout;
    readonly folder: string;
    readonly commands: string;
    readonly port: number;
    readonly environment: Readonly<Record<string, string>>;
  },
): Running {
  for (const [to, from] of Object.entries(copies)) {
    mkdirSync(dirname(join(folder, to)), { recursive: true });
    copyFileSync(join(root, from), join(folder, to));
  }
  const child = spawn('bash', ['-ec', commands.replaceAll('3000', String(port))], {
    cwd: folder,
    env: {
      ...process.env,
      PATH: checkout.path,
      PORT: String(port),
      PYTHONPATH: join(root, 'clients/python/src'),
      PYTHONDONTWRITEBYTECODE: '1',
      GOCACHE: join(checkout.folder, '.go-cache'),
      ...environment,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true, // so that the whole group can be ended
  });
  test.after(() => {
    if (child.pid !== undefined && child.exitCode === null) process.kill(-child.pid, 'SIGKILL');
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (part) => (output += String(part)));
  return { process: child, output: () => output };
}

/** Sets the endpoint as the webhook, and resolves once it accepts a signed test. It must refuse strangers. */
export async function connect(call: Call, running: Running, port: number, secret: string): Promise<void> {
  const url = `http://127.0.0.1:${port}/hook`;
  await call('POST', '/webhooks/set', { webhookUrl: url, events: ['message.incoming'], secret });
  const sample = await eventually(
    async () => {
      assert.equal(running.process.exitCode, null, running.output());
      return (await call('GET', '/webhooks/test')).body;
    },
    ({ status }) => status !== null,
  );
  assert.equal(sample.status, 204, `${sample.message}\n${running.output()}`);
  assert.equal((await fetch(url, { method: 'POST', body: '{}' })).status, 401);
}
