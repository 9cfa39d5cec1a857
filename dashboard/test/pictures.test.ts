import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import { shellStrings } from '../src/shell/strings.ts';

const docs = new URL('../../docs/', import.meta.url);

describe('guide to the dashboard', () => {
  const guide = readFileSync(new URL('dashboard.md', docs), 'utf8');

  it('describes every page', () => {
    for (const title of Object.values(shellStrings.pages)) assert.ok(guide.includes(`\n## ${title}\n`), title);
  });

  it('shows every screenshot in the repository', () => {
    const shown = [...guide.matchAll(/\(pictures\/([\w-]+\.png)\)/g)].map(([, name = '']) => name);
    // The README shows the overview in both themes, and the page on OAuth the consent.
    const elsewhere = ['overview-dark.png', 'consent-light.png'];
    assert.deepEqual(readdirSync(new URL('pictures', docs)).sort(), [...shown, ...elsewhere].sort());
  });
});
