import { sql } from 'kysely';
import { KeyedQueue, settledWithin } from '../async.ts';
import { type Clock, systemClock } from '../clock.ts';
import type { Tx } from '../db/commit.ts';
import type { Database } from '../db/database.ts';
import type { Queryable } from '../db/dialect.ts';
import { query } from '../db/query.ts';
import type { DeletionKind } from '../db/tables/deployment.ts';
import { AppError, isAway } from '../errors.ts';
import type { Log } from '../log.ts';

/** A resource whose rows are deleted. */
export interface Deletion {
  /**
   * Id of the session, webhook or API key; for a chat, `sessionId/chatId`; for the placeholder of a person,
   * `identity/sessionId/placeholder`; for the queued messages of a logged-out session, `queue/sessionId`; for a label,
   * `label/sessionId/labelId`.
   */
  readonly resourceId: string;
  readonly accountId: string;
  readonly kind: DeletionKind;
  /** Options of the handler, as JSON. */
  readonly details: string;
}

/**
 * Deletes what has been recorded, in transactions with few rows, and can be run again after a crash. It ends with
 * `complete` in its last transaction.
 * @param isResumed whether an earlier run may have done some of it
 */
export type DeletionHandler = (deletion: Deletion, isResumed: boolean, complete: (tx: Tx) => Promise<void>) => unknown;

interface Options {
  readonly database: Database;
  readonly clock: Clock;
  readonly log: Log;
}

const POLL_MS = 10_000;
/** How long other nodes leave a deletion to the one that works on it. It renews this with every poll. */
const CLAIM_MS = 45_000;
/** How long a deletion that has failed again lets others go first. */
const RETRY_MS = 60_000;
const STOP_MS = 5000;
/** Deletions that a poll continues. */
const MOST = 10;
/** They run one after the other. */
const QUEUE = '';

interface Run {
  readonly details: string;
  readonly result: Promise<unknown>;
}

/**
 * Deletions that take many transactions. Each is recorded in the transaction with which it begins, and the record goes
 * with its last one. A deletion whose process died continues on any node. A resource has one record: a later deletion
 * with other details replaces it, and runs after the one in progress.
 */
export class Deletions {
  readonly #options: Options;
  readonly #handlers = new Map<DeletionKind, DeletionHandler>();
  /** The last run of each resource, which waits for the ones before it. */
  readonly #running = new Map<string, Run>();
  readonly #queue = new KeyedQueue();
  #isStopped = false;
  #hasFreed = false;
  #cancel = () => {};
  #polling: Promise<void> = Promise.resolve();

  constructor(options: Options) {
    this.#options = options;
  }

  handle(kind: DeletionKind, handler: DeletionHandler): void {
    this.#handlers.set(kind, handler);
  }

  get isStopped(): boolean {
    return this.#isStopped;
  }

  start(): void {
    this.#poll();
  }

  /** Waits for the deletions that are running to reach the end of their transaction. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    this.#cancel();
    const results = Array.from(this.#running.values(), ({ result }) => result);
    await settledWithin(systemClock, STOP_MS, Promise.allSettled([this.#polling, ...results]));
  }

  /** Records a deletion, in the transaction that begins it. */
  async record(tx: Tx, { resourceId, accountId, kind, details }: Deletion): Promise<void> {
    const now = this.#options.clock.now();
    await insertDeletion.run(tx, { resourceId, accountId, kind, details, now });
    await claim.run(tx, { resourceId, forMs: CLAIM_MS });
  }

