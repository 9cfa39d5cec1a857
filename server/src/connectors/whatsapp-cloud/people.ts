import { createHash } from 'node:crypto';
import { AppError } from '../../errors.ts';
import { isStandIn, type NetworkChat, type SessionStore } from '../connector.ts';

/*
 * Meta knows who keeps the phone number secret by an id such as `US.13491208655302741918`. Everybody else knows people
 * by digits, so a number made of the id stands in for them, until they show the real one.
 */

const HIDDEN_PREFIX = 'hidden/';
const DIGITS = 20;

export interface People {
  /** The number of somebody whom Meta calls by an id here: the real one where it was shown before, or one that stands in. */
  hide(userId: string): Promise<string>;
  /** The number that stood in for somebody until now; undefined when none did. */
  hiddenAs(userId: string): Promise<string | undefined>;
  /** The number of somebody is known from now on. */
  show(standIn: string, phoneNumber: string): Promise<void>;
  /**
   * Whom a message is for, in the fields of `POST /{phone number id}/messages`.
   * @throws {AppError} `recipient_not_on_network` for a number that stands in for nobody
   */
  addressOf(chat: NetworkChat): Promise<Readonly<Record<string, string>>>;
}

interface Person {
  readonly userId: string;
  readonly phoneNumber?: string;
}

export function createPeople(store: SessionStore): People {
  async function find(standIn: string): Promise<Person | undefined> {
    const text = await store.get(HIDDEN_PREFIX + standIn);
    return text === undefined ? undefined : JSON.parse(text);
  }

  const keep = (standIn: string, person: Person) => store.set(HIDDEN_PREFIX + standIn, JSON.stringify(person));

  return {
    async hide(userId) {
      const standIn = standInFor(userId);
      const known = await find(standIn);
      if (known === undefined) await keep(standIn, { userId });
      return known?.phoneNumber ?? standIn;
    },
    async hiddenAs(userId) {
      const standIn = standInFor(userId);
      const known = await find(standIn);
      return known !== undefined && known.phoneNumber === undefined ? standIn : undefined;
    },
    async show(standIn, phoneNumber) {
      const known = await find(standIn);
      if (known !== undefined) await keep(standIn, { ...known, phoneNumber });
    },
    async addressOf({ type, id }): Promise<Record<string, string>> {
      if (type === 'group') return { recipient_type: 'group', to: id };
      if (!isStandIn(id)) return { recipient_type: 'individual', to: id };
      const person = await find(id);
      if (person === undefined)
        throw new AppError(
          'recipient_not_on_network',
          'This placeholder for a hidden number is unknown; use the one from a message of that person',
        );
      const { userId, phoneNumber } = person;
      return {
        recipient_type: 'individual',
        ...(phoneNumber === undefined ? { recipient: userId } : { to: phoneNumber }),
      };
    },
  };
}

function standInFor(userId: string): string {
  const hash = createHash('sha256').update(userId).digest('hex');
  return `000${BigInt(`0x${hash}`).toString().slice(-DIGITS)}`;
}
