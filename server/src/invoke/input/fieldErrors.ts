import type { TSchema } from 'typebox';
import type { TLocalizedValidationError } from 'typebox/error';
import { AppError, type FieldError, textOfFields } from '../../errors.ts';
import { isUnnumbered } from './fields.ts';
import { patternWords, ruleCodes } from './patterns.ts';

const MAX_ERRORS = 50;
const TIME_EXAMPLE = 'such as 2026-07-01T12:00:00Z or 2026-07-01T14:00:00+02:00';
const TIME_WITH_OFFSET = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)$/i;
/** For a time in the right format, such as of February 30. */
export const NO_SUCH_TIME = 'must be a date and time that exists, such as 2026-07-01T12:00:00Z';
/** Longer texts are not repeated in errors. */
const MAX_REPEATED = 40;

/** The parts of a schema that its errors mention. */
interface Shape {
  readonly type?: string;
  readonly description?: string;
  readonly format?: string;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly enum?: readonly unknown[];
  readonly items?: Shape;
  readonly properties?: Readonly<Record<string, Shape>>;
  /** Of an object with arbitrary names. */
  readonly patternProperties?: Readonly<Record<string, Shape>>;
  readonly anyOf?: readonly Shape[];
}

/**
 * Describes what is wrong with an input, in words for the caller: one entry per field, the first error of each.
 * @param found by the validation of `input` with `schema`
 */
export function describe(found: readonly TLocalizedValidationError[], schema: TSchema, input: unknown): AppError {
  const fields = new Map<string, FieldError>();
  for (const error of found)
    for (const field of fieldErrors(error, schema, input)) if (!fields.has(field.field)) fields.set(field.field, field);
  const list = [...fields.values()].filter((field) => !isExplained(field, fields)).slice(0, MAX_ERRORS);
  return new AppError('validation_failed', textOfFields(list), { fields: list });
}

/** Whether the field may be null, and is something else with an error inside. */
const isExplained = ({ field, code }: FieldError, others: ReadonlyMap<string, FieldError>) =>
  code === 'type' && [...others.keys()].some((other) => other.startsWith(`${field}.`));

function fieldErrors(error: TLocalizedValidationError, schema: TSchema, input: unknown): FieldError[] {
  const { keyword, instancePath } = error;
  const path = instancePath.split('/').slice(1);
  const members = (names: readonly string[], code: string, message: string) =>
    names.map((name) => ({ field: [...path, name].join('.'), code, message }));
  switch (keyword) {
    case 'required':
      return members(error.params.requiredProperties, 'required', 'is required');
    case 'additionalProperties':
      return members(error.params.additionalProperties, 'unknown', 'is not a field of this request; remove it');
    // Errors inside a union or of a forbidden property: the error of the whole is clearer.
    case 'boolean':
      return [];
    case '~refine': {
      const { message } = error;
      return [{ field: path.join('.'), code: ruleCodes.get(message) ?? 'phone_number', message }];
    }
    default: {
      const message = messageOf(error, shapeAt(schema as Shape, path), valueAt(input, path));
      const [field = '', entry] = path;
      if (entry !== undefined && isUnnumbered(shapeAt(schema as Shape, [field])))
        return [{ field, code: keyword, message: `has an entry that ${message}` }];
      return [{ field: path.join('.'), code: keyword, message }];
    }
  }
}

