import type { SessionStore } from '../contract/host.ts';
import { isPlaceholder, type NetworkPerson, placeholderOfUserId } from '../contract/people.ts';

/** Followed by the placeholder of a user id. */
export const HIDDEN_PREFIX = 'hidden/';
/** Followed by the placeholder of a user id that only callers have passed. */
const NAMED_PREFIX = 'named/';
/** Followed by the number of a person with a user id. Its value is the id, and the time of the statement. */
export const SHOWN_PREFIX = 'shown/';

/** Ids that lead to one another: a parent id, and the former ids of a person. */
const MAX_STEPS = 100;

/** A user id of the store. */
export interface Person {
  readonly userId: string;
  /** Current digits of the person: a number, or the placeholder for another id. */
  readonly phoneNumber?: string;
  readonly parentUserId?: string;
  readonly username?: string;
  /** Time of the statement with the number; undefined if that is unknown. */
  readonly at?: number;
}

/**
 * Stores a user id that a caller passes. It has a separate key, because a callback can store more about the person at
 * the same time.
 */
export async function nameUser(userId: string, store: Pick<SessionStore, 'get' | 'set'>): Promise<boolean> {
  const placeholder = placeholderOfUserId(userId);
  if ((await findPerson(placeholder, store)) !== undefined) return false;
  await store.set(NAMED_PREFIX + placeholder, userId);
  return true;
}

/** Looks up a person by number or placeholder. */
export async function storedPerson(digits: string, store: Pick<SessionStore, 'get'>): Promise<NetworkPerson> {
  const { digits: phoneNumber, person: ofId } = await resolved(digits, store);
  const person = (isPlaceholder(phoneNumber) ? undefined : await ownerOf(phoneNumber, store)) ?? ofId;
  const ids = [isPlaceholder(phoneNumber) ? undefined : phoneNumber, person?.userId, person?.parentUserId];
  return {
    phoneNumber,
    networkIds: ids.filter((id) => id !== undefined),
    ...optional('userId', person?.userId),
    ...optional('username', person?.username),
  };
}

/** Follows a placeholder to the current digits of the person. */
export async function resolved(
  digits: string,
  store: Pick<SessionStore, 'get'>,
): Promise<{ readonly digits: string; readonly person: Person | undefined }> {
  const path = await pathOf(digits, store);
  return { digits: path.at(-1)?.digits ?? digits, person: path.findLast(({ person }) => person !== undefined)?.person };
}

/** Returns the digits that lead from a placeholder to the current digits of the person, which are the last. */
export async function pathOf(digits: string, store: Pick<SessionStore, 'get'>) {
  const path: { readonly digits: string; readonly person: Person | undefined }[] = [];
  for (let next: string | undefined = digits; next !== undefined && path.length <= MAX_STEPS; ) {
    const person: Person | undefined = isPlaceholder(next) ? await findPerson(next, store) : undefined;
    path.push({ digits: next, person });
    next = person?.phoneNumber;
  }
  return path;
}

/**
 * Returns the person who has a number; undefined if none is known. The entry stays when the person takes another
 * number.
 */
export async function ownerOf(phoneNumber: string, store: Pick<SessionStore, 'get'>): Promise<Person | undefined> {
  const shown = await shownAs(phoneNumber, store);
  const person = shown && (await findPerson(placeholderOfUserId(shown.userId), store));
  return person?.phoneNumber === phoneNumber ? person : undefined;
}

/** Returns the last id that a number was shown with. Versions before this one stored no time. */
export async function shownAs(phoneNumber: string, store: Pick<SessionStore, 'get'>) {
  const text = await store.get(SHOWN_PREFIX + phoneNumber);
  if (text === undefined) return undefined;
  const [userId = '', at = '0'] = text.split(' ');
  return { userId, at: Number(at) };
}

export async function findPerson(placeholder: string, store: Pick<SessionStore, 'get'>): Promise<Person | undefined> {
  const text = await store.get(HIDDEN_PREFIX + placeholder);
  if (text !== undefined) return JSON.parse(text);
  const userId = await store.get(NAMED_PREFIX + placeholder);
  return userId === undefined ? undefined : { userId };
}

export const optional = <K extends string>(name: K, value: string | undefined) =>
  (value === undefined ? {} : { [name]: value }) as { readonly [key in K]?: string };
