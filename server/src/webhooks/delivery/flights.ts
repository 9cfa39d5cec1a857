import { sql } from 'kysely';
import { Condition } from '../../async.ts';
import type { Clock } from '../../clock.ts';
import type { Tx } from '../../db/commit.ts';
import type { Database } from '../../db/database.ts';
import { query } from '../../db/query.ts';
import type { Log } from '../../log.ts';

/*
 * Protects the server from a broker that ends its process: each start would send to it again. The clients of brokers
 * run in this process, and their replies are inspected, but a process can also run out of memory in a way that no
 * inspection foresees.
 *
 * A process marks a webhook in the database before its first delivery to a broker, and removes the marks when it stops.
 * A mark of another process, found when the webhook is taken over, means that the process died. From then on the
 * webhook is suspected: its deliveries are marked only while they are in flight, and its first one goes out while no
 * other suspected webhook has one in flight. If it dies again in this state, the webhook starts paused. It is no longer
 * suspected after ten minutes, or once the process has stopped in an orderly way.
 *
 * A node that was evicted from the cluster while its process lives looks dead to the others, which cannot wait for it
 * to come back. Once it has joined again, it retracts the deaths that they counted, and resumes what they paused.
 */

const DEATHS_TO_PAUSE = 2;
const SUSPECTED_MS = 10 * 60_000;

export const PAUSED_BY_DEATHS =
  'The server stopped unexpectedly twice while a delivery to this broker was in flight. Check the broker, then resume the webhook.';

interface Suspect {
  inFlight: number;
  /** Whether a delivery has ended since the process started. */
  hasPassed: boolean;
  /** The mark of the deliveries in flight, or its removal. */
  mark: Promise<void>;
  readonly since: number;
}

interface Options {
  readonly database: Database;
  readonly clock: Clock;
  readonly log: Log;
  /** Differs for each start of a process. */
  readonly instance: string;
}

export class Flights {
  readonly #options: Options;
  readonly #marks = new Map<string, Promise<void>>();
  readonly #suspects = new Map<string, Suspect>();
  /** Webhooks that have this process's mark. */
  readonly #marked = new Set<string>();
  /** Webhooks that had it when another node could take them over. */
  readonly #disputed = new Set<string>();
  #retracting: Promise<string[]> | undefined;
  /** Number of times that the node lost its leases. */
  #losses = 0;
  readonly #changed = new Condition();

  constructor(options: Options) {
    this.#options = options;
  }

