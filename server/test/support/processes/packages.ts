import { type ExecFileException, execFile } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { cp, mkdir, mkdtemp, readFile, realpath, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { basename, delimiter, dirname, join } from 'node:path';
import type { TestContext } from 'node:test';
import { fileURLToPath } from 'node:url';
import { portOf } from '../connections/listening.ts';

/* Packs workspaces and installs them outside the checkout, as their users do. */

const ROOT = fileURLToPath(new URL('../../../../', import.meta.url));
const CACHE = join(ROOT, 'node_modules/.cache');
/** Far longer than any command takes. Ends one that hangs. */
const COMMAND_TIMEOUT_MS = 600_000;

export interface Ran {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs a command without the settings of the npm and the test runner that run this. Never throws. */
export function run(
  command: string,
  args: readonly string[],
  { cwd, env = {}, node = process.execPath }: { cwd: string; env?: Record<string, string>; node?: string },
): Promise<Ran> {
  const inherited = environment((name) => !/^(npm_|NODE_(OPTIONS|TEST_CONTEXT|COMPILE_CACHE)$)/i.test(name));
  const path = [dirname(node), process.env['PATH']].join(delimiter);
  return new Promise((resolve) => {
    execFile(
      command,
      args,
      { cwd, env: { ...inherited, PATH: path, ...env }, timeout: COMMAND_TIMEOUT_MS },
      (error: ExecFileException | null, stdout, stderr) =>
        resolve({
          code: error === null ? 0 : Number(error.code ?? 1),
          stdout,
          stderr: stderr || (error?.message ?? ''),
        }),
    );
  });
}

function environment(isWanted: (name: string) => boolean): Record<string, string> {
  return Object.fromEntries(
    Object.entries(process.env).flatMap(([name, value = '']) => (isWanted(name) ? [[name, value]] : [])),
  );
}

/** Runs a command and returns its output. @throws if it fails, with its output */
export async function output(...command: Parameters<typeof run>): Promise<string> {
  const { code, stdout, stderr } = await run(...command);
  if (code !== 0) throw new Error(`${command[0]} ${command[1].join(' ')} ended with ${code}: ${stdout}${stderr}`);
  return stdout;
}

/** Creates a folder outside the checkout. */
export async function newFolder(): Promise<string> {
  return realpath(await mkdtemp(join(tmpdir(), 'switchboard-package-')));
}

export interface Packed {
  readonly manifest: Readonly<Record<string, unknown>> & { readonly name: string; readonly version: string };
  readonly tarball: string;
  readonly integrity: string;
  /** Paths in the package. */
  readonly files: readonly string[];
}

/** Builds and packs a workspace into a folder, without its `dist`, which other tests may be using. */
export async function pack(workspace: 'sdk' | 'connector-kit', folder: string): Promise<Packed> {
  const copy = join(folder, workspace);
  await cp(join(ROOT, workspace), copy, {
    recursive: true,
    filter: (path) => !['node_modules', 'dist'].includes(basename(path)),
  });
  const tsc = join(ROOT, 'node_modules/typescript/bin/tsc');
  const dist = join(copy, 'dist');
  const build = workspace === 'sdk' ? ['scripts/buildSdk.ts', dist] : [tsc, '-p', workspace, '--outDir', dist];
  await output(process.execPath, build, { cwd: ROOT });
  // Its `prepack` cannot build it outside the checkout.
  return packFolder(copy, folder, ['--ignore-scripts']);
}

/** Packs a package that stands in for another one. `{ROOT}` in its files is the checkout. */
export async function packStandIn(
  manifest: Packed['manifest'],
  files: Readonly<Record<string, string>>,
  folder: string,
): Promise<Packed> {
  const source = join(folder, manifest.name.replaceAll('/', '-'));
  await mkdir(source);
  await writeFile(join(source, 'package.json'), JSON.stringify(manifest));
  for (const [name, text] of Object.entries(files)) {
    await writeFile(join(source, name), text.replaceAll('{ROOT}', ROOT), { mode: 0o755 });
  }
  return packFolder(source, folder);
}

/** Packs a folder as its owner does. */
export async function packFolder(source: string, folder: string, flags: readonly string[] = []): Promise<Packed> {
  const args = ['pack', '--json', '--pack-destination', folder, ...flags];
  const [packed] = JSON.parse(await output('npm', args, { cwd: source }));
  const manifest = JSON.parse(await readFile(join(source, 'package.json'), 'utf8'));
  const files = packed.files.map(({ path }: { path: string }) => path);
  return { manifest, tarball: join(folder, packed.filename), integrity: packed.integrity, files };
}

export interface Registry {
  /** Makes npm use this registry and nothing else. */
  readonly env: Readonly<Record<string, string>>;
  close(): Promise<void>;
}

/** Starts an npm registry that has these packages alone, and those that are added later. Its files are in `folder`. */
export async function startRegistry(packages: readonly Packed[], folder: string): Promise<Registry> {
  const server = createServer(async (request, response) => {
    const path = decodeURIComponent(request.url ?? '');
    const found = packages.find(({ manifest, tarball }) =>
      [`/${manifest.name}`, `/${basename(tarball)}`].includes(path),
    );
    if (found === undefined) return response.writeHead(404).end();
    const { manifest, tarball, integrity } = found;
    if (path === `/${basename(tarball)}`) return response.end(await readFile(tarball));
    const dist = { tarball: `${url}${basename(tarball)}`, integrity };
    const versions = { [manifest.version]: { ...manifest, dist } };
    return response.end(JSON.stringify({ name: manifest.name, 'dist-tags': { latest: manifest.version }, versions }));
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const url = `http://127.0.0.1:${portOf(server)}/`;
  const config = join(folder, 'npmrc');
  // Its own cache: there, a package of the same version is another one.
  const settings = {
    registry: url,
    cache: join(folder, 'npm-cache'),
    audit: false,
    fund: false,
    'update-notifier': false,
  };
  await writeFile(
    config,
    Object.entries(settings)
      .map(([name, value]) => `${name}=${value}\n`)
      .join(''),
  );
  return {
    env: { NPM_CONFIG_USERCONFIG: config },
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

/** Makes packages of the checkout available to a project, as if it had installed them. */
export async function link(project: string, names: readonly string[]): Promise<void> {
  for (const name of names) {
    const path = join(project, 'node_modules', name);
    await mkdir(dirname(path), { recursive: true });
    await symlink(join(ROOT, 'node_modules', name), path);
  }
}

/** By default, npm waits for a registry that does not answer for a quarter of an hour. */
const REGISTRY_PATIENCE = [
  '--fetch-timeout=30000',
  '--fetch-retries=2',
  '--fetch-retry-mintimeout=1000',
  '--fetch-retry-maxtimeout=5000',
];

/** The last release of each line when this was written. */
const nodeVersions: Readonly<Record<number, string>> = { 20: '20.20.2', 22: '22.23.3', 24: '24.21.0' };

/**
 * Finds the binary of a Node release. Other releases than our own come from the npm registry, once: they are too large
 * for every install.
 * @throws if the registry does not have it or does not answer
 */
export async function findNode(major: number): Promise<string> {
  if (process.version.startsWith(`v${major}.`)) return process.execPath;
  const platform = process.platform === 'win32' ? 'win' : process.platform;
  const prefix = platform === 'darwin' && process.arch === 'arm64' ? 'node-bin' : 'node';
  const name = `${prefix}-${platform}-${process.arch}`;
  const folder = await fetched(`${name}@${nodeVersions[major]}`);
  return join(folder, 'node_modules', name, 'bin', platform === 'win' ? 'node.exe' : 'node');
}

/**
 * Finds the binary of Deno or Bun, from the npm registry like those of Node.
 * @throws if the registry does not have it or does not answer
 */
export async function findRuntime(runtime: 'deno' | 'bun'): Promise<string> {
  const { platform, arch } = process;
  const name =
    runtime === 'deno'
      ? `@deno/${platform}-${arch}${platform === 'linux' ? '-glibc' : ''}`
      : `@oven/bun-${platform}-${arch === 'arm64' ? 'aarch64' : arch}`;
  const folder = await fetched(`${name}@${{ deno: '2.9.6', bun: '1.4.5' }[runtime]}`);
  return join(folder, 'node_modules', name, runtime === 'deno' ? 'deno' : 'bin/bun');
}

/**
 * Skips a test if what it needs cannot be had, because a registry that does not answer is no fault of ours.
 * @param what what is not tested then, for the report
 */
export async function orSkip<Found>(
  test: TestContext,
  what: string,
  found: Promise<Found>,
): Promise<Found | undefined> {
  try {
    return await found;
  } catch (error) {
    test.skip(`NOT TESTED: ${what}, because ${error instanceof Error ? error.message : error}`);
    return undefined;
  }
}

/**
 * Installs packages from the npm registry into a folder of the cache, unless they are there.
 * @returns the folder
 * @throws if the registry does not answer
 */
export async function fetched(...packages: readonly string[]): Promise<string> {
  const folder = join(CACHE, 'packages', packages.join('+').replaceAll('/', '_'));
  if (existsSync(folder)) return folder;
  await mkdir(dirname(folder), { recursive: true });
  const own = await mkdtemp(`${folder}-`);
  try {
    await writeFile(join(own, 'package.json'), '{ "private": true }\n');
    const flags = ['--ignore-scripts', '--no-audit', '--no-fund', '--no-package-lock', ...REGISTRY_PATIENCE];
    // How this machine reaches the registry.
    const env = environment((name) => /^npm_config_(registry|cafile|(https?_)?proxy|userconfig)$/i.test(name));
    await output('npm', ['install', ...flags, ...packages], { cwd: own, env });
    await rename(own, folder);
  } catch (cause) {
    await rm(own, { recursive: true, force: true });
    // Another process may have been faster.
    if (!existsSync(folder))
      throw new Error(`npm could not install ${packages.join(' and ')}: ${lastLines(cause)}`, { cause });
  }
  return folder;
}

function lastLines(error: unknown): string {
  return (error instanceof Error ? error.message : String(error)).trim().split('\n').slice(-3).join(' ');
}
