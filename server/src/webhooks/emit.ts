import type { Clock } from '../clock.ts';
import type { Tx } from '../db/commit.ts';
import { query } from '../db/query.ts';
import type { EventData, EventKind } from '../events.ts';
import type { NewId } from '../ids.ts';

/** An event to emit. */
export interface Emission<K extends EventKind = EventKind> {
  readonly accountId: string;
  readonly kind: K;
  readonly data: EventData<K>;
  /** Events of one conversation are delivered in order: `sessionId` or `sessionId/chatId`. */
  readonly conversation: string;
  /** The message it tells of, for the delivery log's filter. */
  readonly messageId?: string;
}

/** Emits one event. Call it in the transaction that changes the state the event tells of. */
export type Emit = <K extends EventKind>(tx: Tx, emission: Emission<K>) => Promise<void>;

/**
 * Writes the event, with its body exactly as it will be sent, and one delivery per webhook that wants it, in the
 * transaction of the change: there is no moment in which one is stored without the other. Lanes are woken after it.
 */
export function createEmit({
  newId,
  clock,
  wake,
  announce,
}: {
  newId: NewId;
  clock: Clock;
  wake: (webhookId: string) => void;
  announce: (accountId: string) => void;
}): Emit {
  return async (tx, { accountId, kind, data, conversation, messageId }) => {
    const now = clock.now();
    const eventId = newId('evt');
    const body = JSON.stringify({ event: kind, data });
    await insertEvent.run(tx, { accountId, eventId, kind, conversation, messageId: messageId ?? null, body, now });
    tx.afterCommit(() => announce(accountId));
    for (const webhook of await webhooksOf.all(tx, { accountId })) {
      if (!(JSON.parse(webhook.events) as string[]).includes(kind)) continue;
      const webhookId = webhook.webhook_id;
      await insertDelivery.run(tx, {
        accountId,
        deliveryId: newId('dlv'),
        webhookId,
        eventId,
        kind,
        conversation,
        now,
      });
      tx.afterCommit(() => wake(webhookId));
    }
  };
}

const webhooksOf = query((db, p: { accountId: string }) =>
  db
    .selectFrom('webhooks')
    .select(['webhook_id', 'events'])
    .where('account_id', '=', p.accountId)
    .where('enabled', '=', 1),
);

interface NewEvent {
  accountId: string;
  eventId: string;
  kind: string;
  conversation: string;
  messageId: string | null;
  body: string;
  now: number;
}

const insertEvent = query((db, p: NewEvent) =>
  db.insertInto('events').values({
    account_id: p.accountId,
    event_id: p.eventId,
    kind: p.kind,
    conversation: p.conversation,
    message_id: p.messageId,
    body: p.body,
    is_test: 0,
    created_at: p.now,
  }),
);

interface NewDelivery {
  accountId: string;
  deliveryId: string;
  webhookId: string;
  eventId: string;
  kind: string;
  conversation: string;
  now: number;
}

const insertDelivery = query((db, p: NewDelivery) =>
  db.insertInto('deliveries').values({
    account_id: p.accountId,
    delivery_id: p.deliveryId,
    webhook_id: p.webhookId,
    event_id: p.eventId,
    kind: p.kind,
    conversation: p.conversation,
    state: 'pending',
    due_at: p.now,
    attempts: 0,
    steps: 0,
    last_class: null,
    last_message: null,
    is_test: 0,
    created_at: p.now,
    settled_at: null,
  }),
);
