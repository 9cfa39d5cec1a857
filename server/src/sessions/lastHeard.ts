import type { Clock } from '../clock.ts';
import type { Database } from '../db/database.ts';
import { query } from '../db/query.ts';
import type { Log } from '../log.ts';
import type { SessionRef } from '../messages/store.ts';

/** A session, and when its network last reported something. */
export interface Heard extends SessionRef {
  readonly lastEventAt: number | undefined;
  /** The stored `lastEventAt`. */
  notedAt: number | undefined;
}

export interface LastHeard {
  start(): void;
  /** Stores the time for a session that is about to leave `sessions`. Ignores errors. */
  keep(session: Heard): Promise<void>;
  stop(): Promise<void>;
}

const EVERY_MS = 10_000;

/**
 * Stores when the network last reported something for each session, periodically, because it is not worth a write per
 * message.
 * @param sessions the sessions of this process
 */
export function createLastHeard(
  { commit }: Database,
  sessions: () => Iterable<Heard>,
  clock: Clock,
  log: Log,
): LastHeard {
  let isStopped = false;
  let cancel = () => {};

  async function note(some: Iterable<Heard>): Promise<void> {
    const heard = [...some].filter(({ lastEventAt, notedAt }) => lastEventAt !== notedAt);
    if (heard.length === 0) return;
    const rows = heard.map(({ accountId, sessionId, lastEventAt }) => ({
      accountId,
      sessionId,
      at: lastEventAt ?? null,
    }));
    await commit(async (tx) => {
      for (const row of rows) await updateLastEvent.run(tx, row);
    });
    for (const [place, entry] of heard.entries()) entry.notedAt = rows[place]?.at ?? undefined;
  }

  function start(): void {
    cancel = clock.after(EVERY_MS, () => {
      note(sessions())
        .catch((error) => log.warn({ err: error }, 'failed to store when sessions were last active'))
        .finally(() => !isStopped && start());
    });
  }

  return {
    start,
    keep: (session) =>
      note([session]).catch((error) =>
        log.warn({ err: error, session: session.sessionId }, 'failed to store when the session was last active'),
      ),
    async stop() {
      isStopped = true;
      cancel();
      await note(sessions()).catch(() => {}); // ignored: the next event stores it
    },
  };
}

const updateLastEvent = query((db, p: SessionRef & { at: number | null }) =>
  db
    .updateTable('sessions')
    .set({ last_event_at: p.at })
    .where('account_id', '=', p.accountId)
    .where('session_id', '=', p.sessionId),
);
