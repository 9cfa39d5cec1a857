import { eachOrThrow } from '../../async.ts';
import type { Tx } from '../../db/commit.ts';
import type { Database } from '../../db/database.ts';
import { query } from '../../db/query.ts';
import { cancelLeft, type RemovalContext, removeRows } from './removal.ts';

/* Removes the webhooks whose `expiresAt` has passed. */

const BATCH = 100;

type Context = RemovalContext & { readonly database: Pick<Database, 'reader' | 'commit'> };

/**
 * Removes expired webhooks, and cancels their pending deliveries. Several nodes can do so at the same time, and one of
 * them removes each. An attempt in flight may still arrive. Returns the number that this call removed.
 * @throws {Error} the first error, after it has tried the others of the same read
 */
export async function removeExpired(ctx: Context, isStopped: () => boolean): Promise<number> {
  const { database, clock } = ctx;
  let count = 0;
  for (;;) {
    const expired = await expiredWebhooks.all(database.reader, { now: clock.now(), limit: BATCH });
    await eachOrThrow(expired, async (webhook) => {
      if (!isStopped() && (await removeOne(ctx, webhook))) count++;
    });
    if (isStopped() || expired.length < BATCH) return count;
  }
}

async function removeOne(ctx: Context, { accountId, webhookId }: Expired): Promise<boolean> {
  const { removed, left } = await ctx.database.commit(async (tx: Tx) => {
    // The time may have been moved since it was read. The update locks the row on PostgreSQL.
    const claimed = await claim.run(tx, { accountId, webhookId, now: ctx.clock.now() });
    return removeRows(ctx, tx, accountId, claimed === 0 ? [] : [webhookId], 'The webhook has expired');
  }, accountId);
  if (removed.length > 0) ctx.log.info({ account: accountId, webhook: webhookId }, 'removed an expired webhook');
  await cancelLeft(ctx, left);
  return removed.length > 0;
}

interface Expired {
  readonly accountId: string;
  readonly webhookId: string;
}

const expiredWebhooks = query((db, p: { now: number; limit: number }) =>
  db
    .selectFrom('webhooks')
    .select(['account_id as accountId', 'webhook_id as webhookId'])
    .where('remove_at', 'is not', null)
    .where('remove_at', '<=', p.now)
    .orderBy('remove_at')
    .limit(p.limit),
);

const claim = query((db, p: Expired & { readonly now: number }) =>
  db
    .updateTable('webhooks')
    .set((eb) => ({ remove_at: eb.ref('remove_at') }))
    .where('account_id', '=', p.accountId)
    .where('webhook_id', '=', p.webhookId)
    .where('remove_at', '<=', p.now),
);
