import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
/** The generated files of the last run, for those that this one no longer has. */
const LIST = `${ROOT}clients/.generated.json`;

/**
 * Writes generated files, except those that are up to date, so that tools that watch them do not start again.
 * @param files contents by path below the root of the repository
 */
export function writeFiles(files: Readonly<Record<string, string>>): void {
  for (const [name, content] of Object.entries(files)) {
    const path = ROOT + name;
    if (existsSync(path) && readFileSync(path, 'utf8') === content) continue;
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, content);
  }
}

/** Writes files that their reader may edit: those that exist stay as they are. */
export function writeMissing(files: Readonly<Record<string, string>>): void {
  writeFiles(Object.fromEntries(Object.entries(files).filter(([name]) => !existsSync(ROOT + name))));
}

/** Removes the files that the last run has generated and this one has not, and no others. */
export function removeOutdated(names: readonly string[]): void {
  const before: readonly string[] = existsSync(LIST) ? JSON.parse(readFileSync(LIST, 'utf8')) : [];
  for (const name of before) if (!names.includes(name)) rmSync(ROOT + name, { force: true });
  writeFileSync(LIST, JSON.stringify(names, null, 2));
}
