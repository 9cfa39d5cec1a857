import type { Contact } from 'baileys';
import { KeyedQueue } from '../../../async.ts';
import type { HistoryContact } from '../../contract/history.ts';
import type { Session } from '../session.ts';
import type { Addresses } from './addresses.ts';

const AT_ONCE = 500;

/**
 * Reports the names of the account's address book, which is part of the state that its devices share. The whole book
 * comes after linking, and is reported like history, without an event for each contact.
 */
export class AddressBook {
  readonly #session: Session;
  readonly #addresses: Addresses;
  readonly #queue = new KeyedQueue();

  constructor(session: Session, addresses: Addresses) {
    this.#session = session;
    this.#addresses = addresses;
    session.link.on('socket', ({ ev }) => {
      ev.on('contacts.upsert', (contacts) => {
        const isFirst = !session.creds.accountSyncCounter;
        void this.#queue
          .run('', () => this.#report(contacts, isFirst))
          .catch((error) => session.host.log.warn({ err: error }, 'failed to report names of the address book'));
      });
    });
  }

  async #report(contacts: readonly Contact[], isFirst: boolean): Promise<void> {
    const { reporter } = this.#session;
    let saved: HistoryContact[] = [];
    for (const contact of contacts) {
      if (!contact.name || !this.#isPerson(contact.id)) continue;
      const phoneNumber = await this.#addresses.digitsOf(contact.id, contact.phoneNumber);
      if (!isFirst) {
        await reporter.report({ type: 'contact_saved', phoneNumber, name: contact.name });
        continue;
      }
      saved.push({ phoneNumber, savedName: contact.name });
      if (saved.length < AT_ONCE) continue;
      await reporter.report({ type: 'history', chats: [], contacts: saved, messages: [] });
      saved = [];
    }
    if (saved.length > 0) await reporter.report({ type: 'history', chats: [], contacts: saved, messages: [] });
  }

  #isPerson(jid: string): boolean {
    const { baileys, self } = this.#session;
    return (baileys.isPnUser(jid) || baileys.isLidUser(jid)) === true && !self.is(jid);
  }
}
