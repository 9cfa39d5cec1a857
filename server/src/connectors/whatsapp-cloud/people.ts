import { cacheOf } from '../../cache.ts';
import { AppError } from '../../errors.ts';
import type { IdentityChange } from '../contract/events.ts';
import type { SessionHost, SessionStore } from '../contract/host.ts';
import type { NetworkChat } from '../contract/messageKey.ts';
import { isPlaceholder, isUserId, type NetworkPerson, placeholderOfUserId } from '../contract/people.ts';
import { movedChoice } from './marketing.ts';

/** Followed by the placeholder of a user id. */
const HIDDEN_PREFIX = 'hidden/';
/** Followed by the placeholder of a user id that only callers have passed. */
const NAMED_PREFIX = 'named/';
/** Followed by the number of a person with a user id. */
const SHOWN_PREFIX = 'shown/';
/** Followed by another form of a number. */
const FORM_PREFIX = 'form/';

/** Ids that lead to one another: a parent id, and the former ids of a person. */
const MAX_STEPS = 100;
/** Forms of numbers in memory, and in the store after a start. A chat under a form that is not among them is merged when Meta answers the next send. */
const FORMS = 20_000;
/** People whose stored ids need not be compared again. */
const MET = 5000;

type Host = Pick<SessionHost, 'store' | 'onEvent' | 'lastIncoming'>;

/** A user id of the store. */
interface Person {
  readonly userId: string;
  /** Current digits of the person: a number, or the placeholder for another id. */
  readonly phoneNumber?: string;
  readonly parentUserId?: string;
  readonly username?: string;
}

/** The ids of a person in a callback or an answer of Meta. */
export interface Ids {
  readonly userId: string;
  readonly parentUserId?: string | undefined;
  readonly username?: string | undefined;
  /** Name that the person chose. */
  readonly name?: string | undefined;
  /** Digits, unless the person hides the number. */
  readonly phoneNumber?: string | undefined;
}

/** A person's change of the number, the user id, or both. */
export interface Move {
  readonly formerNumber?: string | undefined;
  readonly formerUserId?: string | undefined;
  /** Undefined if the new number is hidden. */
  readonly phoneNumber?: string | undefined;
  readonly userId?: string | undefined;
  readonly parentUserId?: string | undefined;
}

/**
 * The people whom a number writes with. Meta identifies a person by a phone number, by a business-scoped user id
 * (BSUID), or by both, and a person can hide the number at any time. We identify people by digits, so a number made of
 * the id is the placeholder of a person whose number was never shown.
 */
export class People {
  readonly #host: Host;
  readonly #forms = cacheOf<string>(FORMS);
  readonly #met = cacheOf<string>(MET);
  /** Whether the store can have forms that are not in memory. */
  #isPartial = false;

  constructor(host: Host) {
    this.#host = host;
  }

  async start(): Promise<void> {
    const { store } = this.#host;
    const stored = [...(await store.list(FORM_PREFIX))];
    for (const [key, digits] of stored.slice(0, FORMS)) this.#forms.set(key.slice(FORM_PREFIX.length), digits);
    const excess = stored.slice(FORMS);
    if (excess.length > 0) await store.write(new Map(excess.map(([key]) => [key, null])));
  }

  /** Returns Meta's form of a number, if it differs. */
  formOf(phoneNumber: string): string | undefined {
    return this.#forms.get(phoneNumber);
  }

