import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { fileURLToPath } from 'node:url';

const SETUP = fileURLToPath(new URL('../support/runner/globalSetup.ts', import.meta.url));
const RUNNER = fileURLToPath(new URL('../run.ts', import.meta.url));

describe('the runner of the tests', () => {
  /** Runs a file that passes and a file with this body. @returns the exit code */
  function run(test: TestContext, body: string, names = ['body', 'passes']): number | null {
    const folder = mkdtempSync(join(tmpdir(), 'switchboard-runner-'));
    test.after(() => rmSync(folder, { recursive: true }));
    const file = (name: string) => join(folder, `${name}.test.mjs`);
    writeFileSync(file('body'), `import { it } from 'node:test';\n${body}\n`);
    writeFileSync(file('passes'), "import { it } from 'node:test';\nit('passes', () => {});\n");
    const { NODE_TEST_CONTEXT: _, ...env } = process.env;
    const files = names.map((name) => (name.startsWith('--') ? name : file(name)));
    return spawnSync(process.execPath, [RUNNER, ...files], { env, stdio: 'ignore' }).status;
  }

  it('succeeds if every test passes', (test) => {
    assert.equal(run(test, "it('passes too', () => {});"), 0);
  });

  it('fails if a test fails', (test) => {
    assert.equal(run(test, "it('fails', () => { throw new Error('failed'); });"), 1);
  });

  it('fails if a file does not load', (test) => {
    assert.equal(run(test, "throw new Error('does not load');"), 1);
  });

  it('fails if a test ends its process', (test) => {
    assert.equal(run(test, "it('exits', () => process.exit(0));"), 1);
  });

  it('runs only the files of its shard', (test) => {
    const body = "it('fails', () => { throw new Error('failed'); });";
    assert.equal(run(test, body, ['--shard=1/2', 'body', 'passes']), 1);
    assert.equal(run(test, body, ['--shard=2/2', 'body', 'passes']), 0);
    assert.equal(run(test, body, ['--shard=3/2', 'passes']), 1);
  });

  it('fails if no file has the name', (test) => {
    assert.equal(run(test, '', ['missing']), 1);
  });
});

it('the setup of single test files lets a failed test end the run with code 1', (test) => {
  const folder = mkdtempSync(join(tmpdir(), 'switchboard-setup-'));
  test.after(() => rmSync(folder, { recursive: true }));
  const file = join(folder, 'fails.test.mjs');
  writeFileSync(file, "import { it } from 'node:test';\nit('fails', () => { throw new Error('failed'); });\n");
  // Without that variable, the setup starts PostgreSQL.
  const { NODE_TEST_CONTEXT: _, TEST_POSTGRES_URL: __, ...env } = process.env;
  const options = ['--test', `--test-global-setup=${SETUP}`, file];
  assert.equal(spawnSync(process.execPath, options, { env, stdio: 'ignore' }).status, 1);
});
