import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { copyFileSync, mkdirSync, readdirSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { settingsTable, variableOf } from '../../src/config.ts';
import { type Home, newHome } from '../support/databases/databases.ts';

const entry = fileURLToPath(new URL('../../start.js', import.meta.url));
const run = promisify(execFile);

describe('the command line of the server', () => {
  let home: Home;
  before(async () => {
    home = await newHome('sqlite');
  });
  after(() => home.remove());

  /** Runs it until it ends, and returns the exit code and the output. */
  async function start(env: Record<string, string>, ...args: string[]) {
    const options = {
      env: { PATH: process.env['PATH'], PORT: '0', LOG_LEVEL: 'silent', DATA_DIR: home.dataDir, ...env },
    };
    const { code = 0, stdout, stderr } = await run(process.execPath, [entry, ...args], options).catch((error) => error);
    return { code, stdout, stderr };
  }

  it('lists every setting with its type and default', async () => {
    const { code, stdout } = await start({}, 'start', '--help');
    assert.equal(code, 0);
    for (const [name, { type, default: byDefault }] of Object.entries(settingsTable)) {
      assert.ok(stdout.includes(`  ${variableOf(name)} `), name);
      assert.ok(stdout.includes(`${type}; ${byDefault ? `default ${byDefault}` : 'not set by default'}\n`), name);
    }
  });

  it('refuses unknown arguments with exit code 2', async () => {
    for (const [args, problem] of [
      [['--prot', '8080'], "Unknown option '--prot'"],
      [['8080'], "Unknown command '8080'"],
      [['start', '--loud'], "Unknown option '--loud'"],
      [['start', '8080'], 'Too many arguments'],
    ] as const) {
      const { code, stdout, stderr } = await start({}, ...args);
      assert.deepEqual([code, stdout], [2, '']);
      assert.ok(stderr.startsWith(problem), stderr);
    }
  });

  it('names the setting if the port is taken, or a folder cannot be used', async (test) => {
    const other = createServer().listen(0, '127.0.0.1');
    test.after(() => other.close());
    await new Promise((resolve) => other.once('listening', resolve));
    const address = other.address();
    const port = typeof address === 'object' ? String(address?.port) : '';
    const taken = await start({ PORT: port });
    assert.deepEqual([taken.code, taken.stdout], [1, '']);
    assert.match(taken.stderr, new RegExp(`^PORT: another program already uses port ${port} of 127\\.0\\.0\\.1\\.`));

    const file = join(home.dataDir, 'a file');
    writeFileSync(file, '');
    for (const name of ['DATA_DIR', 'MEDIA_DIR'])
      for (const path of [file, join(file, 'inside')]) {
        const { code, stderr } = await start({ [name]: path });
        assert.equal(code, 1);
        assert.match(stderr, new RegExp(`^${name}: the server cannot write to .*a file and not a folder`));
        assert.equal(stderr.trim().split('\n').length, 1);
      }
  });

  it('keeps compiled code in the data folder if it cannot write beside the code', async () => {
    const installed = join(home.dataDir, 'installed');
    mkdirSync(installed);
    copyFileSync(entry, join(installed, 'start.js'));
    symlinkSync(fileURLToPath(new URL('../../src', import.meta.url)), join(installed, 'src'));
    writeFileSync(join(installed, 'compiled'), 'not a folder');
    const { PATH } = process.env;
    const env = { PATH, LOG_LEVEL: 'silent', DATA_DIR: home.dataDir, DATABASE_URL: 'postgres://127.0.0.1:1/x' };
    await assert.rejects(run(process.execPath, [join(installed, 'start.js')], { env }), { code: 1 });
    const compiled = join(home.dataDir, 'compiled');
    assert.ok(readdirSync(compiled).length > 0);
    assert.equal(statSync(compiled).mode & 0o777, 0o700);
  });

  it('names DATABASE_URL if PostgreSQL cannot be used, and does not repeat the password', async () => {
    const postgres = new URL(process.env['TEST_POSTGRES_URL'] ?? '');
    const missing = `${postgres.href.replace(/\/$/, '')}/no_such_database`;
    for (const [url, expected] of [
      ['postgres://ann:hunter2@127.0.0.1:1/x', /^DATABASE_URL: PostgreSQL at 127\.0\.0\.1:1 refused the connection/],
      ['postgres://ann:hunter2@no.such.host.invalid/x', /^DATABASE_URL: PostgreSQL at no\.such\.host\.invalid cannot/],
      [`postgres://ann:hunter2@${postgres.host}/x`, /^DATABASE_URL: .* rejected the login: /],
      [missing, /^DATABASE_URL: .* has no database "no_such_database"/],
    ] as const) {
      const { code, stderr } = await start({ DATABASE_URL: url });
      assert.equal(code, 1);
      assert.match(stderr, expected);
      assert.ok(!stderr.includes('hunter2'));
    }
  });
});
