import { sql } from 'kysely';
import type { Commit, Tx } from '../../db/commit.ts';
import { FIRST_ROWS, Pace } from '../../db/pace.ts';
import { query } from '../../db/query.ts';
import { AppError } from '../../errors.ts';
import type { DeletionHandler, Deletions } from '../../jobs/deletions.ts';
import type { InboxOptions } from '../inboxOptions.ts';
import { lastPlace } from '../sendOrder.ts';
import type { SessionRef } from '../store.ts';
import { emitFailed } from './outgoingProgress.ts';

/*
 * Queued messages fail when their session is logged out, because it may be linked to another number next. A long queue
 * fails in slices, as a recorded deletion that continues after a crash.
 */

type Parts = Pick<InboxOptions, 'emit' | 'clock'>;

interface Queue extends SessionRef {
  /**
   * The last place that a message could have at the logout. Messages that are stored later wait for the next
   * connection.
   */
  readonly lastPlace: number;
}

/** Fails some queued messages in the transaction that logs their session out, and the others in the background. */
export async function failQueue(
  options: Parts & { readonly deletions: Deletions },
  tx: Tx,
  session: SessionRef,
): Promise<void> {
  const { accountId, sessionId } = session;
  const everything = { accountId, sessionId, lastPlace: Number.MAX_SAFE_INTEGER };
  if ((await failSome(options, tx, everything, FIRST_ROWS)) < FIRST_ROWS) return;
  const { last } = (await lastPlaceOf.first(tx, {})) ?? {};
  const queue: Queue = { accountId, sessionId, lastPlace: last ?? 0 };
  const details = JSON.stringify(queue);
  await options.deletions.begin(tx, { resourceId: resourceOf(session), accountId, kind: 'queue', details });
}

/** Returns the deletion handler for queues. */
export const queueDeletion =
  (parts: Parts, commit: Commit, isStopped: () => boolean): DeletionHandler =>
  async ({ details }, _isResumed, complete) => {
    const queue: Queue = JSON.parse(details);
    const key = queue.sessionId;
    await new Pace().repeat(commit, (tx, rows) => failSome(parts, tx, queue, rows), { key, isStopped });
    if (isStopped()) throw new AppError('shutting_down');
    await commit(complete, key);
  };

/** Waits until the whole queue has failed, so that the next connection sends none of its messages. */
export const finishQueue = (deletions: Deletions, session: Pick<SessionRef, 'sessionId'>): Promise<void> =>
  deletions.finish(resourceOf(session));

const resourceOf = ({ sessionId }: Pick<SessionRef, 'sessionId'>) => `queue/${sessionId}`;

/** Returns the number of messages found. */
async function failSome(parts: Parts, tx: Tx, queue: Queue, rows: number): Promise<number> {
  const { accountId } = queue;
  const ids = (await someQueued.all(tx, { ...queue, rows })).map(({ message_id }) => message_id);
  if (ids.length === 0) return 0;
  const failed = await failQueued.all(tx, { accountId, ids: JSON.stringify(ids), now: parts.clock.now() });
  const places = new Map(ids.map((id, index) => [id, index]));
  const placeOf = ({ message_id }: { message_id: string }) => places.get(message_id) ?? 0;
  for (const row of failed.toSorted((a, b) => placeOf(a) - placeOf(b))) emitFailed(parts, tx, row);
  return ids.length;
}

// A literal, so that the planner can use the partial index.
const isQueued = sql.lit('queued' as const);

const lastPlaceOf = query((db, _: object) => db.selectNoFrom(lastPlace.as('last')));

const someQueued = query((db, p: Queue & { rows: number }) =>
  db
    .selectFrom('outbox')
    .select('message_id')
    .where('session_id', '=', p.sessionId)
    .where('status', '=', isQueued)
    .where('place', '<=', p.lastPlace)
    .orderBy('chat_id')
    .orderBy('place')
    .orderBy('message_id')
    .limit(p.rows),
);

/** Skips messages that another transaction has cancelled after the read. */
const failQueued = query((db, p: { accountId: string; ids: string; now: number }, dialect) =>
  db
    .updateTable('messages')
    .set({
      status: 'failed',
      error: 'The session was logged out before the message was sent',
      error_code: 'session_not_connected',
      failed_at: p.now,
    })
    .where('account_id', '=', p.accountId)
    .where('message_id', 'in', dialect.texts(p.ids))
    .where('status', '=', isQueued)
    .returningAll(),
);
