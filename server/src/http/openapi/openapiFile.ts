import { readFileSync, writeFileSync } from 'node:fs';
import { withCapabilityTable } from '../../connectors/capabilityTable.ts';
import { operations } from '../../operations/index.ts';
import { eventsPage } from './eventsPage.ts';
import { openApiDocument } from './openapi.ts';
import { settingsPage } from './settingsPage.ts';

/*
 * Writes the committed files that derive from the tables of operations, events, errors and settings: `openapi.json`,
 * the pages of events and of settings, and the table of capabilities. With `--check` it fails if one is out of date.
 */
const root = new URL('../../../../', import.meta.url);
const files = {
  'openapi.json': `${JSON.stringify(openApiDocument(operations), null, 2)}\n`,
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
