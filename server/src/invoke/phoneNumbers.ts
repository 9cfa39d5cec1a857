import { parsePhoneNumberFromString } from 'libphonenumber-js/min';
import { LRUCache } from 'lru-cache';
import { Type } from 'typebox';
import { isStandIn } from '../connectors/connector.ts';
import { invalidField } from '../errors.ts';

/** How callers write a phone number. */
export const PHONE_NUMBER_FORMAT = 'In international form, such as 491701234567; +, spaces and dashes are ignored.';

/** A phone number as callers may write it. */
export const PhoneNumberInput = (description: string) =>
  Type.Refine(
    Type.String({
      minLength: 1,
      maxLength: 40,
      description: `${description} ${PHONE_NUMBER_FORMAT}`,
    }),
    isPhoneNumber,
    notPhoneNumber,
  );

/** Parsing a number costs some 10 µs, and the same ones come again and again. */
const REMEMBERED = 20_000;
const remembered = new LRUCache<string, string>({ max: REMEMBERED });

/**
 * A phone number as digits in international form without a plus, or what stands for one that is hidden.
 * @throws {AppError} `validation_failed` naming the field, for what no network could dial
 */
export function phoneNumber(field: string, text: string): string {
  const digits = digitsOf(text);
  if (digits === undefined) throw invalidField(field, notPhoneNumber(text), 'phone_number');
  return digits;
}

/** Whether a schema's text is a phone number. Another type is refused by the schema itself. */
export const isPhoneNumber = (text: unknown): boolean => typeof text !== 'string' || digitsOf(text) !== undefined;

export const notPhoneNumber = (text: unknown): string =>
  `"${text}" is not a phone number in international form, such as 491701234567`;

/** The digits of a phone number however it is written; undefined for what is none. */
export function digitsOf(text: string): string | undefined {
  const known = remembered.get(text);
  if (known !== undefined) return known;
  const digits = text.replace(/[\s().\-\u00a0\u2010-\u2015]/g, '').replace(/^\+/, '');
  if (isStandIn(digits)) return digits;
  if (!/^[1-9]\d{5,14}$/.test(digits) || parsePhoneNumberFromString(`+${digits}`)?.isPossible() !== true)
    return undefined;
  remembered.set(text, digits);
  return digits;
}