  /**
   * Suspects or pauses the webhooks that another process had in flight when it died. Call it before their lanes start.
   */
  async recover(webhookIds: readonly string[] | undefined): Promise<void> {
    const { database, clock, log, instance } = this.#options;
    const found = await markedByOthers.all(database.reader, { instance });
    const wanted = webhookIds && new Set(webhookIds);
    const dead = found.filter(({ webhook_id }) => wanted === undefined || wanted.has(webhook_id));
    for (const { webhook_id: webhookId, deaths, by } of dead) {
      const isPaused = deaths + 1 >= DEATHS_TO_PAUSE;
      const values = isPaused
        ? { paused: 1, paused_reason: PAUSED_BY_DEATHS, deaths: 0, in_flight_by: null }
        : { deaths: deaths + 1, in_flight_by: null };
      await database.commit((tx) =>
        tx.kysely
          .updateTable('webhooks')
          .set(values)
          .where('webhook_id', '=', webhookId)
          .where('in_flight_by', '=', by)
          .execute(),
      );
      if (isPaused)
        log.error({ webhook: webhookId }, 'paused webhook after two process crashes during its broker deliveries');
      else log.warn({ webhook: webhookId }, 'the previous process died while it sent to the broker of a webhook');
    }
    const suspects =
      webhookIds === undefined
        ? await suspected.all(database.reader, {})
        : await suspectedOf.all(database.reader, { ids: JSON.stringify(webhookIds) });
    for (const { webhook_id } of suspects)
      if (!this.#suspects.has(webhook_id))
        this.#suspects.set(webhook_id, {
          inFlight: 0,
          hasPassed: false,
          mark: Promise.resolve(),
          since: clock.elapsed(),
        });
  }

  /** Runs an attempt at a broker, marked in the database. @throws {Error} if the mark cannot be stored */
  async run<T>(webhookId: string, attempt: () => Promise<T>): Promise<T> {
    const suspect = this.#suspects.get(webhookId);
    if (suspect !== undefined) return this.#runSuspected(webhookId, suspect, attempt);
    let mark = this.#marks.get(webhookId);
    if (mark === undefined) {
      const own = this.#mark(webhookId);
      this.#marks.set(webhookId, own);
      own.catch(() => this.#marks.get(webhookId) === own && this.#marks.delete(webhookId));
      mark = own;
    }
    await mark;
    return attempt();
  }

  /** Removes the mark of a webhook that moves to another node. */
  async release(webhookId: string): Promise<void> {
    this.#marks.delete(webhookId);
    this.#suspects.delete(webhookId);
    this.#changed.notify();
    if (!this.#marked.delete(webhookId)) return;
    this.#disputed.add(webhookId);
    await this.#unmark(webhookId);
    this.#disputed.delete(webhookId);
  }

  /**
   * Forgets all webhooks, because other nodes may own them now. `retract` corrects what they conclude from the marks.
   */
  lose(): void {
    this.#losses++;
    for (const webhookId of this.#marked) this.#disputed.add(webhookId);
    this.#marked.clear();
    this.#marks.clear();
    this.#suspects.clear();
    this.#changed.notify();
  }

  /**
   * Removes the marks of lost webhooks and the deaths that other nodes counted by them. Returns the webhooks that are
   * no longer paused. Call it as a member of the cluster, before lanes start.
   */
  retract(): Promise<string[]> {
    this.#retracting ??= this.#retractDeaths().finally(() => (this.#retracting = undefined));
    return this.#retracting;
  }

  /** Removes the marks of this process. None of its deliveries may still be in flight. */
  async stop(): Promise<void> {
    const { database, instance } = this.#options;
    await this.retract();
    const passed = [...this.#suspects].filter(([, { hasPassed }]) => hasPassed).map(([id]) => id);
    if (this.#marked.size === 0 && passed.length === 0) return;
    await database.commit(async (tx) => {
      await tx.kysely
        .updateTable('webhooks')
        .set({ in_flight_by: null })
        .where('in_flight_by', '=', instance)
        .execute();
      for (const id of passed) await acquit(tx, id);
    });
    this.#marks.clear();
    this.#marked.clear();
  }

  async #retractDeaths(): Promise<string[]> {
    const ids = [...this.#disputed];
    if (ids.length === 0) return [];
    const { database, instance, log } = this.#options;
    const { retracted, resumed } = await database.commit(async (tx) => {
      // From now on, no other process can count a death by these marks.
      const uncounted = new Set(idsOf(await removeMarks.all(tx, { ids: JSON.stringify(ids), instance })));
      const counted = ids.filter((id) => !uncounted.has(id));
      const resumed = new Set(idsOf(await resume.all(tx, { ids: JSON.stringify(counted) })));
      const others = counted.filter((id) => !resumed.has(id));
      const retracted = idsOf(await retractDeath.all(tx, { ids: JSON.stringify(others) }));
      return { retracted, resumed: [...resumed] };
    });
    for (const id of ids) this.#disputed.delete(id);
    for (const webhook of retracted) log.info({ webhook }, 'retracted a process crash: this process is alive');
    for (const webhook of resumed) log.warn({ webhook }, 'resumed webhook: a process that counted as crashed is alive');
    return resumed;
  }

  async #runSuspected<T>(webhookId: string, suspect: Suspect, attempt: () => Promise<T>): Promise<T> {
    const isLost = () => this.#suspects.get(webhookId) !== suspect;
    const isAlone = () => [...this.#suspects.values()].every((one) => one === suspect || one.inFlight === 0);
    const mayGo = () => isLost() || suspect.hasPassed || (isAlone() && suspect.inFlight === 0);
    while (!mayGo()) await this.#changed.until(mayGo);
    if (isLost()) throw new Error('another node may own the webhook');
    if (++suspect.inFlight === 1) this.#follow(suspect, () => this.#mark(webhookId));
    try {
      await suspect.mark;
      const result = await attempt();
      suspect.hasPassed = true;
      return result;
    } finally {
      if (--suspect.inFlight === 0) this.#follow(suspect, () => this.#landed(webhookId, suspect));
      this.#changed.notify();
    }
  }

  /** Changes the mark after its last change, even if that one failed. */
  #follow(suspect: Suspect, change: () => Promise<void>): void {
    suspect.mark = suspect.mark.catch(() => {}).then(change);
    suspect.mark.catch((error) => this.#options.log.debug({ err: error }, 'failed to mark deliveries to a broker'));
  }

  async #landed(webhookId: string, suspect: Suspect): Promise<void> {
    if (suspect.inFlight > 0 || this.#suspects.get(webhookId) !== suspect) return;
    await this.#unmark(webhookId);
    this.#marked.delete(webhookId);
    if (!suspect.hasPassed || this.#options.clock.elapsed() - suspect.since < SUSPECTED_MS) return;
    await this.#options.database.commit((tx) => acquit(tx, webhookId));
    this.#suspects.delete(webhookId);
  }

  async #mark(webhookId: string): Promise<void> {
    const { database, instance } = this.#options;
    const losses = this.#losses;
    await database.commit((tx) =>
      tx.kysely.updateTable('webhooks').set({ in_flight_by: instance }).where('webhook_id', '=', webhookId).execute(),
    );
    (losses === this.#losses ? this.#marked : this.#disputed).add(webhookId);
  }

  async #unmark(webhookId: string): Promise<void> {
    const { database, instance } = this.#options;
    await database.commit((tx) => removeMarks.all(tx, { ids: JSON.stringify([webhookId]), instance }));
  }
}

const idsOf = (rows: readonly { webhook_id: string }[]) => rows.map(({ webhook_id: id }) => id);

const acquit = (tx: Tx, webhookId: string) =>
  tx.kysely.updateTable('webhooks').set({ deaths: 0 }).where('webhook_id', '=', webhookId).execute();

const markedByOthers = query((db, p: { instance: string }) =>
  db
    .selectFrom('webhooks')
    .select(['webhook_id', 'deaths', sql<string>`in_flight_by`.as('by')])
    .where('in_flight_by', 'is not', null)
    .where('in_flight_by', '<>', p.instance),
);

const suspected = query((db, _: object) => db.selectFrom('webhooks').select('webhook_id').where('deaths', '>', 0));

const suspectedOf = query((db, p: { ids: string }, { texts }) =>
  db.selectFrom('webhooks').select('webhook_id').where('webhook_id', 'in', texts(p.ids)).where('deaths', '>', 0),
);

const removeMarks = query((db, p: { ids: string; instance: string }, { texts }) =>
  db
    .updateTable('webhooks')
    .set({ in_flight_by: null })
    .where('webhook_id', 'in', texts(p.ids))
    .where('in_flight_by', '=', p.instance)
    .returning('webhook_id'),
);

const resume = query((db, p: { ids: string }, { texts }) =>
  db
    .updateTable('webhooks')
    .set({ paused: 0, paused_reason: null, deaths: DEATHS_TO_PAUSE - 1 })
    .where('webhook_id', 'in', texts(p.ids))
    .where('paused_reason', '=', PAUSED_BY_DEATHS)
    .returning('webhook_id'),
);

const retractDeath = query((db, p: { ids: string }, { texts }) =>
  db
    .updateTable('webhooks')
    .set(({ eb }) => ({ deaths: eb('deaths', '-', 1) }))
    .where('webhook_id', 'in', texts(p.ids))
    .where('deaths', '>', 0)
    .returning('webhook_id'),
);
