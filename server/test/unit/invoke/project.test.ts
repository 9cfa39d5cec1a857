import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc, { type Arbitrary } from 'fast-check';
import { type TSchema, Type } from 'typebox';
import { messageContent } from '../../../src/events/fields.ts';
import { projector } from '../../../src/invoke/project.ts';

const Person = Type.Object({ name: Type.String(), age: Type.Optional(Type.Number()) });

describe('a projection', () => {
  it('keeps the fields of the schema and drops the rest', () => {
    const row = { name: 'Ann', age: 3, secret: 'x' };
    const shown = { name: 'Ann', age: 3 };
    const cases: [what: string, schema: TSchema, value: unknown, expected: unknown][] = [
      ['an object', Person, row, shown],
      ['a missing field', Person, { name: 'Ann' }, { name: 'Ann' }],
      ['an undefined field', Person, { name: 'Ann', age: undefined }, { name: 'Ann' }],
      ['a field that is null', Person, { name: null }, { name: null }],
      ['a nested object', Type.Object({ owner: Person }), { owner: row, secret: 1 }, { owner: shown }],
      ['a list', Type.Array(Person), [row, row], [shown, shown]],
      ['an empty list', Type.Array(Person), [], []],
      ['a list of lists', Type.Array(Type.Array(Person)), [[row]], [[shown]]],
      ['an object or null', Type.Union([Person, Type.Null()]), row, shown],
      ['null', Type.Union([Type.Null(), Person]), null, null],
      ['a list or null', Type.Union([Type.Array(Person), Type.Null()]), [row], [shown]],
      ['a text', Type.String(), 'x', 'x'],
      ['a union without an object', Type.Union([Type.String(), Type.Null()]), 'x', 'x'],
      ['free keys', Type.Record(Type.String(), Type.Number()), { a: 1 }, { a: 1 }],
      ['an open object', Type.Object({ name: Type.String() }, { additionalProperties: true }), row, row],
    ];
    for (const [what, schema, value, expected] of cases) assert.deepEqual(projector(schema)(value), expected, what);
  });

  it('passes through values of another type than the schema declares', () => {
    for (const value of ['text', 7, null, undefined]) {
      assert.equal(projector(Person)(value), value);
      assert.equal(projector(Type.Array(Person))(value), value);
    }
  });

  it('does not modify the value', () => {
    const row = Object.freeze({ name: 'Ann', secret: 'x' });
    projector(Person)(row);
    assert.deepEqual(row, { name: 'Ann', secret: 'x' });
  });

  it('keeps exactly the fields of any schema for any value', () => {
    fc.assert(
      fc.property(anySchema, anyValue, (schema, value) => {
        const project = projector(schema);
        const shown = project(value);
        assertShows(schema, value, shown);
        assert.deepEqual(project(shown), shown, 'idempotent');
      }),
    );
  });
});

describe('a projection that hides content', () => {
  const said = <T extends TSchema>(schema: T) => ({ ...schema, ...messageContent });
  const Message = Type.Object({
    id: Type.String(),
    text: said(Type.String()),
    quoted: said(Type.Union([Type.String(), Type.Null()])),
    choices: said(Type.Array(Type.String())),
    poll: Type.Optional(said(Type.Object({ options: Type.Array(Type.String()) }))),
    contentHidden: Type.Optional(Type.Literal(true)),
  });
  const whole = { id: 'msg_1', text: 'hello', quoted: 'hi', choices: ['a'], poll: { options: ['a'] }, secret: 1 };
  const hide = (schema: TSchema) => projector(schema, { hidesContent: true });

  it('empties required fields and omits optional ones', () => {
    const hidden = { id: 'msg_1', text: '', quoted: null, choices: [], contentHidden: true };
    assert.deepEqual(hide(Message)(whole), hidden);
    assert.deepEqual(hide(Type.Object({ data: Type.Array(Message) }))({ data: [whole] }), { data: [hidden] });
  });

  it('is marked only if there was something to hide', () => {
    assert.deepEqual(hide(Message)({ id: 'msg_1' }), { id: 'msg_1' });
    const Unmarked = Type.Object({ id: Type.String(), text: said(Type.String()) });
    assert.deepEqual(hide(Unmarked)(whole), { id: 'msg_1', text: '' });
  });

  it('shows everything if hiding is off', () => {
    const { secret: _, ...shown } = whole;
    assert.deepEqual(projector(Message)(whole), shown);
  });

  it('rejects a schema with required content that cannot be emptied', () => {
    assert.throws(() => hide(Type.Object({ count: said(Type.Number()) })), /must be a text, a list or nullable/);
  });
});

const NAMES = ['a', 'b', 'c'];
const LEAVES: TSchema[] = [Type.String(), Type.Number()];
const { schema: anySchema } = fc.letrec<{ schema: TSchema }>((tie) => ({
  schema: fc.oneof(
    { maxDepth: 3 },
    fc.constantFrom(...LEAVES),
    fc.dictionary(fc.constantFrom(...NAMES), tie('schema')).map((fields) => Type.Object({ ...fields })),
    tie('schema').map((items) => Type.Array(items)),
    tie('schema').map((member) => Type.Union([member, Type.Null()])),
  ),
}));
const { value: anyValue } = fc.letrec<{ value: unknown }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 4 },
    fc.constantFrom<unknown>('text', 1, null),
    fc.dictionary(fc.constantFrom(...NAMES, 'secret'), tie('value')).map((fields) => ({ ...fields })),
    fc.array(tie('value'), { maxLength: 3 }),
  ),
})) as { value: Arbitrary<unknown> };

interface Node {
  readonly properties?: Readonly<Record<string, TSchema>>;
  readonly items?: TSchema;
  readonly anyOf?: readonly TSchema[];
}

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null;

/** Asserts that `shown` has the fields of `value` that the schema names, and no others. */
function assertShows(schema: TSchema, value: unknown, shown: unknown): void {
  const { properties, items, anyOf } = schema as Node;
  if (anyOf?.[0] !== undefined && ('properties' in anyOf[0] || 'items' in anyOf[0])) {
    assertShows(anyOf[0], value, shown);
  } else if (properties !== undefined && isObject(value)) {
    assert.ok(isObject(shown));
    const named = Object.keys(value).filter((name) => Object.hasOwn(properties, name));
    assert.deepEqual(Object.keys(shown).toSorted(), named.toSorted());
    for (const name of named) assertShows(properties[name] ?? {}, value[name], shown[name]);
  } else if (items !== undefined && Array.isArray(value)) {
    assert.ok(Array.isArray(shown) && shown.length === value.length);
    for (const [index, item] of value.entries()) assertShows(items, item, shown[index]);
  } else {
    assert.deepEqual(shown, value);
  }
}
