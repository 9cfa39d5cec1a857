import type { Clock } from '../clock.ts';
import type { Cluster } from '../cluster/cluster.ts';
import type { Connector } from '../connectors/contract/connector.ts';
import type { Tx } from '../db/commit.ts';
import type { Database } from '../db/database.ts';
import { Pace } from '../db/pace.ts';
import type { Log } from '../log.ts';
import type { Inbox } from '../messages/inbox.ts';
import { type Activity, addActivity, nothingDone, tenMinutesOf } from '../messages/standing/sessionRisk.ts';
import {
  addStarted,
  atRisk,
  earlierChats,
  markAnswered,
  pruneHealth,
  readHealth,
  type StartedChat,
} from './healthStore.ts';
import type { LiveSessions, SessionState } from './liveSessions.ts';
import { assessRisk } from './risk.ts';
import type { NewActivity } from './sessionActivity.ts';

interface Options {
  readonly database: Database;
  readonly cluster: Cluster;
  readonly inbox: Inbox;
  readonly live: LiveSessions;
  readonly clock: Clock;
  readonly log: Log;
}

const EVERY_MS = 15_000;
/** The risk of a session that does nothing can only go down, as time passes. */
const QUIET_EVERY_MS = 60_000;
const PRUNE_EVERY_MS = 60 * 60_000;

interface Done {
  readonly state: SessionState;
  readonly activity: NewActivity;
}

/**
 * Stores what the sessions of this process have done since the last time, in small transactions, and assesses their
 * risk. Sessions that did nothing cost nothing, unless they are at risk.
 */
export class SessionHealth {
  readonly #options: Options;
  #isStopped = false;
  #cancel = () => {};
  #quietAt = 0;
  #pruneAt = 0;
  /** Sessions whose activity was stored before a later transaction failed. */
  readonly #unassessed = new Set<SessionState>();
  #running: Promise<void> = Promise.resolve();

  constructor(options: Options) {
    this.#options = options;
  }

  start(): void {
    const { live, clock, log } = this.#options;
    this.#cancel = clock.after(EVERY_MS, () => {
      this.#running = this.#run(live.states())
        .catch((error) => log.warn({ err: error }, 'failed to store the activity of sessions; trying again'))
        .finally(() => !this.#isStopped && this.start());
    });
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    this.#cancel();
    await this.#running;
    await this.#store([...this.#options.live.states()]).catch(() => {}); // the counts of some seconds are lost
  }

  /** Stores the counts of a session that leaves the live ones. Ignores errors. */
  async keep(state: SessionState): Promise<void> {
    await this.#store([state]).catch((error) =>
      this.#options.log.warn({ err: error, session: state.sessionId }, 'failed to store the activity of the session'),
    );
  }

  /** Assesses a session at once, because its network has said something about its number. Ignores errors. */
  async review(state: SessionState): Promise<void> {
    try {
      await this.#store([state]);
      await this.#assess(new Map([[state.sessionId, state]]));
    } catch (error) {
      this.#options.log.warn({ err: error, session: state.sessionId }, 'failed to assess the risk of the session');
    }
  }

  async #run(states: Iterable<SessionState>): Promise<void> {
    const { clock, database } = this.#options;
    const live = [...states];
    const active = await this.#store(live);
    const assessed = new Map([...this.#unassessed, ...active].map((state) => [state.sessionId, state]));
    this.#unassessed.clear();
    const now = clock.elapsed();
    if (now >= this.#quietAt) {
      this.#quietAt = now + QUIET_EVERY_MS;
      const byId = new Map(live.map((state) => [state.sessionId, state]));
      const ids = JSON.stringify([...byId.keys()]);
      for (const { session_id: id } of byId.size === 0 ? [] : await atRisk.all(database.reader, { ids })) {
        const state = byId.get(id);
        if (state !== undefined) assessed.set(id, state);
      }
    }
    await this.#assess(assessed);
    if (now < this.#pruneAt) return;
    this.#pruneAt = now + PRUNE_EVERY_MS;
    const prune = (tx: Tx, limit: number) => pruneHealth(tx, clock.now(), limit);
    if (!this.#isStopped) await new Pace().repeat(database.commit, prune, { isStopped: () => this.#isStopped });
  }

  /** @returns the sessions that did something */
  async #store(states: readonly SessionState[]): Promise<SessionState[]> {
    const done = states.flatMap((state): Done[] => {
      const activity = this.#mayWrite(state) ? state.activity.take() : undefined;
      return activity === undefined ? [] : [{ state, activity }];
    });
    if (done.length === 0) return [];
    let stored = 0;
    try {
      const now = this.#options.clock.now();
      await new Pace().inSlices(this.#options.database.commit, done, async (tx, slice, start) => {
        tx.afterCommit(() => (stored = start + slice.length));
        await storeActivity(tx, slice, now);
        return slice.length;
      });
    } catch (error) {
      for (const { state, activity } of done.slice(stored)) state.activity.putBack(activity);
      for (const { state } of done.slice(0, stored)) this.#unassessed.add(state);
      throw error;
    }
    return done.map(({ state }) => state);
  }

  async #assess(sessions: ReadonlyMap<string, SessionState>): Promise<void> {
    const { database, clock, inbox } = this.#options;
    const now = clock.now();
    for (const [id, { figures, risk, reasons }] of await readHealth(database.reader, [...sessions.keys()], now)) {
      const state = sessions.get(id);
      if (state === undefined || !this.#mayWrite(state)) continue;
      const found = assessRisk(figures, { ...profileOf(state.connector), now }, reasons);
      const isSame = found.risk === risk && namesOf(found.reasons) === namesOf(reasons);
      if (!isSame) await inbox.noteRisk(state, found);
    }
  }

  #mayWrite({ isLost, sessionId }: SessionState): boolean {
    return !isLost && this.#options.cluster.sessions.mayWrite(sessionId);
  }
}

