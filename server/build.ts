import { execFileSync } from 'node:child_process';
import { copyFileSync, cpSync, existsSync, globSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import packageJson from './package.json' with { type: 'json' };

/*
 * npm run build -w switchboard
 *
 * Builds the package in `dist`: every module as JavaScript, at its path in the repository, so that the relative paths
 * between files stay true. Part of `npm pack`; a checkout runs its sources and needs no build.
 */

const ROOT = fileURLToPath(new URL('../', import.meta.url));
const DIST = fileURLToPath(new URL('dist/', import.meta.url));
const COMPILER = join(ROOT, 'node_modules/typescript/bin/tsc'); // `server/node_modules` has an older one for a tool
/** Files that code finds at run time, relative to itself. */
const FOUND_BESIDE = /new URL\('(\.[^']+)', import\.meta\.url\)/g;

rmSync(DIST, { recursive: true, force: true });
for (const project of ['tsconfig.build.json', 'tsconfig.types.json'])
  execFileSync(process.execPath, [COMPILER, '-p', fileURLToPath(new URL(project, import.meta.url))], {
    stdio: 'inherit',
  });
for (const file of globSync('**/*.js', { cwd: DIST })) rewriteAssetUrls(join(DIST, file));
// Without `exports`, which would be wrong there. The code reads only the version.
const { name, version, type } = packageJson;
writeFileSync(join(DIST, 'server/package.json'), `${JSON.stringify({ name: `${name}-code`, version, type })}\n`);
copyFileSync(join(ROOT, 'LICENSE'), fileURLToPath(new URL('LICENSE', import.meta.url)));

/** Points the file at the compiled modules that it loads by URL, and copies everything else that it reads. */
function rewriteAssetUrls(file: string): void {
  const source = readFileSync(file, 'utf8');
  const found = source.replaceAll(FOUND_BESIDE, (whole, path: string) => {
    if (path.endsWith('.ts')) return whole.replace(/\.ts'/, ".js'");
    copyAsset(relative(DIST, join(dirname(file), path)));
    return whole;
  });
  if (found !== source) writeFileSync(file, found);
}

/** @param path in the repository, and below `dist` */
function copyAsset(path: string): void {
  const [from, to] = [join(ROOT, path), join(DIST, path)];
  if (existsSync(to)) return;
  if (!existsSync(from)) throw new Error(`${path} does not exist: run npm run build first`);
  cpSync(from, to, { recursive: true });
}
