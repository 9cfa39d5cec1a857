import { type RawBuilder, sql } from 'kysely';
import type { Database } from '../../db/database.ts';
import type { Queryable } from '../../db/dialect.ts';
import { FIRST_ROWS, PASSED_ROWS, Pace } from '../../db/pace.ts';
import { query } from '../../db/query.ts';
import { dueNowOf, endPending, type Key, waitingOf } from './pending.ts';
import { sessionColumn, type WebhookRef } from './queue.ts';

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
      unwanted: rows.filter(({ isUnwanted }) => isUnwanted),
      last: end && { dueAt: end.due_at, event: end.event },
    };
  }

  async #cancel(on: Queryable, keys: readonly Key[]): Promise<number> {
    if (keys.length === 0) return 0;
    return (await endPending(on, keys, { state: 'cancelled', reason: this.#reason, now: this.#now })).length;
  }
}

interface Place {
  readonly dueAt: number;
  readonly event: number;
}

/** Before all deliveries. */
const START: Place = { dueAt: 0, event: -1 };

interface UnwantedRange extends Place {
  readonly webhookId: string;
  readonly limit: number;
  readonly kinds: string;
  readonly anyKind: number;
  readonly sessionIds: string;
  readonly anySession: number;
}

interface Passed extends Key {
  readonly due_at: number;
  readonly isUnwanted: boolean | number;
  /** Number of rows that were read. */
  readonly passed: number;
}

/**
 * Reads the next pending deliveries after a place, those that are due now before those that wait, and returns the
 * unwanted ones and the last one. Two ranges of those that wait, because SQLite has no ranges of tuples.
 */
const nextPending = query<UnwantedRange, Passed>((db, p, dialect) => {
  const waiting = (isLater: RawBuilder<boolean>) =>
    db
      .selectFrom(
        waitingOf(db, p)
          .select(['q.event', 'q.webhook', 'q.due_at'])
          .where(isLater)
          .orderBy('q.due_at')
          .orderBy('q.event')
          .limit(p.limit)
          .as('range'),
      )
      .selectAll();
  const due = db
    .selectFrom(
      dueNowOf(db, p)
        .select(['q.event', 'q.webhook', sql<number>`0`.as('due_at')])
        .where(sql<boolean>`cast(${p.dueAt} as bigint) = 0 and q.event > ${p.event}`)
        .orderBy('q.event')
        .limit(p.limit)
        .as('range'),
    )
    .selectAll();
  const later = due
    .unionAll(waiting(sql`q.due_at = ${p.dueAt} and q.event > ${p.event}`))
    .unionAll(waiting(sql`q.due_at > ${p.dueAt}`));
  const isUnwanted = sql<boolean>`(
    (${p.anyKind} = 0 and e.kind not in ${dialect.texts(p.kinds)}) or
    (${p.anySession} = 0 and ${sessionColumn('e.conversation')} not in ${dialect.texts(p.sessionIds)}))`;
  return sql<Passed>`
    select event, webhook, due_at, ${isUnwanted} as "isUnwanted", passed from (
      select next.*, row_number() over (order by due_at, event) as passed, count(*) over () as total
      from (select * from ${later.as('later')} order by due_at, event limit ${p.limit}) as next
    ) as numbered join events e on e.position = numbered.event
    where passed = total or ${isUnwanted}
    order by passed`;
});
