import type { Clock } from '../clock.ts';
import type { Database } from '../db/database.ts';
import { query } from '../db/query.ts';
import type { Log } from '../log.ts';
import type { SessionRef } from './messageStore.ts';

/** A session, and when something was last heard of it. */
export interface Heard extends SessionRef {
  readonly lastEventAt: number | undefined;
  /** The `lastEventAt` that the database knows. */
  notedAt: number | undefined;
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
): { start(): void; stop(): Promise<void> } {
  let isStopped = false;
  let cancel = () => {};

  async function note(): Promise<void> {
    const heard = [...sessions()].filter(({ lastEventAt, notedAt }) => lastEventAt !== notedAt);
    if (heard.length === 0) return;
    await commit(async (tx) => {
      for (const { accountId, sessionId, lastEventAt } of heard) {
        await updateLastEvent.run(tx, { accountId, sessionId, at: lastEventAt ?? null });
      }
    });
    for (const entry of heard) entry.notedAt = entry.lastEventAt;
  }

  function start(): void {
    cancel = clock.after(EVERY_MS, () => {
      note()
        .catch((error) => log.warn({ err: error }, 'noting when sessions were last heard of failed'))
        .finally(() => !isStopped && start());
    });
  }

  return {
    start,
    async stop() {
      isStopped = true;
      cancel();
      await note().catch(() => {}); // worth no error: it is told with the next event again
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
