import { sql } from 'kysely';
import { allEnded } from '../../async.ts';
import type { Clock } from '../../clock.ts';
import type { LateWriter, Tx } from '../../db/commit.ts';
import type { Queryable } from '../../db/dialect.ts';
import { accountNumber } from '../../db/numbers.ts';
import { batch, query } from '../../db/query.ts';
import type { WebhookTable } from '../../db/schema.ts';
import { chatOf, sessionOf } from '../../events/conversation.ts';
import { type EventData, type EventKind, matchesPattern } from '../../events/events.ts';
import { hashOfId, type NewId } from '../../ids.ts';
import type { Metrics } from '../../metrics.ts';
import type { Due } from '../queue/due.ts';
import { enqueue } from '../queue/pending.ts';
import { isRare } from './deliveryFilters.ts';
import { filteredBy, listsUserIds, passesFilters, type WebhookFilters } from './filters.ts';

export interface Emission<K extends EventKind = EventKind> {
  readonly accountId: string;
  readonly kind: K;
  readonly data: EventData<K>;
  /** Events of one conversation are delivered in order: `sessionId` or `sessionId/chatId`. */
  readonly conversation: string;
  /** The message that the event is about, for the filter of the delivery log. */
  readonly messageId?: string;
  /** `traceparent` of the span that caused it; the active span by default. */
  readonly trace?: string | null;
  /** The webhook that the event is about, which does not get it. */
  readonly except?: string;
}

/** Emits one event. Call it in the transaction of the change that the event reports. */
export type Emit = <K extends EventKind>(tx: Tx, emission: Emission<K>) => void;

interface Emitted {
  readonly account_id: string;
  readonly event_id: string;
  readonly kind: EventKind;
  readonly conversation: string;
  readonly message_id: string | null;
  /** The exact text to send. */
  readonly body: string;
  readonly trace: string | null;
  readonly created_at: number;
  /** The earliest position that it may have in the log, unless the database draws it. */
  readonly position: number;
  /** The webhook that does not get it. */
  readonly except: string | undefined;
  /** For the filters of webhooks. */
  readonly filtered: ReturnType<typeof filteredBy>;
}

/**
 * Writes events, with one delivery for each webhook that subscribes, at the end of the transaction of their changes, so
 * that neither is ever stored without the other. Wakes the lanes after the commit.
 */
export function createEmit({
  newId,
  clock,
  steady,
  metrics,
  wake,
  announce,
  userIdsOf = async () => [],
  note = () => {},
  trace = () => null,
}: {
  newId: NewId;
  clock: Clock;
  steady: Clock;
  metrics: Metrics;
  wake: (webhookId: string, stored: readonly Due[]) => void;
  announce: (accountId: string) => void;
  /** Returns the present user ids of a person, for filters that list user ids. */
  userIdsOf?: UserIdsOf | undefined;
  /** Sees the data of every event, in its transaction. */
  note?: ((tx: Tx, accountId: string, data: unknown) => void) | undefined;
  trace?: (() => string | null) | undefined;
}): Emit {
  const newPosition = createPositions(steady);
  const write: LateWriter<Emitted> = async (tx, events) => {
    const accountIds = [...new Set(events.map(({ account_id }) => account_id))];
    // In this order: a transaction that does not see a new webhook has drawn positions before, for which
    // `EventLog.complete` waits.
    const [positions, webhooks] = await allEnded(
      insertEvents(tx, events),
      webhooksOf.all(tx, { accountIds: JSON.stringify(accountIds) }),
    );
    const webhooksByAccount = Map.groupBy(
      webhooks.map((row) => ({ ...row, ...selectionOf(row) })),
      ({ account_id }) => account_id,
    );
    const areNeeded = (event: Emitted) =>
      webhooksByAccount.get(event.account_id)?.some((row) => row.listsUserIds && row.isOfKind(event)) === true;
    const idsOf = await readUserIds(tx, events.filter(areNeeded), userIdsOf);
    const deliveries = events.flatMap((event) =>
      (webhooksByAccount.get(event.account_id) ?? [])
        .filter(({ webhook_id, isWanted }) => webhook_id !== event.except && isWanted(event, idsOf(event)))
        .map(({ webhook_id, webhook, account }) => ({
          ...event,
          ...{ delivery_id: newId('dlv'), webhook_id, webhook, account },
          event: positions.get(event.event_id) ?? 0,
        })),
    );
    await tx.endWith(allEnded(...insertDeliveries(tx, deliveries)));
    const paused = new Set(webhooks.filter((row) => row.paused === 1).map(({ webhook_id }) => webhook_id));
    tx.afterCommit(() => {
      for (const [kind, some] of Map.groupBy(events, (event) => event.kind)) metrics.events.inc({ kind }, some.length);
      for (const accountId of accountIds) announce(accountId);
      for (const [webhookId, stored] of Map.groupBy(deliveries, ({ webhook_id }) => webhook_id))
        if (!paused.has(webhookId)) wake(webhookId, stored.map(toDue));
    });
  };

  return (tx, { accountId, kind, data, conversation, messageId, trace: causedBy = trace(), except }) => {
    note(tx, accountId, data);
    tx.writeLater(write, {
      account_id: accountId,
      event_id: newId('evt'),
      kind,
      conversation,
      message_id: messageId ?? null,
      body: JSON.stringify({ event: kind, data }),
      trace: causedBy,
      created_at: clock.now(),
      position: newPosition(),
      except,
      filtered: filteredBy(data),
    });
  };
}

