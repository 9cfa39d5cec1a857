import { sql } from 'kysely';
import { allEnded } from '../../async.ts';
import type { Clock } from '../../clock.ts';
import type { LateWriter, Tx } from '../../db/commit.ts';
import type { Queryable } from '../../db/dialect.ts';
import { batch, query } from '../../db/query.ts';
import type { WebhookTable } from '../../db/schema.ts';
import { chatOf, sessionOf } from '../../events/conversation.ts';
import { type EventData, type EventKind, matchesPattern } from '../../events/events.ts';
import type { NewId } from '../../ids.ts';
import type { Metrics } from '../../metrics.ts';
import type { Due } from '../queue/due.ts';
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
  /** Its position in the log, unless the database draws it. */
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
    const [, webhooks] = await allEnded(
      insertEvents.run(tx, events),
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
        .map(({ webhook_id }) => ({ ...event, delivery_id: newId('dlv'), webhook_id })),
    );
    await tx.endWith(insertDeliveries.run(tx, deliveries));
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

function toDue(row: Emitted & { readonly delivery_id: string }): Due {
  return {
    accountId: row.account_id,
    deliveryId: row.delivery_id,
    eventId: row.event_id,
    kind: row.kind,
    conversation: row.conversation,
    attempts: 0,
    steps: 0,
    dueAt: 0,
    body: row.body,
    trace: row.trace,
    sequence: row.position,
    createdAt: row.created_at,
  };
}

const webhooksOf = query((db, p: { accountIds: string }, dialect) =>
  db
    .selectFrom('webhooks')
    .select(['account_id', 'webhook_id', 'events', 'session_ids', 'filters', 'paused'])
    .where('account_id', 'in', dialect.texts(p.accountIds))
    .where('enabled', '=', 1),
);

const insertEvents = batch(
  {
    account_id: 'text',
    event_id: 'text',
    kind: 'text',
    conversation: 'text',
    message_id: 'text',
    body: 'text',
    trace: 'text',
    created_at: 'bigint',
    position: 'bigint',
  },
  ({ row, from, dialect }) => {
    const [column, value] = dialect.log.drawsPositions ? [sql``, sql``] : [sql`, position`, sql`, ${row.position}`];
    return sql`
    insert into events (account_id, event_id, kind, conversation, message_id, body, trace, is_test, created_at${column})
    select ${row.account_id}, ${row.event_id}, ${row.kind}, ${row.conversation}, ${row.message_id}, ${row.body},
      ${row.trace}, 0, ${row.created_at}${value} ${from}`;
  },
);

export const insertDeliveries = batch(
  {
    account_id: 'text',
    delivery_id: 'text',
    webhook_id: 'text',
    event_id: 'text',
    kind: 'text',
    conversation: 'text',
    created_at: 'bigint',
  },
  ({ row, from }) => sql`
    insert into deliveries
      (account_id, delivery_id, webhook_id, event_id, kind, conversation, state, due_at, attempts, steps, is_test, created_at)
    select ${row.account_id}, ${row.delivery_id}, ${row.webhook_id}, ${row.event_id}, ${row.kind}, ${row.conversation},
      'pending', 0, 0, 0, 0, ${row.created_at} ${from}`,
);
