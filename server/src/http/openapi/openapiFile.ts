import { readFileSync, writeFileSync } from 'node:fs';
import { withCapabilityTable } from '../../connectors/capabilityTable.ts';
import { operations } from '../../operations/index.ts';
import { eventsPage } from './eventsPage.ts';
import { openApiDocument } from './openapi.ts';
import { settingsPage } from './settingsPage.ts';
import { withToolsTable } from './toolsPage.ts';

/*
 * Writes the committed files that derive from the tables of operations, events, errors and settings: `openapi.json`,
 * the pages of events and of settings, and parts of other pages. With `--check` it fails if one is out of date.
 */
const root = new URL('../../../../', import.meta.url);
const read = (name: string) => readFileSync(new URL(name, root), 'utf8');
const files = {
  'openapi.json': `${JSON.stringify(openApiDocument(operations), null, 2)}\n`,
  'docs/events.md': eventsPage(),
  'docs/settings.md': settingsPage(),
  'docs/whatsapp.md': withCapabilityTable(read('docs/whatsapp.md')),
  'docs/mcp-reference.md': withToolsTable(read('docs/mcp-reference.md'), operations),
};

for (const [name, wanted] of Object.entries(files)) {
  if (!process.argv.includes('--check')) writeFileSync(new URL(name, root), wanted);
  else if (read(name) !== wanted) {
    process.stderr.write(`${name} is out of date: run \`npm run openapi\` and commit it\n`);
    process.exitCode = 1;
  }
}
