import type { TSchema } from 'typebox';
import { TOKEN } from '../../invoke/input/fields.ts';
import { referenceIn } from '../../invoke/input/references.ts';
import { isFields } from '../../objects.ts';
import { excessIn, MAX_VALUES } from '../jsonShape.ts';

/*
 * Models and their clients send values that are nearly right: null for a field that they do not use, a number as text,
 * one entry instead of a list, JSON as text. Such a value is replaced by the one that it stands for, before the
 * operation validates the input. REST accepts only what the schema says.
 */

/** Returns the value that a model means. A value that cannot be converted stays, so that its error repeats it. */
type Read = (value: unknown) => unknown;

/** The parts of a schema that decide how a value is read. */
interface Shape {
  readonly [TOKEN]?: 'exact' | 'lowercase';
  readonly type?: string;
  readonly format?: string;
  readonly contentEncoding?: string;
  readonly enum?: readonly unknown[];
  readonly properties?: Readonly<Record<string, TSchema>>;
  readonly patternProperties?: Readonly<Record<string, TSchema>>;
  readonly required?: readonly string[];
  readonly items?: TSchema;
  readonly anyOf?: readonly TSchema[];
}

/** Compiles an input schema to a function that converts an input for it. */
export function toolInputReader(schema: TSchema): Read {
  const shape: Shape = schema;
  if (shape.anyOf !== undefined) return unionReader(shape.anyOf);
  switch (shape.type ?? (shape.enum === undefined ? undefined : 'string')) {
    case 'object':
      return objectReader(shape);
    case 'array':
      return arrayReader(shape);
    case 'string':
      return textReader(shape);
    case 'integer':
    case 'number':
      return readNumber;
    case 'boolean':
      return readBoolean;
    default:
      return (value) => value;
  }
}

function objectReader({ properties = {}, patternProperties = {}, required = [] }: Shape): Read {
  const fields = new Map(
    Object.entries(properties).map(([name, schema]) => {
      const read = toolInputReader(schema);
      return [name, { read, isAbsent: required.includes(name) ? () => false : absenceIn(schema) }];
    }),
  );
  const [values] = Object.values(patternProperties);
  const readOther: Read = values === undefined ? (value) => value : toolInputReader(values);
  return (value) => {
    const given = parsed(value, '{');
    if (!isFields(given)) return value;
    const read = Object.entries(given).flatMap(([name, member]): [string, unknown][] => {
      const field = fields.get(name);
      if (field === undefined) return [[name, readOther(member)]];
      return field.isAbsent(member) ? [] : [[name, field.read(member)]];
    });
    return Object.fromEntries(read);
  };
}

/** Words of programming languages for a value that is not there. */
const ABSENT: ReadonlySet<string> = new Set(['null', 'undefined', 'none']);

/**
 * Returns whether a value of an optional field counts as absent. Null stays where it has a meaning, such as “remove”,
 * and its words stay where they can be a text for people or a value of the field.
 */
function absenceIn(schema: TSchema): (value: unknown) => boolean {
  const { anyOf = [] }: Shape = schema;
  const isNullable = anyOf.some((member: Shape) => member.type === 'null');
  const isAbsent = (word: string) => ABSENT.has(word) && !isNullable && !accepts(schema, word);
  return (value) =>
    value === '' ||
    (value === null && !isNullable) ||
    (typeof value === 'string' && value.length < 20 && isAbsent(value.trim().toLowerCase()));
}

/** Whether a word can be a value of a field, or one of its entries. */
function accepts(schema: TSchema, word: string): boolean {
  const shape: Shape = schema;
  if (shape.anyOf !== undefined) return shape.anyOf.some((member) => accepts(member, word));
  if (shape.items !== undefined) return accepts(shape.items, word);
  if (shape.enum !== undefined) return shape.enum.includes(word);
  return shape.type === 'string' && !isToken(schema) && shape.format === undefined && !isBase64(shape);
}

/** Whether a text is an id, a phone number or a token, and so not written for people. */
const isToken = (schema: TSchema) => (schema as Shape)[TOKEN] !== undefined || referenceIn(schema) !== undefined;

const isBase64 = ({ contentEncoding }: Shape) => contentEncoding === 'base64';

function arrayReader({ items = {} }: Shape): Read {
  const read = toolInputReader(items);
  // URLs can contain commas.
  const isSeparable = (items as Shape).enum !== undefined || (isToken(items) && referenceIn(items) !== 'fileOrUrl');
  return (value) => {
    if (value === null || value === undefined) return value;
    const given = parsed(value, '[');
    if (isSeparable && typeof given === 'string' && !given.trimStart().startsWith('['))
      return separated(given).map(read);
    return (Array.isArray(given) ? given : [given]).map(read);
  };
}

