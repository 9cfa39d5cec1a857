import type { Kysely } from 'kysely';
import { deleteKey } from '../../auth/keyChanges.ts';
import { allows } from '../../auth/permissions.ts';
import type { Tx } from '../../db/commit.ts';
import { messagesInOutbox } from '../../db/outbox.ts';
import { Pace } from '../../db/pace.ts';
import { query } from '../../db/query.ts';
import type { ApiKeyTable, MessageRow, Schema } from '../../db/schema.ts';
import type { OutboxStatus } from '../../db/tables/messages.ts';
import { AppError } from '../../errors.ts';
import type { Context } from '../../invoke/operation.ts';
import type { Services } from '../../invoke/services.ts';
import type { DeletionHandler } from '../../jobs/deletions.ts';
import { optionsColumn, readOptions } from '../../sessions/options.ts';
import { pauseWebhooksOf, removeWebhooksOf } from '../../webhooks/endpoints/keyWebhooks.ts';

/* Messages, webhooks and texts that an API key has made, when the key changes or ends. */

interface OwnKey {
  readonly accountId: string;
  readonly keyId: string;
}

/** Pauses the webhooks of a key that may no longer set webhooks. Call it in the transaction that changes the key. */
export async function limitCreated(ctx: Context<'engine'>, tx: Tx, row: ApiKeyTable): Promise<void> {
  const permissions: string[] = JSON.parse(row.permissions);
  const maySet = allows(permissions, 'webhooks:write') && row.session_ids === null && row.requires_approval === null;
  if (!maySet) await pauseWebhooksOf(ctx, tx, { accountId: row.account_id, keyId: row.key_id });
}

type Needed = Pick<Services, 'database' | 'clock' | 'log' | 'deletions' | 'sender' | 'engine' | 'keyChanges'>;

export interface Removed {
  readonly messages: number;
  readonly webhooks: number;
}

/**
 * Handles a recorded revocation: cancels what the key has not sent yet, removes its webhooks and its texts for callers,
 * and deletes it. Returns how much was removed.
 */
export const keyDeletion =
  (services: Needed): DeletionHandler =>
  async ({ accountId, resourceId: keyId }, _, complete): Promise<Removed> => {
    const key = { accountId, keyId };
    await removeCallTexts(services, key);
    const messages = await cancelMessages(services, key);
    const webhooks = await removeWebhooksOf(services, key);
    await services.database.commit(async (tx) => {
      await deleteKey(tx, key);
      await complete(tx);
    });
    await services.keyChanges.changed(accountId, keyId);
    return { messages, webhooks };
  };

const BATCH = 100;

async function cancelMessages({ database, sender, deletions }: Needed, key: OwnKey): Promise<number> {
  let cancelled = 0;
  // Queued ones are last, because a scheduled message can be queued during the cancellation.
  for (const waiting of [scheduled, unapproved, queued]) {
    const cancel = (row: MessageRow) => (waiting === queued ? sender.cancelQueued(row) : sender.cancel(row));
    for (let after = '', hasMore = true; hasMore; ) {
      const rows = await waiting.all(database.longReader, { ...key, after, limit: BATCH });
      for (const row of rows) {
        if (deletions.isStopped) throw new AppError('shutting_down');
        if (await cancel(row)) cancelled++;
      }
      hasMore = rows.length === BATCH;
      after = rows.at(-1)?.message_id ?? after;
    }
  }
  return cancelled;
}

async function removeCallTexts({ database }: Needed, { accountId, keyId }: OwnKey): Promise<void> {
  const { seal } = database;
  const ofKey = (kysely: Kysely<Schema>) =>
    kysely.selectFrom('sessions').where('account_id', '=', accountId).where('call_text_key', '=', keyId);
  const found = await ofKey(database.longReader.kysely).select('session_id').execute();
  const ids = found.map(({ session_id }) => session_id);
  await new Pace().inSlices(database.commit, ids, async ({ kysely, dialect }, slice) => {
    const listed = dialect.texts(JSON.stringify(slice));
    const rows = await ofKey(kysely).selectAll().where('session_id', 'in', listed).execute();
    for (const row of rows) {
      const { calls, ...options } = readOptions(seal, row);
      const { message: _, ...others } = { ...(calls as { readonly message?: string } | undefined) };
      await kysely
        .updateTable('sessions')
        .set({ options: optionsColumn(seal, row.session_id, { ...options, calls: others }), call_text_key: null })
        .where('account_id', '=', accountId)
        .where('session_id', '=', row.session_id)
        .execute();
    }
    return rows.length;
  });
}

type Page = OwnKey & { readonly after: string; readonly limit: number };

const scheduled = waitingAs('scheduled');
const unapproved = waitingAs('pending_approval');
const queued = waitingAs('queued');

/** The account's messages of other keys are passed, in the thread for long reads. */
function waitingAs(status: OutboxStatus) {
  return query((db, p: Page) =>
    messagesInOutbox(db, status)
      .selectAll('m')
      .where('o.account_id', '=', p.accountId)
      .where('m.key_id', '=', p.keyId)
      .where('o.message_id', '>', p.after)
      .orderBy('o.message_id')
      .limit(p.limit),
  );
}
