import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { newFolder } from './processes.ts';

/** A checkout of the repository whose server is measured. */
export interface Tree {
  readonly name: string;
  readonly folder: string;
}

const root = fileURLToPath(new URL('../../../', import.meta.url));

export const presentTree: Tree = { name: 'this tree', folder: root };

const git = (...args: string[]) => execFileSync('git', args, { cwd: root, encoding: 'utf8', stdio: 'pipe' }).trim();

const DEPENDENCIES = ['node_modules', 'server/node_modules', 'sdk/node_modules'];
/** Built files that a server needs and a checkout lacks. */
const BUILT = ['dashboard/dist'];

/**
 * Clones a commit into a temporary folder, which the end of the benchmark removes. It shares the dependencies of the
 * present tree if it has the same ones, and installs its own otherwise.
 * @throws {UnknownRefError}
 */
export function checkOut(ref: string): Tree {
  let commit: string;
  try {
    commit = git('rev-parse', '--verify', '--quiet', `${ref}^{commit}`);
  } catch {
    throw new UnknownRefError(`${ref} is not a commit of this repository.`);
  }
  const folder = join(newFolder(), 'tree');
  git('clone', '--quiet', '--shared', '--no-checkout', root, folder);
  git('-C', folder, 'checkout', '--quiet', '--detach', commit);
  const lock = (tree: string) => readFileSync(join(tree, 'package-lock.json'), 'utf8');
  if (lock(folder) === lock(root)) link(DEPENDENCIES, folder);
  else execFileSync('npm', ['ci', '--ignore-scripts', '--no-audit', '--no-fund'], { cwd: folder, stdio: 'pipe' });
  link(BUILT, folder);
  return { name: ref, folder };
}

function link(paths: readonly string[], folder: string): void {
  for (const path of paths)
    if (existsSync(join(root, path)) && !existsSync(join(folder, path)))
      symlinkSync(join(root, path), join(folder, path));
}

export class UnknownRefError extends Error {}
