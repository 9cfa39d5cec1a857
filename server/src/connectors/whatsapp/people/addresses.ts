import { isStandIn, type NetworkChat, type SessionStore } from '../../connector.ts';
import type { Baileys } from '../link/load.ts';

/*
 * The network knows a person by a phone number and by a LID, a number that shows nothing of it. Either may stand on a
 * message. We know people by phone numbers alone; who hides it goes by a stand-in made of the LID, until the number
 * becomes known, and then all of it is theirs.
 */

const PERSON = 's.whatsapp.net';
const STAND_IN = '000';
const HIDDEN_PREFIX = 'hidden/';

/** What is known of which LID is whose. */
export interface LidMapping {
  getPNForLID(lid: string): Promise<string | null>;
}

export interface Addresses {
  start(): Promise<void>;
  /**
   * Digits of a person, or the stand-in.
   * @param alternative the person's other address, where the network has said it
   */
  digitsOf(jid: string, alternative?: string | null): Promise<string>;
  chatOf(jid: string, alternative?: string | null): Promise<NetworkChat>;
  /** Whether these digits stand in for somebody. */
  isHidden(digits: string): boolean;
}

/** @param onIdentified a stand-in that was used has got its number */
export function createAddresses(
  { jidDecode, isLidUser, isJidGroup }: Baileys,
  {
    lids,
    store,
    onIdentified,
  }: {
    lids: LidMapping;
    store: SessionStore;
    onIdentified: (standIn: string, phoneNumber: string) => Promise<void>;
  },
): Addresses {
  /** LIDs that a stand-in was used for. */
  const hidden = new Set<string>();
  const userOf = (jid: string) => jidDecode(jid)?.user ?? jid;

  async function digitsOf(address: string, alternative?: string | null): Promise<string> {
    const jid = unhosted(address);
    if (!isLidUser(jid)) return userOf(jid);
    const lid = userOf(jid);
    const isSaid = alternative !== undefined && alternative !== null && !isLidUser(unhosted(alternative));
    const known = isSaid ? alternative : await lids.getPNForLID(jid);
    if (known === null) {
      if (!hidden.has(lid)) {
        await store.set(HIDDEN_PREFIX + lid, '');
        hidden.add(lid);
      }
      return STAND_IN + lid;
    }
    const digits = userOf(known);
    if (hidden.has(lid)) {
      // Forgotten last: when storing it fails, it is told again with the next message.
      await onIdentified(STAND_IN + lid, digits);
      await store.delete(HIDDEN_PREFIX + lid);
      hidden.delete(lid);
    }
    return digits;
  }

  return {
    async start() {
      for (const key of (await store.list(HIDDEN_PREFIX)).keys()) hidden.add(key.slice(HIDDEN_PREFIX.length));
    },
    digitsOf,
    async chatOf(jid, alternative) {
      if (isJidGroup(jid)) return { type: 'group', id: jid };
      return { type: 'direct', id: await digitsOf(jid, alternative) };
    },
    isHidden: (digits) => isStandIn(digits) && hidden.has(digits.slice(STAND_IN.length)),
  };
}

/** A business that has its messages answered at Meta (`hosted`) writes from other addresses, and is the same one. */
export const unhosted = (jid: string): string => jid.replace(/@hosted\.lid$/, '@lid').replace(/@hosted$/, `@${PERSON}`);

/** The address of a person. */
export const jidOf = (digits: string): string =>
  isStandIn(digits) ? `${digits.slice(STAND_IN.length)}@lid` : `${digits}@${PERSON}`;

export const jidOfChat = ({ type, id }: NetworkChat): string => (type === 'group' ? id : jidOf(id));
