import { sql } from 'kysely';
import type { Clock } from '../clock.ts';
import type { JointWork, Tx } from '../db/commit.ts';
import type { Database } from '../db/database.ts';
import { batch } from '../db/query.ts';
import type { ToolCallTable } from '../db/schema.ts';
import { isAway } from '../errors.ts';
import { firstIdAt } from '../ids.ts';
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
 * transaction of others that arrive together, so that no acknowledged change is missing. Calls that only read are stored
 * within a second, and a crash loses the last of them.
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
    try {
      await database.commit((tx) => insertCalls.run(tx, calls));
    } catch (error) {
      if (isAway(error)) return; // the next round tries again
      log.error({ err: error, calls: calls.length }, 'failed to store tool calls');
    }
    this.#waiting = this.#waiting.slice(calls.length);
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
/** Rows per transaction; other writes go in between. */
const CHUNK = 500;

/**
 * Deletes some calls that are too old, or beyond the most of an account.
 * @param before in steady time, like ids
 * @returns how many; the caller repeats until fewer than a chunk remain
 */
export async function pruneToolCalls(
  { kysely }: Pick<Tx, 'kysely'>,
  accountId: string,
  before: number,
  most = MAX_PER_ACCOUNT,
): Promise<number> {
  const own = () => kysely.selectFrom('tool_calls').select('call_id').where('account_id', '=', accountId);
  const excess = await own().orderBy('call_id', 'desc').offset(most).limit(1).executeTakeFirst();
  const aged = firstIdAt('cal', before);
  let old = own().orderBy('call_id').limit(CHUNK);
  old =
    excess !== undefined && excess.call_id >= aged
      ? old.where('call_id', '<=', excess.call_id)
      : old.where('call_id', '<', aged);
  const ids = (await old.execute()).map(({ call_id }) => call_id);
  if (ids.length === 0) return 0;
  await kysely.deleteFrom('tool_calls').where('account_id', '=', accountId).where('call_id', 'in', ids).execute();
  return ids.length;
}
