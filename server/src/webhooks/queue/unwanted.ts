import { type RawBuilder, sql } from 'kysely';
import type { Database } from '../../db/database.ts';
import type { Queryable } from '../../db/dialect.ts';
import { FIRST_ROWS, PASSED_ROWS, Pace } from '../../db/pace.ts';
import { query, unindexed } from '../../db/query.ts';
import { pendingOf, sessionColumn, type WebhookRef } from './queue.ts';

/** The event types and sessions of deliveries that stay in the queue; null for any. */
export interface Wanted {
  readonly kinds: readonly string[] | null;
  readonly sessionIds: readonly string[] | null;
}

/**
 * Cancels the unwanted deliveries in a queue. It passes the queue in the order of its index, so that it reads each row
 * once, regardless of how many stay. A delivery that becomes due earlier while it runs could be missed, so it passes
 * the queue again until it finds none.
 */
export class UnwantedDeliveries {
  readonly #webhook: WebhookRef;
  readonly #wanted: Wanted;
  readonly #reason: string;
  readonly #now: number;
  #after = START;
  #hasCancelled = false;

  constructor(webhook: WebhookRef, wanted: Wanted, reason: string, now: number) {
    this.#webhook = webhook;
    this.#wanted = wanted;
    this.#reason = reason;
    this.#now = now;
  }

  /** Cancels what is unwanted among the first deliveries. Returns whether there are no others. */
  async cancelFirst(on: Queryable): Promise<boolean> {
    const { passed, unwanted, last } = await this.#read(on, FIRST_ROWS);
    await this.#cancel(on, unwanted);
    this.#hasCancelled = unwanted.length > 0;
    if (last !== undefined) this.#after = last;
    return passed < FIRST_ROWS;
  }

  /** Cancels the rest, in transactions with few rows. */
  async cancelRest({ longReader, commit }: Pick<Database, 'longReader' | 'commit'>, key?: string): Promise<void> {
    const pace = new Pace();
    for (;;) {
      const { passed, unwanted, last } = await this.#read(longReader, PASSED_ROWS);
      await pace.inSlices(commit, unwanted, (tx, slice) => this.#cancel(tx, slice), { key });
      this.#hasCancelled ||= unwanted.length > 0;
      if (last !== undefined && passed === PASSED_ROWS) this.#after = last;
      else if (this.#hasCancelled) {
        this.#after = START;
        this.#hasCancelled = false;
      } else return;
    }
  }

  async #read(on: Queryable, limit: number) {
    const { kinds, sessionIds } = this.#wanted;
    const rows = await nextPending.all(on, {
      ...{ webhookId: this.#webhook.webhookId, ...this.#after, limit },
      ...{ anyKind: Number(kinds === null), kinds: JSON.stringify(kinds ?? []) },
      ...{ anySession: Number(sessionIds === null), sessionIds: JSON.stringify(sessionIds ?? []) },
    });
    const end = rows.at(-1);
    return {
      passed: Number(end?.passed ?? 0),
      unwanted: rows.flatMap(({ delivery_id, isUnwanted }) => (isUnwanted ? [delivery_id] : [])),
      last: end && { dueAt: end.due_at, position: end.position, deliveryId: end.delivery_id },
    };
  }

  async #cancel(on: Queryable, ids: readonly string[]): Promise<number> {
    const { accountId } = this.#webhook;
    if (ids.length === 0) return 0;
    return cancelByIds.run(on, { accountId, ids: JSON.stringify(ids), reason: this.#reason, now: this.#now });
  }
}

interface Place {
  readonly dueAt: number;
  readonly position: number;
  readonly deliveryId: string;
}

/** Before all deliveries; the positions of those that an earlier version stored are negative. */
const START: Place = { dueAt: -1, position: 0, deliveryId: '' };

interface UnwantedRange extends Place {
  readonly webhookId: string;
  readonly limit: number;
  readonly kinds: string;
  readonly anyKind: number;
  readonly sessionIds: string;
  readonly anySession: number;
}

interface Passed {
  readonly delivery_id: string;
  readonly due_at: number;
  readonly position: number;
  readonly isUnwanted: boolean | number;
  /** Number of rows that were read. */
  readonly passed: number;
}

/**
 * Reads the next pending deliveries after a place, and returns the unwanted ones and the last one. Three ranges of the
 * index, because SQLite has no ranges of tuples.
 */
const nextPending = query<UnwantedRange, Passed>((db, p, dialect) => {
  const range = (isLater: RawBuilder<boolean>) =>
    db
      .selectFrom(
        pendingOf(db, p)
          .select(['d.delivery_id', 'd.due_at', 'd.position', 'd.kind', 'd.conversation'])
          .where(isLater)
          .orderBy('d.due_at')
          .orderBy('d.position')
          .orderBy('d.delivery_id')
          .limit(p.limit)
          .as('range'),
      )
      .selectAll();
  const later = range(sql`d.due_at = ${p.dueAt} and d.position = ${p.position} and d.delivery_id > ${p.deliveryId}`)
    .unionAll(range(sql`d.due_at = ${p.dueAt} and d.position > ${p.position}`))
    .unionAll(range(sql`d.due_at > ${p.dueAt}`));
  const isUnwanted = sql<boolean>`(
    (${p.anyKind} = 0 and kind not in ${dialect.texts(p.kinds)}) or
    (${p.anySession} = 0 and ${sessionColumn('conversation')} not in ${dialect.texts(p.sessionIds)}))`;
  return sql<Passed>`
    select delivery_id, due_at, position, ${isUnwanted} as "isUnwanted", passed from (
      select next.*, row_number() over (order by due_at, position, delivery_id) as passed, count(*) over () as total
      from (select * from ${later.as('later')} order by due_at, position, delivery_id limit ${p.limit}) as next
    ) as numbered
    where passed = total or ${isUnwanted}
    order by passed`;
});

const cancelByIds = query((db, p: { accountId: string; ids: string; reason: string; now: number }, dialect) =>
  db
    .updateTable('deliveries')
    .set({ state: 'cancelled', settled_at: p.now, reason: p.reason, held_behind: null })
    .where('account_id', '=', p.accountId)
    .where('delivery_id', 'in', dialect.texts(p.ids))
    .where(unindexed('state'), '=', 'pending'),
);