/**
 * Makes positions as microseconds of steady time, which goes on after a restart. Within a process they strictly
 * increase. They are exact until the year 2255.
 */
function createPositions(steady: Clock): () => number {
  let last = 0;
  return () => (last = Math.max(last + 1, steady.now() * 1000));
}

type UserIdsOf = (tx: Queryable, sessionId: string, digits: string) => Promise<readonly string[]>;
/** Reads the user ids of the people whose chats have events, and returns a function that returns them. */
async function readUserIds(
  tx: Queryable,
  events: readonly Emitted[],
  userIdsOf: UserIdsOf,
): Promise<(event: Emitted) => readonly string[]> {
  const known = new Map<string, readonly string[]>();
  for (const { conversation } of events) {
    const chatId = chatOf(conversation);
    if (isPerson(chatId) && !known.has(conversation))
      known.set(conversation, await userIdsOf(tx, sessionOf(conversation), chatId));
  }
  return ({ conversation }) => known.get(conversation) ?? [];
}

const isPerson = (chatId: string) => /^\d+$/.test(chatId);

/** Returns how a webhook selects events. */
function selectionOf(row: Pick<WebhookTable, 'events' | 'session_ids' | 'filters'>) {
  const kinds: readonly string[] = JSON.parse(row.events);
  const patterns = kinds.filter((kind) => kind.endsWith('*'));
  const sessionIds: readonly string[] | null = row.session_ids && JSON.parse(row.session_ids);
  const filters: WebhookFilters | null = row.filters && JSON.parse(row.filters);
  const isOfKind = ({ kind, conversation }: Emitted) =>
    (kinds.includes(kind) || patterns.some((pattern) => matchesPattern(pattern, kind))) &&
    (sessionIds === null || sessionIds.includes(sessionOf(conversation)));
  return {
    listsUserIds: filters !== null && listsUserIds(filters),
    isOfKind,
    isWanted(event: Emitted, chatUserIds: readonly string[]): boolean {
      const { kind, conversation, filtered } = event;
      const isSelected = () =>
        filters === null || passesFilters(filters, { kind, chatId: chatOf(conversation), ...filtered, chatUserIds });
      return isOfKind(event) && isSelected();
    },
  };
}

