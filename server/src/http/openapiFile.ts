import { readFileSync, writeFileSync } from 'node:fs';
import { operations } from '../operations/index.ts';
import { openApiDocument } from './openapi.ts';

/*
 * Writes `openapi.json`, or with `--check` fails when the committed file differs from what the operations say.
 */
const file = new URL('../../../openapi.json', import.meta.url);
const wanted = `${JSON.stringify(openApiDocument(operations), null, 2)}\n`;

if (!process.argv.includes('--check')) writeFileSync(file, wanted);
else if (readFileSync(file, 'utf8') !== wanted) {
  process.stderr.write('openapi.json is behind the operations: run `npm run openapi` and commit it\n');
  process.exitCode = 1;
}
