import { type Static, Type } from 'typebox';
import { isPlaceholder } from '../../connectors/contract/people.ts';
import { noSuch } from '../../errors.ts';
import { type EventKind, events } from '../../events/events.ts';
import { list, object, optional, string } from '../../invoke/input/fields.ts';
import { digitsOf, PERSON_LENGTH, phoneNumber, typed } from '../../invoke/input/phoneNumbers.ts';
import { ref } from '../../invoke/input/references.ts';
import { type Context, sessionsOf } from '../../invoke/operation.ts';
import { findSessionOf } from '../../invoke/owners.ts';
import type { Selected } from '../../webhooks/endpoints/subscriptions.ts';

/* The arguments by which an MCP client selects events of a type. */

const fields = {
  sessionId: optional(string('Only events of this session (`ses_…`).', { ...ref('session'), maxLength: 100 })),
  chatId: optional(
    string('Only events of this chat: a phone number, or the id of a group (`grp_…`).', {
      ...ref('chat'),
      maxLength: PERSON_LENGTH,
    }),
  ),
  from: optional(
    string('Only events that the person with this phone number caused.', {
      ...ref('person'),
      ...typed,
      minLength: 1,
      maxLength: PERSON_LENGTH,
    }),
  ),
  types: optional(
    list(Type.String({ maxLength: 40 }), 'Only messages of these types, such as `text` or `image`.', {
      minItems: 1,
      maxItems: 20,
    }),
  ),
};

/** Returns the arguments that an event type accepts. */
export function argumentsOf(kind: EventKind): Partial<typeof fields> {
  const data: Readonly<Record<string, unknown>> = events[kind].data.properties;
  const has = (name: string) => Object.hasOwn(data, name);
  const { sessionId, chatId, from, types } = fields;
  return {
    ...(has('sessionId') && { sessionId }),
    ...((has('chatId') || has('groupId')) && { chatId }),
    ...(has('from') && { from }),
    ...(has('type') && kind.startsWith('message.') && { types }),
  };
}

/** The input fields of the operations on events of one type. */
export const selectionInput = { event: string('Event type.', { maxLength: 100 }), ...fields };

const Selection = object(selectionInput);

/**
 * Returns what the arguments select, within the sessions of the caller's key.
 * @throws {AppError} `not_found` for a session that the account does not have
 */
export async function selectionOf(
  ctx: Context,
  { event, sessionId, chatId, from, types }: Static<typeof Selection>,
): Promise<Selected> {
  const { reader } = ctx.database;
  if (sessionId !== undefined) {
    const known = await findSessionOf(reader, 'session', { accountId: ctx.accountId, id: sessionId });
    if (known === undefined) throw noSuch('session', sessionId, 'sessionId');
  }
  return {
    kind: event as EventKind, // the caller has looked it up
    sessionIds: sessionId === undefined ? sessionsOf(ctx) : [sessionId],
    filters: {
      ...(chatId !== undefined && { chats: [digitsOf(chatId) ?? chatId] }),
      ...(from !== undefined && { senders: [isPlaceholder(from) ? from : phoneNumber('from', from)] }),
      ...(types !== undefined && { messageTypes: types }),
    },
  };
}
