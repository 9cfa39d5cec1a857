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

/** The list of errors has its own layout: its entries link to the operations that return them. */
export const ERRORS = 'errors';

/** The address of a page. */
export function addressOf(path: string): string {
  return path === ERRORS ? '/docs/errors' : BASE + outputPath(path);
}
