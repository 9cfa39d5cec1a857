import { sql } from 'kysely';
import type { Clock } from '../../clock.ts';
import { LISTED_ROWS } from '../../db/pace.ts';
import { query } from '../../db/query.ts';
import type { Cleaning, Steps } from '../../jobs/cleaning.ts';

const DAY_MS = 24 * 60 * 60 * 1000;
const STATS_DAYS = 8;

/** @param now returns the steady time, as for the keys */
export function prunesIdempotencyKeys(now: () => number): Cleaning {
  return {
    name: 'idempotency keys',
    run: (steps) => steps.repeat((tx, limit) => deleteKeys.run(tx, { before: now() - DAY_MS, limit })),
  };
}

/** Deletes the counters of webhooks per minute. */
export function prunesMinutes(clock: Clock): Cleaning {
  return {
    name: 'webhook statistics',
    async run(steps) {
      const before = clock.now() - STATS_DAYS * DAY_MS;
      let deleted = 0;
      for (let after = ''; !steps.isStopped; ) {
        const found = await withOldMinutes.all(steps.database.longReader, { after, before, limit: LISTED_ROWS });
        for (const { webhook_id: webhookId } of found)
          deleted += await steps.repeat((tx, limit) => deleteMinutes.run(tx, { webhookId, before, limit }));
        const last = found.at(-1);
        if (last === undefined) break;
        after = last.webhook_id;
      }
      return deleted;
    },
  };
}

/** Deletes the counters of the messages that keys have sent per day. */
export function prunesKeySends(clock: Clock): Cleaning {
  return { name: 'counters of sent messages', run: (steps) => pruneKeySends(steps, clock) };
}

async function pruneKeySends(steps: Steps, clock: Clock): Promise<number> {
  // A day more, because the clocks of nodes differ.
  const day = Math.floor(clock.now() / DAY_MS) - 1;
  let deleted = 0;
  for (let after = ''; !steps.isStopped; ) {
    const found = await oldSends.all(steps.database.longReader, { day, after, limit: LISTED_ROWS });
    const ids = [...new Set(found.map(({ key_id }) => key_id))];
    const last = ids.at(-1);
    if (last === undefined) break;
    deleted += await steps.inChunks(ids, (tx, chunk) => deleteSends.run(tx, { day, ids: JSON.stringify(chunk) }));
    after = last;
  }
  return deleted;
}

const deleteKeys = query((db, p: { before: number; limit: number }) =>
  db.deleteFrom('idempotency_keys').where(
    sql<boolean>`(account_id, idempotency_key) in (
        select account_id, idempotency_key from idempotency_keys where created_at < ${p.before} limit ${p.limit})`,
  ),
);

/** Jumps from webhook to webhook, see `lanes` in `queue.ts`. */
const withOldMinutes = query<{ after: string; before: number; limit: number }, { webhook_id: string }>(
  (_, p) => sql<{ webhook_id: string }>`
    with recursive webhook (id) as (
      select min(webhook_id) from webhook_minutes where webhook_id > ${p.after}
      union all
      select (select min(m.webhook_id) from webhook_minutes m where m.webhook_id > webhook.id)
      from webhook where webhook.id is not null
    )
    select id as webhook_id from webhook
    where id is not null
      and exists (select 1 from webhook_minutes m where m.webhook_id = webhook.id and m.minute < ${p.before})
    limit ${p.limit}`,
);

const deleteMinutes = query((db, p: { webhookId: string; before: number; limit: number }) =>
  db
    .deleteFrom('webhook_minutes')
    .where('webhook_id', '=', p.webhookId)
    .where('minute', 'in', (eb) =>
      eb
        .selectFrom('webhook_minutes')
        .select('minute')
        .where('webhook_id', '=', p.webhookId)
        .where('minute', '<', p.before)
        .limit(p.limit),
    ),
);

const oldSends = query((db, p: { day: number; after: string; limit: number }) =>
  db
    .selectFrom('key_sends')
    .select('key_id')
    .where('day', '<', p.day)
    .where('key_id', '>', p.after)
    .orderBy('key_id')
    .limit(p.limit),
);

const deleteSends = query((db, p: { day: number; ids: string }, dialect) =>
  db.deleteFrom('key_sends').where('key_id', 'in', dialect.texts(p.ids)).where('day', '<', p.day),
);
