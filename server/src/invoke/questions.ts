import type { Caller } from '../auth/authenticate.ts';
import { allows, type Permission } from '../auth/permissions.ts';
import type { Queryable } from '../db/dialect.ts';
import { query } from '../db/query.ts';
import type { MessageRow } from '../db/schema.ts';
import { noSuch } from '../errors.ts';
import { isGroupId } from '../ids.ts';
import { findMessage, findSession } from '../messages/store.ts';
import { digitsOf } from './input/phoneNumbers.ts';
import type { Operation } from './operation.ts';

/* Says to a person what a call will do, and to whom. Names are text of third parties: they are quoted and short. */

const MAX_NAME = 60;
const MAX_TEXT = 200;
/** For what others will read. A question stays within the texts of a result (`fit.ts`), so that its end is not cut. */
const MAX_WORDS = 1000;
/** People who are named one by one. */
const MAX_PEOPLE = 5;

type Input = Readonly<Record<string, unknown>>;

interface About {
  readonly input: Input;
  readonly sessionId: string | undefined;
  /** Those of the call with whom the session has no chat. */
  readonly newRecipients: readonly string[];
}

export class Questions {
  readonly #reader: Queryable;

  constructor(reader: Queryable) {
    this.#reader = reader;
  }

  /** @throws {AppError} `not_found` for a message or group that does not exist */
  async about(operation: Operation, caller: Caller, about: About): Promise<string> {
    const words = new Words(this.#reader, caller, about.sessionId);
    const ask = Object.hasOwn(sentences, operation.id) ? sentences[operation.id] : undefined;
    const sentence =
      ask === undefined ? await anySentence(operation, about.input, words) : await ask(about.input, words);
    return [sentence, textIn(about.input), await firstContact(about, words)].filter((part) => part !== '').join(' ');
  }
}

type Sentence = (input: Input, words: Words) => Promise<string>;

const sentences: Readonly<Record<string, Sentence>> = {
  'messages.edit': async ({ messageId }, words) => {
    const { chat } = await words.message(messageId);
    return `Change the text of the message ${messageId} to ${chat}?`;
  },
  'messages.delete': async ({ messageId }, words) => {
    const { chat, status } = await words.message(messageId);
    if (status === 'scheduled') return `Cancel the scheduled message ${messageId} to ${chat}?`;
    if (status === 'pending_approval') return `Cancel the message ${messageId} to ${chat}, which waits for approval?`;
    return `Delete the message ${messageId} to ${chat}, for everyone who received it?`;
  },
  'contacts.set_blocked': async ({ phoneNumber, blocked }, words) =>
    `${blocked === true ? 'Block' : 'Unblock'} ${await words.people([phoneNumber])} on ${await words.session()}?`,
  'groups.create': async ({ subject, phoneNumbers }, words) => {
    const members = phoneNumbers === undefined ? 'nobody else' : await words.people(phoneNumbers);
    return `Create the group ${quotedWords(subject)} with ${members}, on ${await words.session()}?`;
  },
  'groups.update': async ({ groupId, ...changes }, words) =>
    `Change ${namesOf(changes)} of ${await words.group(groupId)}?`,
  'groups.update_participants': async ({ groupId, action, phoneNumbers }, words) => {
    const [people, group] = [await words.people(phoneNumbers), await words.group(groupId)];
    if (action === 'add') return `Add ${people} to ${group}?`;
    if (action === 'remove') return `Remove ${people} from ${group}?`;
    return action === 'promote'
      ? `Make ${people} admin of ${group}?`
      : `Make ${people} an ordinary member of ${group}?`;
  },
  'groups.join': async ({ invite }, words) =>
    `Join the group with the invite ${quoted(invite, MAX_TEXT)} on ${await words.session()}? Its members see the number.`,
  'sessions.disconnect': async (_, words) =>
    `Disconnect ${await words.session()}? It neither sends nor receives until it is connected again.`,
  'groups.leave': async ({ groupId }, words) =>
    `Leave ${await words.group(groupId)} with ${await words.session()}? Coming back needs an invite.`,
  'webhooks.set': async ({ webhookId, webhookUrl, events, secret, rotateSecret }) => {
    const webhook = webhookId === undefined ? 'the default webhook' : `the webhook ${quoted(webhookId, MAX_NAME)}`;
    const replaced = secret !== undefined || rotateSecret === true ? 'settings and signing secret' : 'settings';
    return `Send ${namedEvents(events)} to ${webhook} at ${quoted(webhookUrl, MAX_TEXT)}? This replaces its present ${replaced}.`;
  },
};

/** For every other operation: its summary, and its recipient, group or session. */
async function anySentence({ summary }: Operation, input: Input, words: Words): Promise<string> {
  if (input['to'] !== undefined) {
    const { sendAt } = input;
    const later = typeof sendAt === 'string' ? `, at ${sendAt}` : '';
    return `${summary} to ${await words.people(input['to'])} through ${await words.session()}${later}?`;
  }
  const ids = Object.entries(input).filter(
    ([name, value]) => /(?:Id|Ids|Number|Numbers)$/.test(name) && value !== null,
  );
  const named = ids.map(
    ([name, value]) => `${name} ${quoted([value].flat().slice(0, MAX_PEOPLE).join(', '), MAX_TEXT)}`,
  );
  const about = named.length === 0 ? '' : ` (${named.join(', ')})`;
  return words.hasSession ? `${summary}${about}? It concerns ${await words.session()}.` : `${summary}${about}?`;
}

/** The text of the caller that people will read. */
function textIn({ message, caption, question }: Input): string {
  const text = message ?? caption ?? question;
  return typeof text === 'string' && text !== '' ? `Text: ${quotedWords(text)}.` : '';
}

async function firstContact({ newRecipients }: About, words: Words): Promise<string> {
  if (newRecipients.length === 0) return '';
  return `There is no chat with ${await words.people(newRecipients)} yet.`;
}

function namesOf(changes: Input): string {
  const { sessionId: _, ...rest } = changes;
  const parts = Object.entries(rest).map(([name, value]) =>
    name === 'subject' || (name === 'description' && value !== null && value !== '')
      ? `the ${name === 'subject' ? 'name' : name} to ${quotedWords(value)}`
      : `the ${name === 'pictureMediaId' ? 'picture' : name}`,
  );
  return parts.join(', ') || 'nothing';
}

function namedEvents(events: unknown): string {
  const kinds = Array.isArray(events) ? events.map(String) : [];
  return kinds.length > MAX_PEOPLE ? `${kinds.length} event types` : `the events ${quoted(kinds.join(', '), MAX_TEXT)}`;
}

/** Quotes a short text on one line. */
function quoted(text: unknown, most: number): string {
  const letters = lettersOf(String(text).slice(0, 4 * most));
  return letters.length > most ? `“${letters.slice(0, most).join('')}…”` : `“${letters.join('')}”`;
}

/** Quotes what others will read, and says how much of it is not shown. */
function quotedWords(text: unknown): string {
  const letters = lettersOf(String(text));
  const more = letters.length - MAX_WORDS;
  const shown = `“${letters.slice(0, MAX_WORDS).join('')}”`;
  return more > 0 ? `${shown} and ${more} more ${more === 1 ? 'character' : 'characters'}` : shown;
}

/** Characters on one line, without invisible ones that could make the question look different. */
const lettersOf = (text: string): string[] => [
  ...text
    .toWellFormed()
    .replace(/[\s\p{C}\p{Z}]+/gu, ' ')
    .replace(/["“”„]/g, "'")
    .trim(),
];

/** Words for the parties of a call. A name is shown only if the key may read it. */
class Words {
  readonly #reader: Queryable;
  readonly #caller: Caller;
  readonly #sessionId: string | undefined;

  constructor(reader: Queryable, caller: Caller, sessionId: string | undefined) {
    this.#reader = reader;
    this.#caller = caller;
    this.#sessionId = sessionId;
  }

  get hasSession(): boolean {
    return this.#sessionId !== undefined;
  }

  async session(): Promise<string> {
    const sessionId = this.#sessionId;
    if (sessionId === undefined) return 'the account';
    const { accountId } = this.#caller;
    const row = this.#may('sessions:read') ? await findSession(this.#reader, { accountId, sessionId }) : undefined;
    const number = row?.phone_number ?? sessionId;
    return row?.name ? `the session ${quoted(row.name, MAX_NAME)} (${number})` : `the session ${number}`;
  }

  async people(named: unknown): Promise<string> {
    const all = [named].flat().map((one) => digitsOf(String(one)) ?? String(one));
    const shown = all.slice(0, MAX_PEOPLE);
    const names = await this.#namesOf(shown.filter((one) => !isGroupId(one)));
    const words: string[] = [];
    for (const one of shown) {
      const name = names.get(one);
      if (isGroupId(one)) words.push(await this.group(one));
      else words.push(name === undefined ? one.slice(0, MAX_NAME) : `${quoted(name, MAX_NAME)} (${one})`);
    }
    const more = all.length - shown.length;
    if (more > 0) return `${words.join(', ')} and ${more} more`;
    const last = words.pop() ?? 'nobody';
    return words.length === 0 ? last : `${words.join(', ')} and ${last}`;
  }

  /** @throws {AppError} `not_found` */
  async group(groupId: unknown): Promise<string> {
    const id = String(groupId);
    const { accountId } = this.#caller;
    const row = await groupById.first(this.#reader, { accountId, sessionId: this.#sessionId ?? '', groupId: id });
    if (row === undefined) throw noSuch('group', id);
    return this.#may('groups:read') ? `the group ${quoted(row.subject, MAX_NAME)} (${id})` : `the group ${id}`;
  }

  /** @throws {AppError} `not_found` */
  async message(messageId: unknown): Promise<{ chat: string; status: MessageRow['status'] }> {
    const id = String(messageId);
    const row = await findMessage(this.#reader, this.#caller.accountId, id);
    if (row === undefined) throw noSuch('message', id);
    return { chat: await this.people([row.chat_id]), status: row.status };
  }

  async #namesOf(numbers: readonly string[]): Promise<ReadonlyMap<string, string>> {
    if (this.#sessionId === undefined || numbers.length === 0 || !this.#may('contacts:read')) return new Map();
    const found = await namesOfContacts.all(this.#reader, {
      accountId: this.#caller.accountId,
      sessionId: this.#sessionId,
      numbers: JSON.stringify(numbers),
    });
    return new Map(found.flatMap(({ phone_number, name }) => (name === null ? [] : [[phone_number, name]])));
  }

  #may(permission: Permission): boolean {
    return allows(this.#caller.credential.permissions, permission);
  }
}

const groupById = query((db, p: { accountId: string; sessionId: string; groupId: string }) =>
  db
    .selectFrom('groups')
    .select('subject')
    .where('account_id', '=', p.accountId)
    .where('session_id', '=', p.sessionId)
    .where('group_id', '=', p.groupId),
);

const namesOfContacts = query((db, p: { accountId: string; sessionId: string; numbers: string }, dialect) =>
  db
    .selectFrom('contacts')
    .select(['phone_number', 'name'])
    .where('account_id', '=', p.accountId)
    .where('session_id', '=', p.sessionId)
    .where('phone_number', 'in', dialect.texts(p.numbers)),
);