  /** Returns the current digits of a person. */
  async currentOf(digits: string): Promise<string> {
    return (await resolved(this.formOf(digits) ?? digits, this.#host.store)).digits;
  }

  /** Returns the number of a person if it was shown before, or else the placeholder. */
  async hide(userId: string): Promise<string> {
    const placeholder = placeholderOfUserId(userId);
    const { digits, person } = await resolved(placeholder, this.#host.store);
    if (person === undefined) await this.#keep(placeholder, { userId });
    return digits;
  }

  /** Stores the ids of a person. Whatever was stored under a placeholder or another form of the number is joined. */
  async meet({ userId, parentUserId, username, name, phoneNumber: given }: Ids): Promise<void> {
    if (!isUserId(userId)) return;
    const seen = JSON.stringify([given, parentUserId, username]);
    if (this.#met.get(userId) === seen) return;
    const placeholder = placeholderOfUserId(userId);
    const known = await findPerson(placeholder, this.#host.store);
    if (known !== undefined && (await this.#isFormer(known, given))) {
      this.#met.set(userId, seen);
      return;
    }
    const before = known?.phoneNumber;
    const isForm = given !== undefined && before !== undefined && this.formOf(given) === before;
    const phoneNumber = isForm ? before : given;
    const current = phoneNumber ?? before;
    if (phoneNumber !== undefined && before !== phoneNumber) await this.#show(placeholder, known, phoneNumber);
    const person: Person = {
      userId,
      ...(current !== undefined && { phoneNumber: current }),
      ...optional('parentUserId', parentUserId ?? known?.parentUserId),
      ...optional('username', username ?? known?.username),
    };
    if (JSON.stringify(person) !== JSON.stringify(known ?? {})) {
      await this.#report(person, placeholder, name);
      await this.#keep(placeholder, person);
    }
    if (parentUserId !== undefined) await this.#alias(parentUserId, placeholder, current ?? placeholder);
    this.#met.set(userId, seen);
  }

  /**
   * Joins a number that a message was sent to with the number that Meta answered. The one that
   * the person writes from stays, because the two can disagree.
   */
  async noteForm(sentTo: string, answered: string): Promise<void> {
    // The other direction is joined again: a message that waited is stored under the form that was typed.
    if (this.formOf(answered) === sentTo) return;
    const writes = async (phoneNumber: string) => (await this.#host.lastIncoming(phoneNumber)) !== null;
    const isKept = (await writes(sentTo)) && !(await writes(answered));
    await (isKept ? this.#joinForm(answered, sentTo) : this.#joinForm(sentTo, answered));
  }

  /** Separates a number from the person who had it before, because someone writes from it. */
  async noteSender(phoneNumber: string): Promise<void> {
    const { store } = this.#host;
    const key = FORM_PREFIX + phoneNumber;
    if (this.formOf(phoneNumber) === undefined && !(this.#isPartial && (await store.get(key)) !== undefined)) return;
    await store.delete(key);
    this.#forms.delete(phoneNumber);
    this.#met.clear();
  }

  /**
   * Moves everything of a person to the new number or id. New messages to the former number still go to that number,
   * because it can belong to another person by then.
   */
  async move({ formerNumber, userId, parentUserId, phoneNumber: shown, ...move }: Move): Promise<void> {
    const { store } = this.#host;
    const given = move.formerUserId ?? (formerNumber && (await ownerOf(formerNumber, store))?.userId);
    const formerUserId = given === userId ? undefined : given;
    const formerPlaceholder = formerUserId ? placeholderOfUserId(formerUserId) : undefined;
    const known = formerPlaceholder ? await findPerson(formerPlaceholder, store) : undefined;
    const phoneNumber = shown ?? (userId && placeholderOfUserId(userId));
    if (!phoneNumber) return;
    if (userId && formerPlaceholder) await this.#restore(userId, formerPlaceholder);
    const isSameNumber = phoneNumber === formerNumber || phoneNumber === known?.phoneNumber;
    const change = {
      ...(!isSameNumber && { numberChanged: true as const }),
      ...optional('userId', userId),
      ...optional('previousUserId', formerUserId),
    };
    for (const digits of new Set([formerNumber, known?.phoneNumber, formerPlaceholder]))
      if (digits && digits !== phoneNumber) await this.#join(digits, phoneNumber, change);
    if (userId) await this.meet({ userId, parentUserId, phoneNumber: shown, username: known?.username });
    if (!formerUserId || !formerPlaceholder) return;
    this.#met.delete(formerUserId);
    // A number can pass to another person, so the former id leads to the new one.
    const current = userId === undefined ? phoneNumber : placeholderOfUserId(userId);
    await this.#keep(formerPlaceholder, { ...known, userId: formerUserId, phoneNumber: current });
  }

  /**
   * Returns the recipient of a message, in the fields of `POST /{phone number id}/messages`.
   * @throws {AppError} `recipient_not_on_network` for an unknown placeholder
   */
  async addressOf(chat: NetworkChat): Promise<Readonly<Record<string, string>>> {
    if (chat.type === 'group') return { recipient_type: 'group', to: chat.id };
    const { digits, person } = await resolved(chat.id, this.#host.store);
    const recipient_type = 'individual';
    if (!isPlaceholder(digits)) return { recipient_type, to: digits };
    if (person === undefined)
      throw new AppError(
        'recipient_not_on_network',
        'This placeholder for a hidden phone number is unknown; copy it from a message that the person sent',
      );
    return { recipient_type, recipient: person.userId };
  }

  /** Joins what is stored under the placeholder, or under another number of the same id, to the number. */
  async #show(placeholder: string, known: Person | undefined, phoneNumber: string): Promise<void> {
    await this.#release(phoneNumber, placeholder);
    if (known !== undefined) await this.#join(known.phoneNumber ?? placeholder, phoneNumber);
    else await this.#reportMet(placeholder, phoneNumber);
  }

  /** Reports the digits of a person who is new to the session: the account can have keys and filters with the id. */
  async #reportMet(placeholder: string, phoneNumber: string): Promise<void> {
    await this.#host.onEvent({ type: 'identified', standIn: placeholder, phoneNumber });
  }

  /** Makes a former id the present one again if it leads to the given id. Otherwise, both would lead to each other. */
  async #restore(userId: string, leadsTo: string): Promise<void> {
    const { store } = this.#host;
    const placeholder = placeholderOfUserId(userId);
    const known = await findPerson(placeholder, store);
    if (known === undefined) return;
    const { phoneNumber: next, ...person } = known;
    if (next === undefined || !(await pathOf(next, store)).some(({ digits }) => digits === leadsTo)) return;
    await this.#keep(placeholder, person);
    this.#met.delete(userId);
  }

  /** Takes a number from the person who had it before. */
  async #release(phoneNumber: string, placeholder: string): Promise<void> {
    const { store } = this.#host;
    const owner = await ownerOf(phoneNumber, store);
    if (owner === undefined || placeholderOfUserId(owner.userId) === placeholder) return;
    const { phoneNumber: _, ...person } = owner;
    await store.delete(SHOWN_PREFIX + phoneNumber);
    await this.#keep(placeholderOfUserId(owner.userId), person);
    this.#met.delete(owner.userId);
  }

  /** Joins another form of a number with the number, and lets what is sent to the form go there. */
  async #joinForm(digits: string, phoneNumber: string): Promise<void> {
    const forms = new Map([[digits, phoneNumber]]);
    for (const [form, meant] of this.#forms.entries()) if (meant === digits) forms.set(form, phoneNumber);
    forms.delete(phoneNumber);
    for (const [form, meant] of forms) this.#forms.set(form, meant);
    this.#isPartial ||= this.#forms.size >= FORMS;
    try {
      await this.#join(digits, phoneNumber, undefined, forms);
    } catch (error) {
      for (const form of forms.keys())
        if (form === digits) this.#forms.delete(form);
        else this.#forms.set(form, digits);
      throw error;
    }
  }

  /** Reports that digits belong to a person with other digits. */
  async #join(
    digits: string,
    phoneNumber: string,
    change?: IdentityChange,
    forms: ReadonlyMap<string, string> = new Map(),
  ): Promise<void> {
    const { store, onEvent } = this.#host;
    this.#forms.delete(phoneNumber);
    await onEvent({ type: 'identified', standIn: digits, phoneNumber, ...(change && { change }) });
    // Last: if storing it fails, it is reported again with the next message.
    await store.write(
      new Map([
        [FORM_PREFIX + phoneNumber, null],
        ...[...forms].map(([form, meant]) => [FORM_PREFIX + form, meant] as const),
        ...(await movedChoice(digits, phoneNumber, store)),
      ]),
    );
  }

  /** Returns whether an id leads to another id, and a message with it shows nothing new. */
  async #isFormer({ phoneNumber }: Person, shown: string | undefined): Promise<boolean> {
    if (phoneNumber === undefined || !isPlaceholder(phoneNumber)) return false;
    return shown === undefined || (await resolved(phoneNumber, this.#host.store)).digits === shown;
  }

  /**
   * Lets another id lead to a person: to the main id, because the number can pass to another person.
   * @param owner placeholder of the main id
   * @param digits present number of the person, or `owner`
   */
  async #alias(userId: string, owner: string, digits: string): Promise<void> {
    const placeholder = placeholderOfUserId(userId);
    const known = await findPerson(placeholder, this.#host.store);
    if (!isUserId(userId) || known?.phoneNumber === owner || placeholder === owner) return;
    if (known?.phoneNumber === undefined) await this.#reportMet(placeholder, digits);
    const { store } = this.#host;
    const person = JSON.stringify({ ...known, userId, phoneNumber: owner });
    const choice = await movedChoice(placeholder, digits, store);
    await store.write(new Map([[HIDDEN_PREFIX + placeholder, person], ...choice]));
  }

  /** Reports the name together with the ids, so that the message that shows both changes the contact once. */
  async #report({ userId, username, phoneNumber }: Person, placeholder: string, name: string | undefined) {
    const ids = { userId, ...optional('username', username), ...optional('name', name) };
    await this.#host.onEvent({ type: 'contact_ids', phoneNumber: phoneNumber ?? placeholder, ...ids });
  }

  async #keep(placeholder: string, person: Person): Promise<void> {
    const { phoneNumber, userId } = person;
    const isShown = phoneNumber !== undefined && !isPlaceholder(phoneNumber);
    await this.#host.store.write(
      new Map([
        [HIDDEN_PREFIX + placeholder, JSON.stringify(person)],
        ...(isShown ? ([[SHOWN_PREFIX + phoneNumber, userId]] as const) : []),
      ]),
    );
  }
}

/** Stores a user id that a caller passes. It has a separate key, because a callback can store more about the person at the same time. */
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
async function resolved(
  digits: string,
  store: Pick<SessionStore, 'get'>,
): Promise<{ readonly digits: string; readonly person: Person | undefined }> {
  const path = await pathOf(digits, store);
  return { digits: path.at(-1)?.digits ?? digits, person: path.findLast(({ person }) => person !== undefined)?.person };
}

/** Returns the digits that lead from a placeholder to the current digits of the person, which are the last. */
async function pathOf(digits: string, store: Pick<SessionStore, 'get'>) {
  const path: { readonly digits: string; readonly person: Person | undefined }[] = [];
  for (let next: string | undefined = digits; next !== undefined && path.length <= MAX_STEPS; ) {
    const person: Person | undefined = isPlaceholder(next) ? await findPerson(next, store) : undefined;
    path.push({ digits: next, person });
    next = person?.phoneNumber;
  }
  return path;
}

/** Returns the person who has a number; undefined if none is known. The entry stays when the person takes another number. */
async function ownerOf(phoneNumber: string, store: Pick<SessionStore, 'get'>): Promise<Person | undefined> {
  const userId = await store.get(SHOWN_PREFIX + phoneNumber);
  const person = userId === undefined ? undefined : await findPerson(placeholderOfUserId(userId), store);
  return person?.phoneNumber === phoneNumber ? person : undefined;
}

async function findPerson(placeholder: string, store: Pick<SessionStore, 'get'>): Promise<Person | undefined> {
  const text = await store.get(HIDDEN_PREFIX + placeholder);
  if (text !== undefined) return JSON.parse(text);
  const userId = await store.get(NAMED_PREFIX + placeholder);
  return userId === undefined ? undefined : { userId };
}

const optional = <K extends string>(name: K, value: string | undefined) =>
  (value === undefined ? {} : { [name]: value }) as { readonly [key in K]?: string };
