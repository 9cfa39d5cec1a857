import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { withCapabilityTable } from '../../connectors/capabilityTable.ts';
import { operations } from '../../operations/index.ts';
import { eventsPage } from './eventsPage.ts';
import { openApiDocument } from './openapi.ts';
import { sdkEvents, sdkTypes } from './sdkTypes.ts';
import { settingsPage } from './settingsPage.ts';

/*
 * Writes the committed files that derive from the tables of operations, events, errors and settings: `openapi.json`,
 * the SDK's types, the pages of events and of settings, and the table of capabilities. With `--check` it fails if a committed file is out of date.
 */
const root = new URL('../../../../', import.meta.url);
const files = {
  'openapi.json': `${JSON.stringify(openApiDocument(operations), null, 2)}\n`,
  'sdk/src/api.ts': formatted(sdkTypes(operations)),
  'sdk/src/events.ts': formatted(sdkEvents()),
  'docs/events.md': eventsPage(),
  'docs/settings.md': settingsPage(),
  'docs/whatsapp.md': withCapabilityTable(readFileSync(new URL('docs/whatsapp.md', root), 'utf8')),
};

for (const [name, wanted] of Object.entries(files)) {
  const file = new URL(name, root);
  if (!process.argv.includes('--check')) writeFileSync(file, wanted);
  else if (readFileSync(file, 'utf8') !== wanted) {
    process.stderr.write(`${name} is out of date: run \`npm run openapi\` and commit it\n`);
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
