import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { it } from 'node:test';
import { pages, root } from './markdown.ts';

/* The page about troubleshooting quotes the server's texts, so that a reader can search for them. */

const sources = globSync('server/{src/**/*.ts,start.js}', { cwd: root })
  .map((file) => readFileSync(join(root, file), 'utf8'))
  .join('\n')
  .replaceAll("\\'", "'")
  .replaceAll('\\`', '`');

it('docs/troubleshooting.md quotes texts that the server has', () => {
  const page = pages.find(({ file }) => file === 'docs/troubleshooting.md');
  const cells = [...(page?.text ?? '').matchAll(/^\| (.*?) \|/gm)].map(([, cell = '']) => cell);
  const quoted = cells.flatMap((cell) => [...cell.matchAll(/"(.+?)"(?=$|[ ,])/g)].map(([, text = '']) => text));
  assert.ok(quoted.length > 40);
  const unknown = quoted.filter((text) => text.split('…').some((part) => !sources.includes(part.trim())));
  assert.deepEqual(unknown, []);
});
