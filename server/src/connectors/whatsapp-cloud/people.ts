import { createHash } from 'node:crypto';
import { AppError } from '../../errors.ts';
import type { SessionStore } from '../contract/host.ts';
import type { NetworkChat } from '../contract/messageKey.ts';
import { isPlaceholder, type NetworkPerson } from '../contract/people.ts';

const HIDDEN_PREFIX = 'hidden/';
/** Followed by the number of a person who hid it before. */
const SHOWN_PREFIX = 'shown/';
const DIGITS = 20;

interface Person {
  readonly userId: string;
  readonly phoneNumber?: string;
}

/**
 * People who hide their phone number. Meta identifies such a person by an id such as `US.13491208655302741918`. We
 * identify people by digits, so a number made of the id is the placeholder of the person until the real one is shown.
 */
export class People {
  readonly #store: SessionStore;

  constructor(store: SessionStore) {
    this.#store = store;
  }

  /** Returns the real number if it was shown before, or else the placeholder. */
  async hide(userId: string): Promise<string> {
    const placeholder = placeholderFor(userId);
    const known = await this.#find(placeholder);
    if (known === undefined) await this.#keep(placeholder, { userId });
    return known?.phoneNumber ?? placeholder;
  }

  /** Returns the current placeholder of a person; undefined if there is none. */
  async placeholderOf(userId: string): Promise<string | undefined> {
    const placeholder = placeholderFor(userId);
    const known = await this.#find(placeholder);
    return known !== undefined && known.phoneNumber === undefined ? placeholder : undefined;
  }

  async show(placeholder: string, phoneNumber: string): Promise<void> {
    const known = await this.#find(placeholder);
    if (known === undefined) return;
    const person: Person = { ...known, phoneNumber };
    await this.#store.write(
      new Map([
        [HIDDEN_PREFIX + placeholder, JSON.stringify(person)],
        [SHOWN_PREFIX + phoneNumber, known.userId],
      ]),
    );
  }

  /**
   * Returns the recipient of a message, in the fields of `POST /{phone number id}/messages`.
   * @throws {AppError} `recipient_not_on_network` for an unknown placeholder
   */
  async addressOf({ type, id }: NetworkChat): Promise<Readonly<Record<string, string>>> {
    if (type === 'group') return { recipient_type: 'group', to: id };
    if (!isPlaceholder(id)) return { recipient_type: 'individual', to: id };
    const person = await this.#find(id);
    if (person === undefined)
      throw new AppError(
        'recipient_not_on_network',
        'This placeholder for a hidden phone number is unknown; copy it from a message that the person sent',
      );
    const { userId, phoneNumber } = person;
    const recipient_type = 'individual';
    return phoneNumber === undefined ? { recipient_type, recipient: userId } : { recipient_type, to: phoneNumber };
  }

  #find(placeholder: string): Promise<Person | undefined> {
    return findHidden(placeholder, this.#store);
  }

  #keep(placeholder: string, person: Person): Promise<void> {
    return this.#store.set(HIDDEN_PREFIX + placeholder, JSON.stringify(person));
  }
}

/** Looks up a person by number or placeholder. Ids of people who never hid their number are not stored. */
export async function storedPerson(digits: string, store: Pick<SessionStore, 'get'>): Promise<NetworkPerson> {
  const hidden = isPlaceholder(digits) ? await findHidden(digits, store) : undefined;
  const phoneNumber = isPlaceholder(digits) ? hidden?.phoneNumber : digits;
  const userId = hidden?.userId ?? (await store.get(SHOWN_PREFIX + digits));
  return {
    phoneNumber: phoneNumber ?? digits,
    networkIds: [phoneNumber, userId].filter((id) => id !== undefined),
  };
}

async function findHidden(placeholder: string, store: Pick<SessionStore, 'get'>): Promise<Person | undefined> {
  const text = await store.get(HIDDEN_PREFIX + placeholder);
  return text === undefined ? undefined : JSON.parse(text);
}

function placeholderFor(userId: string): string {
  const hash = createHash('sha256').update(userId).digest('hex');
  return `000${BigInt(`0x${hash}`).toString().slice(-DIGITS)}`;
}
