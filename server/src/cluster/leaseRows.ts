import { type RawBuilder, sql } from 'kysely';
import type { Tx } from '../db/commit.ts';
import type { Queryable } from '../db/dialect.ts';

export interface Leasable {
  readonly table: 'sessions' | 'webhooks';
  readonly id: 'session_id' | 'webhook_id';
  /** The rows that can be acquired. */
  readonly free: RawBuilder<boolean>;
  /** The changes of a row that becomes free. */
  readonly freed: RawBuilder<unknown>;
}

export const leasable = {
  sessions: {
    table: 'sessions',
    id: 'session_id',
    free: sql<boolean>`wanted = 1 and lease_owner is null`,
    // Not connected until another node connects it.
    freed: sql`lease_owner = null, status = case status when 'connected' then 'connecting' else status end`,
  },
  webhooks: {
    table: 'webhooks',
    id: 'webhook_id',
    free: sql<boolean>`lease_owner is null`,
    freed: sql`lease_owner = null`,
  },
} as const satisfies Record<string, Leasable>;

/** The leases in one table as a node reads and changes them, in SQL that only PostgreSQL runs. */
export class LeaseRows {
  readonly #nodeId: string;
  readonly #table: RawBuilder<unknown>;
  readonly #id: RawBuilder<unknown>;
  readonly #kind: Leasable;

  constructor(kind: Leasable, nodeId: string) {
    this.#nodeId = nodeId;
    this.#table = sql.table(kind.table);
    this.#id = sql.ref(kind.id);
    this.#kind = kind;
  }

  /** Counts the leases of each node; under null the free ones. */
  async count({ kysely }: Queryable): Promise<Map<string | null, number>> {
    const { rows } = await sql<{ owner: string | null; held: number }>`
      select lease_owner as owner, count(*) as held from ${this.#table} where lease_owner is not null group by lease_owner
      union all select null, count(*) from ${this.#table} where ${this.#kind.free}`.execute(kysely);
    return new Map(rows.map(({ owner, held }) => [owner, held]));
  }

  /** Returns the owner of a lease: null if it is free, undefined if there is no such row. */
  async ownerOf({ kysely }: Queryable, id: string): Promise<string | null | undefined> {
    const { rows } = await sql<{ owner: string | null }>`
      select lease_owner as owner from ${this.#table} where ${this.#id} = ${id}`.execute(kysely);
    return rows[0]?.owner;
  }

  async owned({ kysely }: Queryable): Promise<string[]> {
    const { rows } = await sql<{ id: string }>`
      select ${this.#id} as id from ${this.#table} where lease_owner = ${this.#nodeId}`.execute(kysely);
    return rows.map(({ id }) => id);
  }

  /** Acquires a lease if it is free. Returns its owner; undefined if there is no such row. */
  async acquire(tx: Tx, id: string): Promise<string | null | undefined> {
    const [acquired] = await this.#acquire(tx, sql`${this.#id} = ${id} and lease_owner is null`);
    return acquired === undefined ? this.ownerOf(tx, id) : this.#nodeId;
  }

  acquireFree(tx: Tx, limit: number): Promise<string[]> {
    const free = sql`select ${this.#id} from ${this.#table} where ${this.#kind.free}
      order by ${this.#id} limit ${limit} for update skip locked`;
    return this.#acquire(tx, sql`${this.#id} = any (array (${free}))`);
  }

  async free({ kysely, dialect }: Tx, ids: readonly string[]): Promise<void> {
    await sql`update ${this.#table} set ${this.#kind.freed} where ${this.#id} in ${dialect.texts(JSON.stringify(ids))}
      and lease_owner = ${this.#nodeId}`.execute(kysely);
  }

  async #acquire({ kysely }: Tx, which: RawBuilder<unknown>): Promise<string[]> {
    const { rows } = await sql<{ id: string }>`
      update ${this.#table} set lease_owner = ${this.#nodeId}, lease_generation = lease_generation + 1
      where ${which} returning ${this.#id} as id`.execute(kysely);
    return rows.map(({ id }) => id);
  }
}
