import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { fieldsOf, isInvalid, textsOf, valuesOf } from '../src/components/schemaForm.ts';

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

  it('detects invalid JSON', () => {
    assert.deepEqual(
      fields.filter((field) => isInvalid(field, '{')).map(({ name }) => name),
      ['options'],
    );
  });
});
