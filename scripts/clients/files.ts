import { globSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));

/**
 * Writes generated files, except those that are up to date, so that tools that watch them do not start again.
 * @param files contents by path below the root of the repository
 * @param folders contain nothing but generated files: others are removed
 */
export function writeFiles(files: Readonly<Record<string, string>>, folders: readonly string[] = []): void {
  const old = globSync(
    folders.map((folder) => `${folder}/**/*.*`),
    { cwd: ROOT },
  );
  for (const name of old) if (!(name in files)) rmSync(ROOT + name);
  for (const [name, content] of Object.entries(files)) {
    const path = ROOT + name;
    if (contentOf(path) === content) continue;
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, content);
  }
}

function contentOf(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return undefined;
  }
}
