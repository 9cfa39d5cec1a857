import { execFileSync } from 'node:child_process';
import { existsSync, symlinkSync } from 'node:fs';
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

/** Paths that a checkout lacks and a server needs. The dependencies are those of the present tree. */
const LINKED = ['node_modules', 'server/node_modules', 'sdk/node_modules', 'dashboard/dist'];

/**
 * Clones a commit into a temporary folder, which the end of the benchmark removes.
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
  for (const path of LINKED) {
    if (existsSync(join(root, path)) && !existsSync(join(folder, path)))
      symlinkSync(join(root, path), join(folder, path));
  }
  return { name: ref, folder };
}

export class UnknownRefError extends Error {}
