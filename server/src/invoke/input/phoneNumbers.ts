import { type TArrayOptions, Type } from 'typebox';
import { cacheOf } from '../../cache.ts';
import { isPlaceholder, isUserId, placeholderOfUserId } from '../../connectors/contract/people.ts';
import { invalidField } from '../../errors.ts';
import { isGroupId } from '../../ids.ts';
import { isAssigned, plausibilityOf } from '../../possibleNumbers.ts';
import { asciiDigits, withoutInvisible } from './plainText.ts';
import { type Reference, ref } from './references.ts';

/** The formats of phone numbers that callers may use. */
export const PHONE_NUMBER_FORMAT = 'In international form, such as 491701234567; +, spaces and dashes are ignored.';

/**
 * Marks a field whose numbers come from a person or program, so `TypedNumbers` refuses those that no network could dial
 * and that no network has reported. A symbol: schemas keep it when they are combined, and descriptions do not show it.
 */
const TYPED = Symbol('typed phone number');

export const isTyped = (schema: { readonly [TYPED]?: true }): boolean => schema[TYPED] === true;

/**
 * Long enough for the link to a chat on WhatsApp, for a user id, and for the marks that are copied along with either.
 */
export const PERSON_LENGTH = 150;

const phoneNumberOf = (rules: { readonly description?: string; readonly [TYPED]?: true }) =>
  Type.Refine(
    Type.String({ minLength: 1, maxLength: PERSON_LENGTH, ...ref('person'), ...rules }),
    isPhoneNumber,
    notPhoneNumber,
  );

/** An option of texts that can be phone numbers, or the beginnings of some. */
export const typed: object = { [TYPED]: true };

export const PhoneNumberInput = (description: string, to: Reference = 'person') =>
  phoneNumberOf({ ...typed, ...ref(to), description: `${description} ${PHONE_NUMBER_FORMAT}` });

export const PhoneNumberList = (description: string, rules: TArrayOptions) =>
  Type.Array(phoneNumberOf(typed), { ...rules, description: `${description} ${PHONE_NUMBER_FORMAT}` });

/** A number that the simulated network gives: any form that a network can have. */
export const SimulatedNumberInput = (description: string) =>
  phoneNumberOf({ description: `${description} ${PHONE_NUMBER_FORMAT}` });

export const SimulatedNumberList = (description: string, rules: TArrayOptions) =>
  Type.Array(phoneNumberOf({}), { ...rules, description: `${description} ${PHONE_NUMBER_FORMAT}` });

/** A person's address on WhatsApp, with or without one of the person's devices. */
const JID = /^(\d{5,25})(?:_\d{1,3})?(?::\d{1,3})?@(s\.whatsapp\.net|c\.us|lid|hosted|hosted\.lid)$/;
/** Begins the placeholder of a person who is known only by a LID. */
const HIDDEN = '000';
/** Digits of a number in the longest international form, and of the shortest that networks have. */
const INTERNATIONAL = /^[1-9]\d{4,14}$/;

type Reading =
  | {
      readonly digits: string;
      /** Why no network could dial them, unless one has reported them. */
      readonly doubt?: string;
      /** The number that a person means by the digits, unless a network has reported them. */
      readonly meant?: string;
    }
  | { readonly problem: string };

const REMEMBERED = 20_000;
const remembered = cacheOf<Reading>(REMEMBERED);

/** Longer texts are not read: normalizing a run of diacritics takes quadratic time. */
const LONGEST_READ = 1000;

/** Reads a phone number in any format, the address of a person, or a placeholder. */
export function readNumber(text: string): Reading {
  if (text.length > LONGEST_READ) return { problem: 'it is too long' };
  const known = remembered.get(text);
  if (known !== undefined) return known;
  const reading = readAddress(text) ?? readTyped(text);
  if (text.length <= PERSON_LENGTH) remembered.set(text, reading);
  return reading;
}

/**
 * Returns a phone number as digits in international form without a plus, or the placeholder of a hidden one.
 * @throws {AppError} `validation_failed` naming the field
 */
export function phoneNumber(field: string, text: string): string {
  const digits = digitsOf(text);
  if (digits === undefined) throw invalidField(field, notPhoneNumber(text), 'phone_number');
  return digits;
}

