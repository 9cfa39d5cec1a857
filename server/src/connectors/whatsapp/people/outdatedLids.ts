import type { BinaryNode, WASocket } from 'baileys';
import type { Session } from '../session.ts';
import { lidOf, unhosted } from './addresses.ts';

/** People whose LID is read at a time. An acknowledgement for each message to them repeats the mark. */
const READ_AT_ONCE = 20;

/**
 * Reads the LID of a person again when WhatsApp marks it as outdated (`refresh_lid` in an acknowledgement): the number
 * belongs to another WhatsApp account than before (WhiskeySockets/Baileys#2661, #2662). Nothing else corrects a stored
 * LID. Like WhatsApp Web, it asks by phone number (oxidezap/whatsapp-rust#1313); whatsmeow and Baileys ignore the mark.
 */
export class OutdatedLids {
  readonly #session: Session;
  readonly #running = new Map<string, Promise<void>>();

  constructor(session: Session) {
    const { link } = session;
    this.#session = session;
    link.on('socket', (socket) => {
      socket.ws.on('CB:ack,class:message', ({ attrs }: BinaryNode) => {
        if (isMarked(attrs)) void this.renew(socket, attrs['from'] ?? '');
      });
    });
    link.on('lost', () => this.#running.clear());
  }

  /** Resolves once the LID was read, or could not be. */
  async renew(socket: WASocket, address: string): Promise<void> {
    const number = await this.#numberOf(socket, address);
    if (number === undefined) return;
    const running = this.#running.get(number);
    if (running !== undefined) return running;
    if (this.#running.size >= READ_AT_ONCE) return;
    const work = this.#read(socket, number).catch((error) => {
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
    if (typeof lid !== 'string' || !baileys.isLidUser(lid)) return;
    const digits = baileys.jidDecode(number)?.user ?? '';
    if (`${await lidOf(socket, digits)}@lid` === lid) return;
    await socket.signalRepository.lidMapping.storeLIDPNMappings([{ lid, pn: number }]);
    host.log.info('a phone number belongs to another WhatsApp account than before; using its new LID');
  }
}

export const isMarked = (attrs: BinaryNode['attrs']): boolean => attrs['refresh_lid'] === 'true';
