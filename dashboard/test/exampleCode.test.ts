import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import { createClient } from '../../sdk/src/client.ts';
import type { Operation } from '../src/openapi.ts';
import { exampleCode } from '../src/pages/reference/exampleCode.ts';

const ORIGIN = 'https://gateway.example.com';
const { paths } = JSON.parse(readFileSync(new URL('../../openapi.json', import.meta.url), 'utf8')) as {
  paths: Record<string, Record<string, Omit<Operation, 'method' | 'path'>>>;
}; // generated
const operations = Object.entries(paths).flatMap(([path, methods]) =>
  Object.entries(methods).map(([method, described]) => ({ ...described, method: method.toUpperCase(), path })),
);

function codeOf(operation: (typeof operations)[number], language: string): string | undefined {
  return exampleCode({ ...operation, permissions: [] }, ORIGIN).find(({ name }) => name === language)?.code;
}

/** Files, streams and probes, for which the clients have other means or none. */
const WITHOUT_CLIENT = [
  'events.socket',
  'events.stream',
  'mcp',
  'media.content',
  'media.file',
  'media.upload',
  'server.health',
  'server.ready',
];

describe('examples of the API reference', () => {
  it('have curl for every operation, and the clients for nearly all', () => {
    assert.ok(operations.length > 80);
    assert.ok(operations.every((operation) => codeOf(operation, 'curl')?.startsWith('curl ')));
    for (const language of ['TypeScript', 'Python']) {
      const without = operations.filter((operation) => codeOf(operation, language) === undefined);
      assert.deepEqual(without.map(({ operationId }) => operationId).sort(), WITHOUT_CLIENT);
    }
  });

  it('call the operation with the SDK', async () => {
    for (const operation of operations) {
      const code = codeOf(operation, 'TypeScript');
      if (code === undefined) continue;
      const requests: Request[] = [];
      const fetching: typeof fetch = async (...request) => {
        requests.push(new Request(...request));
        return Response.json({});
      };
      const withFetch: typeof createClient = (options) => createClient({ ...options, fetch: fetching });
      const body = code.replace(/^import .*$/m, '');
      // The example is a module without its import.
      const runs = new Function('createClient', 'console', `return (async () => { ${body} })()`);
      await runs(withFetch, { log: () => {} });
      const [request] = requests;
      assert.equal(requests.length, 1, code);
      const pattern = new RegExp(`^${operation.path.replaceAll(/\{\w+\}/g, '[^/{}]+')}$`);
      assert.match(new URL(request?.url ?? '').pathname, pattern, code);
      assert.equal(request?.method, operation.method, code);
      const example = operation.requestBody?.content['application/json']?.example;
      if (example !== undefined) assert.deepEqual(await request?.json(), example, code);
    }
  });

  it('are valid Python', (test) => {
    if (spawnSync('python3', ['--version']).status !== 0) return test.skip('python3 is not installed');
    const codes = operations.flatMap((operation) => codeOf(operation, 'Python') ?? []);
    const check = 'import ast, json, sys\nfor code in json.load(sys.stdin): ast.parse(code)';
    execFileSync('python3', ['-c', check], { input: JSON.stringify(codes) });
    const send = codes.find((code) => code.includes('client.messages.send('));
    assert.match(send ?? '', /^import os\nfrom switchboard_client import Client\n/);
    assert.match(send ?? '', /\n {8}to="491707654321",\n/);
    const [operation] = operations.filter(({ operationId }) => operationId === 'messages.send');
    const body = { content: { 'application/json': { example: { class: 1, lambda: 2 } } } };
    assert.ok(operation);
    const keywords = codeOf({ ...operation, requestBody: body }, 'Python');
    assert.match(keywords ?? '', /\n {8}class_=1,\n {8}lambda_=2,\n/);
    assert.ok(codes.some((code) => code.includes('from_=')) && codes.some((code) => code.includes('session_id=')));
  });
});
