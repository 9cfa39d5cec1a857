import { parsePhoneNumberFromString } from 'libphonenumber-js/min';
import { cacheOf } from './cache.ts';

/**
 * The judgment of the numbering plans. It concerns only what a person types: networks keep forms that a plan no
 * longer has, such as `5215512345678` (Mexico) and `22997123456` (Benin).
 */
export interface Plausibility {
  /** Whether a network could dial the digits. */
  readonly isPossible: boolean;
  /** The same number without the prefix of domestic calls behind the country code, such as the 0 of `4901701234567`. */
  readonly withoutTrunkPrefix: string | undefined;
}

/** Parsing a number costs some 10 µs, and the same numbers recur. */
const REMEMBERED = 20_000;
const remembered = cacheOf<Plausibility>(REMEMBERED);

/** @param digits a phone number in international form without a plus */
export function plausibilityOf(digits: string): Plausibility {
  const known = remembered.get(digits);
  if (known !== undefined) return known;
  const parsed = parsePhoneNumberFromString(`+${digits}`);
  const isPossible = parsed?.isPossible() === true;
  const shortened = parsed?.number.slice(1);
  // Behind one prefix there may be another, such as in `+49 00170 1234567`.
  const hasPrefix = isPossible && shortened !== undefined && shortened.length < digits.length;
  const withoutTrunkPrefix = hasPrefix ? (plausibilityOf(shortened).withoutTrunkPrefix ?? shortened) : undefined;
  const plausibility = { isPossible, withoutTrunkPrefix };
  remembered.set(digits, plausibility);
  return plausibility;
}

/** Whether the numbering plan of the country assigns the number. Stricter than `isPossible`. */
export const isAssigned = (digits: string): boolean => parsePhoneNumberFromString(`+${digits}`)?.isValid() === true;
