import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { it } from 'node:test';
import { blocksOf, root } from './markdown.ts';

/* Links in Markdown files: to other files and to headings, by the rules of GitHub. */

interface Document {
  readonly file: string;
  /** Without code. */
  readonly prose: string;
}

const documents: readonly Document[] = execFileSync('git', ['ls-files', '-co', '--exclude-standard', '*.md'], {
  cwd: root,
})
  .toString()
  .trim()
  .split('\n')
  .filter((file) => existsSync(join(root, file)))
  .map((file) => ({ file, prose: proseOf(file) }));

function proseOf(file: string): string {
  const text = readFileSync(join(root, file), 'utf8');
  const lines = text.split('\n');
  for (const { line, text: code } of blocksOf({ file, text })) lines.fill('', line - 1, line + code.split('\n').length);
  return lines.join('\n');
}

/** The anchors of a document, with a number after those that are repeated. */
function anchorsOf({ prose }: Document): Set<string> {
  const anchors = new Set<string>();
  for (const [, heading = ''] of prose.matchAll(/^#{1,6} +(.*?)#*$/gm)) {
    const anchor = anchorOf(heading);
    let unique = anchor;
    for (let count = 1; anchors.has(unique); count++) unique = `${anchor}-${count}`;
    anchors.add(unique);
  }
  return anchors;
}

const anchorOf = (heading: string): string =>
  heading
    .replaceAll(/\[([^\]]*)\]\([^)]*\)/g, '$1')
    .trim()
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{M}\p{N}_ -]/gu, '')
    .replaceAll(' ', '-');

const targetsOf = ({ prose }: Document): string[] => [
  ...[...prose.replaceAll(/`[^`\n]*`/g, 'code').matchAll(/\]\(([^()\s]+)\)/g)].map(([, target = '']) => target),
  ...[...prose.matchAll(/\s(?:src|srcset|href)="([^"]+)"/g)].map(([, target = '']) => target),
];

/** Why a link leads nowhere; undefined if it leads somewhere, or to another site. */
function problemOf(from: Document, target: string): string | undefined {
  if (/^[a-z]+:/.test(target)) return undefined;
  const [path = '', anchor] = decodeURI(target).split('#');
  const file = path === '' ? from.file : normalize(join(dirname(from.file), path));
  if (file.startsWith('..') || !existsSync(join(root, file))) return 'the file does not exist';
  if (anchor === undefined) return undefined;
  const document = documents.find((one) => one.file === file);
  if (document === undefined) return 'the file has no headings';
  return anchorsOf(document).has(anchor) ? undefined : 'the heading does not exist';
}

it('every link between the documents leads to a file and a heading', () => {
  const problems = documents.flatMap((document) =>
    targetsOf(document).flatMap((target) => {
      const problem = problemOf(document, target);
      return problem === undefined ? [] : [`${document.file}: ${target}: ${problem}`];
    }),
  );
  assert.deepEqual(problems, []);
});

it('finds the links and the headings', () => {
  const readme = documents.find(({ file }) => file === 'README.md');
  assert.ok(readme && targetsOf(readme).some((target) => target.startsWith('docs/')));
  assert.ok(anchorsOf(readme).has('quickstart'));
  const page: Document = {
    file: 'docs/page.md',
    prose: '# A `code` & [link](x.md)\n## Twice\n## Twice\n[a](#twice-1) [b](#none)',
  };
  assert.deepEqual([...anchorsOf(page)], ['a-code--link', 'twice', 'twice-1']);
  assert.equal(problemOf(page, 'missing.md'), 'the file does not exist');
  assert.equal(problemOf(page, '../README.md#nowhere'), 'the heading does not exist');
});
