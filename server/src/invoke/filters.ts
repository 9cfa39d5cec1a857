import type { Caller } from '../auth/authenticate.ts';
import type { Queryable } from '../db/dialect.ts';
import { query } from '../db/query.ts';
import { noSuch } from '../errors.ts';
import { sessionOf } from '../events/conversation.ts';
import { findMessage } from '../messages/store.ts';
import { isOfChat, sessionColumn } from '../webhooks/queue.ts';
import type { Services } from './context.ts';
import { isRead, type Operation, sessionsOf } from './operation.ts';
import { findSessionOf } from './owners.ts';
import { digitsOf } from './phoneNumbers.ts';

/*
 * A read that is filtered by an id which does not exist fails instead of returning nothing, because the id is a typing
 * error. That holds for every operation: a field with one of the names below is looked up before the operation runs.
 */

/** The fields that filter reads by an id, and what they name. */
const resources = {
  sessionId: 'session',
  chatId: 'chat',
  groupId: 'group',
  messageId: 'message',
  webhookId: 'webhook',
  labelId: 'label',
} as const;

export type FilterField = keyof typeof resources;

type Input = Record<string, unknown>;

/** Returns the fields by which an operation filters what it reads. The others of its path say what it is about. */
export function filtersOf(operation: Operation): FilterField[] {
  if (!isRead(operation)) return [];
  const names = Object.keys(resources) as FilterField[];
  return names.filter((name) => name in operation.input.properties && !operation.path.includes(`{${name}}`));
}

/** Looks up the ids in the filters of reads. */
export class Filters {
  readonly #services: Pick<Services, 'database' | 'liveSessions'>;

  constructor(services: Pick<Services, 'database' | 'liveSessions'>) {
    this.#services = services;
  }

  /**
   * Returns the input with its chat under the stored id.
   * @throws {AppError} `not_found` naming the field, also for what is outside the sessions of the caller's key
   */
  async check(operation: Operation, caller: Caller, input: Input): Promise<Input> {
    const { scope } = operation as Exclude<Operation, { credential: 'none' }>;
    let checked = input;
    for (const field of filtersOf(operation)) {
      const given = input[field];
      // Operations on a session look it up themselves.
      if (typeof given !== 'string' || (field === 'sessionId' && scope === 'sessionId')) continue;
      const id = field === 'chatId' ? (digitsOf(given) ?? given) : given;
      const isKnown =
        (await this.#isKnown(field, id, caller, input['sessionId'])) ||
        (field === 'chatId' && isOfDeliveries(operation) && (await this.#hasDeliveries(caller, id)));
      if (!isKnown) throw noSuch(resources[field], given, field);
      checked = { ...checked, [field]: id };
    }
    return checked;
  }

  async #isKnown(field: FilterField, id: string, caller: Caller, sessionId: unknown): Promise<boolean> {
    const { database, liveSessions } = this.#services;
    const { accountId } = caller;
    const allowed = sessionsOf({ caller });
    const isAllowed = (session: string | undefined) => session !== undefined && (allowed?.includes(session) ?? true);
    switch (field) {
      case 'sessionId':
        if (!isAllowed(id)) return false;
        if (liveSessions.stateOf({ accountId, sessionId: id }) !== undefined) return true;
        return (await findSessionOf(database.reader, 'sessionId', { accountId, id })) !== undefined;
      case 'chatId':
        return hasChat(database.reader, accountId, id, typeof sessionId === 'string' ? [sessionId] : allowed);
      case 'groupId':
        return isAllowed(await findSessionOf(database.reader, 'groupId', { accountId, id }));
      case 'messageId':
        return isAllowed(await sessionOfMessage(database.reader, accountId, id));
      case 'labelId':
        return isAllowed((await labelById.first(database.reader, { accountId, labelId: id }))?.session_id);
      case 'webhookId':
        return this.#hasWebhook(accountId, id, allowed);
    }
  }

  /** Whether the log has deliveries of a chat: of one that was deleted, or that has had calls but no messages. */
  async #hasDeliveries(caller: Caller, chatId: string): Promise<boolean> {
    const sessionIds = sessionsOf({ caller });
    let deliveries = this.#services.database.longReader.kysely
      .selectFrom('deliveries as d')
      .select('d.delivery_id')
      .where('d.account_id', '=', caller.accountId)
      .where(isOfChat(chatId));
    if (sessionIds !== undefined) deliveries = deliveries.where(sessionColumn('d.conversation'), 'in', sessionIds);
    return (await deliveries.limit(1).executeTakeFirst()) !== undefined;
  }

  /** Whether the webhook exists, or the delivery log still has deliveries of it. */
  async #hasWebhook(accountId: string, webhookId: string, sessionIds: readonly string[] | undefined): Promise<boolean> {
    const { reader, longReader } = this.#services.database;
    const webhook = await webhookById.first(reader, { accountId, webhookId });
    if (webhook !== undefined) {
      const own: string[] | null = webhook.session_ids === null ? null : JSON.parse(webhook.session_ids);
      return sessionIds === undefined || own === null || own.some((id) => sessionIds.includes(id));
    }
    let deliveries = longReader.kysely
      .selectFrom('deliveries as d')
      .select('d.delivery_id')
      .where('d.account_id', '=', accountId)
      .where('d.webhook_id', '=', webhookId);
    if (sessionIds !== undefined) deliveries = deliveries.where(sessionColumn('d.conversation'), 'in', sessionIds);
    return (await deliveries.limit(1).executeTakeFirst()) !== undefined;
  }
}

/** The delivery log outlives what its deliveries were about. */
const isOfDeliveries = ({ input }: Operation) => 'webhookId' in input.properties;

/** Whether the chat exists in one of the sessions, or of all; a group counts before its first message. */
async function hasChat(
  { kysely }: Queryable,
  accountId: string,
  chatId: string,
  sessionIds: readonly string[] | undefined,
): Promise<boolean> {
  const sessions = sessionIds ?? kysely.selectFrom('sessions').select('session_id').where('account_id', '=', accountId);
  const chats = kysely
    .selectFrom('chats')
    .select('chat_id')
    .where('account_id', '=', accountId)
    .where('session_id', 'in', sessions)
    .where('chat_id', '=', chatId);
  const groups = kysely
    .selectFrom('groups')
    .select('group_id as chat_id')
    .where('account_id', '=', accountId)
    .where('session_id', 'in', sessions)
    .where('group_id', '=', chatId);
  return (await chats.unionAll(groups).executeTakeFirst()) !== undefined;
}

/** The session of a message, which may be deleted while the log has its events. */
async function sessionOfMessage(on: Queryable, accountId: string, messageId: string): Promise<string | undefined> {
  const message = await findMessage(on, accountId, messageId);
  if (message !== undefined) return message.session_id;
  const event = await eventOfMessage.first(on, { accountId, messageId });
  return event && sessionOf(event.conversation);
}

const eventOfMessage = query((db, p: { accountId: string; messageId: string }) =>
  db
    .selectFrom('events')
    .select('conversation')
    .where('account_id', '=', p.accountId)
    .where('message_id', '=', p.messageId)
    .limit(1),
);

const labelById = query((db, p: { accountId: string; labelId: string }) =>
  db.selectFrom('labels').select('session_id').where('account_id', '=', p.accountId).where('label_id', '=', p.labelId),
);

const webhookById = query((db, p: { accountId: string; webhookId: string }) =>
  db
    .selectFrom('webhooks')
    .select('session_ids')
    .where('account_id', '=', p.accountId)
    .where('webhook_id', '=', p.webhookId),
);
