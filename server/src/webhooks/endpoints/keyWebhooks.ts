import type { Tx } from '../../db/commit.ts';
import { query } from '../../db/query.ts';
import type { WebhookContext } from './destinations.ts';
import { cancelLeft, type RemovalContext, removeRows } from './removal.ts';

/* The webhooks that an API key has set. Its subscriptions are in `subscriptionKeeper.ts`. */

interface OwnKey {
  readonly accountId: string;
  readonly keyId: string;
}

export const PAUSED_BY_KEY =
  'The API key that set this webhook may no longer set webhooks. Check the webhook, then resume it.';

/**
 * Pauses the webhooks of a key, in the transaction that takes the permission for them from the key. Their deliveries
 * wait until a person resumes them.
 */
export async function pauseWebhooksOf({ engine }: Pick<WebhookContext, 'engine'>, tx: Tx, key: OwnKey): Promise<void> {
  const paused = await pause.all(tx, key);
  for (const { webhook_id: webhookId } of paused) tx.afterCommit(() => engine.reload(webhookId));
}

/**
 * Removes the webhooks of a key in one transaction, and cancels their pending deliveries.
 * @returns how many there were
 */
export async function removeWebhooksOf(
  ctx: RemovalContext & Pick<WebhookContext, 'database'>,
  key: OwnKey,
): Promise<number> {
  const { accountId } = key;
  const { removed, left } = await ctx.database.commit(async (tx) => {
    const ids = (await webhooksOf.all(tx, key)).map(({ webhook_id: id }) => id);
    return removeRows(ctx, tx, accountId, ids, 'The webhook was removed with its API key');
  }, accountId);
  await cancelLeft(ctx, left);
  return removed.length;
}

const pause = query((db, p: OwnKey) =>
  db
    .updateTable('webhooks')
    .set({ paused: 1, paused_reason: PAUSED_BY_KEY })
    .where('account_id', '=', p.accountId)
    .where('set_by_key', '=', p.keyId)
    .where('paused', '=', 0)
    .returning('webhook_id'),
);

const webhooksOf = query((db, p: OwnKey) =>
  db
    .selectFrom('webhooks')
    .select('webhook_id')
    .where('account_id', '=', p.accountId)
    .where('set_by_key', '=', p.keyId)
    .orderBy('webhook_id'),
);
