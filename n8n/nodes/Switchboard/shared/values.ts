/* Values of parameters. n8n passes the result of an expression on with its type, such as a number for a text field. */

/** Returns a value as text: times in ISO, other objects and lists as JSON, and nothing for null. */
export function textOf(value: unknown): string {
  if (value === null || value === undefined) return '';
  if (typeof value !== 'object') return String(value);
  // Luxon's DateTime has it like Date: both return ISO, or null if invalid.
  const json: unknown = 'toJSON' in value && typeof value.toJSON === 'function' ? value.toJSON() : value;
  if (json === null) return '';
  return typeof json === 'string' ? json : JSON.stringify(json);
}

/** Returns a boolean, including one as text, 1 or 0; undefined for an empty value, and null for anything else. */
export function booleanOf(value: unknown): boolean | undefined | null {
  if (typeof value === 'boolean') return value;
  const text = textOf(value).trim().toLowerCase();
  if (text === '') return undefined;
  if (text === 'true' || text === '1') return true;
  return text === 'false' || text === '0' ? false : null;
}

/** Returns a number, including one as text; undefined for an empty value, and null for anything else. */
export function numberOf(value: unknown): number | undefined | null {
  const text = textOf(value).trim();
  if (text === '') return undefined;
  const number = typeof value === 'boolean' ? Number.NaN : Number(text);
  return Number.isFinite(number) ? number : null;
}

/** Returns a value that is one of the choices, or null for anything else. */
export function choiceOf<T extends string>(value: unknown, choices: readonly T[]): T | null {
  return choices.find((choice) => choice === value) ?? null;
}

/** In milliseconds, this is in 1973; in seconds, thousands of years ahead. */
const LEAST_MS = 100_000_000_000;
const MAX_MS = 8_640_000_000_000_000;

/** Returns a time as text: a Unix time in seconds or milliseconds becomes ISO. */
export function timeTextOf(value: unknown): string {
  const text = textOf(value).trim();
  if (!/^\d{9,16}(?:\.\d+)?$/.test(text)) return text;
  const ms = Number(text) < LEAST_MS ? Number(text) * 1000 : Number(text);
  return ms > MAX_MS ? text : new Date(ms).toISOString();
}