function toDue(row: Emitted & NewDelivery): Due {
  return {
    webhook: row.webhook,
    deliveryId: row.delivery_id,
    eventId: row.event_id,
    kind: row.kind,
    conversation: row.conversation,
    attempts: 0,
    steps: 0,
    dueAt: 0,
    body: row.body,
    trace: row.trace,
    sequence: row.event,
    createdAt: row.created_at,
  };
}

/** Stores events at the end of the log. Returns the position of each. */
export async function insertEvents(
  on: Queryable,
  events: readonly (Omit<Emitted, 'except' | 'filtered'> & { readonly is_test?: number })[],
): Promise<ReadonlyMap<string, number>> {
  const rows = events.map((event) => ({
    ...event,
    is_test: event.is_test ?? 0,
    message_hash: event.message_id === null ? null : hashOfId(event.message_id),
  }));
  return new Map((await appendEvents.all(on, rows)).map(({ event_id, position }) => [event_id, position]));
}

interface NewDelivery {
  /** Position of the event. */
  readonly event: number;
  /** Number of the webhook. */
  readonly webhook: number;
  /** Number of the account. */
  readonly account: number;
  readonly delivery_id: string;
  readonly kind: EventKind;
}

/** Stores deliveries that are due now. Sends the statements, and returns their answers. */
export function insertDeliveries(on: Queryable, deliveries: readonly NewDelivery[]): readonly Promise<unknown>[] {
  const rows = deliveries.map((row) => ({ ...row, kind: isRare(row.kind) ? row.kind : null }));
  return [storeDeliveries.run(on, rows), enqueue(on, rows)];
}

const webhooksOf = query((db, p: { accountIds: string }, dialect) =>
  db
    .selectFrom('webhooks as w')
    .innerJoin('accounts as a', 'a.account_id', 'w.account_id')
    .innerJoin('receivers as r', 'r.webhook_id', 'w.webhook_id')
    .select(['w.account_id', 'w.webhook_id', 'w.events', 'w.session_ids', 'w.filters', 'w.paused'])
    .select(['a.seq as account', 'r.seq as webhook'])
    .where('w.account_id', 'in', dialect.texts(p.accountIds))
    .where('w.enabled', '=', 1),
);

/** On SQLite, a position is greater than all earlier ones, even if the clock is behind them. */
const appendEvents = batch(
  {
    account_id: 'text',
    event_id: 'text',
    kind: 'text',
    conversation: 'text',
    message_id: 'text',
    message_hash: 'bigint',
    body: 'text',
    trace: 'text',
    is_test: 'bigint',
    created_at: 'bigint',
    position: 'bigint',
  },
  ({ row, from, dialect }) => {
    const [column, value] = dialect.log.drawsPositions
      ? [sql``, sql``]
      : [sql`position, `, sql`max(${row.position}, coalesce((select max(position) from events), 0) + 1), `];
    return sql<{ event_id: string; position: number }>`
    insert into events (${column}account, event_id, kind, conversation, message_id, message_hash, body, trace, is_test,
      created_at)
    select ${value}${accountNumber(row.account_id)}, ${row.event_id}, ${row.kind}, ${row.conversation},
      ${row.message_id}, ${row.message_hash}, ${row.body}, ${row.trace}, ${row.is_test}, ${row.created_at} ${from}
    returning event_id, position`;
  },
);

const storeDeliveries = batch(
  { event: 'bigint', webhook: 'bigint', account: 'bigint', delivery_id: 'text', kind: 'text' },
  ({ row, from }) => sql`
    insert into deliveries (event, webhook, account, delivery_id, kind, state, attempts, steps)
    select ${row.event}, ${row.webhook}, ${row.account}, ${row.delivery_id}, ${row.kind}, 'pending', 0, 0 ${from}`,
);

/** Finds the numbers of a webhook and its account. */
export const numbersOf = query((db, p: { accountId: string; webhookId: string }) =>
  db
    .selectFrom('receivers')
    .select(['seq as webhook', accountNumber(p.accountId).as('account')])
    .where('webhook_id', '=', p.webhookId),
);
