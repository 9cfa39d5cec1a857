import { cacheOf } from '../../cache.ts';
import { AppError } from '../../errors.ts';
import type { IdentityChange } from '../contract/events.ts';
import type { SessionHost } from '../contract/host.ts';
import type { NetworkChat } from '../contract/messageKey.ts';
import { isPlaceholder, isUserId, placeholderOfUserId } from '../contract/people.ts';
import { movedChoice } from './marketing.ts';
import {
  findPerson,
  HIDDEN_PREFIX,
  optional,
  ownerOf,
  type Person,
  pathOf,
  resolved,
  SHOWN_PREFIX,
  shownAs,
} from './storedPeople.ts';

/** Followed by another form of a number. */
const FORM_PREFIX = 'form/';

/**
 * Forms of numbers in memory, and in the store after a start. A chat under a form that is not among them is merged when
 * Meta answers the next send.
 */
const FORMS = 20_000;
/** People whose stored ids need not be compared again. */
const MET = 5000;
/** A newer time of the same number is stored only after this interval. */
const TIME_INTERVAL_MS = 60_000;
/** A notice counts from the end of its second, because a message of the same second can be repeated after it. */
const END_OF_SECOND_MS = 999;

type Host = Pick<SessionHost, 'store' | 'onEvent' | 'lastIncoming' | 'phoneNumber'>;

/** The ids in memory of a person whose stored ids are the same. */
interface Met {
  readonly seen: string;
  readonly phoneNumber: string | undefined;
  readonly at: number;
  readonly storedAt: number;
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
  /** Time of the statement. An older one does not undo a newer one. */
  readonly at: number;
  /** Whether the number can be a former one: a status has the number that the message was sent to. */
  readonly isOfPast?: boolean;
}

/** Returns the time of an answer of Meta, in whole seconds like its callbacks. */
export const presentTime = ({ clock }: Pick<SessionHost, 'clock'>): number => Math.floor(clock.now() / 1000) * 1000;

/** A person's change of the number, the user id, or both. */
export interface Move {
  readonly formerNumber?: string | undefined;
  readonly formerUserId?: string | undefined;
  /** Undefined if the new number is hidden. */
  readonly phoneNumber?: string | undefined;
  readonly userId?: string | undefined;
  readonly parentUserId?: string | undefined;
  readonly at: number;
}

/**
 * The people whom a number writes with. Meta identifies a person by a phone number, by a business-scoped user id
 * (BSUID), or by both, and a person can hide the number at any time. We identify people by digits, so a number made of
 * the id is the placeholder of a person whose number was never shown.
 */
export class People {
  readonly #host: Host;
  readonly #forms = cacheOf<string>(FORMS);
  readonly #met = cacheOf<Met>(MET);
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

