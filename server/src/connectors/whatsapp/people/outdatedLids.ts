import type { BinaryNode, WASocket } from 'baileys';
import { LRUCache } from 'lru-cache';
import { LostSocketError } from '../link/requests.ts';
import type { Session } from '../session.ts';
import { lidOf, unhosted } from './addresses.ts';

/** People whose LID is read at a time. An acknowledgement for each message to them repeats the mark. */
const READ_AT_ONCE = 20;
const CURRENT_KEPT = 1000;
const CURRENT_MS = 3_600_000;

/**
 * Reads the LID of a person again when WhatsApp marks it as outdated (`refresh_lid` in an acknowledgement): the number
 * belongs to another WhatsApp account than before (WhiskeySockets/Baileys#2661, #2662). Nothing else corrects a stored
 * LID. Like WhatsApp Web, it asks by phone number (oxidezap/whatsapp-rust#1313); whatsmeow and Baileys ignore the mark.
 */
export class OutdatedLids {
  readonly #session: Session;
  readonly #running = new Map<string, Promise<void>>();
  /** Addresses by number whose LID was still the same, or was not returned: the mark comes with each message. */
  readonly #current = new LRUCache<string, true>({ max: CURRENT_KEPT, ttl: CURRENT_MS });

  constructor(session: Session) {
    const { link } = session;
    this.#session = session;
    link.on('socket', (socket) => {
      socket.ws.on('CB:ack,class:message', ({ attrs }: BinaryNode) => {
        if (isMarked(attrs)) void this.#renew(socket, attrs['from'] ?? '', (number) => !this.#current.has(number));
      });
    });
    link.on('lost', () => this.#running.clear());
  }

  /** Resolves once the LID was read, or could not be. After a refusal, it is read even if it was the same before. */
  renew(socket: WASocket, address: string): Promise<void> {
    return this.#renew(socket, address, () => true);
  }

  async #renew(socket: WASocket, address: string, isDue: (number: string) => boolean): Promise<void> {
    const number = await this.#numberOf(socket, address);
    if (number === undefined || !isDue(number)) return;
    const running = this.#running.get(number);
    if (running !== undefined) return running;
    if (this.#running.size >= READ_AT_ONCE) return;
    const work = this.#read(socket, number).catch((error) => {
      if (!(error instanceof LostSocketError)) this.#current.set(number, true);
      this.#session.host.log.warn({ err: error }, 'failed to renew an outdated LID');
    });
    this.#running.set(number, work);
    await work;
    if (this.#running.get(number) === work) this.#running.delete(number);
  }

  /** Returns the address by phone number; undefined if the number is hidden. */
  async #numberOf({ signalRepository }: WASocket, address: string): Promise<string | undefined> {
    const { baileys } = this.#session;
    const jid = unhosted(baileys.jidNormalizedUser(address));
    if (baileys.isPnUser(jid)) return jid;
    if (!baileys.isLidUser(jid)) return undefined;
    const number = await signalRepository.lidMapping.getPNForLID(jid);
    return number ? baileys.jidNormalizedUser(number) : undefined;
  }

  async #read(socket: WASocket, number: string): Promise<void> {
    const { baileys, requests, host } = this.#session;
    const user = new baileys.USyncUser().withId(number);
    const query = new baileys.USyncQuery().withLIDProtocol().withContext('background').withUser(user);
    const answer = await requests.run(socket, () => socket.executeUSyncQuery(query));
    const lid = answer?.list.find(({ id }) => id === number)?.['lid'];
    const digits = baileys.jidDecode(number)?.user ?? '';
    if (typeof lid !== 'string' || !baileys.isLidUser(lid) || `${await lidOf(socket, digits)}@lid` === lid)
      return void this.#current.set(number, true);
    await socket.signalRepository.lidMapping.storeLIDPNMappings([{ lid, pn: number }]);
    host.log.info('a phone number belongs to another WhatsApp account than before; using its new LID');
  }
}

export const isMarked = (attrs: BinaryNode['attrs']): boolean => attrs['refresh_lid'] === 'true';
