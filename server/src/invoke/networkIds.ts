import type { Caller } from '../auth/authenticate.ts';
import { isPlaceholder, isUserId, type NetworkPerson } from '../connectors/contract/people.ts';
import type { Queryable } from '../db/dialect.ts';
import { query, unindexed } from '../db/query.ts';
import { AppError, invalidField, noSuch } from '../errors.ts';
import type { SessionRef } from '../messages/store.ts';
import { digitsOf } from './input/phoneNumbers.ts';
import { changedAt, fieldsOf, type Place, placesOf, textsAt } from './input/references.ts';
import { type Operation, sessionsOf } from './operation.ts';
import { findSessionOf } from './owners.ts';
import type { Services } from './services.ts';

/*
 * The network's ids are accepted wherever an input names a group or a person. They are replaced before anything else
 * reads the input, so operations and limits of keys know only our ids. Several sessions of an account can be in one
 * group, and each has its own id of it. The LID of a person is read as a placeholder, and becomes the number as soon as
 * one of the sessions knows it.
 */

/** A group's address on WhatsApp, or in the sandbox. */
const GROUP_ADDRESS = /^[0-9A-Za-z-]{1,64}@(?:g\.us|sandbox)$/;

export const isGroupAddress = (text: unknown): text is string => typeof text === 'string' && GROUP_ADDRESS.test(text);

/** Bounds the look-ups of one input, each in the data of one session. */
const MAX_LOOK_UPS = 2000;
/** Bounds a list after the replacement. */
const MAX_ENTRIES = 1000;

type Input = Record<string, unknown>;

type Needed = Pick<Services, 'database' | 'sessions'>;

/** Replaces the network's ids of groups in inputs, and placeholders of people whose number has become known. */
export class NetworkIds {
  readonly #services: Needed;

  constructor(services: Needed) {
    this.#services = services;
  }

  /**
   * Returns the input with our ids. A list of the recipients of a bulk message stays as it is, because each has a
   * result of its own (see `recipientFinder`).
   * @throws {AppError} `not_found` naming the field; `session_required` or `validation_failed` if several sessions are
   * in the group
   */
  async replace(operation: Pick<Operation, 'input'>, caller: Caller, input: Input): Promise<Input> {
    let replaced = input;
    for (const { field, to } of fieldsOf(operation.input, ['recipient', 'chat', 'group'])) {
      const given = input[field];
      const placeholder = to === 'chat' ? placeholderOf(given) : undefined;
      if (isGroupAddress(given))
        replaced = { ...replaced, [field]: await this.#oneOf(operation, caller, input, field, given) };
      else if (placeholder !== undefined) {
        const current = await this.#currentChat(caller, input['sessionId'], placeholder);
        if (current !== placeholder) replaced = { ...replaced, [field]: current };
      }
    }
    const places = placesOf(operation.input);
    // An operation that looks up LIDs has a field for them.
    if (!places.some(({ to }) => to === 'lid')) replaced = await this.#replacePeople(caller, places, replaced);
    replaced = withMentionedDigits(input, replaced);
    for (const { path, to } of places)
      if (to === 'chats') replaced = await this.#replaceList(caller, path.slice(0, -1), replaced);
    return replaced;
  }

  /**
   * Lets networks reach the people whom a call refers to by user ids. Bulk messages name their recipients themselves.
   * Calls that ask no network, such as changes of keys and filters, store nothing: sessions report the people they
   * meet.
   * @throws {AppError} `not_supported` if the network of the call's session has no such ids
   */
  async name(operation: Pick<Operation, 'input' | 'effect' | 'owner'>, ctx: Named, given: Input): Promise<void> {
    if (operation.effect === 'read') return;
    const userIds = userIdsIn(operation, given);
    if (userIds.length === 0) return;
    const { people } = this.#services.sessions;
    if (ctx.session !== undefined) return requireNamed(people, ctx.session, userIds);
    if (operation.owner === undefined) return;
    const { accountId } = ctx.caller;
    const sessions = await this.#sessionsWith(ctx.caller, undefined, NONE);
    let left = MAX_LOOK_UPS;
    for (const { session_id: sessionId } of sessions) {
      if (left < userIds.length) return;
      if (await people.name({ accountId, sessionId }, userIds)) left -= userIds.length;
    }
  }

  async #oneOf(
    { input: { properties } }: Pick<Operation, 'input'>,
    caller: Caller,
    input: Input,
    field: string,
    address: string,
  ): Promise<string> {
    const { accountId } = caller;
    const named = await this.#sessionOf(accountId, input);
    const allowed = sessionsOf({ caller });
    const groups = (await groupsAt(this.#services.database.reader, accountId, [address])).filter(
      ({ session_id: id }) => (named === undefined || named === id) && (allowed?.includes(id) ?? true),
    );
    const present = groups.filter(({ left_at: leftAt }) => leftAt === null);
    const candidates = present.length > 0 ? present : groups;
    const [group, another] = candidates;
    if (group === undefined) throw noSuch('group', address, field);
    if (another === undefined) return group.group_id;
    if (properties['sessionId'] !== undefined) {
      const sessions = candidates.map(({ session_id: id }) => id).join(', ');
      const message = `is required because several sessions are in the group: ${sessions}`;
      throw new AppError('session_required', `\`sessionId\` ${message}`, {
        fields: [{ field: 'sessionId', code: 'required', message }],
      });
    }
    const ids = candidates.map(({ group_id, session_id }) => `${group_id} (${session_id})`);
    throw invalidField(
      field,
      `Several sessions are in the group ${address}; pass one of ${ids.join(', ')}`,
      'ambiguous',
    );
  }

  /** The chat that continues that of a placeholder: under the number, once one of the sessions knows it. */
  async #currentChat(caller: Caller, sessionId: unknown, placeholder: string): Promise<string> {
    const searched = await this.#sessionsWith(caller, sessionId, placeholder);
    if (searched.some(({ chat_id: chat }) => chat !== null)) return placeholder;
    return (await this.#findHidden(searched, [placeholder])).get(placeholder)?.phoneNumber ?? placeholder;
  }

  async #replacePeople(caller: Caller, places: readonly Place[], input: Input): Promise<Input> {
    const paths = places.filter(isOfPeople).map(({ path }) => path);
    const hidden = paths.flatMap((path) => textsAt(input, path)).flatMap(({ text }) => placeholderOf(text) ?? []);
    if (hidden.length === 0) return input;
    const found = await this.#findHidden(await this.#sessionsWith(caller, input['sessionId'], NONE), hidden);
    const person = (text: string) => found.get(placeholderOf(text) ?? '');
    const replace = (text: string) => person(text)?.phoneNumber ?? text;
    // Stored lists keep the id, because the number can pass to another person.
    const replaceStored = (text: string) =>
      isUserId(text.trim()) ? text.trim() : (person(text)?.userId ?? replace(text));
    return places
      .filter(isOfPeople)
      .reduce((replaced, { path, to }) => changedAt(replaced, path, to === 'chats' ? replaceStored : replace), input);
  }

