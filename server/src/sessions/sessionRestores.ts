import { type KeyedQueue, Slots, sleep } from '../async.ts';
import { query } from '../db/query.ts';
import type { SessionTable } from '../db/schema.ts';
import { AppError, isAway } from '../errors.ts';
import type { Deletions } from '../jobs/deletions.ts';
import { finishEarlierWork } from './earlierWork.ts';
import type { HostOptions } from './sessionHosts.ts';

const RESTORED_AT_ONCE = 50;
const RETRY_MS = 1000;
const EARLIER_WORK_RETRY_MS = 30_000;

interface Options extends Omit<HostOptions, 'media' | 'publicUrl' | 'scopeOf'> {
  readonly deletions: Deletions;
  /** Serializes connection changes of a session. */
  readonly turns: KeyedQueue;
  readonly open: (row: SessionTable, isReturning: boolean) => Promise<void>;
}

/** Connects the sessions that this node acquires, and those that should be connected. */
export class SessionRestores {
  readonly #options: Options;
  readonly #slots = new Slots(RESTORED_AT_ONCE);
  #isStarted = false;
  #isStopped = false;

  constructor(options: Options) {
    this.#options = options;
  }

  /** Cancels the restores that wait. Those in flight end without another attempt. */
  stop(): void {
    this.#isStopped = true;
    this.#options.live.cancelRestores();
  }

  /** Connects the acquired sessions that should be connected. */
  async restoreAll(sessionIds: readonly string[]): Promise<void> {
    const restored = this.#options.live.restoring(sessionIds);
    await Promise.all(
      sessionIds.map(async (sessionId) => {
        await this.#restore(sessionId, true);
        restored(sessionId);
      }),
    );
    this.#isStarted = true;
  }

  /** @param isFirst false if it was tried since the session was acquired */
  #restore(sessionId: string, isFirst: boolean): Promise<void> {
    return this.#slots.run(() => this.#options.turns.run(sessionId, () => this.#restoreOne(sessionId, isFirst)));
  }

  async #restoreOne(sessionId: string, isFirst: boolean): Promise<void> {
    const { database, cluster, live, clock, log } = this.#options;
    while (!this.#isStopped && cluster.sessions.owns(sessionId) && live.stateById(sessionId) === undefined) {
      try {
        const row = await sessionById.first(database.reader, { sessionId });
        if (row?.wanted === 1) await this.#restoreRow(row, isFirst);
        break;
      } catch (error) {
        if (this.#isStopped) break;
        log.warn({ err: error, session: sessionId }, 'failed to restore a session; trying again');
        await sleep(clock, RETRY_MS);
      }
    }
  }

  /** @throws {AppError} `storage_unavailable`, or any error during a stop */
  async #restoreRow(row: SessionTable, isFirst: boolean): Promise<void> {
    const { inbox, deletions, open, clock, log } = this.#options;
    const session = { accountId: row.account_id, sessionId: row.session_id };
    const reason = this.#isStarted ? 'Moved from another node' : 'The server started';
    if (isFirst) await inbox.note(session, 'connecting', reason);
    try {
      await finishEarlierWork(clock, deletions, session.sessionId);
    } catch (error) {
      if (isAway(error) || this.#isStopped) throw error;
      log.warn(
        { err: error, session: session.sessionId },
        'earlier work keeps a session from connecting; trying again',
      );
      await inbox.take(session, { type: 'disconnected', reason: openingFailure(error), willReconnect: true });
      this.#restoreLater(session.sessionId);
      return;
    }
    try {
      await open(row, true);
    } catch (error) {
      if (isAway(error)) throw error;
      log.error({ err: error, session: session.sessionId }, 'failed to restore a session');
      await inbox.take(session, { type: 'disconnected', reason: openingFailure(error), willReconnect: false });
    }
  }

  /** Tries again outside of the turn: until then, the session can be disconnected or deleted. */
  #restoreLater(sessionId: string): void {
    const { live, clock } = this.#options;
    const retry = async () => {
      await this.#restore(sessionId, false);
      live.cancelRestore(sessionId, cancel);
    };
    const cancel = clock.after(EARLIER_WORK_RETRY_MS, () => void retry());
    live.postponeRestore(sessionId, cancel);
  }
}

/** Status reason when a session could not be opened. */
export const openingFailure = (error: unknown) =>
  error instanceof AppError ? error.message : 'The connection could not be started';

export const sessionById = query((db, p: { sessionId: string }) =>
  db.selectFrom('sessions').selectAll().where('session_id', '=', p.sessionId),
);
