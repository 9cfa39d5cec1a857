import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { existsSync, lstatSync, readFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';

/*
 * The size of what `npm ci --omit=dev --workspace server` installs, which is also in the image: the packages of a
 * checkout that the server depends on, on this machine.
 */

const root = fileURLToPath(new URL('../../../', import.meta.url));
const dockerfile = readFileSync(`${root}Dockerfile`, 'utf8');

/** In MiB, as `du` counts them on a disk with blocks of 4 KiB. `docs/deploy.md` quotes these. */
const MAX_PACKAGES_MB = 170;
const MAX_IMAGE_MB = 108;
const BLOCK = 4096;
const MB = 1024 * 1024;

interface Manifest {
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly optionalDependencies?: Readonly<Record<string, string>>;
  readonly peerDependencies?: Readonly<Record<string, string>>;
  readonly peerDependenciesMeta?: Readonly<Record<string, { readonly optional?: boolean }>>;
}

describe('the packages of the server', () => {
  const packages = productionPackages();
  const files = packages.flatMap(filesOf);
  const unloaded = new Set(prunedFiles(packages));

  it('take at most 170 MB, and 108 MB in the image', () => {
    assert.ok(packages.length > 150 && packages.includes('node_modules/fastify'), `${packages.length} packages`);
    const mb = sizeOf(files) / MB;
    const imageMb = sizeOf(files.filter((path) => !unloaded.has(path))) / MB;
    const largest = packages
      .map((path) => ({ path, mb: sizeOf(filesOf(path)) / MB }))
      .sort((a, b) => b.mb - a.mb)
      .slice(0, 12)
      .map((one) => `${one.path} ${one.mb.toFixed(1)}`)
      .join('\n');
    assert.ok(mb <= MAX_PACKAGES_MB, `${mb.toFixed(1)} MB; the largest:\n${largest}`);
    assert.ok(imageMb <= MAX_IMAGE_MB, `${imageMb.toFixed(1)} MB in the image; the largest:\n${largest}`);
    assert.ok(mb > MAX_PACKAGES_MB - 15 && imageMb > MAX_IMAGE_MB - 15, 'lower the limits');
  });

  it('keep their licenses and all that Node loads in the image', () => {
    const isLegal = (path: string) => /(^|\/)(licen[sc]e|copying|notice|authors)[^/]*$/i.test(path);
    assert.ok(files.filter(isLegal).length > 100);
    assert.deepEqual([...unloaded].filter(isLegal), []);
    const loaded = [...unloaded].filter((path) => !/\.(map|[mc]?ts)$/.test(path));
    assert.deepEqual(loaded, []);
    for (const path of packages) assert.ok(existsSync(`${root}${path}/package.json`) && !unloaded.has(path), path);
  });
});

/** Returns the folders of the packages, as npm resolves them: the nearest `node_modules` that has the name. */
function productionPackages(): string[] {
  const lock = JSON.parse(readFileSync(`${root}package-lock.json`, 'utf8')) as { packages: Record<string, Manifest> };
  const entries = lock.packages;
  const found = new Set<string>();
  const visit = (from: string) => {
    const { dependencies, optionalDependencies, peerDependencies = {}, peerDependenciesMeta } = entries[from] ?? {};
    const peers = Object.keys(peerDependencies).filter((name) => peerDependenciesMeta?.[name]?.optional !== true);
    for (const name of [...Object.keys({ ...dependencies, ...optionalDependencies }), ...peers]) {
      const path = resolve(from, name);
      // Packages for other processors and systems are in the lock file, but not installed.
      if (path === undefined || found.has(path) || !existsSync(root + path)) continue;
      found.add(path);
      visit(path);
    }
  };
  const resolve = (from: string, name: string): string | undefined => {
    const path = `${from === '' ? '' : `${from}/`}node_modules/${name}`;
    if (path in entries) return path;
    if (from === '') return undefined;
    const above = from.lastIndexOf('/node_modules/');
    return resolve(above === -1 ? '' : from.slice(0, above), name);
  };
  visit('server');
  return [...found];
}

/** The files and folders of a package, without the packages in it. */
function filesOf(path: string): string[] {
  return find([path, '-name', 'node_modules', '-prune', '-o', '-print']);
}

/** The files that the image does not have. */
function prunedFiles(folders: readonly string[]): string[] {
  const [, condition = ''] = /^RUN find node_modules server\/node_modules (.+) -delete$/m.exec(dockerfile) ?? [];
  const words = condition.split(' ').map((word) => word.replaceAll(/['\\]/g, ''));
  assert.ok(words.length > 5);
  return find([...folders, '-name', 'node_modules', '-prune', '-o', ...words, '-print']);
}

function find(words: readonly string[]): string[] {
  const text = execFileSync('find', words, { cwd: root, encoding: 'utf8', maxBuffer: 64 * MB });
  return text.split('\n').filter((line) => line !== '');
}

const sizeOf = (paths: readonly string[]) =>
  paths.reduce((sum, path) => sum + Math.max(1, Math.ceil(lstatSync(root + path).size / BLOCK)) * BLOCK, 0);
