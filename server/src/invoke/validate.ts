import type { TObject, TSchema } from 'typebox';
import { Compile } from 'typebox/compile';
import type { TLocalizedValidationError } from 'typebox/error';
import { AppError, type FieldError, invalidField } from '../errors.ts';

/** Deeper than any meaningful value of a field that accepts any JSON. */
export const DEEPEST = 32;
/** More fields than any object of the API has, and than any network has options. */
const MAX_FIELDS = 256;

/**
 * Compiles an input schema to a function that fills in defaults and validates.
 * @throws {AppError} `validation_failed`, with one entry per invalid field
 */
export function validator(schema: TObject): (input: unknown) => Record<string, unknown> {
  const compiled = Compile(schema);
  const defaults = Object.entries(schema.properties).flatMap(([name, property]) => {
    const value = (property as TSchema & { default?: unknown }).default;
    return value === undefined ? [] : [{ name, value }];
  });

  return (input) => {
    if (typeof input !== 'object' || input === null || Array.isArray(input)) {
      throw new AppError('validation_failed', 'The request body must be a JSON object');
    }
    const excess = findExcess(input, schema, DEEPEST + 1);
    if (excess !== undefined) throw invalidField(excess.path.join('.') || 'body', excess.message, excess.code);
    const filled: Record<string, unknown> = { ...input };
    for (const { name, value } of defaults) if (filled[name] === undefined) filled[name] = structuredClone(value);
    if (!compiled.Check(filled)) throw describe(compiled.Errors(filled), schema);
    const unfit = findUnfit(filled, '');
    if (unfit !== undefined) throw invalidField(unfit, 'must not contain NUL or unpaired surrogates', 'text');
    return filled;
  };
}

/**
 * Parses a time of the input to milliseconds. `date-time` of a schema accepts leap seconds, which have no such value.
 * @throws {AppError} `validation_failed` naming the field
 */
export function parseTime(field: string, text: string): number {
  const at = Date.parse(text);
  if (Number.isNaN(at)) throw invalidField(field, 'is not a date and time that exists', 'date-time');
  return at;
}

interface Excess extends Pick<FieldError, 'code' | 'message'> {
  readonly path: readonly string[];
}

/**
 * Finds a list or an object that is too large, or nested too deeply, to be validated in detail: reporting all errors of
 * 100,000 entries takes a second, and 10,000 levels overflow the stack.
 */
function findExcess(value: unknown, schema: TSchema | undefined, levels: number): Excess | undefined {
  if (typeof value !== 'object' || value === null) return undefined;
  const refuse = (code: string, message: string): Excess => ({ path: [], code, message });
  if (levels === 0) return refuse('depth', `must not be nested deeper than ${DEEPEST} levels`);
  const { maxItems = Number.POSITIVE_INFINITY, items, properties }: Shape = schema ?? {};
  if (Array.isArray(value) && value.length > maxItems)
    return refuse('maxItems', `must not have more than ${maxItems} items`);
  const names = Object.keys(value);
  if (!Array.isArray(value) && names.length > MAX_FIELDS)
    return refuse('width', `must not have more than ${MAX_FIELDS} fields`);
  for (const name of names) {
    const member = properties !== undefined && Object.hasOwn(properties, name) ? properties[name] : items;
    const found = findExcess((value as Record<string, unknown>)[name], member, levels - 1);
    // A value that is nested too deeply is named by its field, not by the whole path.
    if (found !== undefined) return { ...found, path: [name, ...(found.code === 'depth' ? [] : found.path)] };
  }
  return undefined;
}

/** The parts of a schema that bound the size of a value. */
interface Shape {
  readonly maxItems?: number;
  readonly items?: TSchema;
  readonly properties?: Readonly<Record<string, TSchema>>;
}

/** Finds a text with NUL or a lone surrogate: databases cannot store them and networks cannot send them. */
function findUnfit(value: unknown, field: string): string | undefined {
  if (typeof value === 'string') return isFit(value) ? undefined : field;
  if (typeof value !== 'object' || value === null) return undefined;
  for (const [name, member] of Object.entries(value)) {
    const path = field === '' ? name : `${field}.${name}`;
    const found = isFit(name) ? findUnfit(member, path) : path.toWellFormed();
    if (found !== undefined) return found;
  }
  return undefined;
}

const NEEDS_OFFSET = 'must be a time with an offset, such as 2026-07-01T12:00:00Z or 2026-07-01T14:00:00+02:00';

const isFit = (text: string) => !text.includes('\0') && text.isWellFormed();

function describe(found: readonly TLocalizedValidationError[], schema: TObject): AppError {
  const fields = new Map<string, FieldError>();
  for (const error of found)
    for (const field of fieldErrors(error, schema)) if (!fields.has(field.field)) fields.set(field.field, field);
  const list = [...fields.values()].slice(0, 50);
  return new AppError('validation_failed', list.map(({ field, message }) => `${field} ${message}`).join('; '), {
    fields: list,
  });
}

function fieldErrors(
  { keyword, instancePath, params, message }: TLocalizedValidationError,
  schema: TObject,
): FieldError[] {
  const path = instancePath.split('/').slice(1);
  const at = (name?: string) => [...path, ...(name === undefined ? [] : [name])].join('.');
  const named = (names: readonly (string | undefined)[], code: string, words: string) =>
    names.map((name) => ({ field: at(name), code, message: words }));
  switch (keyword) {
    case 'required':
      return named((params as { requiredProperties: string[] }).requiredProperties, 'required', 'is required');
    case 'additionalProperties':
      return named(
        (params as { additionalProperties: string[] }).additionalProperties,
        'unknown',
        'is not a field of this request; remove it',
      );
    // Errors inside a union or of a forbidden property: the error of the whole is clearer.
    case 'boolean':
    case 'const':
      return [];
    case 'enum':
      return named(
        [undefined],
        keyword,
        `must be one of ${(params as { allowedValues: unknown[] }).allowedValues.join(', ')}`,
      );
    case 'format':
      return named(
        [undefined],
        keyword,
        (params as { format: string }).format === 'date-time' ? NEEDS_OFFSET : message,
      );
    case 'pattern': {
      const wanted = descriptionOf(schema, path);
      return [
        {
          field: at(),
          code: keyword,
          message: wanted === undefined ? message : `has the wrong format. Expected: ${wanted}`,
        },
      ];
    }
    // A custom rule; only phone numbers have one.
    case '~refine':
      return [{ field: at(), code: 'phone_number', message }];
    default:
      return [{ field: at(), code: keyword, message }];
  }
}

/** The description of a field in the schema, which is more readable than a pattern; undefined if there is none. */
function descriptionOf(schema: TSchema, [name, ...deeper]: readonly string[]): string | undefined {
  const { description, properties }: { description?: string; properties?: Readonly<Record<string, TSchema>> } = schema;
  if (name === undefined) return description;
  const property = properties !== undefined && Object.hasOwn(properties, name) ? properties[name] : undefined;
  return property && descriptionOf(property, deeper);
}
