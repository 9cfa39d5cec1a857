import { readFileSync } from 'node:fs';

/* Prints the part of CHANGELOG.md about a version: `node scripts/releaseNotes.ts 0.2.0`. */

const [version = ''] = process.argv.slice(2);
const changes = readFileSync(new URL('../CHANGELOG.md', import.meta.url), 'utf8');
const section = changes.split(/^(?=## )/m).find((part) => part.startsWith(`## ${version} `));
if (version === '' || section === undefined) {
  process.stderr.write(`CHANGELOG.md has no section about version "${version}"\n`);
  process.exit(1);
}
process.stdout.write(`${section.replace(/^.*\n+/, '').trim()}\n`);
