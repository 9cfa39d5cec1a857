import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { checkSubject, checkText, countRatchets } from './language.ts';

/*
 * Reports the constructions that the prose of the repository avoids, and fails if there are any. Others are counted, and
 * must not become more frequent: `--update` stores lower counts.
 */

/** They quote them. Released migrations never change, and generated files repeat others. */
const EXEMPT =
  /^scripts\/language\.ts$|^server\/test\/unit\/repository\/language\.test\.ts$|^server\/src\/db\/migrations\/000[1-4]-|^clients\/python\/src\/switchboard_client\/(?:models|operations)\.py$/;
const READ = ['ts', 'tsx', 'md', 'yaml', 'yml', 'py', 'go', 'php', 'tpl'].map((type) => `*.${type}`);
const COUNTS = new URL('languageRatchets.json', import.meta.url);
/** The commit after which subjects are checked. */
const SUBJECTS_SINCE = '39dcbb2c';

const files = git('ls-files', '--cached', '--others', '--exclude-standard', ...READ, '*Dockerfile').filter(
  (path) => !EXEMPT.test(path) && existsSync(path),
);

const findings: string[] = [];
const counts = new Map<string, number>();
for (const path of files) {
  const text = readFileSync(path, 'utf8');
  for (const { line, found, instead } of checkText(path, text))
    findings.push(`${path}:${line}: "${found}" Write: ${instead}.`);
  for (const [name, count] of countRatchets(path, text)) counts.set(name, (counts.get(name) ?? 0) + count);
}
for (const subject of subjects())
  for (const instead of checkSubject(subject)) findings.push(`commit "${subject}": ${instead}.`);

const stored: Record<string, number> = JSON.parse(readFileSync(COUNTS, 'utf8'));
for (const [name, count] of counts) {
  const most = stored[name] ?? Number.POSITIVE_INFINITY;
  if (count > most)
    findings.push(`"${name}" is in ${count} sentences, more than the ${most} in languageRatchets.json.`);
  stored[name] = Math.min(count, most);
}
if (process.argv.includes('--update')) writeFileSync(COUNTS, `${JSON.stringify(stored, undefined, 2)}\n`);

for (const finding of findings) process.stdout.write(`${finding}\n`);
process.stdout.write(`Checked the language of ${files.length} files: ${findings.length} findings.\n`);
if (findings.length > 0) process.exitCode = 1;

/** None in a clone without the history. */
function subjects(): string[] {
  try {
    return git('log', '--no-merges', '--format=%s', `${SUBJECTS_SINCE}..HEAD`);
  } catch {
    return [];
  }
}

function git(...args: string[]): string[] {
  return execFileSync('git', args, { stdio: ['ignore', 'pipe', 'ignore'] })
    .toString()
    .trim()
    .split('\n')
    .filter((line) => line !== '');
}
