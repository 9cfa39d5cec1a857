import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../../', import.meta.url));

/** Another version of the server, in a temporary folder. */
export interface OtherVersion {
  readonly commit: string;
  readonly entry: string;
  remove(): void;
}

/**
 * Unpacks the previous commit of `main`, or `SOAK_PREVIOUS`, next to the installed dependencies. Returns undefined
 * without a git history, such as in a shallow clone.
 */
export function unpackPreviousVersion(): OtherVersion | undefined {
  const commit = process.env['SOAK_PREVIOUS'] ?? previousCommit();
  if (commit === undefined) return undefined;
  const folder = mkdtempSync(join(tmpdir(), 'switchboard-previous-'));
  const archive = execFileSync('git', ['archive', commit], { cwd: root, maxBuffer: 1 << 30 });
  execFileSync('tar', ['-x', '-C', folder], { input: archive });
  const modules = join(folder, 'node_modules');
  mkdirSync(modules);
  // The packages of this repository come from the other version.
  for (const name of readdirSync(join(root, 'node_modules')))
    if (!name.startsWith('@switchboard')) symlinkSync(join(root, 'node_modules', name), join(modules, name));
  mkdirSync(join(modules, '@switchboard'));
  for (const name of ['sdk', 'connector-kit']) symlinkSync(join(folder, name), join(modules, '@switchboard', name));
  // Earlier versions have its output in git.
  if (existsSync(join(folder, 'scripts/generateSdk.ts')))
    execFileSync(process.execPath, ['scripts/generateSdk.ts'], { cwd: folder });
  return {
    commit,
    entry: join(folder, 'server/start.js'),
    remove: () => rmSync(folder, { recursive: true, force: true }),
  };
}

function previousCommit(): string | undefined {
  const resolve = (name: string) => {
    try {
      return execFileSync('git', ['rev-parse', '--verify', '--quiet', `${name}^{commit}`], {
        cwd: root,
        encoding: 'utf8',
      });
    } catch {
      return undefined;
    }
  };
  const [head, ...candidates] = ['HEAD', 'origin/main', 'main', 'HEAD~1'].map((name) => resolve(name)?.trim());
  return candidates.find((commit) => commit !== undefined && commit !== head);
}
