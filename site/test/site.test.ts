import assert from 'node:assert/strict';
import { existsSync, globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { movedSections } from '../src/movedSections.ts';
import { BASE, DIST } from '../src/paths.ts';

/** The built pages by their address. */
const pages = new Map(
  globSync('**/*.html', { cwd: DIST }).map((file) => [addressOf(file), readFileSync(join(DIST, file), 'utf8')]),
);

function addressOf(file: string): string {
  if (file === 'errors.html') return '/docs/errors';
  return BASE + file.replace(/\.html$/, '').replace(/^index$/, '');
}

describe('built documentation', () => {
  it('has a page for each page of docs/', () => {
    const sources = globSync('{*,decisions/*}.md', { cwd: join(DIST, '../../docs') });
    // The first page and the page for unknown addresses.
    assert.equal(pages.size, sources.length + 2, 'npm run docs');
  });

  it('has no dead links', () => {
    const operations = readFileSync(join(DIST, '../../openapi.json'), 'utf8');
    const dead: string[] = [];
    for (const [address, html] of pages) {
      for (const [, href = ''] of html.matchAll(/<a [^>]*href="([^"]*)"/g)) {
        if (/^[a-z]+:/.test(href)) continue;
        const { pathname, hash } = new URL(href, `http://localhost${address}`);
        const id = decodeURIComponent(hash.slice(1));
        const page = pages.get(pathname);
        const isThere =
          page === undefined
            ? isServed(pathname) && (id === '' || operations.includes(`"operationId": "${id}"`))
            : id === '' || page.includes(` id="${id}"`);
        if (!isThere) dead.push(`${address}: ${href}`);
      }
    }
    assert.deepEqual(dead, []);
  });

  it('sends readers of moved sections to sections that exist', () => {
    for (const [from, to] of Object.entries(movedSections)) {
      const [oldPage = '', oldId = ''] = from.split('#');
      assert.ok(!pages.get(BASE + oldPage)?.includes(` id="${oldId}"`), `${from} exists`);
      const [page = '', id] = to.split('#');
      const html = pages.get(BASE + page) ?? assert.fail(to);
      assert.ok(id === undefined || html.includes(` id="${id}"`), to);
    }
  });

  it('shows only pictures that exist', () => {
    for (const [address, html] of pages)
      for (const [, file = ''] of html.matchAll(/<img [^>]*src="\/docs\/guides\/([^"]*)"/g))
        assert.ok(existsSync(join(DIST, file)), `${address}: ${file}`);
  });

  it('draws every diagram', () => {
    for (const [address, html] of pages)
      assert.doesNotMatch(html, /language-mermaid/, `${address} has a diagram of a type that cannot be drawn`);
  });

  it('has no inline code or styles, which the policy of its pages forbids', () => {
    for (const [address, html] of pages)
      assert.doesNotMatch(html, /<script(?![^>]*\ssrc=)|<style|<[^>]+\s(?:style|on\w+)="/, address);
  });
});

/** Pages that other parts of the server serve. */
function isServed(path: string): boolean {
  return ['/', '/docs', '/openapi.json'].includes(path);
}
