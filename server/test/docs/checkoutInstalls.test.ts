import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { root } from './markdown.ts';

/* The packages are not published, so the documentation explains how to install them from a checkout. */

function newProject(test: TestContext): string {
  const folder = mkdtempSync(join(tmpdir(), 'switchboard-install-'));
  test.after(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** Runs a command that a page documents, with this checkout instead of `../switchboard`. */
function runDocumented(pages: readonly string[], command: string, cwd: string, ...more: string[]): void {
  for (const page of pages) assert.ok(readFileSync(join(root, page), 'utf8').includes(command), `${page}: ${command}`);
  const [program = '', ...args] = command.replace(/(\.\.\/switchboard|\.)\//, () => root).split(' ');
  execFileSync(program, [...args, ...more], { cwd, stdio: 'pipe' });
}

const importIn = (cwd: string, name: string) =>
  execFileSync(process.execPath, ['--eval', `import('${name}').then((all) => console.log(Object.keys(all).join()))`], {
    cwd,
    encoding: 'utf8',
  });

describe('installation from the checkout', () => {
  const offline = ['--offline', '--no-audit', '--no-fund'];

  for (const [name, folder, pages] of [
    ['@switchboard/sdk', 'sdk', ['docs/sdk.md', 'sdk/README.md']],
    ['@switchboard/connector-kit', 'connector-kit', ['docs/connectors.md', 'connector-kit/README.md']],
  ] as const) {
    it(`installs ${name} without a registry`, (test) => {
      const project = newProject(test);
      runDocumented(pages, `npm install ../switchboard/${folder}`, project, ...offline);
      assert.match(importIn(project, name), /createClient|AppError/);
    });
  }

  it('installs the command without a registry', (test) => {
    const prefix = newProject(test);
    runDocumented(['docs/cli.md'], 'npm install -g ./server', root, '--prefix', prefix, ...offline);
    const command = join(prefix, 'bin/switchboard');
    assert.ok(existsSync(command));
    const { version } = JSON.parse(readFileSync(join(root, 'server/package.json'), 'utf8')) as { version: string };
    assert.equal(execFileSync(command, ['--version'], { encoding: 'utf8' }).trim(), version);
  });

  const hasSetuptools = spawnSync('python3', ['-c', 'import pip, setuptools']).status === 0;
  it('installs the Python client', { skip: !hasSetuptools && 'pip and setuptools are missing' }, (test) => {
    const target = newProject(test);
    const options = ['--no-build-isolation', '--no-deps', '--no-index', '--target', target];
    runDocumented(
      ['docs/python.md', 'clients/python/README.md'],
      'pip install ../switchboard/clients/python',
      root,
      ...options,
    );
    for (const name of ['__init__.py', 'models.py'])
      assert.ok(existsSync(join(target, 'switchboard_client', name)), name);
  });
});
