import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { type TProperties, Type } from 'typebox';
import { Value } from 'typebox/value';
import packageJson from '../../../package.json' with { type: 'json' };
import { registryEntry } from '../../../scripts/registryEntry.ts';
import template from '../../../server.json' with { type: 'json' };

/* The rules of schema version 2025-12-11 of the MCP Registry, as far as our entry uses it, and of its documentation. */

const object = (properties: TProperties) => Type.Object(properties, { additionalProperties: false });
const input = {
  description: Type.Optional(Type.String()),
  isRequired: Type.Optional(Type.Boolean()),
  isSecret: Type.Optional(Type.Boolean()),
  placeholder: Type.Optional(Type.String()),
};
const keyValue = object({
  ...input,
  name: Type.String(),
  value: Type.Optional(Type.String()),
  variables: Type.Optional(Type.Record(Type.String(), object(input))),
});
const entrySchema = object({
  $schema: Type.Literal('https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json'),
  name: Type.String({ minLength: 3, maxLength: 200, pattern: '^[a-zA-Z0-9.-]+/[a-zA-Z0-9._-]+$' }),
  title: Type.String({ minLength: 1, maxLength: 100 }),
  description: Type.String({ minLength: 1, maxLength: 100 }),
  // Ranges are refused.
  version: Type.String({ maxLength: 255, pattern: '^\\d+\\.\\d+\\.\\d+(-[0-9A-Za-z.-]+)?$' }),
  repository: Type.Optional(
    object({
      url: Type.String({ pattern: '^https://' }),
      source: Type.Literal('github'),
      subfolder: Type.String({ pattern: '^[a-z]+$' }),
    }),
  ),
  remotes: Type.Array(
    object({
      type: Type.Literal('streamable-http'),
      // The published version does not accept a variable at the beginning.
      url: Type.String({ pattern: '^https?://[^\\s]+$' }),
      variables: Type.Record(Type.String(), object(input)),
      headers: Type.Array(keyValue),
    }),
  ),
  packages: Type.Optional(
    Type.Array(
      object({
        registryType: Type.Literal('mcpb'),
        // Only assets of releases, with "mcp" in their URL.
        identifier: Type.String({ pattern: '^https://github\\.com/[^/]+/[^/]+/releases/download/[^/]+/[^/]+\\.mcpb$' }),
        fileSha256: Type.String({ pattern: '^[a-f0-9]{64}$' }),
        transport: object({ type: Type.Literal('stdio') }),
      }),
    ),
  ),
});

const problemsOf = (entry: unknown) =>
  Value.Errors(entrySchema, entry).map(({ instancePath, message }) => `${instancePath} ${message}`);

/** The variables that a text refers to. */
const variablesIn = (text = '') => [...text.matchAll(/\{(\w+)\}/g)].map(([, name]) => name);

describe('the entry of the MCP Registry', () => {
  it('keeps to the schema, and explains each variable', () => {
    assert.deepEqual(problemsOf(template), []);
    assert.deepEqual(problemsOf({ ...template, version: '^1.0.0' }).length, 1, 'the rules are applied');
    assert.equal(template.version, packageJson.version);
    for (const { url, variables, headers } of template.remotes) {
      assert.deepEqual(variablesIn(url), Object.keys(variables));
      for (const header of headers) assert.deepEqual(variablesIn(header.value), Object.keys(header.variables));
    }
  });

  it('of a release names its owner, and the bundle by its address and hash', () => {
    const folder = mkdtempSync(join(tmpdir(), 'registry-'));
    try {
      const file = `switchboard-${packageJson.version}.mcpb`;
      writeFileSync(join(folder, file), 'a bundle');
      const entry = registryEntry('Acme/gateway', join(folder, file));
      assert.deepEqual(problemsOf(entry), []);
      assert.equal(entry.name, 'io.github.Acme/switchboard');
      const [bundle] = entry.packages;
      const base = 'https://github.com/Acme/gateway/releases/download';
      assert.equal(bundle?.identifier, `${base}/v${packageJson.version}/${file}`);
      assert.equal(bundle?.fileSha256, createHash('sha256').update('a bundle').digest('hex'));
      assert.throws(() => registryEntry('gateway', file), /is not <owner>\/<repository>/);
    } finally {
      rmSync(folder, { recursive: true });
    }
  });
});
