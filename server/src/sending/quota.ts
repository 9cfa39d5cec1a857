import type { Tx } from '../db/commit.ts';
import type { Queryable } from '../db/dialect.ts';
import { query } from '../db/query.ts';
import { AppError } from '../errors.ts';

/** The messages that an API key may send per day (UTC). */
export interface SendQuota {
  readonly keyId: string;
  readonly perDay: number;
  /** When the messages were accepted. */
  readonly now: number;
}

const DAY_MS = 24 * 60 * 60 * 1000;

/**
 * Counts messages in the transaction that stores the first of them, so that neither parallel sends nor several nodes
 * exceed the quota. Messages that are not stored are not counted, unless the process dies between two transactions.
 * @throws {AppError} `quota_exceeded`, so that none of the messages is stored
 */
export async function countSends(tx: Tx, quota: SendQuota, sends: number): Promise<void> {
  if (sends === 0) return;
  const { keyId, perDay, now } = quota;
  const counted = { keyId, day: dayOf(now), sends, most: perDay - sends };
  const isWithin = sends <= perDay && (await addSends.run(tx, counted)) === 1;
  if (!isWithin) throw quotaExceeded(quota, await sentOn(tx, quota), sends);
}

/** @throws {AppError} `quota_exceeded` if the key has sent as many messages as it may today */
export async function requireQuota(on: Queryable, quota: SendQuota): Promise<void> {
  const sent = await sentOn(on, quota);
  if (sent >= quota.perDay) throw quotaExceeded(quota, sent, 1);
}

/** How many messages the key may still send today, and the time until it may send more. */
export async function sendsLeft(on: Queryable, quota: SendQuota): Promise<{ left: number; retryAfterSeconds: number }> {
  const { perDay, now } = quota;
  return { left: Math.max(0, perDay - (await sentOn(on, quota))), retryAfterSeconds: secondsLeft(now) };
}

async function sentOn(on: Queryable, { keyId, now }: SendQuota): Promise<number> {
  return (await sendsOf.first(on, { keyId, day: dayOf(now) }))?.sends ?? 0;
}

/** Until the next day (UTC). */
const secondsLeft = (now: number) => Math.ceil(((dayOf(now) + 1) * DAY_MS - now) / 1000);

const dayOf = (now: number) => Math.floor(now / DAY_MS);

function quotaExceeded({ perDay, now }: SendQuota, sent: number, sends: number): AppError {
  return new AppError(
    'quota_exceeded',
    `The API key may send ${perDay} messages per day (UTC) and has sent ${sent}; it cannot send ${sends} more today`,
    { retryAfterSeconds: secondsLeft(now) },
  );
}

/** Changes nothing if more than `most` messages have been sent. */
const addSends = query((db, p: { keyId: string; day: number; sends: number; most: number }) =>
  db
    .insertInto('key_sends')
    .values({ key_id: p.keyId, day: p.day, sends: p.sends })
    .onConflict((conflict) =>
      conflict
        .columns(['key_id', 'day'])
        .doUpdateSet((eb) => ({ sends: eb('key_sends.sends', '+', eb.ref('excluded.sends')) }))
        .where('key_sends.sends', '<=', p.most),
    ),
);

const sendsOf = query((db, p: { keyId: string; day: number }) =>
  db.selectFrom('key_sends').select('sends').where('key_id', '=', p.keyId).where('day', '=', p.day),
);
