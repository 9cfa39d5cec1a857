import type { Caller } from '../auth/authenticate.ts';
import type { Queryable } from '../db/dialect.ts';
import { accountNumber } from '../db/numbers.ts';
import { query } from '../db/query.ts';
import { isBeingDeleted, noSuch } from '../errors.ts';
import { sessionOf } from '../events/conversation.ts';
import { findMessage } from '../messages/store.ts';
import { deliveriesThrough, pathOf } from '../webhooks/log/deliveryFilters.ts';
import { eventsAbout } from '../webhooks/log/places.ts';
import { isOfChat, sessionColumn } from '../webhooks/queue/queue.ts';
import { digitsOf } from './input/phoneNumbers.ts';
import { fieldsOf } from './input/references.ts';
import { isRead, type Operation, sessionsOf } from './operation.ts';
import { findSessionOf } from './owners.ts';
import type { Services } from './services.ts';

/*
 * A read that is filtered by an id which does not exist fails instead of returning nothing, because the id is a typing
 * error. That holds for every operation: a field that refers to one of these is looked up before the operation runs.
 */

const FILTERS = ['session', 'chat', 'group', 'message', 'webhook', 'label'] as const;

interface Filter {
  readonly field: string;
  readonly to: (typeof FILTERS)[number];
}

type Input = Record<string, unknown>;

/** Returns the fields by which an operation filters what it reads. The others of its path say what it is about. */
export function filtersOf(operation: Operation): Filter[] {
  if (!isRead(operation)) return [];
  return fieldsOf(operation.input, FILTERS).filter(({ field }) => !operation.path.includes(`{${field}}`));
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
    const scope = operation.credential === 'none' ? undefined : operation.scope;
    let checked = input;
    for (const { field, to } of filtersOf(operation)) {
      const given = input[field];
      // Operations on a session look it up themselves.
      if (typeof given !== 'string' || (to === 'session' && scope === field)) continue;
      const id = to === 'chat' ? (digitsOf(given) ?? given) : given;
      const isKnown =
        (await this.#isKnown(to, id, caller, input['sessionId'])) ||
        (to === 'chat' && isOfDeliveries(operation) && (await this.#hasDeliveries(caller, id)));
      if (!isKnown) throw noSuch(to, given, field);
      checked = { ...checked, [field]: id };
    }
    return checked;
  }

  async #isKnown(to: Filter['to'], id: string, caller: Caller, sessionId: unknown): Promise<boolean> {
    const { database, liveSessions } = this.#services;
    const { accountId } = caller;
    const allowed = sessionsOf({ caller });
    const isAllowed = (session: string | undefined) => session !== undefined && (allowed?.includes(session) ?? true);
    switch (to) {
      case 'session':
        if (!isAllowed(id)) return false;
        if (liveSessions.stateOf({ accountId, sessionId: id }) !== undefined) return true;
        return isPresent(database.reader, accountId, id);
      case 'chat':
        return hasChat(database.reader, accountId, id, typeof sessionId === 'string' ? [sessionId] : allowed);
      case 'group':
        return isAllowed(await findSessionOf(database.reader, to, { accountId, id }));
      case 'message':
        return isAllowed(await sessionOfMessage(database.reader, accountId, id));
      case 'label':
        return isAllowed((await labelById.first(database.reader, { accountId, labelId: id }))?.session_id);
      case 'webhook':
        return this.#hasWebhook(accountId, id, allowed);
    }
  }

  /**
   * Whether the log can have deliveries of a chat: of one that was deleted, or that has had calls but no messages. Only
   * the newest ones are read; with more of them, any chat counts as known.
   */
  async #hasDeliveries(caller: Caller, chatId: string): Promise<boolean> {
    const sessionIds = sessionsOf({ caller });
    const { kysely } = this.#services.database.longReader;
    const newest = kysely
      .selectFrom('deliveries as d')
      .select('d.event')
      .where('d.account', '=', accountNumber(caller.accountId))
      .orderBy('d.delivery_id', 'desc')
      .limit(MOST_PASSED);
    let found = kysely
      .selectFrom(newest.as('d'))
      .innerJoin('events as e', 'e.position', 'd.event')
      .select('e.conversation')
      .where(isOfChat(chatId));
    if (sessionIds !== undefined) found = found.where(sessionColumn('e.conversation'), 'in', sessionIds);
    if ((await found.limit(1).executeTakeFirst()) !== undefined) return true;
    const { fn } = kysely;
    const passed = await kysely.selectFrom(newest.as('d')).select(fn.countAll().as('count')).executeTakeFirst();
    return Number(passed?.count) === MOST_PASSED;
  }

  /** Whether the webhook exists, or the delivery log still has deliveries of it. */
  async #hasWebhook(accountId: string, webhookId: string, sessionIds: readonly string[] | undefined): Promise<boolean> {
    const { reader, longReader } = this.#services.database;
    const path = pathOf({ webhookId });
    const webhook = await webhookById.first(reader, { accountId, webhookId });
    if (webhook !== undefined) {
      const own: string[] | null = webhook.session_ids === null ? null : JSON.parse(webhook.session_ids);
      return sessionIds === undefined || own === null || own.some((id) => sessionIds.includes(id));
    }
    let deliveries = deliveriesThrough(longReader, accountId, path)
      .innerJoin('events as e', 'e.position', 'd.event')
      .select('d.delivery_id');
    if (sessionIds !== undefined) deliveries = deliveries.where(sessionColumn('e.conversation'), 'in', sessionIds);
    return (await deliveries.limit(1).executeTakeFirst()) !== undefined;
  }
}

const sessionById = query((db, p: { accountId: string; sessionId: string }) =>
  db
    .selectFrom('sessions')
    .select('deleting_at')
    .where('account_id', '=', p.accountId)
    .where('session_id', '=', p.sessionId),
);

/** @throws {AppError} `not_found` if the session is being deleted */
async function isPresent(on: Queryable, accountId: string, sessionId: string): Promise<boolean> {
  const row = await sessionById.first(on, { accountId, sessionId });
  if (typeof row?.deleting_at === 'number') throw isBeingDeleted(sessionId);
  return row !== undefined;
}

/** Deliveries that a check of a chat reads. */
const MOST_PASSED = 10_000;

/** The delivery log outlives what its deliveries were about. */
const isOfDeliveries = ({ input }: Operation) => fieldsOf(input, ['webhook']).length > 0;

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
  const [position] = await eventsAbout(on, accountId, messageId, 1);
  const event = position === undefined ? undefined : await conversationAt.first(on, { position });
  return event && sessionOf(event.conversation);
}

const conversationAt = query((db, p: { position: number }) =>
  db.selectFrom('events').select('conversation').where('position', '=', p.position),
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
