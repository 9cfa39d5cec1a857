import type { TObject, TSchema } from 'typebox';
import { Compile } from 'typebox/compile';
import type { TLocalizedValidationError } from 'typebox/error';
import { AppError, type FieldError, invalidField } from '../errors.ts';

/** Deeper than anything that means something, in fields that take any JSON. */
const DEEPEST = 32;

/**
 * Compiles an input schema to a function that fills in defaults and checks.
 * @throws {AppError} `validation_failed`, with one entry per bad field
 */
export function validator(schema: TObject): (input: unknown) => Record<string, unknown> {
  const compiled = Compile(schema);
  const defaults = Object.entries(schema.properties).flatMap(([name, property]) => {
    const value = (property as TSchema & { default?: unknown }).default;
    return value === undefined ? [] : [{ name, value }];
  });

  return (input) => {
    if (typeof input !== 'object' || input === null || Array.isArray(input)) {
      throw new AppError('validation_failed', 'The body must be a JSON object');
    }
    const filled: Record<string, unknown> = { ...input };
    for (const { name, value } of defaults) if (filled[name] === undefined) filled[name] = structuredClone(value);
    // First: what checks the rest would run out of stack.
    const tooDeep = Object.keys(filled).find((name) => isDeeper(filled[name], DEEPEST));
    if (tooDeep !== undefined) throw invalidField(tooDeep, `must not be nested deeper than ${DEEPEST} levels`, 'depth');
    if (!compiled.Check(filled)) throw describe(compiled.Errors(filled), schema);
    const unfit = findUnfit(filled, '');
    if (unfit !== undefined) throw invalidField(unfit, 'must be text without NUL and broken characters', 'text');
    return filled;
  };
}

/**
 * A moment of the input in milliseconds. A schema's `date-time` lets a leap second pass, which no clock here has.
 * @throws {AppError} `validation_failed` naming the field
 */
export function parseTime(field: string, text: string): number {
  const at = Date.parse(text);
  if (Number.isNaN(at)) throw invalidField(field, 'is not a moment that exists', 'date-time');
  return at;
}

/** Whether a value is nested deeper than so many levels: what walks through it would run out of stack. */
function isDeeper(value: unknown, levels: number): boolean {
  if (typeof value !== 'object' || value === null) return false;
  return levels === 0 || Object.values(value).some((member) => isDeeper(member, levels - 1));
}

/** Where a text has a NUL or half a character: no database stores and no network carries them. */
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
  const named = (names: readonly string[], code: string, words: string) =>
    names.map((name) => ({ field: at(name), code, message: words }));
  switch (keyword) {
    case 'required':
      return named((params as { requiredProperties: string[] }).requiredProperties, 'required', 'is required');
    case 'additionalProperties':
      return named(
        (params as { additionalProperties: string[] }).additionalProperties,
        'unknown',
        'is not a known field',
      );
    // The parts of a union or of a forbidden property: the error of the whole says it better.
    case 'boolean':
    case 'const':
      return [];
    case 'pattern': {
      const wanted = descriptionOf(schema, path);
      return [
        { field: at(), code: keyword, message: wanted === undefined ? message : `is not what is wanted: ${wanted}` },
      ];
    }
    default:
      return [{ field: at(), code: keyword, message }];
  }
}

/** What the schema says of a field, which people can read and a pattern not; undefined where it says nothing. */
function descriptionOf(schema: TSchema, [name, ...deeper]: readonly string[]): string | undefined {
  const { description, properties }: { description?: string; properties?: Readonly<Record<string, TSchema>> } = schema;
  if (name === undefined) return description;
  const property = properties !== undefined && Object.hasOwn(properties, name) ? properties[name] : undefined;
  return property && descriptionOf(property, deeper);
}
