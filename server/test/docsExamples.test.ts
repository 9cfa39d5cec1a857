import assert from 'node:assert/strict';
import { globSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';
import { Compile } from 'typebox/compile';
import type { Operation } from '../src/invoke/operation.ts';
import { validator } from '../src/invoke/validate.ts';
import { operations } from '../src/operations/index.ts';
import { type Call, startServer, type TestServer } from './support/server.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const pages = ['README.md', ...globSync('docs/*.md', { cwd: root })].map((file) => ({
  file,
  text: readFileSync(join(root, file), 'utf8'),
}));

interface Block {
  readonly language: string;
  readonly text: string;
}

interface Request {
  readonly method: string;
  /** Below `/api/v1`. */
  readonly path: string;
  readonly query: URLSearchParams;
  readonly body: string | undefined;
}

/** The fenced blocks of a page, including those that are indented within a list. */
function blocksOf(text: string): Block[] {
  return [...text.matchAll(/^( *)```(\w+)\n(.*?)^ *```$/gms)].map(([, indent = '', language = '', block = '']) => ({
    language,
    text: block.replaceAll(new RegExp(`^${indent}`, 'gm'), ''),
  }));
}

/** The words of the shell command that begins at `at`, up to the end of its line or a redirection. */
function wordsOf(text: string, at: number): string[] {
  const words = [...text.slice(at).matchAll(/'([^']*)'|"((?:\\.|[^"])*)"|(\\\n)|(\n|[|)#;])|([^\s'"|);#\\]+)/g)];
  const end = words.findIndex(([, , , , stop]) => stop !== undefined);
  return (end === -1 ? words : words.slice(0, end)).flatMap(
    ([, single, double, , , bare]) => single ?? double ?? bare ?? [],
  );
}

/** The request that `curl` would send to the API. */
function requestOf(words: readonly string[]): Request | undefined {
  const argumentOf = (...flags: string[]) => words[words.findIndex((word) => flags.includes(word)) + 1];
  const has = (...flags: string[]) => words.some((word) => flags.includes(word));
  const address = words.find((word) => /\/api\/v1\/|^\$API\//.test(word));
  if (address === undefined) return undefined;
  const { pathname, searchParams } = new URL(address.replace(/^.*?(\/api\/v1|\$API)/, ''), 'http://localhost');
  const isUpload = has('-d', '--data', '--data-binary', '-F');
  return {
    method: (has('-X') ? argumentOf('-X') : undefined) ?? (isUpload ? 'POST' : 'GET'),
    path: decodeURI(pathname),
    query: searchParams,
    body: has('-d', '--data') ? argumentOf('-d', '--data') : undefined,
  };
}

function operationOf({ method, path }: Request): Operation | undefined {
  return operations.find(
    (operation) =>
      operation.method === method && new RegExp(`^${operation.path.replaceAll(/\{\w+\}/g, '[^/]+')}$`).test(path),
  );
}

const examples = pages.flatMap(({ file, text }) =>
  blocksOf(text)
    .filter(({ language }) => language === 'sh')
    .flatMap((block) =>
      [...block.text.matchAll(/\bcurl\b/g)].flatMap(({ index }) => {
        const request = requestOf(wordsOf(block.text, index));
        return request === undefined ? [] : [{ file, request }];
      }),
    ),
);

describe('documentation examples', () => {
  let server: TestServer;
  let call: Call;
  const folder = mkdtempSync(join(tmpdir(), 'switchboard-docs-'));
  before(async () => {
    const [, connector] = /<!-- example: pager\.js -->\n```js\n(.*?)```/s.exec(
      pages.find(({ file }) => file === 'docs/connectors.md')?.text ?? '',
    ) ?? [assert.fail('docs/connectors.md has no example')];
    writeFileSync(join(folder, 'pager.js'), connector ?? '');
    server = await startServer({ env: { CONNECTORS: join(folder, 'pager.js') } });
    ({ call } = await server.account());
  });
  after(async () => {
    await server.stop();
    rmSync(folder, { recursive: true });
  });

  it('are found', () => {
    const found = new Set(examples.map(({ file, request }) => `${file} ${request.method} ${request.path}`));
    for (const known of [
      'README.md POST /messages/send',
      'docs/connectors.md POST /sessions',
      'docs/media.md POST /media',
      'docs/whatsapp-cloud.md POST /sessions',
      'docs/whatsapp-cloud.md POST /sessions/$SESSION_ID/connect',
    ])
      assert.ok(found.has(known), `${known} is not among ${[...found].join(', ')}`);
  });

  for (const { file, request } of examples) {
    it(`of ${file} for ${request.method} ${request.path} pass validation`, async () => {
      const operation = operationOf(request);
      assert.ok(operation, 'the operation exists');
      const query = Object.fromEntries(request.query);
      // The body of these is a file.
      if (operation.takesContent) return void validator(operation.input)(query);
      const path = request.query.size === 0 ? request.path : `${request.path}?${request.query}`;
      const { status, body } = await call(request.method, encodeURI(path), request.body);
      // Validation comes before these errors: the ids in the paths do not exist, and no session is connected.
      const isPast = status === 409 || (status === 404 && request.path.includes('$'));
      assert.ok(status < 300 || isPast, `${status} ${JSON.stringify(body)}`);
    });
  }

  for (const { file, text } of pages) {
    for (const [, block = ''] of text.matchAll(/\banswers? 2\d\d:\n\n```json\n(.*?)```/gs)) {
      it(`of ${file} show responses that match the output schema`, () => {
        const before = examples.filter((example) => example.file === file).map(({ request }) => operationOf(request));
        const outputs = before.flatMap((operation) => operation?.output ?? []);
        assert.ok(outputs.some((output) => Compile(output).Check(JSON.parse(block))));
      });
    }
  }
});
