import type { TObject, TSchema } from 'typebox';
import { Compile } from 'typebox/compile';
import { AppError, type FieldError, invalidField } from '../../errors.ts';
import { describe, NO_SUCH_TIME } from './fieldErrors.ts';

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
    if (!compiled.Check(filled)) throw describe(compiled.Errors(filled), schema, filled);
    const unstorable = findUnstorable(filled, '');
    if (unstorable !== undefined)
      throw invalidField(
        unstorable,
        'must not contain the character NUL or half of an emoji (an unpaired surrogate)',
        'text',
      );
    return filled;
  };
}

/**
 * Parses a time of the input to milliseconds. `date-time` of a schema accepts leap seconds, which have no such value.
 * @throws {AppError} `validation_failed` naming the field
 */
export function parseTime(field: string, text: string): number {
  const at = Date.parse(text);
  if (Number.isNaN(at)) throw invalidField(field, NO_SUCH_TIME, 'date-time');
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
  if (Array.isArray(value) && value.length > maxItems) return refuse('maxItems', `must have at most ${maxItems} items`);
  const names = Object.keys(value);
  if (!Array.isArray(value) && names.length > MAX_FIELDS)
    return refuse('width', `must have at most ${MAX_FIELDS} fields`);
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
function findUnstorable(value: unknown, field: string): string | undefined {
  if (typeof value === 'string') return isStorable(value) ? undefined : field;
  if (typeof value !== 'object' || value === null) return undefined;
  for (const [name, member] of Object.entries(value)) {
    const path = field === '' ? name : `${field}.${name}`;
    const found = isStorable(name) ? findUnstorable(member, path) : path.toWellFormed();
    if (found !== undefined) return found;
  }
  return undefined;
}

/** Whether databases can store a text: it has no NUL and no lone surrogate. */
export const isStorable = (text: string): boolean => !text.includes('\0') && text.isWellFormed();