/** Whether a string is a phone number. The schema itself refuses other types. */
export const isPhoneNumber = (text: unknown): boolean => typeof text !== 'string' || digitsOf(text) !== undefined;

/** A predicate, for an error of the field. */
export function notPhoneNumber(text: unknown, alternative = ''): string {
  const reading = typeof text === 'string' ? readNumber(text) : { problem: '' };
  const reason = 'problem' in reading ? reading.problem : (reading.doubt ?? '');
  const sentence = `must be a phone number in international form, such as 491701234567,${alternative} not "${text}"`;
  return reason === '' ? sentence : `${sentence}: ${reason}`;
}

/**
 * Returns a phone number in any format, or the beginning of one followed by `*`, as digits, and a user id as it is;
 * undefined for other texts.
 */
export function patternOf(text: string): string | undefined {
  const id = text.trim();
  if (isUserId(id)) return id;
  if (!text.endsWith('*')) return digitsOf(text);
  const digits = withoutFormat(plain(text.slice(0, -1)));
  return /^([1-9]\d{0,14}|000\d{0,22})$/.test(digits) ? `${digits}*` : undefined;
}

/**
 * Returns the digits of a phone number in any format, whether or not a network could dial it; undefined if it is not
 * one.
 */
export function digitsOf(text: string): string | undefined {
  const reading = readNumber(text);
  return 'digits' in reading ? reading.digits : undefined;
}

/** A user id in letters of the wrong case. Ids are compared exactly, so it is not corrected. */
const MISSPELT_USER_ID = /^[a-z]{2}\.(?:ent\.)?[0-9a-z]{5,128}$/i;

/** Reads what networks and this API call a person; undefined for other texts. */
function readAddress(text: string): Reading | undefined {
  const id = text.trim();
  if (isUserId(id)) return { digits: placeholderOfUserId(id) };
  if (MISSPELT_USER_ID.test(id)) return { problem: 'a user id begins with two capital letters, such as DE.999888' };
  const [, user = '', server = ''] = JID.exec(text.trim()) ?? [];
  if (server.endsWith('lid')) return { digits: `${HIDDEN}${user}` };
  return user === '' || !INTERNATIONAL.test(user) ? undefined : { digits: user };
}

