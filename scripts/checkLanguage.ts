import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { checkText } from './language.ts';

/* Reports the constructions that the prose of the repository avoids, and fails if there are any. */

/** They quote them. Released migrations never change. */
const EXEMPT =
  /^scripts\/language\.ts$|^server\/test\/unit\/repository\/language\.test\.ts$|^server\/src\/db\/migrations\/000[1-4]-/;

const files = execFileSync('git', ['ls-files', '--cached', '--others', '--exclude-standard', '*.ts', '*.tsx', '*.md'])
  .toString()
  .trim()
  .split('\n')
  .filter((path) => !EXEMPT.test(path));

let count = 0;
for (const path of files) {
  for (const { line, found, instead } of checkText(path, readFileSync(path, 'utf8'))) {
    count++;
    process.stdout.write(`${path}:${line}: "${found}" Write: ${instead}.\n`);
  }
}
process.stdout.write(`Checked the language of ${files.length} files: ${count} findings.\n`);
if (count > 0) process.exitCode = 1;
