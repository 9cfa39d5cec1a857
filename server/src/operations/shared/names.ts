import { isGroupId } from '../../ids.ts';
import type { Services } from '../../invoke/services.ts';
import { namesOfChats } from '../../messages/chats/chatNames.ts';
import { type Fields, isFields } from '../../objects.ts';

/*
 * Adds the names of people and groups to the output of a tool: a model has to tell its user who wrote, and numbers say
 * nothing. A name comes from the session in which the number occurs, so a key gets no names of other sessions.
 */

/** Bounds the look-ups of one output. Beyond it, a number stays without a name. */
const MAX_PLACES = 5000;

/** A number or group id, in the session in which it occurs. */
interface Place {
  readonly sessionId: string;
  readonly chatId: string;
}

type NameOf = (sessionId: string, id: unknown) => string | undefined;

export type NamesDeps = Pick<Services, 'database'>;

export class Names {
  readonly #database: NamesDeps['database'];

  constructor({ database }: NamesDeps) {
    this.#database = database;
  }

  /** Returns an output with the names that are known. Names that it has already stay. */
  async addTo(accountId: string, output: unknown): Promise<unknown> {
    const places: Place[] = [];
    // The first walk finds what to look up, and adds nothing.
    withNames(output, OUTSIDE, (sessionId, id) => {
      if (typeof id === 'string' && places.length < MAX_PLACES) places.push({ sessionId, chatId: id });
      return undefined;
    });
    if (places.length === 0) return output;
    const refs = unique(places).map(refOf);
    const nameOf = await namesOfChats(this.#database.reader, accountId, refs);
    return withNames(output, OUTSIDE, (sessionId, id) =>
      typeof id === 'string' ? (nameOf(refOf({ sessionId, chatId: id })) ?? undefined) : undefined,
    );
  }
}

const refOf = ({ sessionId, chatId }: Place) => ({
  session_id: sessionId,
  chat_id: chatId,
  type: isGroupId(chatId) ? ('group' as const) : ('direct' as const),
});

function unique(places: readonly Place[]): Place[] {
  return [...new Map(places.map((place) => [`${place.sessionId}/${place.chatId}`, place])).values()];
}

/** The session and chat that an object belongs to, by the objects around it. */
interface Around {
  readonly sessionId: string | undefined;
  readonly chatId: unknown;
}

const OUTSIDE: Around = { sessionId: undefined, chatId: undefined };

function withNames(value: unknown, around: Around, nameOf: NameOf): unknown {
  if (Array.isArray(value)) return value.map((item) => withNames(item, around, nameOf));
  if (!isFields(value)) return value;
  const fields = value;
  const sessionId = typeof fields['sessionId'] === 'string' ? fields['sessionId'] : around.sessionId;
  const inner = { sessionId, chatId: fields['chatId'] ?? around.chatId };
  return Object.fromEntries(
    Object.entries(fields).flatMap(([name, member]): [string, unknown][] => {
      const shown: [string, unknown] = [name, withNames(member, inner, nameOf)];
      if (sessionId === undefined) return [shown];
      const added = addedTo(name, member, fields, around, (id) => nameOf(sessionId, id));
      return added === undefined || Object.hasOwn(fields, added[0]) ? [shown] : [shown, added];
    }),
  );
}

/** Returns the field with the name of what a field identifies. */
function addedTo(
  name: string,
  member: unknown,
  fields: Fields,
  around: Around,
  nameOf: (id: unknown) => string | undefined,
): [string, unknown] | undefined {
  switch (name) {
    case 'from':
      // Reactions, votes and answers have one person, messages have two.
      return named('messageId' in fields ? 'senderName' : 'name', nameOf(member));
    case 'chatId':
      // A chat has a name, the last message of a chat is shown without its chat, and an incoming message has the name
      // of its sender.
      if ('name' in fields || around.chatId === member || fields['from'] === member) return undefined;
      return named('chatName', nameOf(member));
    case 'mentions':
      return Array.isArray(member) ? named('mentionedNames', namesByNumber(member, nameOf)) : undefined;
    default:
      return undefined;
  }
}

const named = (field: string, name: unknown): [string, unknown] | undefined =>
  name === undefined ? undefined : [field, name];

function namesByNumber(numbers: readonly unknown[], nameOf: (id: unknown) => string | undefined) {
  const known = numbers.flatMap((number): [string, string][] => {
    const name = nameOf(number);
    return name === undefined ? [] : [[String(number), name]];
  });
  return known.length === 0 ? undefined : Object.fromEntries(known);
}
