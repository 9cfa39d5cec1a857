import type { Connector } from '../connectors/contract/connector.ts';
import { isPlaceholder } from '../connectors/contract/people.ts';
import type { Queryable } from '../db/dialect.ts';
import { query } from '../db/query.ts';
import type { ContactTable, MessageRow, SessionTable } from '../db/schema.ts';
import { type AddedFields, type AddFields, type StoredEvent, withFields } from '../events/addedFields.ts';
import { chatOf, sessionOf } from '../events/conversation.ts';
import { isChannelId, isGroupId } from '../ids.ts';
import type { Log } from '../log.ts';
import { addressOf, networkIdOf, networkIdsOfGroups } from './networkNames.ts';
import { userIdsOf } from './userIds.ts';

interface Deps {
  readonly reader: Queryable;
  readonly log: Log;
  /**
   * Returns a function that returns the connector of one of the sessions; undefined if this server does not have it.
   */
  connectorsOf(sessionIds: readonly string[]): Promise<(sessionId: string) => Connector | undefined>;
}

/** The parts of an event's `data` that name something. */
interface Names {
  readonly messageId?: string;
  readonly from?: string;
  readonly to?: string;
}

/** The rows about a list of events. */
interface Found {
  readonly sessions: ReadonlyMap<string, Pick<SessionTable, 'name' | 'metadata'>>;
  readonly messages: ReadonlyMap<string, Pick<MessageRow, 'direction' | 'network_id' | 'sent_at'>>;
  /** Contacts by session and phone number. */
  readonly contacts: ReadonlyMap<string, Pick<ContactTable, 'name' | 'user_id' | 'user_name'>>;
  /** The network's ids of groups. */
  readonly groups: ReadonlyMap<string, string>;
  connectorOf(sessionId: string): Connector | undefined;
}

/** Creates the function that adds to events what was asked for, with a few queries for all of them. */
export function createAddFields(deps: Deps): AddFields {
  return async (accountId, events, include) => {
    if (events.length === 0 || include.length === 0) return [...events];
    const parsed = events.map((event) => ({
      event,
      envelope: JSON.parse(event.body) as { event: string; data: Names },
    }));
    const found = await find(
      deps,
      accountId,
      parsed.map(({ event, envelope }) => ({ ...event, ...envelope.data })),
    );
    return parsed.map(({ event, envelope }) => {
      try {
        const data = withFields(envelope.data, fieldsOf(event, envelope.data, found), include);
        return { ...event, body: JSON.stringify({ ...envelope, data }) };
      } catch (error) {
        // A bug, for example of a connector. It must not hold up the event.
        deps.log.error({ err: error, event: envelope.event }, 'failed to add fields to an event');
        return event;
      }
    });
  };
}

/** All fields that can be added to an event. */
function fieldsOf({ conversation }: StoredEvent, { messageId, from, to }: Names, found: Found): AddedFields {
  const sessionId = sessionOf(conversation);
  const session = found.sessions.get(sessionId);
  if (session === undefined) return {};
  const connector = found.connectorOf(sessionId);
  const message = found.messages.get(messageId ?? '');
  const networkId = message && networkIdOf(message, connector);
  return {
    ...(networkId !== undefined && { networkId }),
    ...chatFields({ sessionId, chatId: chatOf(conversation) }, connector, found),
    ...(from !== undefined && {
      networkFrom: addressOfPerson({ sessionId, digits: from }, connector, found),
      ...senderFields(found.contacts.get(`${sessionId}/${from}`)),
    }),
    ...(from !== undefined && isGroupId(chatOf(conversation)) && { participant: from }),
    ...(to !== undefined && { toNumber: isGroupId(chatOf(conversation)) ? null : to }),
    session: { name: session.name, metadata: JSON.parse(session.metadata) },
  };
}

function senderFields(contact: Pick<ContactTable, 'name' | 'user_id' | 'user_name'> | undefined): AddedFields {
  return { senderName: contact?.name ?? null, ...(contact && userIdsOf(contact)) };
}

/** A placeholder means nothing to the network, so the user id takes its place. */
function addressOfPerson(
  { sessionId, digits }: { readonly sessionId: string; readonly digits: string },
  connector: Connector | undefined,
  { contacts }: Found,
): string {
  const userId = isPlaceholder(digits) ? contacts.get(`${sessionId}/${digits}`)?.user_id : undefined;
  return userId ?? addressOf({ type: 'direct', id: digits }, connector);
}

function chatFields(
  { sessionId, chatId }: { readonly sessionId: string; readonly chatId: string },
  connector: Connector | undefined,
  found: Found,
): AddedFields {
  if (chatId === '' || isChannelId(chatId)) return {};
  if (!isGroupId(chatId))
    return { networkChatId: addressOfPerson({ sessionId, digits: chatId }, connector, found), isGroup: false };
  const id = found.groups.get(chatId);
  const address = id && addressOf({ type: 'group', id }, connector);
  return { ...(address && { networkChatId: address, networkGroupId: address }), isGroup: true, groupId: chatId };
}

async function find(
  { reader, connectorsOf }: Deps,
  accountId: string,
  events: readonly (StoredEvent & Names)[],
): Promise<Found> {
  const sessionIds = unique(events.map(({ conversation }) => sessionOf(conversation)));
  const chatIds = unique(events.map(({ conversation }) => chatOf(conversation)));
  const listed = (ids: readonly string[]) => ({ accountId, ids: JSON.stringify(ids) });
  const [sessions, messages, groups, contacts, connectorOf] = await Promise.all([
    sessionsById.all(reader, listed(sessionIds)),
    messagesById.all(reader, listed(unique(events.map(({ messageId }) => messageId)))),
    networkIdsOfGroups(reader, accountId, chatIds.filter(isGroupId)),
    contactsByNumber.all(reader, {
      ...listed(sessionIds),
      phoneNumbers: JSON.stringify(unique([...events.map(({ from }) => from), ...chatIds.filter(isPlaceholder)])),
    }),
    connectorsOf(sessionIds),
  ]);
  return {
    sessions: new Map(sessions.map((row) => [row.session_id, row])),
    messages: new Map(messages.map((row) => [row.message_id, row])),
    groups,
    contacts: new Map(contacts.map((row) => [`${row.session_id}/${row.phone_number}`, row])),
    connectorOf,
  };
}

const unique = (ids: readonly (string | undefined)[]) => [...new Set(ids.filter((id) => id !== undefined))];

interface Listed {
  accountId: string;
  /** A JSON list. */
  ids: string;
}

const sessionsById = query((db, p: Listed, dialect) =>
  db
    .selectFrom('sessions')
    .select(['session_id', 'name', 'metadata'])
    .where('account_id', '=', p.accountId)
    .where('session_id', 'in', dialect.texts(p.ids)),
);

const messagesById = query((db, p: Listed, dialect) =>
  db
    .selectFrom('messages')
    .select(['message_id', 'direction', 'network_id', 'sent_at'])
    .where('account_id', '=', p.accountId)
    .where('message_id', 'in', dialect.texts(p.ids)),
);

const contactsByNumber = query((db, p: Listed & { phoneNumbers: string }, dialect) =>
  db
    .selectFrom('contacts')
    .select(['session_id', 'phone_number', 'name', 'user_id', 'user_name'])
    .where('account_id', '=', p.accountId)
    .where('session_id', 'in', dialect.texts(p.ids))
    .where('phone_number', 'in', dialect.texts(p.phoneNumbers)),
);
