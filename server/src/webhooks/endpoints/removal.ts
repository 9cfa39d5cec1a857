import type { Tx } from '../../db/commit.ts';
import type { Database } from '../../db/database.ts';
import type { Queryable } from '../../db/dialect.ts';
import { FIRST_ROWS, Pace } from '../../db/pace.ts';
import { query } from '../../db/query.ts';
import type { WebhookTable } from '../../db/schema.ts';
import { AppError } from '../../errors.ts';
import type { Deletion, DeletionHandler, Deletions } from '../../jobs/deletions.ts';
import { cancelPending, type WebhookRef } from '../queue/queue.ts';
import type { WebhookContext } from './destinations.ts';

/*
 * Removes webhooks and subscriptions. The row goes in one transaction with the first pending deliveries; the others are
 * cancelled by a recorded deletion, which continues after a crash.
 */

export type RemovalContext = Pick<WebhookContext, 'clock' | 'log' | 'engine'> & { readonly deletions: Deletions };

interface Removal {
  /** Ids of the webhooks that existed. */
  readonly removed: readonly string[];
  /** Recorded deletions of the deliveries that are left. */
  readonly left: readonly Deletion[];
}

const REMOVED = 'The webhook was removed';

/**
 * Removes a webhook. Once this resolves, nothing more is sent to it. Returns whether there was one.
 * @throws {MovedError} if another node delivers to it
 */
export async function removeWebhook(
  ctx: RemovalContext & Pick<WebhookContext, 'accountId' | 'database'>,
  find: (on: Queryable) => Promise<WebhookTable | undefined>,
): Promise<boolean> {
  const { database, accountId, engine } = ctx;
  const known = await find(database.reader);
  if (known === undefined) return false;
  await engine.requireOwner(known.webhook_id);
  const { removed, left } = await database.commit(async (tx) => {
    const row = await find(tx);
    return removeRows(ctx, tx, accountId, row === undefined ? [] : [row.webhook_id], REMOVED);
  }, accountId);
  void cancelLeft(ctx, left);
  for (const webhookId of removed) await engine.retire(webhookId);
  return removed.length > 0;
}

/**
 * Removes webhooks in a transaction. Pass what is left to `cancelLeft` afterwards. An attempt in flight may still
 * arrive.
 */
export async function removeRows(
  { clock, deletions, engine }: RemovalContext,
  tx: Tx,
  accountId: string,
  webhookIds: readonly string[],
  reason: string,
): Promise<Removal> {
  const rows = Math.max(1, Math.floor(FIRST_ROWS / webhookIds.length));
  const removed: string[] = [];
  const left: Deletion[] = [];
  for (const webhookId of webhookIds) {
    const cancelled = await cancelPending(tx, { accountId, webhookId }, reason, clock.now(), rows);
    if ((await remove.run(tx, { accountId, webhookId })) > 0) removed.push(webhookId);
    if (cancelled < rows) continue;
    const details = JSON.stringify({ reason });
    const deletion: Deletion = { resourceId: webhookId, accountId, kind: 'webhook', details };
    await deletions.record(tx, deletion);
    left.push(deletion);
  }
  tx.afterCommit(() => {
    for (const webhookId of removed) engine.removed(webhookId);
  });
  return { removed, left };
}

/** Cancels the other deliveries of removed webhooks. A failed deletion is retried later. */
export async function cancelLeft({ deletions, log }: RemovalContext, left: readonly Deletion[]): Promise<void> {
  for (const deletion of left) {
    await deletions
      .run(deletion)
      .catch((error) =>
        log.warn({ err: error, webhook: deletion.resourceId }, 'failed to cancel deliveries; retrying'),
      );
  }
}

/** Returns the handler of recorded deletions of webhooks, which cancels what is still pending. */
export const webhookDeletion =
  ({ commit }: Pick<Database, 'commit'>, { now }: WebhookContext['clock'], isStopped: () => boolean): DeletionHandler =>
  async ({ resourceId: webhookId, accountId, details }, _isResumed, complete) => {
    const { reason = REMOVED }: { reason?: string } = JSON.parse(details); // earlier versions stored none
    const cancelSome = async (tx: Tx, rows: number) => {
      const cancelled = await cancelPending(tx, { accountId, webhookId }, reason, now(), rows);
      if (cancelled < rows) await complete(tx);
      return cancelled;
    };
    await new Pace().repeat(commit, cancelSome, { isStopped });
    if (isStopped()) throw new AppError('shutting_down');
  };

const remove = query((db, p: WebhookRef) =>
  db.deleteFrom('webhooks').where('account_id', '=', p.accountId).where('webhook_id', '=', p.webhookId),
);
