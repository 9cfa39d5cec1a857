import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { it } from 'node:test';
import { fileURLToPath } from 'node:url';
import openapiTS, { astToString } from 'openapi-typescript';
import { eventKinds } from '../src/events.ts';
import { openApiDocument } from '../src/http/openapi.ts';
import { operations } from '../src/operations/index.ts';

const root = fileURLToPath(new URL('../../', import.meta.url));
const document = openApiDocument(operations);

function run(program: string, args: readonly string[], cwd = root): Promise<{ code: number; output: string }> {
  return new Promise((resolve) => {
    execFile(process.execPath, [join(root, program), ...args], { cwd }, (error, stdout, stderr) =>
      resolve({ code: error === null ? 0 : 1, output: stdout + stderr }),
    );
  });
}

it('the API description has no error and no warning by the recommended rules', async () => {
  const { code, output } = await run('node_modules/@redocly/cli/bin/cli.js', ['lint', 'openapi.json']);
  assert.equal(code, 0, output);
  assert.match(output, /is valid/);
  assert.doesNotMatch(output, /warning/i);
});

it('types that are made from it compile', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'switchboard-types-'));
  const types = astToString(await openapiTS(JSON.parse(JSON.stringify(document))));
  writeFileSync(join(folder, 'api.ts'), types);
  writeFileSync(
    join(folder, 'use.ts'),
    `import type { components, operations } from './api.ts';
     type Sent = operations['messages.send']['responses'][201]['content']['application/json'];
     export const status: components['schemas']['Message']['status'] = 'sent' satisfies Sent['status'];`,
  );
  const args = ['--noEmit', '--strict', '--allowImportingTsExtensions', '--module', 'nodenext', join(folder, 'use.ts')];
  const { code, output } = await run('node_modules/typescript/bin/tsc', args, folder);
  assert.equal(code, 0, output);
  rmSync(folder, { recursive: true, force: true });
});

it('every operation has an example of what it takes and gives, and every error one', () => {
  const text = JSON.parse(JSON.stringify(document));
  for (const operation of operations) {
    const described = text.paths[`/api/v1${operation.path}`][operation.method.toLowerCase()];
    assert.equal(described.operationId, operation.id);
    const success = described.responses[operation.status ?? 200].content['application/json'];
    assert.ok('example' in success, operation.id);
    const body = described.requestBody?.content['application/json'];
    assert.ok(body === undefined || 'example' in body, operation.id);
  }
  assert.deepEqual(Object.keys(text.webhooks), eventKinds);
});
