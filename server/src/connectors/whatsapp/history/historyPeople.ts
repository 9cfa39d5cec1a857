import type { NetworkChat } from '../../contract/messageKey.ts';
import { type Addresses, placeholderOf, unhosted } from '../people/addresses.ts';
import type { Session } from '../session.ts';
import type { HistoryWork } from './historyWork.ts';

/** Pairs of addresses that are stored together. */
const AT_ONCE = 500;

/** The people of one part of the history, by the addresses that it uses. */
export class People {
  readonly #session: Session;
  readonly #addresses: Addresses;
  readonly #work: HistoryWork;
  readonly #digits = new Map<string, string>();
  readonly #lids = new Map<string, string>();
  #pairs: { lid: string; pn: string }[] = [];

  constructor(session: Session, addresses: Addresses, work: HistoryWork) {
    this.#session = session;
    this.#addresses = addresses;
    this.#work = work;
  }

  /** Notes that two addresses are of the same person. */
  async note(lid: string | null | undefined, pn: string | null | undefined): Promise<void> {
    const { baileys } = this.#session;
    if (!lid || !pn || !baileys.isLidUser(lid) || !baileys.isPnUser(pn)) return;
    this.#pairs.push({ lid, pn });
    this.#lids.set(pn, lid);
    if (this.#pairs.length >= AT_ONCE) await this.store();
  }

  /** Stores what was noted, where Baileys looks for it. */
  async store(): Promise<void> {
    const pairs = this.#pairs;
    this.#pairs = [];
    if (pairs.length === 0) return;
    const { signalRepository } = await this.#work.whenOpen();
    await signalRepository.lidMapping.storeLIDPNMappings(pairs);
    for (const { lid, pn } of pairs)
      if (this.#addresses.isHidden(placeholderOf(lid))) await this.#addresses.digitsOf(lid, pn);
  }

  lidOf(jid: string): string | undefined {
    return this.#session.baileys.isLidUser(jid) ? jid : this.#lids.get(jid);
  }

  async digitsOf(address: string): Promise<string> {
    const jid = unhosted(this.#session.baileys.jidNormalizedUser(address));
    const known = this.#digits.get(jid);
    if (known !== undefined) return known;
    // Without a socket, a number that is known would not be found.
    if (this.#session.baileys.isLidUser(jid)) await this.#work.whenOpen();
    const digits = this.#session.self.is(jid) ? this.#session.self.phoneNumber : await this.#addresses.digitsOf(jid);
    this.#digits.set(jid, digits);
    return digits;
  }

  async chatOf(jid: string): Promise<NetworkChat> {
    if (this.#session.baileys.isJidGroup(jid)) return { type: 'group', id: jid };
    return { type: 'direct', id: await this.digitsOf(jid) };
  }
}
