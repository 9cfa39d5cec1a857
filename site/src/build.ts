import { createHash } from 'node:crypto';
import { cpSync, globSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';
import { build } from 'vite';
import { renderErrors } from './errorsPage.ts';
import { type Assets, type Content, type Frame, notFound, renderIndex, renderLayout } from './layout.ts';
import { type Page, renderPage } from './markdown.ts';
import { readOpenApi } from './openApi.ts';
import { BASE, DIST, ERRORS, outputPath, ROOT, SITE } from './paths.ts';
import { searchDocuments } from './searchDocuments.ts';

/*
 * Builds the documentation site into `dist/`: a page of HTML for each page of `docs/`, the list of errors, and the
 * texts to search. The server serves it below `/docs/guides/`.
 */

const paths = globSync('{*,decisions/*}.md', { cwd: join(ROOT, 'docs') })
  .map((file) => file.replace(/\.md$/, ''))
  .filter((path) => path !== ERRORS)
  .sort();
const pages = paths.map((path) => renderPage(path, readFileSync(join(ROOT, 'docs', `${path}.md`), 'utf8')));
const { version, operations } = readOpenApi();

const bundle = await bundleClient();
const search = writeHashed('search.json', JSON.stringify(searchDocuments(pages, operations)));
const assets: Assets = { ...bundle, search };
const frame: Frame = { assets, version, paths: new Set(paths) };

for (const page of pages) writePage(outputPath(page.path), contentOf(page));
writePage('index', renderIndex(frame, new Map(pages.map(({ path, description }) => [path, description]))));
writePage(ERRORS, renderErrors(operations));
writePage('404', notFound);
cpSync(join(ROOT, 'docs/pictures'), join(DIST, 'pictures'), { recursive: true });
await compressAll();

/** Bundles the script and the styles of all pages. Empties `dist/` before. */
async function bundleClient(): Promise<Omit<Assets, 'search'>> {
  await build({
    root: SITE,
    configFile: false,
    base: BASE,
    logLevel: 'warn',
    build: {
      outDir: DIST,
      manifest: true,
      // The policy of the pages forbids data URLs.
      assetsInlineLimit: 0,
      modulePreload: false,
      reportCompressedSize: false,
      rolldownOptions: { input: join(SITE, 'src/client/main.ts') },
    },
  });
  const manifest = JSON.parse(readFileSync(join(DIST, '.vite/manifest.json'), 'utf8')) as Record<
    string,
    { file: string; css?: string[] }
  >; // written by Vite
  const { file, css: [style] = [] } = manifest['src/client/main.ts'] ?? {};
  if (file === undefined || style === undefined) throw new Error('Vite built no script or no styles');
  return { script: BASE + file, style: BASE + style };
}

function contentOf({ path, title, description, html, sections }: Page): Content {
  const outline = sections
    .filter(({ level }) => level > 1)
    .map(({ id, heading, level }) => ({ id, text: heading, level }));
  return { path, title, description, html, outline };
}

function writePage(path: string, content: Content): void {
  const file = join(DIST, `${path}.html`);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, renderLayout(frame, content));
}

/** Writes a file under a name that changes with its content, and returns its address. */
function writeHashed(name: string, content: string): string {
  const hash = createHash('sha256').update(content).digest('base64url').slice(0, 8);
  const file = `assets/${name.replace('.', `-${hash}.`)}`;
  writeFileSync(join(DIST, file), content);
  return BASE + file;
}

/** Compresses text once, instead of in every response. */
async function compressAll(): Promise<void> {
  const files = globSync('**/*.{html,js,css,json}', { cwd: DIST });
  await Promise.all(
    files.map(async (name) => {
      const path = join(DIST, name);
      const content = readFileSync(path);
      const params = { [constants.BROTLI_PARAM_QUALITY]: 9 };
      writeFileSync(`${path}.br`, await promisify(brotliCompress)(content, { params }));
      writeFileSync(`${path}.gz`, await promisify(gzip)(content, { level: 9 }));
    }),
  );
}
