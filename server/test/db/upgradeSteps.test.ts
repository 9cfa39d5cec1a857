import assert from 'node:assert/strict';
import { execFile, spawnSync } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { promisify } from 'node:util';
import { blocksOf, root } from '../docs/markdown.ts';
import { bearer } from '../support/server.ts';

/* Runs the upgrade steps of docs/upgrade.md with a real server. */

const run = promisify(execFile);
const isCheckout = spawnSync('git', ['rev-parse', '--verify', 'HEAD'], { cwd: root }).status === 0;
const page = { file: 'docs/upgrade.md', text: readFileSync(join(root, 'docs/upgrade.md'), 'utf8') };
const steps = blocksOf(page).filter(({ text }) => text.includes('npm ci') && text.includes('systemctl'));

/** Starts and stops the server of the folder as its unit does. */
const SYSTEMCTL = `#!/bin/sh -e
pid=$(cat HOME/pid 2>/dev/null || true)
if [ "$1" = stop ]; then
  kill "$pid"
  while kill -0 "$pid" 2>/dev/null; do sleep 0.05; done
else
  cd HOME/opt/switchboard
  : >HOME/log # here: the line of the server before must not count, and the background job truncates it too late
  node_modules/node/bin/node server/start.js >>HOME/log 2>&1 &
  echo $! >HOME/pid
  until grep -q 'is ready' HOME/log; do kill -0 $!; sleep 0.05; done
fi
`;

/** Removes all packages before it installs them, as \`npm ci\` does, and fails if the server runs in this folder. */
const NPM = `#!/bin/sh -e
pid=$(cat HOME/pid 2>/dev/null || true)
if [ -n "$pid" ] && kill -0 "$pid" 2>/dev/null && [ "$(pwd -P)" = "$(cd HOME/opt/switchboard && pwd -P)" ]; then
  echo 'the server is running in this folder' >&2
  exit 1
fi
rm -rf node_modules
ln -s PACKAGES node_modules
`;

async function installed(test: TestContext) {
  const home = mkdtempSync(join(tmpdir(), 'switchboard-upgrade-'));
  const programs = join(home, 'bin');
  mkdirSync(programs);
  mkdirSync(join(home, 'opt'));
  for (const [name, text] of Object.entries({ systemctl: SYSTEMCTL, npm: NPM })) {
    const script = text.replaceAll('HOME', home).replaceAll('PACKAGES', join(root, 'node_modules'));
    writeFileSync(join(programs, name), script);
    chmodSync(join(programs, name), 0o755);
  }
  await run('git', ['clone', '--quiet', '--bare', root, join(home, 'origin')]);
  const folder = join(home, 'opt/switchboard');
  await run('git', ['clone', '--quiet', join(home, 'origin'), folder]);
  symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'));
  const env = {
    PATH: `${programs}:${process.env['PATH']}`,
    DATA_DIR: join(home, 'data'),
    PORT: '0',
    LOG_LEVEL: 'warn',
  };
  const shell = (text: string) => run('sh', ['-ec', text.replaceAll('/opt', join(home, 'opt'))], { env });
  test.after(async () => {
    await shell('systemctl stop switchboard');
    rmSync(home, { recursive: true, force: true, maxRetries: 10, retryDelay: 50 });
  });
  const url = () => /API +(http\S+)\/api\/v1/.exec(readFileSync(join(home, 'log'), 'utf8'))?.[1] ?? '';
  return { home, folder, shell, url };
}

describe('the documented upgrade of one server', { skip: !isCheckout && 'this is not a checkout' }, () => {
  it('has two variants', () => assert.equal(steps.length, 2));

  for (const { text, line } of steps) {
    it(`in line ${line} keeps the data, and never removes packages of a running server`, async (test) => {
      const { home, folder, shell, url } = await installed(test);
      await shell('systemctl start switchboard');
      const account = { email: 'me@example.com', password: 'correct horse battery' };
      assert.equal((await bearer(url(), '')('POST', '/auth/register', account)).status, 201);
      // A new version.
      const author = ['-c', 'user.name=Test', '-c', 'user.email=test@example.com'];
      await run('git', ['clone', '--quiet', join(home, 'origin'), join(home, 'author')]);
      writeFileSync(join(home, 'author/new-version'), '');
      await run('git', ['-C', join(home, 'author'), 'add', 'new-version']);
      await run('git', ['-C', join(home, 'author'), ...author, 'commit', '--quiet', '-m', 'Add a file']);
      await run('git', ['-C', join(home, 'author'), 'push', '--quiet']);
      await shell(text);
      assert.ok(existsSync(join(folder, 'new-version')));
      const { status } = await bearer(url(), '')('POST', '/auth/login', account);
      assert.equal(status, 200);
      assert.equal((await (await fetch(`${url()}/ready`)).json()).status, 'ready');
    });
  }
});