export const profileOf = (connector: Connector | undefined) => ({
  isForBusinesses: connector?.isForBusinesses === true,
});

const namesOf = (reasons: readonly { code: string; risk: string }[]) =>
  reasons.map(({ code, risk }) => `${code} ${risk}`).join();

async function storeActivity(tx: Tx, done: readonly Done[], now: number): Promise<void> {
  const at = tenMinutesOf(now);
  const rows = done.map(({ state, activity: { written: _, answered: __, ...counts } }) => {
    return { account_id: state.accountId, session_id: state.sessionId, at, ...nothingDone, ...counts };
  });
  const isCounted = (row: (typeof rows)[number]) => row.sent + row.failed + row.look_ups > 0;
  await addActivity.run(tx, rows.filter(isCounted));
  for (const one of done) await storeChats(tx, one, now);
}

/** Stores which chats the session started and which were answered, and counts both in the ten minutes of the start. */
async function storeChats(tx: Tx, { state, activity: { written, answered } }: Done, now: number): Promise<void> {
  const { accountId, sessionId } = state;
  const counts = new Map<number, Activity>();
  const count = (column: 'new_chats' | 'answered_chats', chats: readonly StartedChat[]) => {
    for (const { started_at } of chats) {
      const at = tenMinutesOf(started_at);
      const row = counts.get(at) ?? { account_id: accountId, session_id: sessionId, at, ...nothingDone };
      counts.set(at, { ...row, [column]: row[column] + 1 });
    }
  };
  if (written.size > 0) {
    const chats = JSON.stringify([...written.keys()]);
    const before = Math.min(...written.values());
    const earlier = await earlierChats.all(tx, { accountId, sessionId, chats, before });
    for (const { chat_id } of earlier) written.delete(chat_id);
    const started = [...written].map(([chat_id, started_at]) => {
      return { account_id: accountId, session_id: sessionId, chat_id, started_at };
    });
    count('new_chats', await addStarted.all(tx, started));
  }
  if (answered.size > 0)
    count(
      'answered_chats',
      await markAnswered.all(tx, { sessionId, chats: JSON.stringify([...answered.keys()]), now }),
    );
  await addActivity.run(tx, [...counts.values()]);
}
