import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { formatConstraints, formatType, nestedSchema } from '../src/pages/reference/schemaText.ts';

describe('formatted schema', () => {
  it('formats types like TypeScript', () => {
    assert.equal(
      formatType({ anyOf: [{ type: 'string', format: 'date-time' }, { type: 'null' }] }),
      'string, date-time | null',
    );
    assert.equal(formatType({ type: 'array', items: { enum: ['a', 'b'] } }), '("a" | "b")[]');
    assert.equal(formatType({ type: 'array', items: { $ref: '#/components/schemas/Message' } }), 'Message[]');
  });

  it('describes constraints', () => {
    assert.deepEqual(formatConstraints({ type: 'integer', minimum: 1, maximum: 200, default: 50 }), [
      '1 to 200',
      'default 50',
    ]);
    assert.deepEqual(formatConstraints({ type: 'string', maxLength: 9 }), ['up to 9 characters']);
  });

  it('finds the fields of items and alternatives', () => {
    const Message = { properties: { text: { type: 'string' } } };
    const list = { type: 'array', items: { anyOf: [{ type: 'null' }, { $ref: '#/components/schemas/Message' }] } };
    assert.equal(nestedSchema(list, { Message }), Message);
    assert.equal(nestedSchema({ type: 'string' }, {}), undefined);
  });
});
