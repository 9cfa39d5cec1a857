import type { Clock } from '../clock.ts';
import type { Database } from '../db/database.ts';
import { Pace } from '../db/pace.ts';
import { query } from '../db/query.ts';
import type { Log } from '../log.ts';
import type { SessionRef } from '../messages/store.ts';
import type { LiveSessions, SessionState } from './liveSessions.ts';

interface Options {
  readonly database: Database;
  readonly live: LiveSessions;
  readonly clock: Clock;
  readonly log: Log;
}

const EVERY_MS = 10_000;

/** Stores periodically when networks last reported something, because it is not worth a write per message. */
export class LastHeard {
  readonly #options: Options;
  #isStopped = false;
  #cancel = () => {};
  #running: Promise<void> = Promise.resolve();

  constructor(options: Options) {
    this.#options = options;
  }

  start(): void {
    const { live, clock, log } = this.#options;
    this.#cancel = clock.after(EVERY_MS, () => {
      this.#running = this.#store(live.states())
        .catch((error) => log.warn({ err: error }, 'failed to store when sessions were last active'))
        .finally(() => !this.#isStopped && this.start());
    });
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    this.#cancel();
    await this.#running;
    await this.#store(this.#options.live.states()).catch(() => {}); // ignored: the next event stores it
  }

  /** Stores the time for a session that leaves the live ones. Ignores errors. */
  async keep(state: SessionState): Promise<void> {
    await this.#store([state]).catch((error) =>
      this.#options.log.warn(
        { err: error, session: state.sessionId },
        'failed to store when the session was last active',
      ),
    );
  }

  async #store(states: Iterable<SessionState>): Promise<void> {
    const heard = [...states].filter(({ lastEventAt, notedAt }) => lastEventAt !== notedAt);
    if (heard.length === 0) return;
    await new Pace().inSlices(this.#options.database.commit, heard, async (tx, slice) => {
      // Its next owner stores it for a session that has been lost since.
      for (const state of slice.filter(({ isLost }) => !isLost)) {
        const { accountId, sessionId, lastEventAt: at } = state;
        await updateLastEvent.run(tx, { accountId, sessionId, at: at ?? null });
        tx.afterCommit(() => {
          state.notedAt = at;
        });
      }
      return slice.length;
    });
  }
}

const updateLastEvent = query((db, p: SessionRef & { at: number | null }) =>
  db
    .updateTable('sessions')
    .set({ last_event_at: p.at })
    .where('account_id', '=', p.accountId)
    .where('session_id', '=', p.sessionId),
);
