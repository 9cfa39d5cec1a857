import type { TSchema } from 'typebox';
import { digitsOf } from './input/phoneNumbers.ts';
import { referenceOf } from './input/references.ts';
import type { Operation } from './operation.ts';

/*
 * The list of tool calls keeps these arguments: ids, recipients, event types, choices, times, whole numbers and
 * switches. Every other value is replaced by its size, because it can be a text, a file, a place or a secret. A value
 * is kept only if its field may have it and it looks as it should, so a text in the wrong field is not stored either.
 */

const ID = /^[A-Za-z]{2,10}_[\w.-]{1,100}$/;
/** Addresses of groups and people at the network. */
const ADDRESS = /^[0-9A-Za-z-]{1,64}@(?:g\.us|sandbox|s\.whatsapp\.net|c\.us|lid)$/;
const TIME = /^\d{4}-\d\d-\d\dT[\d:.]{5,12}(?:Z|[+-]\d\d:\d\d)$/;
/** An event type, or a pattern of some. */
const EVENT_TYPE = /^(?:\*|[a-z_]{1,30}\.(?:\*|[a-z_]{1,30}))$/;
/** A place in the event log. */
const CURSOR = /^(?:now|\d{1,19}\.evt_[0-9A-Z]{26})$/;

/** Whether the text of a field is an id, or a recipient. */
const isReference = (text: string) => ID.test(text) || ADDRESS.test(text) || isNumber(text);
const isNumber = (text: string) => text.length <= 40 && digitsOf(text) !== undefined;
const isTime = (text: string) => TIME.test(text);

/**
 * The texts that a field may have, by its name, besides those that refer to something. Other fields keep no text,
 * except times where their schema wants one, and choices.
 */
const rules: readonly (readonly [names: RegExp, isKept: (text: string) => boolean])[] = [
  [/^events?$/, (text) => EVENT_TYPE.test(text)],
  [/^afterCursor$/, (text) => CURSOR.test(text)],
];

/** Entries of a list. */
const MAX_ENTRIES = 20;
/** Characters of all that is kept of a call. */
const MAX_LENGTH = 4096;

/** The parts of a schema that decide whether a value is kept. */
interface Shape {
  readonly type?: unknown;
  readonly format?: unknown;
  readonly enum?: readonly unknown[];
  readonly items?: Shape;
  readonly anyOf?: readonly Shape[];
}

type Kept = Readonly<Record<string, unknown>>;

type Called = Pick<Operation, 'input'> & { readonly recipients?: string | undefined };

/** Phone numbers that are not the recipients of a message, but part of it. */
const isContent = ({ input, recipients }: Called, field: string) =>
  recipients === 'to' && referenceIn(input, field) === 'person';

/** Returns the reference of a field, or of the entries of a list. */
const referenceIn = (input: TSchema, field: string) => referenceOf(input, [field]) ?? referenceOf(input, [field, '*']);

/** Returns the arguments of a call as they are stored: bounded, and without texts. Unknown fields are left out. */
export function keptArguments(operation: Called, input: unknown): Kept {
  if (typeof input !== 'object' || input === null) return {};
  const { properties } = operation.input;
  const known = Object.entries(input).filter(([name]) => Object.hasOwn(properties, name));
  const kept = known.map(([name, value]): [string, unknown] => [
    name,
    isContent(operation, name)
      ? sizeOf(value)
      : keep(name, value, properties[name] as Shape, referenceIn(operation.input, name) !== undefined),
  ]);
  const whole = Object.fromEntries(kept);
  if (JSON.stringify(whole).length <= MAX_LENGTH) return whole;
  return Object.fromEntries(kept.map(([name, value]) => [name, Array.isArray(value) ? sizeOf(value) : value]));
}

function keep(name: string, value: unknown, shape: Shape, refers: boolean): unknown {
  if (value === null || typeof value === 'boolean') return value;
  if (typeof value === 'number' && typesOf(shape).includes('integer')) return value;
  if (typeof value === 'number' || typeof value === 'string') {
    const text = String(value);
    const isKept =
      choicesOf(shape).includes(text) ||
      (shape.format === 'date-time' && isTime(text)) ||
      (refers && isReference(text)) ||
      rules.some(([names, fits]) => names.test(name) && fits(text));
    return isKept ? text : sizeOf(value);
  }
  if (!Array.isArray(value)) return sizeOf(value);
  const entries = value.slice(0, MAX_ENTRIES).map((entry) => keep(name, entry, shape.items ?? {}, refers));
  return value.length > MAX_ENTRIES ? [...entries, `(${value.length - MAX_ENTRIES} more)`] : entries;
}

const typesOf = ({ type, anyOf = [] }: Shape): readonly unknown[] => [type, ...anyOf.flatMap(typesOf)];

const choicesOf = ({ enum: own = [], items, anyOf = [] }: Shape): readonly unknown[] => [
  ...own,
  ...(items === undefined ? [] : choicesOf(items)),
  ...anyOf.flatMap(choicesOf),
];

/** Stands for a value that is left out. */
function sizeOf(value: unknown): string {
  if (typeof value === 'string') return `(${value.length} characters)`;
  if (Array.isArray(value)) return `(${value.length} entries)`;
  return typeof value === 'number' ? '(number)' : '(object)';
}
