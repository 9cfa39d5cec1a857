import assert from 'node:assert/strict';
import { globSync } from 'node:fs';
import { describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';
import { resolveLink } from '../src/links.ts';
import { renderPage } from '../src/markdown.ts';
import { groups, groupsOf } from '../src/navigation.ts';

const docs = fileURLToPath(new URL('../../docs/', import.meta.url));
const html = (text: string) => renderPage('example', text).html;

describe('navigation', () => {
  const listed = groups.flatMap(({ pages }) => pages.map(([path]) => path));

  it('has every page of docs/ in one group', () => {
    const pages = [...globSync('*.md', { cwd: docs }).map((file) => file.replace(/\.md$/, '')), 'decisions/README']
      // Part of the reference.
      .filter((page) => page !== 'errors');
    assert.ok(pages.length > 10);
    assert.deepEqual(
      pages.filter((page) => !listed.includes(page)),
      [],
      'add these to site/src/navigation.ts',
    );
    assert.equal(new Set(listed).size, listed.length, 'each page is in one group');
  });

  it('leaves out pages that do not exist, and groups without pages', () => {
    const shown = groupsOf(new Set(['webhooks', 'mcp']));
    assert.deepEqual(
      shown.map(({ title, pages }) => [title, pages.map(([path]) => path)]),
      [
        ['Start', ['webhooks']],
        ['Clients', ['mcp']],
      ],
    );
  });
});

describe('links', () => {
  it('lead to pages of the site, to addresses and to files of the repository', () => {
    for (const [href, from, target] of [
      ['webhooks.md', 'docs/events.md', { address: '/docs/guides/webhooks' }],
      ['webhooks.md#the-request', 'docs/events.md', { address: '/docs/guides/webhooks#the-request' }],
      ['decisions/README.md', 'docs/events.md', { address: '/docs/guides/decisions' }],
      ['errors.md', 'docs/events.md', { address: '/docs/errors' }],
      ['decisions/', 'docs/events.md', { address: '/docs/guides/decisions' }],
      ['0002-node-sqlite.md', 'docs/decisions/README.md', { address: '/docs/guides/decisions/0002-node-sqlite' }],
      ['../webhooks.md', 'docs/decisions/README.md', { address: '/docs/guides/webhooks' }],
      ['../openapi.json', 'docs/events.md', { address: '/openapi.json' }],
      ['pictures/keys-light.png', 'docs/dashboard.md', { address: '/docs/guides/pictures/keys-light.png' }],
      ['#here', 'docs/events.md', { address: '#here' }],
      ['https://example.com/a.md', 'docs/events.md', { address: 'https://example.com/a.md' }],
      ['mailto:you@example.com', 'docs/events.md', { address: 'mailto:you@example.com' }],
      ['../server/src/errors.ts', 'docs/events.md', { file: 'server/src/errors.ts' }],
      ['../README.md#settings', 'docs/security.md', { file: 'README.md' }],
    ] as const)
      assert.deepEqual(resolveLink(href, from), target, href);
  });

  it('to a file of the repository become its path', () => {
    assert.match(
      html('See [the table](../server/src/errors.ts).'),
      /See the table \(<code>server\/src\/errors.ts<\/code>\)\./,
    );
    assert.match(
      html('See [`server/src/errors.ts`](../server/src/errors.ts).'),
      /See <code>server\/src\/errors.ts<\/code>\./,
    );
    assert.doesNotMatch(html('See [the table](../server/src/errors.ts).'), /<a /);
  });
});

describe('pages', () => {
  it('get ids for headings as on GitHub, with a link to each', () => {
    const page = html('# One\n\n## The `events` field\n\n## Same\n\n## Same');
    for (const id of ['one', 'the-events-field', 'same', 'same-1']) assert.ok(page.includes(` id="${id}"`), id);
    assert.ok(page.includes('href="#same-1"'));
    assert.ok(!page.includes('href="#one"'), 'the title needs no link');
  });

  it('split into sections for the search, with their code', () => {
    const { title, description, sections } = renderPage(
      'example',
      '# Webhooks\n\nPosts `events`\nto a URL.\n\n## Sign\n\n```sh\ncurl -H secret\n```\n\n| a |\n|---|\n| cell |',
    );
    assert.equal(title, 'Webhooks');
    assert.equal(description, 'Posts events to a URL.');
    assert.deepEqual(
      sections.map(({ id, heading, level }) => [id, heading, level]),
      [
        ['webhooks', 'Webhooks', 1],
        ['sign', 'Sign', 2],
      ],
    );
    assert.match(sections[1]?.text ?? '', /curl -H secret.*cell/s);
  });

  it('color code by class, and escape languages that are not known', () => {
    assert.match(html('```json\n{"a": "<b>"}\n```'), /hljs-string">&quot;&lt;b&gt;&quot;</);
    assert.match(html('```nothing\n<b>\n```'), /&lt;b&gt;/);
  });

  it('show quotes with a mark as alerts', () => {
    assert.match(html('> [!WARNING]\n> Keep it.'), /<blockquote class="alert warning">\s*<p><strong>Warning<\/strong>/);
    assert.match(html('> A quote.'), /<blockquote>/);
  });

  it('leave out comments', () => {
    assert.doesNotMatch(html('<!-- example: a.js -->\n\nText <!-- inside -->'), /<!--|example|inside/);
  });

  it('draw diagrams without styles, ids that repeat, or resources of other servers', () => {
    const flow = '```mermaid\nflowchart LR\n  a["<b> & c"] -- REST --> b\n```\n';
    const sequence = '```mermaid\nsequenceDiagram\n  A->>B: send\n```\n';
    const state = '```mermaid\nstateDiagram-v2\n  [*] --> queued\n```\n';
    const page = html(flow + sequence + state + flow);
    assert.equal(page.match(/<svg /g)?.length, 4);
    assert.doesNotMatch(page, /<style|\sstyle=|googleapis|@import/);
    const ids = [...page.matchAll(/ id="([^"]+)"/g)].map(([, id]) => id);
    assert.equal(new Set(ids).size, ids.length);
    for (const [, id = ''] of page.matchAll(/url\(#([^)]+)\)/g)) assert.ok(ids.includes(id), id);
    assert.match(page, /Diagram as text.*flowchart LR/s);
  });

  it('draw a node with the label that comes after its first mention', () => {
    const page = html(
      '```mermaid\nflowchart LR\n  app([App]) -- call api --> api\n  subgraph api server\n    api["invoke:<br>run"] --> db[(SQLite)]\n    db --> app\n  end\n```\n',
    );
    const [svg = ''] = /<svg.*?<\/svg>/s.exec(page) ?? [];
    for (const text of ['App', 'invoke:', 'run', 'SQLite', 'call api']) assert.ok(svg.includes(`>${text}<`), text);
    assert.ok(!svg.includes('>api<'));
  });

  it('keep diagrams that cannot be drawn as code', () => {
    const page = html('```mermaid\nnothing\n  a\n```\n');
    assert.doesNotMatch(page, /<svg/);
    assert.match(page, /<code class="language-mermaid">/);
  });
});
