import type { Tx } from '../db/commit.ts';
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
 * Counts messages in the transaction that stores them, so that neither parallel sends nor several nodes exceed the
 * quota, and a message that is not stored is not counted.
 * @throws {AppError} `quota_exceeded`, so that none of the messages is stored
 */
export async function countSends(tx: Tx, { keyId, perDay, now }: SendQuota, sends: number): Promise<void> {
  if (sends === 0) return;
  const day = Math.floor(now / DAY_MS);
  const isWithin = sends <= perDay && (await addSends.run(tx, { keyId, day, sends, most: perDay - sends })) === 1;
  if (isWithin) return;
  const { sends: sent = 0 } = (await sendsOf.first(tx, { keyId, day })) ?? {};
  throw new AppError(
    'quota_exceeded',
    `The API key may send ${perDay} messages per day (UTC) and has sent ${sent}; it cannot send ${sends} more today`,
    { retryAfterSeconds: Math.ceil(((day + 1) * DAY_MS - now) / 1000) },
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
