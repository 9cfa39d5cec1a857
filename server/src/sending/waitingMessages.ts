import { sql } from 'kysely';
import type { Queryable } from '../db/dialect.ts';
import { query } from '../db/query.ts';
import { AppError } from '../errors.ts';

/** Counts the messages of an account with a status, up to `most`. */
export async function countWaiting(
  db: Queryable,
  status: keyof typeof counts,
  accountId: string,
  most: number,
): Promise<number> {
  const { count = 0 } = (await counts[status].first(db, { accountId, most })) ?? {};
  return Number(count);
}

export function tooManyScheduled(most: number): AppError {
  return new AppError(
    'too_many',
    `The account would exceed its limit of ${most} scheduled messages (MAX_SCHEDULED_MESSAGES); wait until some are sent, or cancel some`,
  );
}

const counts = { scheduled: countOf('scheduled'), pending_approval: countOf('pending_approval') };

function countOf(status: 'scheduled' | 'pending_approval') {
  return query((db, p: { accountId: string; most: number }) =>
    db
      .selectFrom((eb) =>
        eb
          .selectFrom('outbox')
          .select('message_id')
          .where('account_id', '=', p.accountId)
          .where('status', '=', sql.lit(status))
          .limit(p.most)
          .as('waiting'),
      )
      .select(({ fn }) => fn.countAll<number>().as('count')),
  );
}