  /** Records a deletion, and runs it in the background once the transaction has been committed. */
  async begin(tx: Tx, deletion: Deletion): Promise<void> {
    await this.record(tx, deletion);
    const { kind, resourceId } = deletion;
    tx.afterCommit(() => {
      this.run(deletion).catch((error) => {
        if (!this.#isStopped)
          this.#options.log.warn({ err: error, kind, resource: resourceId }, 'failed to complete a deletion; retrying');
      });
    });
  }

  /**
   * Runs a recorded deletion after the one in progress on its resource in this process. One with the same details
   * shares its run. Resolves with what the handler returns.
   */
  run(deletion: Deletion, isResumed = false): Promise<unknown> {
    const { resourceId, details } = deletion;
    const present = this.#running.get(resourceId);
    if (present?.details === details) return present.result;
    const result = present === undefined ? this.#run(deletion, isResumed) : this.#runAfter(present, deletion);
    const run = { details, result };
    this.#running.set(resourceId, run);
    const end = () => {
      if (this.#running.get(resourceId) === run) this.#running.delete(resourceId);
    };
    result.then(end, end);
    return result;
  }

  /** Runs what is recorded for the resources with a prefix to its end, or waits for the run in progress. */
  async finish(prefix: string): Promise<void> {
    const { reader } = this.#options.database;
    const recorded = await recordedFor.all(reader, { prefix });
    for (const deletion of recorded) await this.run(deletion, true);
  }

  async #runAfter({ result }: Run, deletion: Deletion): Promise<unknown> {
    await result.catch(() => {}); // reported to its own callers
    const { resourceId } = deletion;
    await this.#options.database.commit((tx) => claim.run(tx, { resourceId, forMs: CLAIM_MS }));
    return this.#run(deletion, false);
  }

  async #run(deletion: Deletion, isResumed: boolean): Promise<unknown> {
    const handler = this.#handlers.get(deletion.kind);
    if (handler === undefined) throw new Error(`no handler deletes a ${deletion.kind}`);
    if (this.#isStopped) throw new AppError('shutting_down');
    const { resourceId, details } = deletion;
    const complete = async (tx: Tx) => void (await removeDeletion.run(tx, { resourceId, details }));
    try {
      return await handler(deletion, isResumed, complete);
    } catch (error) {
      // The first repetition may follow immediately, on any node.
      const forMs = isResumed && !this.#isStopped ? RETRY_MS : 0;
      await this.#options.database.commit((tx) => claim.run(tx, { resourceId, forMs })).catch(() => {});
      throw error;
    }
  }

  #poll(): void {
    this.#polling = this.#continueAll().finally(() => {
      if (!this.#isStopped) this.#cancel = this.#options.clock.after(POLL_MS, () => this.#poll());
    });
  }

  async #continueAll(): Promise<void> {
    const { database, log } = this.#options;
    try {
      await this.#freeAbandoned();
      for (const resourceId of this.#running.keys())
        await database.commit((tx) => claim.run(tx, { resourceId, forMs: CLAIM_MS }));
      if (this.#queue.length(QUEUE) > 0) return; // those that were found before
      const kinds = JSON.stringify([...this.#handlers.keys()]);
      for (const row of await unclaimed.all(database.reader, { kinds, limit: MOST }))
        if (!this.#running.has(row.resourceId)) void this.#continue(row);
    } catch (error) {
      log[isAway(error) ? 'warn' : 'error']({ err: error }, 'failed to look for interrupted deletions; retrying');
    }
  }

  /** One process has the database to itself, so whatever is recorded has ended with the process before it. */
  async #freeAbandoned(): Promise<void> {
    const { database } = this.#options;
    if (this.#hasFreed || database.shared !== undefined) return;
    await database.commit((tx) => freeAll.run(tx, {}));
    this.#hasFreed = true;
  }

  /** Runs interrupted deletions one at a time. */
  #continue(deletion: Deletion): Promise<void> {
    return this.#queue.run(QUEUE, async () => {
      const { database, log } = this.#options;
      const { resourceId, kind } = deletion;
      try {
        if (this.#isStopped || this.#running.has(resourceId)) return;
        const claimed = await database.commit((tx) => claimFree.first(tx, { resourceId, forMs: CLAIM_MS }));
        if (claimed === undefined) return;
        log.info({ kind, resource: resourceId }, 'continuing an interrupted deletion');
        await this.run({ ...deletion, details: claimed.details }, true);
      } catch (error) {
        if (!this.#isStopped)
          log.warn({ err: error, kind, resource: resourceId }, 'failed to continue a deletion; retrying');
      }
    });
  }
}

/** Whether a deletion of the resource is recorded and has not completed. */
export const isRecorded = async (on: Queryable, resourceId: string): Promise<boolean> =>
  (await recordOf.first(on, { resourceId })) !== undefined;

const recordOf = query((db, p: { resourceId: string }) =>
  db.selectFrom('deletions').select('kind').where('resource_id', '=', p.resourceId),
);

const insertDeletion = query((db, p: Deletion & { now: number }) =>
  db
    .insertInto('deletions')
    .values({
      resource_id: p.resourceId,
      account_id: p.accountId,
      kind: p.kind,
      details: p.details,
      created_at: p.now,
      worked_until: 0,
    })
    .onConflict((conflict) => conflict.column('resource_id').doUpdateSet({ details: p.details })),
);

const claim = query((db, p: { resourceId: string; forMs: number }, dialect) =>
  db
    .updateTable('deletions')
    .set({ worked_until: sql<number>`${dialect.now} + ${p.forMs}` })
    .where('resource_id', '=', p.resourceId),
);

const claimFree = query((db, p: { resourceId: string; forMs: number }, dialect) =>
  db
    .updateTable('deletions')
    .set({ worked_until: sql<number>`${dialect.now} + ${p.forMs}` })
    .where('resource_id', '=', p.resourceId)
    .where('worked_until', '<', dialect.now)
    .returning('details'),
);

const freeAll = query((db, _: object) => db.updateTable('deletions').set({ worked_until: 0 }));

/** Excludes kinds that only a newer version handles. */
const unclaimed = query((db, p: { kinds: string; limit: number }, dialect) =>
  db
    .selectFrom('deletions')
    .select(['resource_id as resourceId', 'account_id as accountId', 'kind', 'details'])
    .where('worked_until', '<', dialect.now)
    .where(sql<boolean>`kind in ${dialect.texts(p.kinds)}`)
    .orderBy('worked_until')
    .orderBy('created_at')
    .limit(p.limit),
);

const recordedFor = query((db, p: { prefix: string }, dialect) =>
  db
    .selectFrom('deletions')
    .select(['resource_id as resourceId', 'account_id as accountId', 'kind', 'details'])
    .where(dialect.startsWith('resource_id', p.prefix)),
);

/** Keeps the record of a later deletion with other details. */
const removeDeletion = query((db, p: { resourceId: string; details: string }) =>
  db.deleteFrom('deletions').where('resource_id', '=', p.resourceId).where('details', '=', p.details),
);
