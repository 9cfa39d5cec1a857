import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { it } from 'node:test';
import { fileURLToPath } from 'node:url';
import openapiTS, { astToString } from 'openapi-typescript';
import type { TSchema } from 'typebox';
import { Compile } from 'typebox/compile';
import { errors } from '../../src/errors.ts';
import { eventKinds, events } from '../../src/events/events.ts';
import { exampleEvent } from '../../src/events/samples.ts';
import { inputExample, openApiDocument, outputExample } from '../../src/http/openapi/openapi.ts';
import { errorCodesOf } from '../../src/http/openapi/openapiErrors.ts';
import { operations } from '../../src/operations/index.ts';
import { closed } from '../support/operations/closedSchema.ts';
import { startServer } from '../support/server.ts';

const root = fileURLToPath(new URL('../../../', import.meta.url));
const document = openApiDocument(operations);

function run(program: string, args: readonly string[], cwd = root): Promise<{ code: number; output: string }> {
  return new Promise((resolve) => {
    // Without these the linter reports usage statistics and checks for updates.
    const env = { ...process.env, REDOCLY_TELEMETRY: 'off', REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true' };
    execFile(process.execPath, [join(root, program), ...args], { cwd, env }, (error, stdout, stderr) =>
      resolve({ code: error === null ? 0 : 1, output: stdout + stderr }),
    );
  });
}

it('the API description has no errors or warnings under the recommended rules', async () => {
  const { code, output } = await run('node_modules/@redocly/cli/bin/cli.js', ['lint', 'openapi.json']);
  assert.equal(code, 0, output);
  assert.match(output, /is valid/);
  assert.doesNotMatch(output, /warning/i);
});

it('types generated from it compile', async () => {
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

it('every example matches its schema', () => {
  for (const operation of operations) {
    const output = Compile(closed(JSON.parse(JSON.stringify(operation.output))) as TSchema);
    assertFits(`${operation.id}, request`, Compile(operation.input), inputExample(operation));
    assertFits(`${operation.id}, answer`, output, outputExample(operation));
  }
  for (const kind of eventKinds) {
    const { event, data } = exampleEvent(kind);
    assert.equal(event, kind);
    assertFits(kind, Compile(events[kind].data), data);
  }
});

it('every operation has examples of its input and output, and every error has one', () => {
  const text = JSON.parse(JSON.stringify(document));
  for (const operation of operations) {
    const described = text.paths[`/api/v1${operation.path}`][operation.method.toLowerCase()];
    assert.equal(described.operationId, operation.id);
    const success = described.responses[operation.status ?? 200].content['application/json'];
    assert.ok('example' in success, operation.id);
    const body = described.requestBody?.content['application/json'];
    assert.ok(body === undefined || 'example' in body, operation.id);
    for (const code of errorCodesOf(operation)) {
      const { $ref } = described.responses[errors[code][0]];
      const shared = text.components.responses[$ref.replace('#/components/responses/', '')];
      const { examples } = shared.content['application/problem+json'];
      assert.deepEqual(examples[code], { $ref: `#/components/examples/${code}` }, operation.id);
      assert.equal(text.components.examples[code].value.code, code);
    }
  }
  assert.deepEqual(Object.keys(text.webhooks), eventKinds);
});

interface Parameter {
  readonly name: string;
  readonly in: string;
  readonly required?: boolean;
  readonly description?: string;
  readonly schema: TSchema;
  readonly example?: unknown;
}

/** Path and query parameters by method and path. */
const parametersOf = Object.entries(document.paths).flatMap(([path, methods]) =>
  Object.entries(methods as Record<string, { parameters?: readonly Parameter[] }>).map(([method, { parameters }]) => ({
    method: method.toUpperCase(),
    path,
    parameters: (parameters ?? []).filter((one) => one.in === 'path' || one.in === 'query'),
  })),
);

it('every parameter has a description, and an example of its schema, with the prefix of its id', () => {
  for (const { method, path, parameters } of parametersOf)
    for (const { name, schema, description = '', example } of parameters) {
      const what = `${name} of ${method} ${path}`;
      assert.notEqual(description, '', what);
      assertFits(what, Compile(schema), example);
      const prefix = /`([a-z]{3}_)…`/.exec(description)?.[1];
      if (prefix === undefined) continue;
      const isNumber = /number/i.test(description) && /^\d+$/.test(String(example));
      assert.ok(isNumber || new RegExp(`^${prefix}[0-9A-Z]{26}$`).test(String(example)), `${what}: ${example}`);
    }
});

it('the API accepts the example of every parameter', async (test) => {
  const server = await startServer();
  test.after(() => server.stop());
  const { token } = await server.account();
  let sent = 0;
  for (const { method, path, parameters } of parametersOf)
    for (const tried of parameters) {
      const query = new URLSearchParams();
      let filled = path;
      for (const { name, in: where, required, example } of parameters) {
        if (where === 'path') filled = filled.replace(`{${name}}`, encodeURIComponent(String(example)));
        else if (required || name === tried.name)
          for (const value of [example].flat()) query.append(name, String(value));
      }
      const response = await fetch(`${server.url}${filled}?${query}`, {
        method,
        headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
        ...(method !== 'GET' && method !== 'DELETE' && { body: '{}' }),
      });
      const problem = response.ok ? {} : await response.json();
      await response.body?.cancel().catch(() => {}); // a stream never ends
      // The account has nothing that an example could name.
      const refused = (problem.errors ?? []).filter(({ code }: { code: string }) => code !== 'not_found');
      const wrong = refused.map(({ field }: { field: string }) => field.split('.')[0]);
      assert.ok(!wrong.includes(tried.name), `${tried.name} of ${method} ${path}: ${problem.detail}`);
      assert.ok(response.status < 500 || problem.code === 'not_supported', `${method} ${path}: ${problem.detail}`);
      sent++;
    }
  assert.ok(sent > 50, `${sent} parameters`);
});

it('every route that is not an operation exists', async () => {
  const known = new Set(operations.map(({ path }) => `/api/v1${path}`));
  const raw = Object.entries(document.paths).filter(([path]) => !known.has(path));
  assert.ok(raw.length >= 5);
  const server = await startServer();
  const { token } = await server.account();
  for (const [path, methods] of raw) {
    for (const method of Object.keys(methods)) {
      const response = await fetch(server.url + path.replace('{mediaId}', 'med_none'), {
        method,
        headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
        ...(method === 'post' && { body: '{}' }),
      });
      const text = response.ok ? '' : await response.text();
      await response.body?.cancel().catch(() => {}); // a stream never ends
      assert.ok(!text.includes('route_not_found') && response.status !== 405, `${method} ${path}: ${text}`);
    }
  }
  await server.stop();
});

function assertFits(what: string, check: ReturnType<typeof Compile>, value: unknown): void {
  assert.ok(check.Check(value), `${what}: ${JSON.stringify(value)} ${JSON.stringify(check.Errors(value))}`);
}
