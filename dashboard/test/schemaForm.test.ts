import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { fieldsOf, isInvalid, textsOf, valuesOf } from '../src/components/schema/schemaForm.ts';

describe('form from a JSON Schema', () => {
  const fields = fieldsOf({
    properties: {
      to: { type: 'string' },
      limit: { type: 'integer' },
      numbers: { type: 'array', items: { type: 'string' } },
      isDry: { type: 'boolean', default: true },
      options: { type: 'object' },
      secret: { anyOf: [{ type: 'string' }, { type: 'null' }] },
      hour: { enum: [1, 24] },
      mode: { anyOf: [{ const: 'fast' }, { const: 'safe' }] },
      runAt: { type: 'string', format: 'date-time' },
    },
    required: ['to'],
  });
  const texts = {
    to: '5',
    limit: '7',
    numbers: 'a\n\n b ',
    isDry: 'false',
    options: '{"a":1}',
    secret: '',
    hour: '24',
    mode: 'safe',
  };

  it('selects an input for each type', () => {
    assert.deepEqual(
      fields.map(({ input }) => input),
      ['text', 'number', 'lines', 'boolean', 'json', 'text', 'choice', 'choice', 'time'],
    );
  });

  it('converts texts to values and leaves out empty ones', () => {
    const values = { to: '5', limit: 7, numbers: ['a', 'b'], isDry: false, options: { a: 1 }, hour: 24, mode: 'safe' };
    assert.deepEqual(valuesOf(fields, texts), values);
    assert.deepEqual(valuesOf(fields, textsOf(fields, values)), values, 'existing values are unchanged');
  });

  it('shows an object of simple fields as a group, and any other as JSON', () => {
    const grouped = fieldsOf({
      properties: {
        calls: {
          type: 'object',
          description: 'Of calls',
          properties: { autoReject: { type: 'boolean' }, message: { type: 'string' } },
          required: ['autoReject'],
        },
        place: { type: 'object', properties: { x: { type: 'number' } }, required: ['x'] },
        deep: { type: 'object', properties: { more: { type: 'object' } } },
      },
      required: ['place'],
    });
    assert.deepEqual(
      grouped.map(({ name, input, group, isRequired }) => [name, input, group?.title, isRequired]),
      [
        ['calls.autoReject', 'boolean', 'Calls', false],
        ['calls.message', 'text', 'Calls', false],
        ['place.x', 'number', 'Place', true],
        ['deep', 'json', undefined, false],
      ],
    );
    const values = { calls: { autoReject: true, message: 'No' }, place: { x: 1.5 }, deep: { more: {} } };
    assert.deepEqual(valuesOf(grouped, textsOf(grouped, values)), values);
    assert.deepEqual(valuesOf(grouped, { 'calls.message': ' ', 'place.x': '2' }), { place: { x: 2 } });
  });

  it('detects invalid JSON', () => {
    assert.deepEqual(
      fields.filter((field) => isInvalid(field, '{')).map(({ name }) => name),
      ['options'],
    );
  });
});