/** A predicate, such as "must be a list". Rules that only the options of a foreign network have keep their own text. */
function messageOf(error: TLocalizedValidationError, shape: Shape, value: unknown): string {
  switch (error.keyword) {
    case 'enum':
      return `must be one of ${error.params.allowedValues.join(', ')}`;
    case 'const':
      return `must be ${error.params.allowedValue}`;
    case 'type':
      return `must be ${expected(shape)}, not ${given(value, shape)}`;
    case 'format':
      if (error.params.format !== 'date-time') return error.message;
      return typeof value === 'string' && TIME_WITH_OFFSET.test(value) ? NO_SUCH_TIME : `must be ${expected(shape)}`;
    case 'pattern':
      return patternMessage(String(error.params.pattern), notNull(shape)) ?? error.message;
    case 'minimum':
    case 'maximum':
      return `must be ${rangeOf(notNull(shape))}`;
    case 'minLength':
      return error.params.limit === 1 ? 'must not be empty' : `must have at least ${error.params.limit} characters`;
    case 'maxLength':
      return `must have at most ${error.params.limit} characters`;
    case 'minItems':
      return error.params.limit === 1 ? 'must not be an empty list' : `must have at least ${error.params.limit} items`;
    case 'maxItems':
      return `must have at most ${error.params.limit} items`;
    case 'minProperties':
      return `must have at least ${error.params.limit} ${error.params.limit === 1 ? 'field' : 'fields'}`;
    case 'maxProperties':
      return `must have at most ${error.params.limit} fields`;
    case 'uniqueItems':
      return 'must not contain the same item twice';
    default:
      return error.message;
  }
}

function expected({ anyOf, ...shape }: Shape): string {
  // Null first, because the others can end with an example.
  if (anyOf !== undefined) return anyOf.toReversed().map(expected).join(' or ');
  switch (shape.type) {
    case 'string':
      return shape.format === 'date-time' ? `a time with an offset, ${TIME_EXAMPLE}` : 'a string';
    case 'integer':
      return withRange('a whole number', shape);
    case 'number':
      return withRange('a number', shape);
    case 'boolean':
      return 'true or false';
    case 'array':
      return listOf(shape.items ?? {});
    case 'object':
      return 'an object';
    default:
      return shape.type ?? 'another value';
  }
}

function listOf(items: Shape): string {
  if (items.enum !== undefined) return `a list of values from ${items.enum.join(', ')}`;
  switch (items.type) {
    case 'string':
      return 'a list of strings';
    case 'object':
      return 'a list of objects';
    case 'integer':
      return withRange('a list of whole numbers', items);
    default:
      return 'a list';
  }
}

const withRange = (noun: string, shape: Shape) =>
  shape.minimum === undefined || shape.maximum === undefined ? noun : `${noun} ${rangeOf(shape)}`;

function rangeOf({ minimum, maximum }: Shape): string {
  if (minimum === undefined) return `at most ${maximum}`;
  return maximum === undefined ? `at least ${minimum}` : `from ${minimum} to ${maximum}`;
}

function given(value: unknown, { type }: Shape): string {
  if (Array.isArray(value)) return 'a list';
  switch (typeof value) {
    case 'string':
      return value.length > MAX_REPEATED ? 'a string' : `"${value}"`;
    case 'number':
      return type === 'integer' ? String(value) : 'a number';
    case 'object':
      return value === null ? 'null' : 'an object';
    default:
      return String(value);
  }
}

/** For the options of networks, which have their own patterns, with the first sentence of the description. */
function patternMessage(pattern: string, { description }: Shape): string | undefined {
  const words = patternWords.get(pattern);
  if (words !== undefined) return `must be ${words}`;
  const sentence = description && (/^.*?(?=\.(?:\s|$))/s.exec(description)?.[0] ?? description);
  return sentence && `does not have the right form: ${sentence}`;
}

/** The schema of a field; empty if the schema does not describe it. */
function shapeAt(shape: Shape, [name, ...deeper]: readonly string[]): Shape {
  if (name === undefined) return shape;
  const { properties = {}, patternProperties = {}, items } = notNull(shape);
  const property = Object.hasOwn(properties, name) ? properties[name] : Object.values(patternProperties)[0];
  return shapeAt(items ?? property ?? {}, deeper);
}

const notNull = (shape: Shape): Shape => shape.anyOf?.find(({ type }) => type !== 'null') ?? shape;

function valueAt(value: unknown, [name, ...deeper]: readonly string[]): unknown {
  if (name === undefined) return value;
  if (typeof value !== 'object' || value === null) return undefined;
  return valueAt(Object.getOwnPropertyDescriptor(value, name)?.value, deeper);
}
