import type { Clock } from '../clock.ts';
import type { Database } from '../db/database.ts';
import { query } from '../db/query.ts';
import type { Log } from '../log.ts';
import type { SessionRef } from '../messages/store.ts';

/** A session, and when something was last heard of it. */
export interface Heard extends SessionRef {
  readonly lastEventAt: number | undefined;
  /** The `lastEventAt` that the database knows. */
  notedAt: number | undefined;
}

export interface LastHeard {
  start(): void;
  /** Notes it for a session that is about to leave `sessions`. Resolves also when that fails: it is worth no error. */
  keep(session: Heard): Promise<void>;
  stop(): Promise<void>;
}

const EVERY_MS = 10_000;

/**
 * Notes when something was last heard of each session: now and then, for it is worth no write per message.
 * @param sessions those that are here
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
      await note(sessions()).catch(() => {}); // worth no error: it is told with the next event again
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
