import { AppError } from '../../../errors.ts';
import type { NetworkChat } from '../../contract/messageKey.ts';
import { isPlaceholder } from '../../contract/people.ts';
import type { Session } from '../session.ts';

const PERSON = 's.whatsapp.net';
const PLACEHOLDER = '000';
const HIDDEN_PREFIX = 'hidden/';

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

  constructor(session: Session) {
    const { link, host } = session;
    this.#session = session;
    link.on('socket', ({ ev }) => {
      ev.on('lid-mapping.update', ({ lid, pn }) => {
        this.digitsOf(lid, pn).catch((error) =>
          host.log.warn({ err: error }, 'failed to store a phone number that became known'),
        );
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
    const known = isNumber ? alternative : await link.newest?.signalRepository.lidMapping.getPNForLID(jid);
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

/** Removes the mark (`hosted`) of a business whose messages are answered at Meta; the person is the same. */
export const unhosted = (jid: string): string => jid.replace(/@hosted\.lid$/, '@lid').replace(/@hosted$/, `@${PERSON}`);

/** The placeholder of a person, by the LID. */
export const placeholderOf = (lid: string): string => PLACEHOLDER + (lid.split('@')[0] ?? '');

export const lidOfPlaceholder = (placeholder: string): string => placeholder.slice(PLACEHOLDER.length);

export const jidOf = (digits: string): string =>
  isPlaceholder(digits) ? `${lidOfPlaceholder(digits)}@lid` : `${digits}@${PERSON}`;

export const jidOfChat = ({ type, id }: NetworkChat): string => (type === 'group' ? id : jidOf(id));
