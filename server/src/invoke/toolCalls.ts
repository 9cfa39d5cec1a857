import { sql } from 'kysely';
import type { Clock } from '../clock.ts';
import type { JointWork } from '../db/commit.ts';
import type { Database } from '../db/database.ts';
import { LISTED_ROWS, Pace } from '../db/pace.ts';
import { batch, query } from '../db/query.ts';
import type { ToolCallTable } from '../db/schema.ts';
import { isAway } from '../errors.ts';
import { firstIdAt } from '../ids.ts';
import { type Cleaning, forEachAccount, type Steps } from '../jobs/cleaning.ts';
import type { Log } from '../log.ts';

const FLUSH_EVERY_MS = 1000;
/** Calls that wait to be stored while the database is unavailable, of a few KB each at most. */
const MAX_WAITING = 5000;

interface Options {
  readonly database: Pick<Database, 'commit' | 'commitJointly'>;
  readonly clock: Clock;
  readonly log: Log;
}

/**
 * Stores the MCP tool calls of API keys. A call that may have changed something is stored before its answer, in the
 * transaction of others that arrive together, so that no acknowledged change is missing. Calls that only read are
 * stored within a second, and a crash loses the last of them.
 */
export class ToolCalls {
  readonly #options: Options;
  #waiting: ToolCallTable[] = [];
  #dropped = 0;
  #cancel = () => {};
  #isStopped = false;
  #flushing: Promise<void> = Promise.resolve();

  constructor(options: Options) {
    this.#options = options;
  }

  start(): void {
    this.#cancel();
    this.#cancel = this.#options.clock.after(FLUSH_EVERY_MS, () => {
      this.#flushing = this.#flush().finally(() => {
        if (!this.#isStopped) this.start();
      });
    });
  }

  /** Stores what still waits. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    this.#cancel();
    await this.#flushing;
    await this.#flush();
  }

  /** Resolves once the call is stored, or waits to be because the database is unavailable: never rejects. */
  async recordChange(call: ToolCallTable): Promise<void> {
    try {
      await this.#options.database.commitJointly(store, call);
    } catch (error) {
      // The call itself is done, so its answer must not become an error.
      this.#options.log.warn({ err: error, requestId: call.request_id }, 'failed to store a tool call; trying again');
      this.recordRead(call);
    }
  }

  recordRead(call: ToolCallTable): void {
    if (this.#waiting.length < MAX_WAITING) this.#waiting.push(call);
    else this.#dropped++;
  }

  async #flush(): Promise<void> {
    const { database, log } = this.#options;
    if (this.#waiting.length === 0) return;
    const calls = this.#waiting.slice();
    const unstored: ToolCallTable[] = [];
    let stored = 0;
    try {
      await new Pace().inSlices(database.commit, calls, async (tx, slice, start) => {
        tx.afterCommit(() => (stored = start + slice.length));
        await insertCalls.run(tx, slice);
        return slice.length;
      });
    } catch (error) {
      if (isAway(error)) {
        this.#waiting = this.#waiting.slice(stored); // the next round tries again
        return;
      }
      // The database refuses one of them.
      for (const call of calls.slice(stored))
        await database.commitJointly(store, call).catch((cause) => {
          if (isAway(cause)) unstored.push(call);
          else log.error({ err: cause, requestId: call.request_id }, 'failed to store a tool call');
        });
    }
    this.#waiting = [...unstored, ...this.#waiting.slice(calls.length)];
    if (this.#dropped > 0) log.warn({ calls: this.#dropped }, 'dropped tool calls that could not be stored');
    this.#dropped = 0;
  }
}

const store: JointWork<ToolCallTable, void> = async (tx, calls) => {
  await insertCalls.run(tx, calls);
  return calls.map(() => undefined);
};

const columns = {
  account_id: 'text',
  call_id: 'text',
  key_id: 'text',
  tool: 'text',
  arguments: 'text',
  outcome: 'text',
  duration_ms: 'bigint',
  client_name: 'text',
  client_version: 'text',
  request_id: 'text',
  created_at: 'bigint',
} as const satisfies Record<keyof ToolCallTable, 'text' | 'bigint'>;

const insertCalls = batch(columns, ({ row, from }) => {
  const names = sql.join(Object.keys(row).map((name) => sql.ref(name)));
  return sql`insert into tool_calls (${names}) select ${sql.join(Object.values(row))} ${from} on conflict do nothing`;
});

/** Calls per account that are listed; older ones are deleted. */
const MAX_PER_ACCOUNT = 100_000;
/**
 * Deletes calls that are too old, or beyond the most of an account.
 * @param before returns a moment of steady time, like ids
 */
export function prunesToolCalls(before: () => number, most = MAX_PER_ACCOUNT): Cleaning {
  return {
    name: 'old tool calls',
    run: (steps) => {
      const aged = firstIdAt('cal', before());
      return forEachAccount(steps, (accountId) => pruneCalls(steps, accountId, aged, most));
    },
  };
}

async function pruneCalls(steps: Steps, accountId: string, aged: string, most: number): Promise<number> {
  const { longReader } = steps.database;
  const excess = (await excessCall.first(longReader, { accountId, most }))?.call_id ?? '';
  for (let total = 0; ; ) {
    const old = await oldCalls.all(longReader, { accountId, aged, excess, limit: LISTED_ROWS });
    if (old.length === 0 || steps.isStopped) return total;
    const ids = old.map(({ call_id }) => call_id);
    total += await steps.inChunks(ids, (tx, chunk) => deleteCalls.run(tx, { accountId, ids: JSON.stringify(chunk) }));
  }
}

const excessCall = query((db, p: { accountId: string; most: number }) =>
  db
    .selectFrom('tool_calls')
    .select('call_id')
    .where('account_id', '=', p.accountId)
    .orderBy('call_id', 'desc')
    .limit(1)
    .offset(p.most),
);

const oldCalls = query((db, p: { accountId: string; aged: string; excess: string; limit: number }) =>
  db
    .selectFrom('tool_calls')
    .select('call_id')
    .where('account_id', '=', p.accountId)
    .where((eb) => eb.or([eb('call_id', '<', p.aged), eb('call_id', '<=', p.excess)]))
    .orderBy('call_id')
    .limit(p.limit),
);

const deleteCalls = query((db, p: { accountId: string; ids: string }, dialect) =>
  db.deleteFrom('tool_calls').where('account_id', '=', p.accountId).where('call_id', 'in', dialect.texts(p.ids)),
);
