import type { TSchema } from 'typebox';
import { AppError, invalidField } from '../errors.ts';
import { optional } from './fields.ts';
import type { Operation } from './operation.ts';

/*
 * Input fields that were renamed, so that the same thing has the same name everywhere. The former names are accepted
 * for good. They are not shown to agents.
 */

const FORMER = 'x-former-name-of';

type Input = Readonly<Record<string, unknown>>;

/** The description of a field under its former name. */
export const formerNameOf = (present: string) => `Former name of \`${present}\`.`;

/** The former name of the input field `present`. A single value is accepted for a list. */
export function formerly<T extends TSchema>(present: string, schema: T) {
  return optional({ ...schema, description: formerNameOf(present), deprecated: true, [FORMER]: present });
}

/** Present names by the former ones that an operation accepts. */
function formerNamesOf({ input }: Pick<Operation, 'input'>): readonly (readonly [former: string, present: string])[] {
  return Object.entries(input.properties as Readonly<Record<string, { [FORMER]?: string }>>).flatMap(
    ([name, { [FORMER]: present }]) => (present === undefined ? [] : [[name, present] as const]),
  );
}

/**
 * Returns the input with the present names only.
 * @throws {AppError} `validation_failed` if a field is given under both names
 */
export function underPresentNames(operation: Pick<Operation, 'input'>, input: Input): Record<string, unknown> {
  const renamed: Record<string, unknown> = { ...input };
  for (const [former, present] of formerNamesOf(operation)) {
    const value = renamed[former];
    delete renamed[former];
    if (value === undefined) continue;
    if (renamed[present] !== undefined)
      throw invalidField(former, `is the former name of \`${present}\`; pass only one of them`);
    const { type } = operation.input.properties[present] as { type?: string };
    renamed[present] = type === 'array' && !Array.isArray(value) ? [value] : value;
  }
  return renamed;
}

/** Returns the error with the names of the fields that the caller used. */
export function underGivenNames(operation: Pick<Operation, 'input'>, given: unknown, error: unknown): unknown {
  if (!(error instanceof AppError) || error.fields.length === 0 || typeof given !== 'object' || given === null)
    return error;
  const former = new Map(
    formerNamesOf(operation).flatMap(([name, present]) => (Object.hasOwn(given, name) ? [[present, name]] : [])),
  );
  if (!error.fields.some(({ field }) => former.has(field))) return error;
  const named = (field: string) => former.get(field) ?? field;
  const fields = error.fields.map((one) => ({ ...one, field: named(one.field) }));
  const detail = error.message.replace(/(^|; )(\w+)(?= )/g, (_, start: string, word: string) => start + named(word));
  return new AppError(error.code, detail, {
    fields,
    ...(error.retryAfterSeconds !== undefined && { retryAfterSeconds: error.retryAfterSeconds }),
    cause: error,
  });
}
