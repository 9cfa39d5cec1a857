import type { Client } from '@switchboard/sdk';
import { ApiError } from '@switchboard/sdk/errors';
import { type Chatwoot, ChatwootError, type Contact, type ContactFields } from '../chatwoot/client.ts';
import type { Settings } from '../config.ts';
import { type Log, messageOf } from '../log.ts';
import { withFile } from '../temporaryFile.ts';
import { isPhoneNumber, phoneForms } from '../text/phoneForms.ts';

/** A person or group of WhatsApp. */
export interface Person {
  readonly sessionId: string;
  readonly chatId: string;
  /** Address on the network, which Evolution and WAHA use as the identifier too. */
  readonly networkId: string | undefined;
  readonly name: string | undefined;
}

export interface ContactParts {
  readonly chatwoot: Chatwoot;
  readonly switchboard: Client;
  readonly settings: Pick<Settings, 'maxFileBytes'>;
  readonly log: Log;
}

/** Finds or creates the contact of a chat. An existing one is found by its identifier or any form of its number. */
export async function ensureContact(parts: ContactParts, person: Person): Promise<Contact> {
  const existing = await findContact(parts.chatwoot, person);
  if (existing !== undefined) return completed(parts, existing, person);
  try {
    const created = await parts.chatwoot.createContact(fieldsOf(person));
    await setPicture(parts, created.id, person);
    return created;
  } catch (error) {
    if (!isTaken(error)) throw error;
  }
  // "Phone number has already been taken": created since the search, or hidden from it.
  const other = await findContact(parts.chatwoot, person);
  if (other !== undefined) return completed(parts, other, person);
  parts.log('warn', 'the number belongs to a contact that cannot be found; creating one without a number');
  return parts.chatwoot.createContact({
    name: nameOf(person),
    identifier: `${identifierOf(person)}:${person.sessionId}`,
  });
}

/**
 * Stores a number that has become known, or a new one. If a second contact has it, this one is merged into that.
 * @returns the contact that was kept instead of this one, including by an attempt that a crash interrupted
 */
export async function setNumber(parts: ContactParts, contactId: number, person: Person): Promise<number | undefined> {
  if (!isPhoneNumber(person.chatId)) return undefined;
  const { phone_number, identifier } = fieldsOf(person);
  const fields: ContactFields = { ...(phone_number && { phone_number }), ...(identifier && { identifier }) };
  try {
    await parts.chatwoot.updateContact(contactId, fields);
    return undefined;
  } catch (error) {
    // An agent has deleted the contact, or an earlier attempt has merged it.
    if (isMissing(error)) return (await findContact(parts.chatwoot, person))?.id;
    if (!isTaken(error)) throw error;
  }
  const other = await findContact(parts.chatwoot, person);
  if (other === undefined || other.id === contactId) return undefined;
  await parts.chatwoot.mergeContacts(other.id, contactId);
  return other.id;
}

/** Renames a contact, unless an agent has given it another name than the bridge did. */
export async function rename(parts: ContactParts, contactId: number, former: string | undefined, name: string) {
  const contact = await parts.chatwoot.getContact(contactId);
  if (contact.name === name || (contact.name !== former && contact.name !== null && contact.name !== '')) return;
  await parts.chatwoot.updateContact(contactId, { name });
}

async function findContact(chatwoot: Chatwoot, person: Person): Promise<Contact | undefined> {
  const identifier = identifierOf(person);
  const named = (await chatwoot.searchContacts(identifier)).find((contact) => contact.identifier === identifier);
  if (named !== undefined || !isPhoneNumber(person.chatId)) return named;
  for (const digits of phoneForms(person.chatId)) {
    const found = (await chatwoot.searchContacts(digits)).find(({ phone_number }) => phone_number === `+${digits}`);
    if (found !== undefined) return found;
  }
  return undefined;
}

/** Adds the number that a contact lacks. */
async function completed(parts: ContactParts, contact: Contact, person: Person): Promise<Contact> {
  if (contact.phone_number === null && isPhoneNumber(person.chatId))
    await parts.chatwoot.updateContact(contact.id, { phone_number: `+${person.chatId}` }).catch((error) => {
      if (!isTaken(error)) throw error;
    });
  return contact;
}

function fieldsOf(person: Person): ContactFields {
  return {
    name: nameOf(person),
    identifier: identifierOf(person),
    ...(isPhoneNumber(person.chatId) && { phone_number: `+${person.chatId}` }),
  };
}

/** Groups and hidden numbers have an address of the network only. Without one, the id of the chat is unique. */
const identifierOf = ({ networkId, chatId }: Person) => networkId ?? `switchboard:${chatId}`;
export const nameOf = ({ name, chatId }: Pick<Person, 'name' | 'chatId'>) =>
  name ?? (isPhoneNumber(chatId) ? `+${chatId}` : 'WhatsApp');

const isMissing = (error: unknown) => error instanceof ChatwootError && error.status === 404;

/** 422 of a uniqueness validation in app/models/contact.rb. */
const isTaken = (error: unknown) =>
  error instanceof ChatwootError && error.status === 422 && /taken/i.test(error.message);

/** The profile photo is an extra: many people hide it, and some networks have none. */
async function setPicture({ chatwoot, switchboard, settings, log }: ContactParts, contactId: number, person: Person) {
  if (!isPhoneNumber(person.chatId)) return;
  try {
    const { picture } = await switchboard.contacts.profile({
      phoneNumber: person.chatId,
      sessionId: person.sessionId,
    });
    if (picture === null) return;
    const response = await switchboard.media.content({ mediaId: picture.mediaId });
    const limits = { maxBytes: settings.maxFileBytes, type: picture.mimeType };
    await withFile(response, limits, (blob) => chatwoot.setAvatar(contactId, blob));
  } catch (error) {
    if (error instanceof ApiError && ['not_supported', 'not_found', 'session_not_connected'].includes(error.code))
      return;
    log('warn', 'failed to copy a profile photo', { error: messageOf(error) });
  }
}