const EXTENSION = /(?:;ext=|ext\.?|extension|x|#|,|;)\d+$/i;
/** The prefix of domestic calls as many people write it: `+49 (0)170 1234567`. */
const OPTIONAL_ZERO = /^(\+?\d{1,4}[^\d(]*)\(0\)/;

/** A decimal as programs write a number that they keep as floating point. Without its point it is another number. */
const WHOLE_DECIMAL = /^(\+?\d{7,15})\.0$/;
const SCIENTIFIC = /^\d(?:[.,]\d+)?e\+?\d+$/i;
/** How Brazilians write a domestic number whose carrier the caller chooses: `(0xx11) 91234-5678`. */
const CARRIER = /^(?:(?:\+|00)?55)?(?:\(?0[-.]?|\()[x*]{2}/i;

function readTyped(text: string): Reading {
  const written = numberIn(plain(text)).replace(WHOLE_DECIMAL, '$1');
  const compact = written.replace(/\s/g, '');
  if (SCIENTIFIC.test(compact)) return { problem: 'a spreadsheet rounded it; format its column as text' };
  if (hasSeveral(compact)) return { problem: 'it has more than one number' };
  if (CARRIER.test(compact))
    return { problem: 'leave out "0xx", which stands for the code of a carrier: +55 11 91234-5678' };
  if (EXTENSION.test(compact) && /\d/.test(compact.replace(EXTENSION, '')))
    return { problem: 'messages cannot reach an extension; leave it out' };
  if (/\p{L}/u.test(compact)) return { problem: 'it contains letters' };
  const zero = OPTIONAL_ZERO.exec(compact.replace(/^(?:00|\+00)(?=[1-9])/, '+'));
  if (zero !== null) return readOptionalZero(compact);
  const reading = readDigits(withoutFormat(written));
  if ('digits' in reading && reading.doubt === undefined) return reading;
  const advice = prefixAdvice(compact);
  if (advice === undefined) return reading;
  return 'digits' in reading ? { ...reading, doubt: advice } : { problem: advice };
}

/** Whether two numbers are separated. Not one pattern, because it takes minutes for a long series of digits. */
function hasSeveral(compact: string): boolean {
  const parts = compact.split(/[,;|]/, 2);
  return parts.length === 2 && parts.every((part) => part.replace(/\D/g, '').length >= 7);
}

/** Prefixes of international calls other than 00, in North America, Japan, Australia, East Asia and Russia. */
const INTERNATIONAL_PREFIXES = ['0011', '011', '010', '001', '8~10', '810'];

/**
 * Advice for a number behind a prefix of calls. Such a prefix is never removed, because it is also the beginning of
 * domestic numbers: 011 is the area code of Johannesburg.
 */
function prefixAdvice(compact: string): string | undefined {
  const typed = compact.replace(/[().\-/]/g, '');
  for (const prefix of INTERNATIONAL_PREFIXES) {
    const rest = typed.startsWith(prefix) ? typed.slice(prefix.length) : '';
    if (INTERNATIONAL.test(rest) && isAssigned(rest))
      return `write + or 00 instead of ${prefix} if that is the prefix of international calls, and otherwise the country code instead of the leading ${prefix[0]}`;
  }
  const isRussian = /^8\d{10}$/.test(typed) && isAssigned(`7${typed.slice(1)}`);
  return isRussian ? 'write +7 instead of the leading 8 if the number is in Russia or Kazakhstan' : undefined;
}

function readDigits(digits: string): Reading {
  if (isPlaceholder(digits)) return { digits };
  if (!/^\d+$/.test(digits)) return { problem: /\d/.test(digits) ? 'it contains other characters' : '' };
  if (digits.startsWith('0')) return { problem: 'replace the leading 0 with the country code' };
  if (!INTERNATIONAL.test(digits)) return { problem: `it has ${digits.length} digits` };
  const { isPossible, withoutTrunkPrefix: meant } = plausibilityOf(digits);
  if (!isPossible)
    return {
      digits,
      doubt: `no number of its country has these digits. If WhatsApp uses it, pass ${digits}@s.whatsapp.net`,
    };
  return meant === undefined ? { digits } : { digits, meant };
}

/** Some countries drop the zero behind the country code, and some dial it. */
function readOptionalZero(compact: string): Reading {
  const [kept, dropped] = [withoutFormat(compact), withoutFormat(compact.replace('(0)', ''))];
  const { withoutTrunkPrefix } = plausibilityOf(kept);
  if (withoutTrunkPrefix !== undefined) return readDigits(withoutTrunkPrefix);
  const assigned = [kept, dropped].filter(isAssigned);
  const [only] = assigned;
  if (only !== undefined && assigned.length === 1) return readDigits(only);
  return { problem: 'it is not clear whether the number has the 0 of "(0)"; write it with or without the 0' };
}

/** Removes what is around a number in the addresses of links: `tel:…`, `whatsapp:…`, `https://wa.me/…`. */
function numberIn(text: string): string {
  const link = /^(?:https?:\/\/)?(?:www\.)?(?:wa\.me|api\.whatsapp\.com|web\.whatsapp\.com)\/|^whatsapp:\/\//i.test(
    text,
  );
  if (link)
    return (
      /^[^?#]*\/\+?(\d{5,15})\/?(?:[?#]|$)|[?&]phone=(?:\+|%2B)?(\d{5,15})(?:[&#]|$)/i
        .exec(text)
        ?.slice(1)
        .find(Boolean) ?? text
    );
  return text.replace(/^(?:tel|whatsapp|sms|callto):/i, '').replace(/;(?:phone-context=\+\d+|isub=[^;]*)/gi, '');
}

/** The text with the digits of any script as ASCII, and without the invisible marks that are copied along with it. */
const plain = (text: string) => withoutInvisible(asciiDigits(text.normalize('NFKC'))).text.trim();

const withoutFormat = (text: string) =>
  text
    .replace(/[\s().\-/\u00b7\u2010-\u2015\u2212]/g, '')
    .replace(/^\+/, '')
    .replace(/^00(?=[1-9])/, '');

/**
 * Returns the chat that `to` names: a group, or a phone number.
 * @throws {AppError} `validation_failed`
 */
export function recipientOf(to: string, field = 'to'): string {
  return isGroupId(to) ? to : phoneNumber(field, to);
}
