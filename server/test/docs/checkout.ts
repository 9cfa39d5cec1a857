import { chmodSync, mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { root } from './markdown.ts';

export interface Checkout {
  readonly folder: string;
  /** Has the programs that the documentation uses, and a `curl` that fails if the server answers with an error. */
  readonly path: string;
  remove(): void;
}

/** Fails if the server answers with an error, unless the command prints the status. */
const CURL = `#!/bin/sh
PATH='PATH_OF_TESTS'
case "$*" in
*http_code*) exec curl "$@" ;;
*) exec curl --fail-with-body "$@" ;;
esac
`;

/** Makes a folder that looks like a fresh checkout, in which the documentation's examples can leave files. */
export function makeCheckout(): Checkout {
  const home = mkdtempSync(join(tmpdir(), 'switchboard-docs-'));
  const folder = join(home, 'switchboard');
  mkdirSync(folder);
  for (const name of readdirSync(root))
    if (!['.git', 'data'].includes(name)) symlinkSync(join(root, name), join(folder, name));

  const programs = join(home, 'bin');
  mkdirSync(programs);
  const inherited = process.env['PATH'] ?? '';
  writeFileSync(
    join(programs, 'curl'),
    CURL.replace('PATH_OF_TESTS', () => inherited),
  );
  chmodSync(join(programs, 'curl'), 0o755);
  return {
    folder,
    path: [programs, dirname(process.execPath), join(root, 'node_modules/.bin'), inherited].join(delimiter),
    remove: () => rmSync(home, { recursive: true, force: true, maxRetries: 10, retryDelay: 50 }),
  };
}
