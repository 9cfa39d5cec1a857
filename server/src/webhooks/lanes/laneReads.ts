import type { Clock } from '../../clock.ts';
import type { Database } from '../../db/database.ts';
import { Pace } from '../../db/pace.ts';
import type { AddFields } from '../../events/addedFields.ts';
import { isRecorded } from '../../jobs/deletions.ts';
import { type Due, type Known, readDue, readDueInOrder } from '../queue/due.ts';
import { cancelPending, ownerOfPending } from '../queue/queue.ts';
import { hold } from '../queue/strictOrder.ts';
import type { Webhook } from './webhook.ts';

interface Deps {
  readonly database: Database;
  readonly addFields: AddFields;
  /** Number of deliveries that a lane may keep in memory. */
  room(): number;
}

interface Wanted {
  /** Steady time. */
  readonly now: number;
  readonly limit: number;
  /** Returns what must not be read. Called before each read. */
  known(): Known;
}

/** The due deliveries of a lane, with the fields that its webhook adds. */
interface Found {
  readonly due: readonly Due[];
  /** Whether deliveries were held back behind earlier ones, so that others may be due or wait for their retry. */
  readonly hasHeld: boolean;
}

/** Reads what is due. */
export async function readDeliveries(deps: Deps, webhook: Webhook, wanted: Wanted): Promise<Found> {
  const { due, hasHeld } = await readStored(deps, webhook, wanted);
  return { due: await deps.addFields(webhook.accountId, due, webhook.include), hasHeld };
}

/** Reads the next probe: the first due delivery, or after a failed probe the first of another conversation. */
export async function readProbe(deps: Deps, webhook: Webhook, wanted: Omit<Wanted, 'limit'>): Promise<Found> {
  const { failedProbe } = webhook.breaker;
  const others = failedProbe == null ? [] : [failedProbe];
  const first = { ...wanted, limit: 1 };
  let found = await readStored(deps, webhook, first, others);
  if (found.due.length === 0 && others.length > 0) {
    const { hasHeld } = found;
    found = await readStored(deps, webhook, first);
    found = { ...found, hasHeld: hasHeld || found.hasHeld };
  }
  return { ...found, due: await deps.addFields(webhook.accountId, found.due, webhook.include) };
}

/**
 * Reads due deliveries, except in conversations that are left out. Deliveries that have to wait for an earlier one of
 * their conversation are held back instead.
 */
async function readStored(
  { database, room }: Deps,
  { webhookId, isStrict }: Webhook,
  { now, limit, known: knownNow }: Wanted,
  without: readonly string[] = [],
): Promise<Found> {
  const { deliveryIds, conversations } = knownNow();
  const known = { deliveryIds, conversations: [...conversations, ...without] };
  if (!isStrict) return { due: await readDue(database.reader, webhookId, now, limit, known), hasHeld: false };
  const rows = await readDueInOrder(database.reader, webhookId, now, Math.max(limit, room()), known);
  const held = rows.flatMap(({ sequence: event, webhook, conversation, heldBehind }) =>
    heldBehind === null ? [] : { event, webhook, conversation, heldBehind },
  );
  if (held.length > 0) await database.commit((tx) => hold(tx, webhookId, held, now));
  const due = rows.filter(({ heldBehind }) => heldBehind === null).slice(0, limit);
  return { due, hasHeld: held.length > 0 };
}

/** Cancels the pending deliveries that other transactions added during the removal of a webhook; see `removal.ts`. */
export async function cancelLate(
  { database, clock }: { readonly database: Database; readonly clock: Clock },
  webhookId: string,
  isStopped: () => boolean,
): Promise<void> {
  const accountId = await ownerOfPending(database.reader, webhookId);
  if (accountId === undefined || (await isRecorded(database.reader, webhookId)) || isStopped()) return;
  await new Pace().repeat(
    database.commit,
    (tx, limit) => cancelPending(tx, { accountId, webhookId }, 'The webhook was removed', clock.now(), limit),
    { isStopped },
  );
}