/**
 * The entries of a list that is written with commas. A text without an entry stays, so that its error repeats it. More
 * entries than any list may have are not all read: the validation refuses the ones before.
 */
function separated(text: string): readonly string[] {
  const written = text.split(',', MAX_VALUES + 1);
  if (written.length > MAX_VALUES) return written;
  const entries = written.map((entry) => entry.trim()).filter((entry) => entry !== '');
  return entries.length === 0 ? [text] : entries;
}

function unionReader(members: readonly TSchema[]): Read {
  const readers = members.map((schema) => ({ shape: schema as Shape, read: toolInputReader(schema) }));
  return (value) => {
    for (const { shape, read } of readers) {
      const converted = read(value);
      if (isOfType(shape.type, converted)) return converted;
    }
    return value;
  };
}

function isOfType(type: string | undefined, value: unknown): boolean {
  switch (type) {
    case 'null':
      return value === null;
    case 'object':
      return isFields(value);
    case 'array':
      return Array.isArray(value);
    case 'integer':
      return Number.isInteger(value);
    default:
      return typeof value === type;
  }
}

/** A date without a time. */
const DATE = /^\d{4}-\d\d-\d\d$/;
/** A time in the spelling of databases and of Python: a space instead of the T, and before the offset. */
const SPACED_TIME = /^(\d{4}-\d\d-\d\d) (\d\d:\d\d:\d\d(?:\.\d+)?) ?(Z|UTC|[+-]\d\d:\d\d)$/i;
/** The prefix of base64 in a data URL (RFC 2397). */
const DATA_PREFIX = /^\s*data:[^,]{0,200};base64,/i;
/** Base64 with a character of the alphabet for URLs (RFC 4648, section 5), usually without padding. */
const BASE64URL = /^[A-Za-z0-9]*[_-][A-Za-z0-9_-]*={0,2}$/;

function textReader(shape: Shape): Read {
  const convert = converterOf(shape);
  // Models write phone numbers as numbers.
  return (value) => (typeof value === 'string' ? convert(value) : typeof value === 'number' ? String(value) : value);
}

function converterOf(shape: Shape): (text: string) => unknown {
  const { [TOKEN]: spelling, format, enum: values } = shape;
  if (values !== undefined) return (text) => choiceOf(values, text);
  if (spelling === 'lowercase') return (text) => text.trim().toLowerCase();
  if (format === 'date-time') return timeOf;
  return isBase64(shape) ? base64Of : (text) => text;
}

function choiceOf(values: readonly unknown[], text: string): unknown {
  if (values.includes(text)) return text;
  const word = text.trim().toLowerCase();
  return values.find((value) => String(value).toLowerCase() === word) ?? text;
}

function timeOf(text: string): string {
  if (DATE.test(text)) return `${text}T00:00:00Z`;
  const [, date, time, offset] = SPACED_TIME.exec(text.trim()) ?? [];
  if (offset === undefined) return text;
  return `${date}T${time}${/^(?:z|utc)$/i.test(offset) ? 'Z' : offset}`;
}

function base64Of(text: string): string {
  const content = text.replace(DATA_PREFIX, '');
  const bare = content.trim();
  if (!BASE64URL.test(bare)) return content;
  const digits = bare.replace(/=+$/, '').replaceAll('-', '+').replaceAll('_', '/');
  return digits.padEnd(Math.ceil(digits.length / 4) * 4, '=');
}

/** A number as JSON has it, so that neither `0x10` nor an empty text is one. */
const NUMBER = /^[+-]?\d{1,20}(?:\.\d{1,20})?(?:e[+-]?\d{1,3})?$/i;

const readNumber: Read = (value) => (typeof value === 'string' && NUMBER.test(value.trim()) ? Number(value) : value);

const readBoolean: Read = (value) => {
  if (typeof value !== 'string') return value;
  // Python writes them with a capital.
  const word = value.trim().toLowerCase();
  return word === 'true' ? true : word === 'false' ? false : value;
};

/**
 * Returns what JSON text stands for, if it begins like the wanted type. A text with more values than a body may have
 * stays: the scan of the body sees it as one value.
 */
function parsed(value: unknown, beginning: '{' | '['): unknown {
  if (typeof value !== 'string' || !value.trimStart().startsWith(beginning)) return value;
  if (excessIn(value) !== undefined) return value;
  try {
    return JSON.parse(value);
  } catch {
    return value;
  }
}
