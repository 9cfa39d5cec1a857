import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { TObject } from 'typebox';
import type { AppError } from '../../src/errors.ts';
import { validator } from '../../src/invoke/validate.ts';
import { operations } from '../../src/operations/index.ts';

const inputOf = (id: string): TObject => {
  const found = operations.find((operation) => operation.id === id);
  assert.ok(found, id);
  return found.input;
};
/** The first error of an input, and how many of its members were read before it. */
function refuse(id: string, input: object): { field: string | undefined; code: string | undefined; looks: number } {
  let looks = 0;
  const watched = <T extends object>(value: T): T =>
    new Proxy(value, {
      get(target, name) {
        if (typeof name === 'string') looks++;
        const member: unknown = Reflect.get(target, name);
        return typeof member === 'object' && member !== null ? watched(member) : member;
      },
    });
  try {
    validator(inputOf(id))(watched(input));
  } catch (error) {
    const [first] = (error as AppError).fields;
    return { field: first?.field, code: first?.code, looks };
  }
  throw new Error('it was accepted');
}
const wide = Object.fromEntries(Array.from({ length: 5000 }, (_, n) => [`field${n}`, 1]));

describe('input validation', () => {
  it('rejects oversized input without checking all of it', () => {
    const cases: [id: string, input: object, field: string, code: string][] = [
      ['auth.login', wide, 'body', 'width'],
      ['sessions.create', { metadata: wide }, 'metadata', 'width'],
      ['sessions.create', { options: wide }, 'options', 'width'],
      ['sessions.create', { options: { deep: [wide] } }, 'options.deep.0', 'width'],
      ['messages.send_bulk', { to: Array(5000).fill(1), message: 'x' }, 'to', 'maxItems'],
      ['messages.send_interactive', { to: '1', buttons: [wide] }, 'buttons.0', 'width'],
      ['messages.send_interactive', { list: { rows: Array(5000).fill(1) } }, 'list.rows', 'maxItems'],
    ];
    for (const [id, input, field, code] of cases) {
      const found = refuse(id, input);
      assert.deepEqual([found.field, found.code], [field, code], id);
      assert.ok(found.looks < 50, `${found.looks} looks at ${field} of ${id}`);
    }
  });

  it('reports an invalid phone number together with other invalid fields', () => {
    const refused = (id: string, input: object) => {
      try {
        validator(inputOf(id))(input);
      } catch (error) {
        return (error as AppError).fields.map(({ field, code }) => [field, code]);
      }
      return [];
    };
    assert.deepEqual(refused('messages.send', { to: 'hello', message: '' }), [
      ['to', 'phone_number'],
      ['message', 'minLength'],
    ]);
    assert.deepEqual(refused('sessions.create', { phoneNumber: '12', name: '', other: 1 }), [
      ['other', 'unknown'],
      ['name', 'minLength'],
      ['phoneNumber', 'phone_number'],
    ]);
    assert.deepEqual(refused('groups.create', { subject: '', phoneNumbers: ['+49 170 7654321', 'x', 5] }), [
      ['subject', 'minLength'],
      ['phoneNumbers.1', 'phone_number'],
      ['phoneNumbers.2', 'type'],
    ]);
    assert.deepEqual(refused('messages.send', { to: 'grp_1', message: 'x' }), []);
  });
});
