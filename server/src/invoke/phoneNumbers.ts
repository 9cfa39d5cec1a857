import { parsePhoneNumberFromString } from 'libphonenumber-js/min';
import { type TArrayOptions, Type } from 'typebox';
import { cacheOf } from '../cache.ts';
import { isPlaceholder } from '../connectors/connector.ts';
import { invalidField } from '../errors.ts';

/** The formats of phone numbers that callers may use. */
export const PHONE_NUMBER_FORMAT = 'In international form, such as 491701234567; +, spaces and dashes are ignored.';

const phoneNumberOf = (rules: { description?: string }) =>
  Type.Refine(Type.String({ minLength: 1, maxLength: 40, ...rules }), isPhoneNumber, notPhoneNumber);

export const PhoneNumberInput = (description: string) =>
  phoneNumberOf({ description: `${description} ${PHONE_NUMBER_FORMAT}` });

export const PhoneNumberList = (description: string, rules: TArrayOptions) =>
  Type.Array(phoneNumberOf({}), { ...rules, description: `${description} ${PHONE_NUMBER_FORMAT}` });

/** A person's address on WhatsApp, with or without one of the person's devices. */
const JID = /^(\d{5,25})(?::\d{1,3})?@(s\.whatsapp\.net|c\.us|lid)$/;
/** Begins the placeholder of a person who is known only by a LID. */
const HIDDEN = '000';

/** Parsing a number costs some 10 µs, and the same numbers recur. */
const REMEMBERED = 20_000;
const remembered = cacheOf<string>(REMEMBERED);

/**
 * Returns a phone number as digits in international form without a plus, or the placeholder of a hidden one.
 * @throws {AppError} `validation_failed` naming the field, if no network could dial it
 */
export function phoneNumber(field: string, text: string): string {
  const digits = digitsOf(text);
  if (digits === undefined) throw invalidField(field, notPhoneNumber(text), 'phone_number');
  return digits;
}

/** Whether a string is a phone number. The schema itself refuses other types. */
export const isPhoneNumber = (text: unknown): boolean => typeof text !== 'string' || digitsOf(text) !== undefined;

/** A predicate, for an error of the field. */
export const notPhoneNumber = (text: unknown, alternative = ''): string =>
  `must be a phone number in international form, such as 491701234567,${alternative} not "${text}"`;

/** Returns a phone number, or the beginning of one followed by `*`, as digits in any format; undefined if it is neither. */
export function patternOf(text: string): string | undefined {
  if (!text.endsWith('*')) return digitsOf(text);
  const digits = withoutFormat(text);
  return /^([1-9]\d{0,14}|000\d{0,22})\*$/.test(digits) ? digits : undefined;
}

/** Returns the digits of a phone number in any format; undefined if it is not one. */
export function digitsOf(text: string): string | undefined {
  const known = remembered.get(text);
  if (known !== undefined) return known;
  const jid = JID.exec(text);
  if (jid !== null) return digitsOf(jid[2] === 'lid' ? `${HIDDEN}${jid[1]}` : `+${jid[1]}`);
  const digits = withoutFormat(text);
  if (isPlaceholder(digits)) return digits;
  if (!/^[1-9]\d{5,14}$/.test(digits) || parsePhoneNumberFromString(`+${digits}`)?.isPossible() !== true)
    return undefined;
  remembered.set(text, digits);
  return digits;
}

const withoutFormat = (text: string) => text.replace(/[\s().\-\u00a0\u2010-\u2015]/g, '').replace(/^\+/, '');
