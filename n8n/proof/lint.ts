import { cpSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { command } from './n8n.ts';

/*
 * npm run lint:n8n
 *
 * Runs the lint that n8n requires of community packages. It needs 700 MB and an older TypeScript, so it is installed
 * apart from the repository, into `N8N_LINT_CACHE` or node_modules/.cache/n8n-lint.
 */

const HERE = fileURLToPath(new URL('../', import.meta.url));
const CACHE =
  process.env['N8N_LINT_CACHE'] ?? fileURLToPath(new URL('../../node_modules/.cache/n8n-lint', import.meta.url));
const PACKAGES = ['@n8n/node-cli@0.48.3', 'typescript@5.9.3'];
const INSTALL_TIMEOUT_MS = 600_000;

mkdirSync(CACHE, { recursive: true });
const installed = join(CACHE, 'installed');
if (!existsSync(installed) || readFileSync(installed, 'utf8') !== PACKAGES.join(' ')) {
  writeFileSync(join(CACHE, 'package.json'), '{ "private": true }');
  const flags = ['--ignore-scripts', '--no-audit', '--no-fund'];
  await command('npm', ['install', ...PACKAGES, ...flags], { cwd: CACHE, timeoutMs: INSTALL_TIMEOUT_MS });
  writeFileSync(installed, PACKAGES.join(' '));
}
const copy = join(CACHE, 'package');
rmSync(copy, { recursive: true, force: true });
for (const name of ['package.json', 'eslint.config.mjs', 'README.md', 'credentials', 'icons', 'nodes']) {
  cpSync(join(HERE, name), join(copy, name), { recursive: true });
}
writeFileSync(
  join(copy, 'tsconfig.json'),
  JSON.stringify({ compilerOptions: { module: 'nodenext', strict: true }, include: ['credentials', 'nodes'] }),
);
const cli = join(CACHE, 'node_modules/@n8n/node-cli/bin/n8n-node.mjs');
process.stdout.write(await command(process.execPath, [cli, 'lint'], { cwd: copy, timeoutMs: INSTALL_TIMEOUT_MS }));
