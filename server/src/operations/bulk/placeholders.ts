import { AppError, type FieldError, invalidField } from '../../errors.ts';
import { strictObject } from '../../invoke/input/fields.ts';
import { validator } from '../../invoke/input/validate.ts';
import { type Kind, type Kinds, kinds } from './bulkContent.ts';

/* Placeholders in the content of a bulk send, such as `{{name}}`. */

/** `{{first-name}}` and `{{1}}` are placeholders. */
const PLACEHOLDER = /\{\{\s*([\p{L}\p{N}_][\p{L}\p{M}\p{N}_.-]{0,63})\s*\}\}/gu;
/** Double braces outside placeholders, which would reach the recipient. */
const BRACES = /\{\{[^{}]*\}{0,2}|\}\}/;
const MAX_REPORTED = 20;

/**
 * Returns the content for each recipient, with its values.
 * @param isNeeded whether the recipient at a position gets a message; the values of the others do not matter
 * @throws {AppError} `validation_failed` listing missing values, or the first values that make the content invalid
 */
export function contentsFor<K extends Kinds>(
  input: K,
  kind: Kind,
  values: readonly Record<string, string>[],
  isNeeded: (index: number) => boolean,
): (K | undefined)[] {
  // The preview of a text is a field next to it.
  const parts = kind === 'message' ? [kind, 'linkPreview' as const] : [kind];
  const given = Object.fromEntries(parts.map((name) => [name, input[name]]));
  const wanted = new Set<string>();
  replaceTexts(given, [], (text, path) => {
    for (const name of placeholdersIn(text, path)) wanted.add(name);
    return text;
  });
  const named = values.map(withNormalNames);
  const missing = missingValues(wanted, named, isNeeded);
  const [first] = missing;
  if (first !== undefined)
    throw new AppError(
      'validation_failed',
      `${first.field} ${first.message}${missing.length > 1 ? ', and more are missing' : ''}`,
      { fields: missing },
    );
  return named.map((own, index) => {
    if (!isNeeded(index)) return undefined;
    try {
      const rendered = replaceTexts(given, [], (text, path) => render(text, path, own));
      validate(rendered);
      return { ...input, ...rendered };
    } catch (error) {
      throw invalidValues(index, error);
    }
  });
}

const validate = validator(strictObject(kinds));

/** Returns the error for the values of the recipient at a position, which made the content invalid. */
export function invalidValues(index: number, error: unknown): unknown {
  if (!(error instanceof AppError) || error.code !== 'validation_failed') return error;
  return invalidField(`values.${index}`, `These values make the content invalid: ${error.message}`);
}

/**
 * Returns values by their names in NFC, because "ö" can be one character or two.
 * @throws {AppError} `validation_failed` if two names are the same in NFC
 */
function withNormalNames(values: Readonly<Record<string, string>>, index: number): Record<string, string> {
  const named = Object.fromEntries(Object.entries(values).map(([name, value]) => [name.normalize(), value]));
  if (Object.keys(named).length < Object.keys(values).length)
    throw invalidField(`values.${index}`, 'has a name twice, in two Unicode forms');
  return named;
}

/** Returns the first missing values: a text can have thousands of placeholders, for each of 1,000 recipients. */
function missingValues(
  wanted: ReadonlySet<string>,
  values: readonly Record<string, string>[],
  isNeeded: (index: number) => boolean,
): FieldError[] {
  const missing: FieldError[] = [];
  for (const [index, own] of values.entries()) {
    if (!isNeeded(index)) continue;
    for (const name of wanted) {
      if (Object.hasOwn(own, name)) continue;
      missing.push({ field: `values.${index}.${name}`, code: 'required', message: `is required for {{${name}}}` });
      if (missing.length === MAX_REPORTED) return missing;
    }
  }
  return missing;
}

/** Fields without placeholders, because they identify something. */
const FIXED = ['mediaId', 'url', 'type', 'language', 'image', 'catalogId'];
/** URL that a button opens. Values go only after its origin, so that none of them changes the host. */
const BUTTON_URL = 'interactive.link.url';
const ORIGIN = /^https?:\/\/[^\s/?#\\{}]+(?=[/?#])/i;

/**
 * Returns the names of the placeholders in a text.
 * @throws {AppError} `validation_failed` for double braces that would reach the recipient
 */
function placeholdersIn(text: string, path: readonly string[]): string[] {
  const field = path.join('.');
  if (FIXED.includes(path.at(-1) ?? '') && field !== BUTTON_URL) {
    if (text.includes('{{')) throw invalidField(field, 'cannot contain placeholders');
    return [];
  }
  // A space in place of each placeholder keeps the braces around it apart.
  const wrong = BRACES.exec(text.replace(PLACEHOLDER, ' '));
  if (wrong !== null)
    throw invalidField(
      field,
      `"${wrong[0].slice(0, 100)}" is not a placeholder; use up to 64 letters, digits, "_", "-" and "."`,
    );
  const found = [...text.matchAll(PLACEHOLDER)];
  if (found.length > 0 && field === BUTTON_URL && !ORIGIN.test(text))
    throw invalidField(field, 'can contain placeholders only after the host and a slash');
  return found.map(([, name = '']) => name.normalize());
}

/**
 * Returns a text with its placeholders replaced. A placeholder in a value stays as it is.
 * @throws {AppError} `validation_failed` if a value makes a URL leave its folder
 */
function render(text: string, path: readonly string[], values: Readonly<Record<string, string>>): string {
  const isUrl = path.join('.') === BUTTON_URL;
  const rendered = text.replace(PLACEHOLDER, (all, name: string) => {
    const value = values[name.normalize()] ?? all;
    return isUrl ? encodeURIComponent(value.toWellFormed()) : value;
  });
  if (isUrl && rendered !== text && hasDotSegment(rendered))
    throw invalidField(BUTTON_URL, 'must not have a path segment that is "." or ".."');
  return rendered;
}

/** Browsers resolve these segments, even encoded ones: https://url.spec.whatwg.org/#double-dot-path-segment */
const DOT_SEGMENT = /^(?:\.|%2e){1,2}$/i;

function hasDotSegment(url: string): boolean {
  const [path = ''] = url.split(/[?#]/, 1);
  return path.split(/[\\/]/).some((segment) => DOT_SEGMENT.test(segment));
}

type Replace = (text: string, path: readonly string[]) => string;

/** Returns a copy of an object with each text replaced. */
function replaceTexts(part: object, path: readonly string[], replace: Replace): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(part).map(([name, value]) => [name, replaced(value, [...path, name], replace)]),
  );
}

function replaced(value: unknown, path: readonly string[], replace: Replace): unknown {
  if (typeof value === 'string') return replace(value, path);
  if (Array.isArray(value)) return value.map((item, index) => replaced(item, [...path, String(index)], replace));
  return typeof value === 'object' && value !== null ? replaceTexts(value, path, replace) : value;
}
