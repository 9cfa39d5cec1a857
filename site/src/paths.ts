import { fileURLToPath } from 'node:url';

/** Root of the repository. */
export const ROOT = fileURLToPath(new URL('../../', import.meta.url));
export const SITE = fileURLToPath(new URL('../', import.meta.url));
export const DIST = fileURLToPath(new URL('../dist/', import.meta.url));

/** Where the server serves the site. */
export const BASE = '/docs/guides/';

/** The path of a page in `docs/` as that of its file in `dist/`: `decisions/README` is `decisions`. */
export function outputPath(path: string): string {
  return path.replace(/\/README$/, '');
}

/** The address of a page. */
export function addressOf(path: string): string {
  return BASE + outputPath(path);
}
