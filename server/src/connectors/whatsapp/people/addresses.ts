import type { BinaryNode, WASocket } from 'baileys';
import { LRUCache } from 'lru-cache';
import { AppError } from '../../../errors.ts';
import type { ArrivedMessage, NetworkChat } from '../../contract/messageKey.ts';
import { isPlaceholder } from '../../contract/people.ts';
import type { Baileys } from '../link/load.ts';
import type { Session } from '../session.ts';

/** The address of statuses, as of a broadcast list. */
export const STATUS = 'status@broadcast';

const PERSON = 's.whatsapp.net';
const PLACEHOLDER = '000';
const HIDDEN_PREFIX = 'hidden/';
const PREFERENCES_KEPT = 1000;
const SHOWN_KEPT = 1000;
/** An account may have been migrated to LIDs by then. */
const PREFERENCES_MS = 24 * 3600 * 1000;
/** Store type that Baileys uses for pairs of phone numbers and LIDs. */
export const MAPPING = 'lid-mapping';

/**
 * The network knows a person by a phone number and by a LID, a number that does not reveal the phone number. A message
 * may contain either. We know people by phone numbers only. A person who hides it gets a placeholder made of the LID
 * until the number becomes known; then everything stored under the placeholder belongs to the number.
 */
export class Addresses {
  readonly #session: Session;
  /** LIDs for which a placeholder was used. */
  readonly #hidden = new Set<string>();
  readonly #identified = new Map<string, string>();
  /** People who are addressed by number although the LID is known. */
  readonly #byNumber = new LRUCache<string, true>({ max: PREFERENCES_KEPT, ttl: PREFERENCES_MS });

  /**
   * Numbers of LIDs, from envelopes. Baileys does not store the recipient's number of a message that the account sent.
   */
  readonly #shown = new LRUCache<string, string>({ max: SHOWN_KEPT });

  constructor(session: Session) {
    const { link, host } = session;
    this.#session = session;
    const note = (lid: string, pn: string) => {
      this.digitsOf(lid, pn).catch((error) =>
        host.log.warn({ err: error }, 'failed to store a phone number that became known'),
      );
    };
    link.on('socket', ({ ev, ws }) => {
      ev.on('lid-mapping.update', ({ lid, pn }) => note(lid, pn));
      // A person can share the number with a message that has no content, which nobody reads otherwise.
      for (const tag of ['message', 'receipt', 'notification'])
        ws.on(`CB:${tag}`, ({ attrs }: BinaryNode) => {
          for (const [lid, pn] of pairsIn(attrs)) if (this.isHidden(placeholderOf(unhosted(lid)))) note(lid, pn);
        });
    });
  }

  async start(): Promise<void> {
    const stored = await this.#session.store.list(HIDDEN_PREFIX);
    for (const key of stored.keys()) this.#hidden.add(key.slice(HIDDEN_PREFIX.length));
  }

  /** Placeholders, and other numbers of people, whose phone numbers have become known → these phone numbers. */
  get identified(): ReadonlyMap<string, string> {
    return this.#identified;
  }

  /** @param alternative the person's other address, if the network has reported it */
  async digitsOf(address: string, alternative?: string | null): Promise<string> {
    const { baileys, link, store } = this.#session;
    const { isLidUser } = baileys;
    const jid = unhosted(address);
    if (!isLidUser(jid)) return this.#userOf(jid);
    const lid = this.#userOf(jid);
    const isNumber = alternative && !isLidUser(unhosted(alternative));
    if (isNumber) this.#shown.set(lid, alternative);
    const stored = isNumber ? alternative : await link.newest?.signalRepository.lidMapping.getPNForLID(jid);
    const known = stored || this.#shown.get(lid);
    if (!known) {
      if (!this.#hidden.has(lid)) {
        await store.set(HIDDEN_PREFIX + lid, '');
        this.#hidden.add(lid);
      }
      return PLACEHOLDER + lid;
    }
    const digits = this.#userOf(known);
    if (this.#hidden.has(lid)) {
      // Forgotten last: if storing it fails, it is reported again with the next message.
      await this.identify(PLACEHOLDER + lid, digits);
      await store.delete(HIDDEN_PREFIX + lid);
      this.#hidden.delete(lid);
    }
    return digits;
  }

