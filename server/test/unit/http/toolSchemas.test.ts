import assert from 'node:assert/strict';
import { it } from 'node:test';
import type { Principal } from '../../../src/http/mcp/mount.ts';
import { Tools } from '../../../src/http/mcp/tools.ts';
import { operations } from '../../../src/operations/index.ts';

/* The inputs of all tools, against the rules of the models that are called with them. */

type Schema = Readonly<Record<string, unknown>>;

const tools = new Tools(operations, async () => assert.fail(), { addTo: async () => assert.fail() });
const anybody = {
  caller: { accountId: 'acc_1', credential: { type: 'jwt', permissions: ['*'] } },
  selection: { toolsets: undefined, isReadOnly: false },
} as unknown as Principal;
const listed = tools.list(anybody);

interface Part {
  readonly path: string;
  readonly schema: Schema;
  readonly depth: number;
}

function* partsOf(schema: Schema, path: string, depth = 1): Generator<Part> {
  yield { path, schema, depth };
  const { properties = {}, items, anyOf = [] } = schema as { properties?: object; items?: Schema; anyOf?: Schema[] };
  for (const [name, one] of Object.entries(properties)) yield* partsOf(one, `${path}.${name}`, depth + 1);
  if (items !== undefined) yield* partsOf(items, `${path}[]`, depth + 1);
  for (const one of anyOf) yield* partsOf(one, path, depth);
}

const parts = listed.flatMap(({ name, inputSchema }) => [...partsOf(inputSchema as Schema, name)]);

it('uses only what OpenAI accepts in strict mode', () => {
  // https://platform.openai.com/docs/guides/structured-outputs#supported-schemas
  const KEYWORDS = ['type', 'description', 'enum', 'anyOf', 'properties', 'required', 'items', 'format', 'maximum'];
  const TYPES = ['string', 'number', 'boolean', 'integer', 'object', 'array', 'null'];
  const FORMATS = ['date-time', 'time', 'date', 'duration', 'email', 'hostname', 'ipv4', 'ipv6', 'uuid'];
  for (const { path, schema, depth } of parts) {
    const unknown = Object.keys(schema).filter((keyword) => !KEYWORDS.includes(keyword));
    assert.deepEqual(unknown, [], path);
    assert.ok('anyOf' in schema || TYPES.includes(String(schema['type'])), `${path} has no type`);
    assert.ok(schema['format'] === undefined || FORMATS.includes(String(schema['format'])), path);
    // Clients close objects with `additionalProperties: false`, which leaves one without properties empty.
    if (schema['type'] === 'object' && depth > 1) assert.ok(hasFields(schema), `${path} has no fields`);
    assert.ok(depth <= 10, `${path} is nested too deeply`);
  }
  for (const { name, inputSchema } of listed) assert.ok(!('anyOf' in inputSchema), `${name} has anyOf at the root`);
  for (const { name, inputSchema } of listed) {
    const own = [...partsOf(inputSchema as Schema, name)];
    assert.ok(own.length <= 5000);
    assert.ok(own.flatMap(({ schema }) => (schema['enum'] as unknown[] | undefined) ?? []).length <= 1000, name);
  }
});

it('uses only what Gemini accepts in function declarations', () => {
  // https://ai.google.dev/api/caching#Schema: a subset of OpenAPI 3.0, with the enum of strings, and anyOf.
  const KEYWORDS = ['type', 'format', 'description', 'enum', 'maximum', 'properties', 'required', 'anyOf', 'items'];
  for (const { path, schema, depth } of parts) {
    assert.deepEqual(
      Object.keys(schema).filter((keyword) => !KEYWORDS.includes(keyword)),
      [],
      path,
    );
    const values = (schema['enum'] as unknown[] | undefined) ?? [];
    assert.ok(
      values.every((value) => typeof value === 'string' && value !== ''),
      `${path} has an enum of other values`,
    );
    if (values.length > 0) assert.equal(schema['type'], 'string', path);
    // "should be non-empty for OBJECT type": https://github.com/agno-agi/agno/issues/2112
    if (schema['type'] === 'object' && depth > 1) assert.ok(hasFields(schema), path);
    if (schema['type'] === 'array') assert.ok(schema['items'] !== undefined, `${path} has no items`);
    const required = (schema['required'] as string[] | undefined) ?? [];
    const fields = Object.keys((schema['properties'] as object | undefined) ?? {});
    assert.deepEqual(
      required.filter((name) => !fields.includes(name)),
      [],
      path,
    );
  }
  for (const { name } of listed) assert.match(name, /^[a-zA-Z_][a-zA-Z0-9_.-]{0,63}$/);
});

it('gives the hints that models need: the form of times, and the longest wait', () => {
  const formatOf = (path: string) => parts.find((part) => part.path === path)?.schema;
  for (const path of ['messages_send.sendAt', 'messages_list.afterTime', 'chats_mark_read.mutedUntil'])
    assert.ok(
      [...partsOf(formatOf(path) ?? {}, path)].some(({ schema }) => schema['format'] === 'date-time'),
      path,
    );
  for (const path of ['messages_get.wait', 'events_list.wait']) assert.equal(formatOf(path)?.['maximum'], 30);
});

it('shows maps as JSON text, which the reader of inputs parses', () => {
  const schema = parts.find(({ path }) => path === 'sessions_create.metadata')?.schema;
  assert.equal(schema?.['type'], 'string');
  const called = tools.callOf('sessions_create', { metadata: '{"team":"sales"}', options: '{"pairing":true}' });
  assert.deepEqual(called?.input, { metadata: { team: 'sales' }, options: { pairing: true } });
});

function hasFields({ properties = {} }: Schema): boolean {
  return Object.keys(properties as object).length > 0;
}
