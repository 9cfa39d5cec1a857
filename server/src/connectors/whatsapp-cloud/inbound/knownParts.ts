import type { Static, TSchema } from 'typebox';
import type { Validator } from 'typebox/compile';

/** Parts whose errors hide others; more than any message of Meta has. */
const ROUNDS = 8;

/**
 * Reads a value of Meta, which adds and changes parts without notice. A part of an unknown shape is left out, so that
 * it does not affect the others.
 * @param needed values of the parts without which nothing can be read
 * @returns undefined if the value is not an object, or a needed part is missing
 */
export function withKnownParts<T extends TSchema>(
  schema: Validator<Record<never, never>, T>,
  received: unknown,
  needed: Readonly<Record<string, unknown>>,
): Static<T> | undefined {
  if (schema.Check(received)) return received;
  if (typeof received !== 'object' || received === null || Array.isArray(received)) return undefined;
  let known: Record<string, unknown> = { ...needed, ...received };
  for (let round = 0; round < ROUNDS; round++) {
    if (schema.Check(known)) return known;
    const unknown = new Set(schema.Errors(known).map(({ instancePath }) => instancePath.split('/')[1] ?? ''));
    known = { ...needed, ...Object.fromEntries(Object.entries(known).filter(([name]) => !unknown.has(name))) };
  }
  return undefined;
}