  /** The sessions that the caller may search, or the named one of them, with the chat if they have it. */
  async #sessionsWith(caller: Caller, sessionId: unknown, chatId: string) {
    const allowed = sessionsOf({ caller });
    const rows = await sessionsWithChat.all(this.#services.database.reader, {
      accountId: caller.accountId,
      sessionId: typeof sessionId === 'string' ? sessionId : ANY,
      chatId,
    });
    return rows.filter(({ session_id: id }) => allowed?.includes(id) ?? true);
  }

  /** The people behind placeholders, as far as one of the sessions knows them. */
  #findHidden(searched: readonly { readonly session_id: string }[], hidden: readonly string[]) {
    const ids = searched.map(({ session_id }) => session_id);
    return findHidden(this.#services.sessions, ids, hidden);
  }

  /** The session that the input determines; undefined if it names none. */
  async #sessionOf(accountId: string, { sessionId, messageId }: Input): Promise<string | undefined> {
    if (typeof sessionId === 'string') return sessionId;
    if (typeof messageId !== 'string') return undefined;
    return findSessionOf(this.#services.database.reader, 'message', { accountId, id: messageId });
  }

  /** Replaces the addresses in a list of chats. One that several sessions are in becomes the group of each. */
  async #replaceList({ accountId }: Caller, path: readonly string[], input: Input): Promise<Input> {
    const field = path.join('.');
    const list = textsAt(input, [...path, '*']).map(({ text }) => text);
    const addresses = list.filter(isGroupAddress);
    if (addresses.length === 0) return input;
    const groups = await groupsAt(this.#services.database.reader, accountId, addresses);
    const byAddress = Map.groupBy(groups, ({ network_id: address }) => address);
    const replaced = list.flatMap((entry, index) => {
      if (!isGroupAddress(entry)) return [entry];
      const found = byAddress.get(entry);
      if (found === undefined) throw noSuch('group', entry, `${field}.${index}`);
      return found.map(({ group_id: groupId }) => groupId);
    });
    if (replaced.length > MAX_ENTRIES)
      throw invalidField(
        field,
        `must have at most ${MAX_ENTRIES} entries, counting a group once per session`,
        'maxItems',
      );
    return withList(input, path, replaced);
  }
}

/**
 * Looks up the groups and people that a list names by the network's ids, and returns a function that replaces an entry.
 * The function throws `not_found` for a group that the session is not in.
 */
export async function recipientFinder(
  { database, sessions }: Needed,
  { accountId, sessionId }: { readonly accountId: string; readonly sessionId: string },
  list: readonly string[],
): Promise<(entry: string) => string> {
  const addresses = list.filter(isGroupAddress);
  const groups = addresses.length === 0 ? [] : await groupsAt(database.reader, accountId, addresses);
  const people = await findHidden(
    sessions,
    [sessionId],
    list.flatMap((entry) => placeholderOf(entry) ?? []),
  );
  const own = groups.filter(({ session_id: id }) => id === sessionId);
  const ids = new Map(own.map(({ network_id, group_id }) => [network_id, group_id]));
  return (entry) => {
    if (!isGroupAddress(entry)) return people.get(placeholderOf(entry) ?? '')?.phoneNumber ?? entry;
    const groupId = ids.get(entry);
    if (groupId === undefined) throw noSuch('group', entry);
    return groupId;
  };
}

