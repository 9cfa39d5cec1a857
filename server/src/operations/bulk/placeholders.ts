import { AppError, type FieldError, invalidField } from '../../errors.ts';
import { strictObject } from '../../invoke/input/fields.ts';
import { validator } from '../../invoke/input/validate.ts';
import { type Kind, type Kinds, kinds } from './bulkContent.ts';

/* Placeholders in the content of a bulk send, such as `{{name}}`. */

/** `{{first-name}}` and `{{1}}` are placeholders. */
const PLACEHOLDER = /\{\{\s*([\p{L}\p{N}_][\p{L}\p{N}_.-]{0,63})\s*\}\}/gu;
/** Anything in double braces, to reject what only looks like a placeholder. */
const BRACES = /\{\{([^{}]*)\}\}/g;
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
  const missing = missingValues(wanted, values, isNeeded);
  const [first] = missing;
  if (first !== undefined)
    throw new AppError(
      'validation_failed',
      `${first.field} ${first.message}${missing.length > 1 ? ', and more are missing' : ''}`,
      { fields: missing },
    );
  return values.map((own, index) => {
    if (!isNeeded(index)) return undefined;
    const rendered = replaceTexts(given, [], (text, path) => render(text, path, own));
    try {
      validate(rendered);
    } catch (error) {
      if (!(error instanceof AppError)) throw error;
      throw invalidField(`values.${index}`, `These values make the content invalid: ${error.message}`);
    }
    return { ...input, ...rendered };
  });
}

const validate = validator(strictObject(kinds));

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
  const found = [...text.matchAll(BRACES)].filter(([, inner = '']) => inner.trim() !== '');
  if (found.length === 0) return [];
  const wrong = found.find(([all]) => all.replace(PLACEHOLDER, '') !== '');
  if (wrong !== undefined)
    throw invalidField(
      field,
      `"${wrong[0].slice(0, 100)}" is not a placeholder; use up to 64 letters, digits, "_", "-" and "."`,
    );
  if (field === BUTTON_URL) {
    if (!ORIGIN.test(text)) throw invalidField(field, 'can contain placeholders only after the host and a slash');
  } else if (FIXED.includes(path.at(-1) ?? '')) throw invalidField(field, 'cannot contain placeholders');
  return [...text.matchAll(PLACEHOLDER)].map(([, name = '']) => name);
}

/** Returns a text with its placeholders replaced. A placeholder in a value stays as it is. */
function render(text: string, path: readonly string[], values: Readonly<Record<string, string>>): string {
  const isUrl = path.join('.') === BUTTON_URL;
  return text.replace(PLACEHOLDER, (all, name: string) => {
    const value = values[name] ?? all;
    return isUrl ? encodeURIComponent(value.toWellFormed()) : value;
  });
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
