import { readFileSync, writeFileSync } from 'node:fs';
import { lackingTable, withCapabilityTable } from '../../connectors/capabilityTable.ts';
import { operations } from '../../operations/index.ts';
import { errorsList } from './errorsList.ts';
import { eventsPage } from './eventsPage.ts';
import { withGeneratedPart } from './generatedPart.ts';
import { openApiDocument } from './openapi.ts';
import { settingsPage } from './settingsPage.ts';
import { withToolsTable } from './toolsPage.ts';

/*
 * Writes the committed files that derive from the tables of operations, events, errors and settings: `openapi.json`,
 * the pages of events and of settings, and parts of other pages. With `--check` it fails if one is out of date.
 */
const root = new URL('../../../../', import.meta.url);
const read = (name: string) => readFileSync(new URL(name, root), 'utf8');
/** Puts the verifier of a language and its receiver into their page. */
function withSources(page: string, language: string, verifier: string, receiver: string): string {
  const block = (file: string) => `\n\`\`\`${language}\n${read(`clients/${language}/${file}`)}\`\`\`\n\n`;
  return withGeneratedPart(withGeneratedPart(page, 'receiver', block(receiver)), 'verifier', block(verifier));
}

const files = {
  'openapi.json': `${JSON.stringify(openApiDocument(operations), null, 2)}\n`,
  'docs/errors.md': errorsList(),
  'docs/events.md': eventsPage(),
  'docs/settings.md': settingsPage(),
  'docs/whatsapp.md': withCapabilityTable(read('docs/whatsapp.md')),
  'docs/sending.md': withGeneratedPart(read('docs/sending.md'), 'lacking', lackingTable()),
  'docs/php.md': withSources(read('docs/php.md'), 'php', 'SwitchboardWebhooks.php', 'receiver.php'),
  'docs/go.md': withSources(read('docs/go.md'), 'go', 'webhooks.go', 'receiver/main.go'),
  'docs/mcp-reference.md': withToolsTable(read('docs/mcp-reference.md'), operations),
};

for (const [name, wanted] of Object.entries(files)) {
  if (!process.argv.includes('--check')) writeFileSync(new URL(name, root), wanted);
  else if (read(name) !== wanted) {
    process.stderr.write(`${name} is out of date: run \`npm run openapi\` and commit it\n`);
    process.exitCode = 1;
  }
}
