import type { Tx } from '../../../src/db/commit.ts';
import type { DeliveryState } from '../../../src/db/tables/webhooks.ts';
import type { EventKind } from '../../../src/events/events.ts';
import { timeOfId } from '../../../src/ids.ts';
import { insertDeliveries, insertEvents, numbersOf } from '../../../src/webhooks/log/emit.ts';
import { type Key, postpone, removePending } from '../../../src/webhooks/queue/pending.ts';

export interface Stored {
  readonly eventId: string;
  readonly kind?: EventKind;
  readonly conversation?: string;
  readonly body?: string;
  readonly messageId?: string | null;
  readonly createdAt?: number;
  /** Undefined for an event without a delivery. */
  readonly deliveryId?: string;
  readonly webhookId?: string;
  readonly state?: DeliveryState;
  /** 0 for now. */
  readonly dueAt?: number;
  readonly attempts?: number;
  readonly steps?: number;
}

/** Stores events and at most one delivery of each, without waking anybody. Returns the keys of the deliveries. */
export async function storeLog(tx: Tx, accountId: string, rows: readonly Stored[]): Promise<Key[]> {
  const positions = await insertEvents(
    tx,
    rows.map(
      ({ eventId, kind = 'message.sent', conversation = 'chat', body = '{}', messageId = null, createdAt = 0 }) => ({
        ...{ account_id: accountId, event_id: eventId, kind, conversation, body, message_id: messageId },
        ...{ trace: null, created_at: createdAt, position: timeOfId(eventId) * 1000 },
      }),
    ),
  );
  const numbers = new Map<string, Awaited<ReturnType<typeof numbersOf.first>>>();
  const keys: Key[] = [];
  const stored: (Stored & Key)[] = [];
  for (const row of rows) {
    const { webhookId, deliveryId, eventId, kind = 'message.sent' } = row;
    if (deliveryId === undefined || webhookId === undefined) continue;
    if (!numbers.has(webhookId)) numbers.set(webhookId, await numbersOf.first(tx, { accountId, webhookId }));
    const own = numbers.get(webhookId);
    if (own === undefined) throw new Error(`no webhook ${webhookId}`);
    const event = positions.get(eventId) ?? 0;
    await Promise.all(insertDeliveries(tx, [{ ...own, event, delivery_id: deliveryId, kind }]));
    keys.push({ event, webhook: own.webhook });
    stored.push({ ...row, event, webhook: own.webhook });
  }
  for (const row of stored) await changeStored(tx, row);
  return keys;
}

async function changeStored({ kysely, ...tx }: Tx, row: Stored & Key): Promise<void> {
  const { event, webhook, state = 'pending', dueAt = 0, attempts = 0, steps = 0, conversation = 'chat' } = row;
  if (state === 'pending' && dueAt > 0)
    await postpone({ kysely, ...tx }, [{ event, webhook, dueAt, conversation, heldBehind: null }]);
  if (state !== 'pending') await removePending({ kysely, ...tx }, [{ event, webhook }]);
  if (state === 'pending' && attempts === 0 && steps === 0) return;
  const undelivered = state === 'pending' || state === 'delivered' ? null : state;
  await kysely
    .updateTable('deliveries')
    .set({ state, undelivered, attempts, steps })
    .where('event', '=', event)
    .where('webhook', '=', webhook)
    .execute();
}