  /**
   * Returns the digits of a person in a callback with an id and a number. They differ from that number if a newer
   * statement gives another one.
   */
  async digitsOf(userId: string, stated: string): Promise<string> {
    if (this.#met.get(userId)?.phoneNumber === stated) return stated;
    const { digits, person } = await resolved(placeholderOfUserId(userId), this.#host.store);
    return person === undefined || this.formOf(stated) === digits ? stated : digits;
  }

  /**
   * Stores the ids of a person. Whatever was stored under a placeholder or another form of the number is joined. A
   * number that a newer statement contradicts is ignored.
   */
  async meet({ userId, parentUserId, username, name, phoneNumber: stated, at, isOfPast = false }: Ids): Promise<void> {
    if (!isUserId(userId)) return;
    const seen = JSON.stringify([stated, parentUserId, username]);
    const met = this.#met.get(userId);
    if (met?.seen === seen && at < met.storedAt + TIME_INTERVAL_MS) {
      if (at > met.at) this.#met.set(userId, { ...met, at });
      return;
    }
    const placeholder = placeholderOfUserId(userId);
    const known = await findPerson(placeholder, this.#host.store);
    const knownAt = Math.max(known?.at ?? 0, met?.at ?? 0);
    const isOlder = at < knownAt && stated !== known?.phoneNumber;
    const isContradicted =
      stated !== undefined &&
      (isOlder || stated === this.#host.phoneNumber || (await this.#isTaken(stated, [userId], known, at, isOfPast)));
    const given = isContradicted ? undefined : stated;
    const time = given === undefined ? knownAt : Math.max(at, knownAt);
    const remember = (storedAt: number) => {
      if (!isContradicted) this.#met.set(userId, { seen, phoneNumber: given, at: time, storedAt });
    };
    if (known !== undefined && (await this.#isFormer(known, given))) return remember(at);
    const before = known?.phoneNumber;
    const isForm = given !== undefined && before !== undefined && this.formOf(given) === before;
    const phoneNumber = isForm ? before : given;
    const current = phoneNumber ?? before;
    if (phoneNumber !== undefined && before !== phoneNumber) await this.#show(placeholder, known, phoneNumber);
    const ids: Person = {
      userId,
      ...(current !== undefined && { phoneNumber: current }),
      ...optional('parentUserId', parentUserId ?? known?.parentUserId),
      ...optional('username', (isOlder ? known?.username : undefined) ?? username ?? known?.username),
    };
    const { at: storedAt = 0, ...knownIds } = known ?? {};
    const isChanged = JSON.stringify(ids) !== JSON.stringify(knownIds);
    const isStored = isChanged || time >= storedAt + TIME_INTERVAL_MS;
    if (isChanged) await this.#report(ids, placeholder, name);
    if (isStored) await this.#keep(placeholder, { ...ids, ...(time > 0 && { at: time }) });
    if (parentUserId !== undefined) await this.#alias(parentUserId, placeholder, current ?? placeholder);
    remember(given === undefined ? Number.POSITIVE_INFINITY : isStored ? time : storedAt);
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
  async move({ formerNumber, userId, parentUserId, phoneNumber: stated, at: second, ...move }: Move): Promise<void> {
    const { store } = this.#host;
    if (stated !== undefined && stated === this.#host.phoneNumber) return;
    const at = second + END_OF_SECOND_MS;
    const owner = formerNumber ? await ownerOf(formerNumber, store) : undefined;
    const present = userId ? await findPerson(placeholderOfUserId(userId), store) : undefined;
    // An id that was known before the change is no new one.
    const isKnown =
      present?.at !== undefined && (move.formerUserId === userId ? present.at <= at : present.at < second);
    const named = move.formerUserId === userId ? undefined : move.formerUserId;
    const ownerId = owner && (owner.at ?? 0) <= at ? owner.userId : undefined;
    const given = named ?? (isKnown ? userId : ownerId);
    const formerUserId = given === userId ? undefined : given;
    const formerPlaceholder = formerUserId ? placeholderOfUserId(formerUserId) : undefined;
    const known = formerPlaceholder ? await findPerson(formerPlaceholder, store) : undefined;
    const id = userId ?? given;
    const isOlder = ((userId ? present : known)?.at ?? 0) > at;
    if (isOlder && (given === undefined || given === id)) return;
    const isTaken =
      isOlder || (stated !== undefined && (await this.#isTaken(stated, [id, given], undefined, at, false)));
    const shown = isTaken ? undefined : stated;
    const hidden = userId && placeholderOfUserId(userId);
    const phoneNumber = shown ?? (isOlder && hidden ? (await resolved(hidden, store)).digits : hidden);
    if (!phoneNumber) return;
    const isOfOther = owner !== undefined && !(await this.#isOf(owner, [given, userId]));
    const left = isOfOther ? undefined : formerNumber;
    if (userId && formerPlaceholder) await this.#restore(userId, formerPlaceholder);
    const next = shown ? await ownerOf(shown, store) : undefined;
    if (shown && id && next !== undefined && !(await this.#isOf(next, [given, userId])))
      await this.#release(shown, placeholderOfUserId(id));
    const isSameNumber = phoneNumber === formerNumber || phoneNumber === known?.phoneNumber;
    const change = {
      ...(!isSameNumber && { numberChanged: true as const }),
      ...optional('userId', userId),
      ...optional('previousUserId', formerUserId),
    };
    for (const digits of new Set([left, known?.phoneNumber, formerPlaceholder]))
      if (digits && digits !== phoneNumber) await this.#join(digits, phoneNumber, change);
    if (left && id && left !== phoneNumber) await store.set(SHOWN_PREFIX + left, `${id} ${second}`);
    if (formerUserId && formerPlaceholder) {
      this.#met.delete(formerUserId);
      // A number can pass to another person, so the former id leads to the new one. First, so that its number is free.
      const current = userId === undefined ? phoneNumber : placeholderOfUserId(userId);
      await this.#keep(formerPlaceholder, { ...known, userId: formerUserId, phoneNumber: current, at });
    }
    if (userId) await this.meet({ userId, parentUserId, phoneNumber: shown, username: known?.username, at });
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
    const { phoneNumber: next, at: _, ...person } = known;
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
    const hidden = placeholderOfUserId(owner.userId);
    // A choice about marketing is the person's, and not the number's.
    const choice = await movedChoice(phoneNumber, hidden, store);
    await store.write(new Map([[SHOWN_PREFIX + phoneNumber, null], ...choice]));
    await this.#keep(hidden, person);
    this.#met.delete(owner.userId);
  }

  /**
   * Returns whether a statement with a number is contradicted by a newer one about the number: it has passed to another
   * person, or a status has the number that this person had before.
   */
  async #isTaken(
    phoneNumber: string,
    ids: readonly (string | undefined)[],
    known: Person | undefined,
    at: number,
    isOfPast: boolean,
  ): Promise<boolean> {
    const shown = await shownAs(phoneNumber, this.#host.store);
    if (shown === undefined) return false;
    if (ids.includes(shown.userId)) return isOfPast && known?.phoneNumber !== phoneNumber;
    const last = await findPerson(placeholderOfUserId(shown.userId), this.#host.store);
    if (ids.some((id) => id !== undefined && last?.phoneNumber === placeholderOfUserId(id))) return false;
    const met = this.#met.get(shown.userId);
    const latest = Math.max(shown.at, met?.phoneNumber === phoneNumber ? met.at : 0);
    return isOfPast || Math.floor(latest / 1000) * 1000 > at;
  }

  /** Returns whether one of the ids belongs to the owner of a number, or leads to the number. */
  async #isOf({ userId, phoneNumber }: Person, ids: readonly (string | undefined)[]): Promise<boolean> {
    for (const id of ids)
      if (id !== undefined) {
        const isLinked = (await resolved(placeholderOfUserId(id), this.#host.store)).digits === phoneNumber;
        if (id === userId || isLinked) return true;
      }
    return false;
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
    const { phoneNumber, userId, at = 0 } = person;
    const isShown = phoneNumber !== undefined && !isPlaceholder(phoneNumber);
    await this.#host.store.write(
      new Map([
        [HIDDEN_PREFIX + placeholder, JSON.stringify(person)],
        ...(isShown ? ([[SHOWN_PREFIX + phoneNumber, `${userId} ${at}`]] as const) : []),
      ]),
    );
  }
}
