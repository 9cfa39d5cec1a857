import type { TSchema } from 'typebox';
import { isGroupId } from '../../ids.ts';
import { phoneNumber } from './phoneNumbers.ts';
import { changedAt, placesOf, type Reference, textsAt } from './references.ts';

type Input = Record<string, unknown>;

const PEOPLE: readonly Reference[] = ['person', 'recipient', 'chat'];

/**
 * Returns the input with people as digits, in whatever form they were typed, and groups as they are. A list of
 * recipients stays, because each gets its result.
 * @throws {AppError} `validation_failed` naming the field
 */
export function withDigits({ input: schema }: { readonly input: TSchema }, input: Input): Input {
  return placesOf(schema)
    .filter(({ path, to }) => PEOPLE.includes(to) && !(to === 'recipient' && path.includes('*')))
    .reduce((changed, { path, to }) => {
      const read = (field: string, text: string) =>
        to !== 'person' && isGroupId(text) ? text : phoneNumber(field, text);
      const digits = new Map(textsAt(changed, path).map(({ field, text }) => [text, read(field, text)]));
      return digits.size === 0 ? changed : changedAt(changed, path, (text) => digits.get(text) ?? text);
    }, input);
}