/** The caller and session of a running operation. */
interface Named {
  readonly caller: Caller;
  readonly session?: SessionRef;
}

/**
 * Lets the network of a session reach people by their user ids.
 * @throws {AppError} `not_supported` if it has no such ids
 */
export async function requireNamed(
  people: Needed['sessions']['people'],
  session: SessionRef,
  userIds: readonly string[],
): Promise<void> {
  if (await people.name(session, userIds)) return;
  throw new AppError(
    'not_supported',
    `The network of this session has no user ids such as ${userIds[0]}; only the WhatsApp Cloud API has them`,
  );
}

/** The user ids in an input, each once. */
function userIdsIn({ input: schema }: Pick<Operation, 'input'>, given: Input): string[] {
  const places = placesOf(schema).filter((place) => isOfPeople(place) || place.to === 'chat');
  const texts = places.flatMap(({ path }) => textsAt(given, path)).map(({ text }) => text.trim());
  return [...new Set(texts.filter(isUserId))];
}

/** The placeholder that a text means, as digits, as the LID or as a user id; undefined if it means something else. */
function placeholderOf(text: unknown): string | undefined {
  if (typeof text !== 'string' || !(/^\s*\+?000|@lid$/.test(text) || isUserId(text.trim()))) return undefined;
  const digits = digitsOf(text);
  return digits !== undefined && isPlaceholder(digits) ? digits : undefined;
}

/** Fields with a text that can mention people. */
const MENTIONING = ['message', 'caption'] as const;

/**
 * Returns the input with the same digits in its text as in its mentions, where those are LIDs: readers find the people
 * whom a text mentions by these digits.
 */
function withMentionedDigits(given: Input, replaced: Input): Input {
  const present = textsAt(replaced, ['mentions', '*']);
  const digits = new Map(
    textsAt(given, ['mentions', '*']).flatMap(({ text }, index) => {
      const lid = /^\s*(\d+)(?::\d+)?@lid\s*$/.exec(text)?.[1];
      const shown = digitsOf(present[index]?.text ?? '');
      return lid === undefined || shown === undefined ? [] : [[lid, shown] as const];
    }),
  );
  if (digits.size === 0) return replaced;
  const mentioning = (text: string) =>
    text.replace(/@(\d+)/g, (found, user) => (digits.has(user) ? `@${digits.get(user)}` : found));
  return MENTIONING.reduce((changed, field) => changedAt(changed, [field], mentioning), replaced);
}

/** Not the recipients of a bulk message, each of which has a result of its own. */
const isOfPeople = ({ path, to }: Place) =>
  to === 'person' || to === 'chats' || (to === 'recipient' && path.length === 1);

/** Returns the value with another list at a path that it has. */
function withList(value: Input, [name = '', ...rest]: readonly string[], list: readonly string[]): Input {
  return { ...value, [name]: rest.length === 0 ? list : withList(value[name] as Input, rest, list) };
}

/** Asks one session after the other, because an account can have many. */
async function findHidden(
  { people }: Needed['sessions'],
  sessionIds: readonly string[],
  hidden: readonly string[],
): Promise<Map<string, NetworkPerson>> {
  const found = new Map<string, NetworkPerson>();
  let lookUps = 0;
  for (const placeholder of new Set(hidden))
    for (const sessionId of sessionIds) {
      if (lookUps++ === MAX_LOOK_UPS) return found;
      const person = await people.find(sessionId, placeholder);
      if (person.phoneNumber !== placeholder || !found.has(placeholder)) found.set(placeholder, person);
      if (person.phoneNumber !== placeholder) break;
    }
  return found;
}

function groupsAt(on: Queryable, accountId: string, addresses: readonly string[]) {
  return groupsByAddress.all(on, { accountId, addresses: JSON.stringify([...new Set(addresses)]) });
}

/** Stands for any session of the account. */
const ANY = '';
/** Stands for no chat. */
const NONE = '';

const sessionsWithChat = query((db, p: { accountId: string; sessionId: string; chatId: string }) =>
  db
    .selectFrom('sessions as s')
    .leftJoin('chats as c', (join) => join.onRef('c.session_id', '=', 's.session_id').on('c.chat_id', '=', p.chatId))
    .select(['s.session_id', 'c.chat_id'])
    .where('s.account_id', '=', p.accountId)
    .where((eb) =>
      eb.or([eb('s.session_id', '=', p.sessionId), eb(eb.cast<string>(eb.val(p.sessionId), 'text'), '=', ANY)]),
    ),
);

const groupsByAddress = query((db, p: { accountId: string; addresses: string }, dialect) =>
  db
    .selectFrom('groups')
    .select(['group_id', 'session_id', 'network_id', 'left_at'])
    .where('account_id', '=', p.accountId)
    .where('network_id', 'in', dialect.texts(p.addresses))
    .orderBy(unindexed('group_id')),
);
