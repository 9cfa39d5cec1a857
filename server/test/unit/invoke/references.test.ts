import assert from 'node:assert/strict';
import { it } from 'node:test';
import type { TSchema } from 'typebox';
import { pathsWhere, placesOf } from '../../../src/invoke/input/references.ts';
import { operations } from '../../../src/operations/index.ts';

/** Names of fields that refer to something, such as `messageId`, `sessionIds`, `to` and `phoneNumbers`. */
const REFERRING = /^(?:to|from|replyTo|mentions)$|Ids?$|[pP]honeNumber/;

const isText = (schema: TSchema & { type?: unknown; enum?: unknown; format?: unknown }) =>
  (schema.type === 'string' && schema.enum === undefined && schema.format === undefined) || undefined;

it('the schema of an input declares what its fields refer to', () => {
  const undeclared = operations.flatMap(({ id, input }) => {
    const declared = new Set(placesOf(input).map(({ path }) => path.join('.')));
    return pathsWhere(input, isText)
      .filter(([path]) => REFERRING.test(path.findLast((name) => name !== '*') ?? ''))
      .map(([path]) => path.join('.'))
      .filter((path) => !declared.has(path))
      .map((path) => `${id}: ${path}`);
  });
  assert.deepEqual(undeclared, []);
});
