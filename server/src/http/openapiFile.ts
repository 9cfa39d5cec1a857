import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { operations } from '../operations/index.ts';
import { openApiDocument } from './openapi.ts';
import { sdkTypes } from './sdkTypes.ts';

/*
 * Writes what is made from the operations and committed: `openapi.json` and the SDK's types. With `--check` it fails
 * when a committed file differs from what the operations say.
 */
const root = new URL('../../../', import.meta.url);
const files = {
  'openapi.json': `${JSON.stringify(openApiDocument(operations), null, 2)}\n`,
  'sdk/src/api.ts': formatted(sdkTypes(operations)),
};

for (const [name, wanted] of Object.entries(files)) {
  const file = new URL(name, root);
  if (!process.argv.includes('--check')) writeFileSync(file, wanted);
  else if (readFileSync(file, 'utf8') !== wanted) {
    process.stderr.write(`${name} is behind the operations: run \`npm run openapi\` and commit it\n`);
    process.exitCode = 1;
  }
}

function formatted(source: string): string {
  const cwd = fileURLToPath(root);
  const program = fileURLToPath(new URL('node_modules/@biomejs/biome/bin/biome', root));
  return execFileSync(process.execPath, [program, 'format', '--stdin-file-path=sdk/src/api.ts'], {
    cwd,
    input: source,
    encoding: 'utf8',
  });
}
