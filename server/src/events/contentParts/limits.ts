import { namesOf } from '../../objects.ts';

/* Limits of what a network reports, because a modified app can send anything. */

const NAME_CHARACTERS = 200;
const ID_CHARACTERS = 200;
const TEXT_CHARACTERS = 2048;
const URL_CHARACTERS = 2048;
const CURRENCY_CHARACTERS = 10;
/** The year 9999. Later times have another form in ISO 8601. */
const LAST_MOMENT = 253_402_300_799_999;

/** Does not split a surrogate pair. */
export const cut = (text: string, characters: number) => text.slice(0, characters).replace(/[\ud800-\udbff]$/, '');

/** Returns what is kept of each field; undefined for nothing. */
export type Limits<T> = { readonly [K in keyof T]-?: (value: NonNullable<T[K]>) => T[K] | undefined };

/** Copies the fields whose value the limit accepts. */
export function limited<T extends object>(part: T, limits: Limits<T>): T {
  const kept: Partial<T> = {};
  for (const name of namesOf(limits)) {
    const value = part[name];
    const within =
      value === undefined || value === null ? undefined : limits[name](value as NonNullable<T[typeof name]>);
    if (within !== undefined) kept[name] = within;
  }
  return kept as T;
}

export const characters = (longest: number) => (text: string) => cut(text, longest);
export const name = characters(NAME_CHARACTERS);
export const id = characters(ID_CHARACTERS);
export const longText = characters(TEXT_CHARACTERS);
export const currency = characters(CURRENCY_CHARACTERS);
export const linkText = characters(URL_CHARACTERS);
export const flag = (value: boolean) => value === true || undefined;
export const finite = (value: number) => (Number.isFinite(value) ? value : undefined);
export const count = (value: number) => (Number.isSafeInteger(value) && value >= 0 ? value : undefined);
export const moment = (value: number) => (value >= 0 && value <= LAST_MOMENT ? Math.trunc(value) : undefined);
export const digits = (value: string) => (/^\d{1,40}$/.test(value) ? value : undefined);
/** A truncated URL would be a different URL. */
export const url = (value: string) =>
  value.length <= URL_CHARACTERS && /^https?:\/\//i.test(value) ? value : undefined;
export const degrees = (most: number) => (value: number) => (Math.abs(value) <= most ? value : undefined);
/** An id that is compared. It is kept whole or not at all, because a truncated one could equal another. */
export const wholeId = (value: string) => (value !== '' && value.length <= ID_CHARACTERS ? value : undefined);