  async chatOf(jid: string, alternative?: string | null): Promise<NetworkChat> {
    if (this.#session.baileys.isJidGroup(jid)) return { type: 'group', id: jid };
    return { type: 'direct', id: await this.digitsOf(jid, alternative) };
  }

  /** Reports that a person known by these digits, a placeholder or another number, has this phone number. */
  async identify(digits: string, phoneNumber: string): Promise<void> {
    // First, so that no group is reported with the placeholder after the stored ones have the number.
    this.#identified.set(digits, phoneNumber);
    await this.#session.host.onEvent({ type: 'identified', standIn: digits, phoneNumber });
  }

  /**
   * Notes that a person has another number. Placeholders of the person lead to it, and the former number does not: it
   * can belong to someone else. A redirect of the new number to another one ends.
   */
  noteChange(former: string, current: string): void {
    this.#identified.delete(current);
    this.#identified.delete(former);
    for (const [lid, number] of this.#shown.entries()) if (this.#userOf(number) === former) this.#shown.delete(lid);
    for (const [digits, phoneNumber] of this.#identified)
      if (isPlaceholder(digits) && phoneNumber === former) this.#identified.set(digits, current);
  }

  /**
   * Returns the addresses of a chat, the first one for what is sent there. A person whose LID is known is addressed by
   * it: WhatsApp refuses the number of many with 463, also in chats that the person has begun (Baileys #2683, #2688,
   * #2698, OpenWA #717). One report says the opposite (whatsapp-mcp-extended #67), so the number comes second.
   */
  async addressesOf(chat: NetworkChat): Promise<readonly [string, ...string[]]> {
    const jid = jidOfChat(chat);
    const { link, self } = this.#session;
    const socket = link.newest;
    if (chat.type === 'group' || isPlaceholder(chat.id) || socket === undefined) return [jid];
    // whatsmeow does the same with our number (send.go, `SendMessage`).
    if (self.is(jid)) return self.lidJid === '' ? [jid] : this.#inOrder(chat.id, self.lidJid, jid);
    const lid = await lidOf(socket, chat.id);
    return lid === undefined ? [jid] : this.#inOrder(chat.id, `${lid}@lid`, jid);
  }

  /** Notes which address WhatsApp has accepted after it refused the other one. */
  prefer({ type, id }: NetworkChat, address: string): void {
    if (type === 'direct' && address === jidOf(id)) this.#byNumber.set(id, true);
    else this.#byNumber.delete(id);
  }

  #inOrder(digits: string, lid: string, number: string): readonly [string, string] {
    return this.#byNumber.has(digits) ? [number, lid] : [lid, number];
  }

  /** Returns an address without its device, and the other address of the same person if it is known. */
  async bothOf(address: string): Promise<readonly [string, ...string[]]> {
    const { baileys, link } = this.#session;
    const jid = unhosted(baileys.jidNormalizedUser(address));
    const socket = link.newest;
    if (socket === undefined) return [jid];
    if (baileys.isLidUser(jid)) {
      const number = await socket.signalRepository.lidMapping.getPNForLID(jid);
      return number ? [jid, jidOf(this.#userOf(number))] : [jid];
    }
    const lid = baileys.isPnUser(jid) ? await lidOf(socket, this.#userOf(jid)) : undefined;
    return lid === undefined ? [jid] : [jid, `${lid}@lid`];
  }

  /** Whether these digits are a placeholder. */
  isHidden(digits: string): boolean {
    return isPlaceholder(digits) && this.#hidden.has(lidOfPlaceholder(digits));
  }

  /** @throws {AppError} `recipient_not_on_network` for digits that look like a placeholder and are none */
  requireKnown(digits: string): void {
    if (isPlaceholder(digits) && !this.isHidden(digits))
      throw new AppError(
        'recipient_not_on_network',
        'This placeholder for a hidden phone number is unknown; copy it from a message that the person sent',
      );
  }

  #userOf(jid: string): string {
    return this.#session.baileys.jidDecode(jid)?.user ?? jid;
  }
}

/** Returns a LID and the number of the same person, as far as the envelope of a stanza has both. */
function pairsIn(attrs: BinaryNode['attrs']): [lid: string, pn: string][] {
  const { from, participant = from, recipient } = attrs;
  const pairs = [
    [participant, attrs['participant_pn'] ?? attrs['sender_pn']],
    [recipient, attrs['peer_recipient_pn'] ?? attrs['recipient_pn']],
  ];
  return pairs.flatMap(([lid, pn]) => {
    const address = lid?.replace(/:\d+(?=@)/, '') ?? '';
    return /@(hosted\.)?lid$/.test(address) && pn ? [[address, pn]] : [];
  });
}

/** Reads the stored LID: Baileys 7.0.0-rc14 fails on the server's answer about a number with another address. */
export async function lidOf(socket: Pick<WASocket, 'authState'>, phoneNumber: string): Promise<string | undefined> {
  const { [phoneNumber]: lid } = await socket.authState.keys.get(MAPPING, [phoneNumber]);
  return lid;
}

/** Removes the mark (`hosted`) of a business whose messages are answered at Meta; the person is the same. */
export const unhosted = (jid: string): string => jid.replace(/@hosted\.lid$/, '@lid').replace(/@hosted$/, `@${PERSON}`);

/** Returns the address of a message that has a number as its address: references to others use the person's LID. */
export function numberAddress(baileys: Baileys, jid: string | null | undefined): ArrivedMessage {
  return !jid || isLidAddress(jid) ? {} : { address: unhosted(baileys.jidNormalizedUser(jid)) };
}

export const isLidAddress = (jid: string): boolean => /@(hosted\.)?lid$/.test(jid);

/** The placeholder of a person, by the LID. */
export const placeholderOf = (lid: string): string => PLACEHOLDER + (lid.split('@')[0] ?? '');

export const lidOfPlaceholder = (placeholder: string): string => placeholder.slice(PLACEHOLDER.length);

export const jidOf = (digits: string): string =>
  isPlaceholder(digits) ? `${lidOfPlaceholder(digits)}@lid` : `${digits}@${PERSON}`;

export const jidOfChat = ({ type, id }: NetworkChat): string => (type === 'group' ? id : jidOf(id));
