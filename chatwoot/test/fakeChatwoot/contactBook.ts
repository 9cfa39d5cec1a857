import { type ContactInboxRecord, type ContactRecord, found, permitted, Refusal, validateContact } from './records.ts';
import { contactView } from './views.ts';

type Fields = Record<string, unknown>;

/** The contacts of the account (app/controllers/api/v1/accounts/contacts_controller.rb). */
export class ContactBook {
  readonly records = new Map<number, ContactRecord>();
  readonly inboxes: ContactInboxRecord[] = [];
  readonly #newId: () => number;

  constructor(newId: () => number) {
    this.#newId = newId;
  }

  get(id: number): ContactRecord {
    return found(this.records.get(id));
  }

  view(contact: ContactRecord): object {
    return contactView(
      contact,
      this.inboxes.filter(({ contactId }) => contactId === contact.id),
    );
  }

  /** `search_conditions`: a part of any of these columns, 15 per page. */
  search(text: string): object {
    if (text === '') throw new Refusal(422, 'Specify search string with parameter q');
    const matches = [...this.records.values()].filter(
      ({ name, phone_number, identifier }) =>
        name.toLowerCase().includes(text.toLowerCase()) ||
        (phone_number ?? '').includes(text) ||
        (identifier ?? '').includes(text),
    );
    return { payload: matches.slice(0, 15).map((contact) => this.view(contact)) };
  }

  create(fields: Fields): ContactRecord {
    const {
      name = '',
      phone_number = null,
      identifier = null,
    } = permitted(fields, ['name', 'phone_number', 'identifier']);
    validateContact(this.records.values(), { name, ...(phone_number !== null && { phone_number }), identifier });
    const contact = {
      id: this.#newId(),
      name: String(name),
      phone_number: phone_number as string | null,
      identifier: identifier as string | null,
      avatar: 0,
    };
    this.records.set(contact.id, contact);
    return contact;
  }

  update(id: number, fields: Fields): object {
    const contact = this.get(id);
    const changes = permitted(fields, ['name', 'phone_number', 'identifier']);
    validateContact(this.records.values(), { id, ...changes });
    Object.assign(contact, changes);
    if (fields['avatar'] instanceof Blob) contact.avatar = fields['avatar'].size;
    return { payload: this.view(contact) };
  }
}
