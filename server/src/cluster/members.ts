import { type RawBuilder, sql } from 'kysely';
import type { Tx } from '../db/commit.ts';
import type { Database } from '../db/database.ts';
import type { Membership, Queryable } from '../db/dialect.ts';

/*
 * The rows of `nodes`, by statements that only PostgreSQL runs: where the database is one process's own there are no
 * others. What says whether a node is alive is the clock of the database; those of the nodes may differ.
 */

/** Another process of the deployment, or this one. */
export interface Member {
  readonly nodeId: string;
  /** Where it is reached; null until it listens. */
  readonly url: string | null;
  /** Whether it takes sessions and webhooks. */
  readonly carries: boolean;
  /** What tells the place where it keeps files from others; null when that is not known. */
  readonly fileStore: string | null;
  readonly isAlive: boolean;
}

export interface Joining extends Membership {
  readonly instance: string;
  /** Nodes that ran on the same data folder before; undefined if nobody can tell. */
  readonly former: ReadonlySet<string> | undefined;
  readonly url: string | null;
  readonly version: string;
  readonly carries: boolean;
  /** Of the secret that signs login tokens. */
  readonly jwtFingerprint: string;
  readonly fileStore: string | null;
}

/** The others sign login tokens with another secret. */
export class OtherSecretError extends Error {
  constructor(others: readonly string[]) {
    super(
      `JWT_SECRET differs from that of the running nodes (${others.join(', ')}), so they would refuse each other's login tokens. Set the same value on all nodes, or on none. To change it, stop all nodes first; a killed node counts as running until its lease ends (LEASE_SECONDS).`,
    );
    this.name = 'OtherSecretError';
  }
}

/** Another node has a lease on a data folder with the same id, and never ran on this one. */
export class CopiedFolderError extends Error {
  /** When the last of their leases ends unless it is renewed, in ms of the database's clock. */
  readonly expiresAt: number;

  constructor(others: readonly string[], expiresAt: number) {
    super(
      `DATA_DIR is a copy of the folder of a running node (${others.join(', ')}), or that node runs on a copy of this folder. Every node needs its own DATA_DIR; start one of the two with an empty folder.`,
    );
    this.name = 'CopiedFolderError';
    this.expiresAt = expiresAt;
  }
}

/**
 * Adds this node, in place of whoever was on the same data folder: that one is dead, or was given up and is this one.
 * @throws {OtherSecretError}
 * @throws {CopiedFolderError}
 */
export async function join(tx: Tx, joining: Joining, leaseMs: number): Promise<Membership> {
  await oneAtATime(tx);
  await requireOwnFolder(tx, joining);
  const { now } = tx.dialect;
  const { nodeId, epoch, instance, url, version, carries, jwtFingerprint, fileStore } = joining;
  const { rows: former } = await sql<{ node_id: string }>`
    delete from nodes where instance = ${instance} or node_id = ${nodeId} returning node_id`.execute(tx.kysely);
  await free(tx, [nodeId, ...former.map(({ node_id }) => node_id)]);
  await requireSameSecret(tx, jwtFingerprint);
  await sql`insert into nodes
      (node_id, epoch, instance, url, version, carries, jwt_fingerprint, file_store, joined_at, expires_at)
    values (${nodeId}, ${epoch}, ${instance}, ${url}, ${version}, ${carries ? 1 : 0}, ${jwtFingerprint}, ${fileStore},
      ${now}, ${now} + ${leaseMs})`.execute(tx.kysely);
  return { nodeId, epoch };
}

/** @throws {CopiedFolderError} */
async function requireOwnFolder({ kysely, dialect }: Tx, { nodeId, instance, former }: Joining): Promise<void> {
  if (former === undefined) return;
  const { rows } = await sql<{ node_id: string; url: string | null; expires_at: number }>`
    select node_id, url, expires_at from nodes where instance = ${instance} and expires_at > ${dialect.now}`.execute(
    kysely,
  );
  const others = rows.filter(({ node_id }) => node_id !== nodeId && !former.has(node_id));
  if (others.length === 0) return;
  const expiresAt = Math.max(...others.map(({ expires_at }) => Number(expires_at)));
  throw new CopiedFolderError(
    others.map(({ node_id, url }) => url ?? node_id),
    expiresAt,
  );
}

/**
 * A node of an older version leaves no fingerprint, and is taken to agree.
 * @throws {OtherSecretError}
 */
async function requireSameSecret({ kysely, dialect }: Tx, fingerprint: string): Promise<void> {
  const { rows } = await sql<{ node_id: string; url: string | null }>`
    select node_id, url from nodes where jwt_fingerprint <> ${fingerprint} and expires_at > ${dialect.now}
    order by node_id`.execute(kysely);
  if (rows.length > 0) throw new OtherSecretError(rows.map(({ node_id, url }) => url ?? node_id));
}

/** What one beat tells: whether this node is still a member, who the others are, and whether something is free. */
export interface Beat {
  readonly isMember: boolean;
  readonly members: readonly Member[];
  readonly isFree: { readonly sessions: boolean; readonly webhooks: boolean };
  /** Whether another node's lease ends later than any can: the clock of the database went back. */
  readonly isClockBack: boolean;
}

/** Renews all that this node holds, by the one row that all of it hangs on. */
export async function beat(on: Queryable, { nodeId, epoch }: Membership, leaseMs: number): Promise<Beat> {
  const { now } = on.dialect;
  const { rows } = await sql<{
    node_id: string;
    url: string | null;
    carries: number;
    file_store: string | null;
    is_alive: boolean;
    is_ahead: boolean;
    beats: number;
    free_sessions: boolean;
    free_webhooks: boolean;
  }>`
    with beat as (
      update nodes set expires_at = ${now} + ${leaseMs} where node_id = ${nodeId} and epoch = ${epoch} returning node_id
    )
    select node_id, url, carries, file_store, expires_at > ${now} as is_alive,
      expires_at > ${latest(on, leaseMs)} as is_ahead, (select count(*) from beat) as beats,
      exists (select from sessions where wanted = 1 and lease_owner is null) as free_sessions,
      exists (select from webhooks where lease_owner is null) as free_webhooks
    from nodes order by node_id`.execute(on.kysely);
  const members = rows.map((row) => ({
    nodeId: row.node_id,
    url: row.url,
    carries: row.carries === 1,
    fileStore: row.file_store,
    // What the others see of this node is as of before this beat.
    isAlive: row.is_alive || row.node_id === nodeId,
  }));
  const isFree = { sessions: rows[0]?.free_sessions === true, webhooks: rows[0]?.free_webhooks === true };
  const isClockBack = rows.some((row) => row.is_ahead && row.node_id !== nodeId);
  return { isMember: rows[0]?.beats === 1, members, isFree, isClockBack };
}

/** When a lease that was renewed just now ends at the latest: transactions read the clock at moments of their own. */
const latest = ({ dialect }: Queryable, leaseMs: number) => sql<number>`${dialect.now} + ${leaseMs + 1000}`;

/**
 * Shortens leases to what they are for, after the clock of the database went back: a node that is dead would keep its
 * sessions until the clock is there again. One that lives renews its own.
 */
export async function shortenLeases(tx: Tx, leaseMs: number): Promise<void> {
  await oneAtATime(tx);
  await sql`update nodes set expires_at = ${tx.dialect.now} + ${leaseMs} where expires_at > ${latest(tx, leaseMs)}`.execute(
    tx.kysely,
  );
}

/** Tells the others where this node is reached. */
export async function announce(tx: Tx, { nodeId }: Membership, url: string): Promise<void> {
  await sql`update nodes set url = ${url} where node_id = ${nodeId}`.execute(tx.kysely);
}

/**
 * Removes nodes that have not renewed their leases in time, and frees what they held.
 * @returns their ids
 */
export async function buryDead(tx: Tx): Promise<string[]> {
  await oneAtATime(tx);
  const { rows } = await sql<{ node_id: string }>`
    delete from nodes where expires_at <= ${tx.dialect.now} returning node_id`.execute(tx.kysely);
  const dead = rows.map(({ node_id }) => node_id);
  await free(tx, dead);
  return dead;
}

/** Takes this node away, and frees what it held. */
export async function leave(tx: Tx, { nodeId, epoch }: Membership): Promise<void> {
  await oneAtATime(tx);
  const { rows } = await sql<{ node_id: string }>`
    delete from nodes where node_id = ${nodeId} and epoch = ${epoch} returning node_id`.execute(tx.kysely);
  if (rows.length > 0) await free(tx, [nodeId]);
}

async function free(tx: Tx, nodeIds: readonly string[]): Promise<void> {
  if (nodeIds.length === 0) return;
  const owners = tx.dialect.texts(JSON.stringify(nodeIds));
  for (const { table, freed } of Object.values(leasable)) {
    await sql`update ${sql.table(table)} set ${freed} where lease_owner in ${owners}`.execute(tx.kysely);
  }
}

/** Two that bury the same node, or a node and its heir, would wait for one another in a ring. */
async function oneAtATime({ dialect, connection }: Tx): Promise<void> {
  const lock = dialect.oneAtATime?.('nodes');
  if (lock !== undefined) await connection.query(lock, []);
}

/** How many rows of a table each node holds; under null those that are free. */
export async function countHeld(
  { reader }: Database,
  { table, free: isFree }: Leasable,
): Promise<Map<string | null, number>> {
  const { rows } = await sql<{ lease_owner: string | null; held: number }>`
    select lease_owner, count(*) as held from ${sql.table(table)} where lease_owner is not null group by lease_owner
    union all select null, count(*) from ${sql.table(table)} where ${isFree}`.execute(reader.kysely);
  return new Map(rows.map(({ lease_owner, held }) => [lease_owner, held]));
}

/** A table whose rows are leased. */
export interface Leasable {
  readonly table: 'sessions' | 'webhooks';
  readonly id: 'session_id' | 'webhook_id';
  /** Which rows are free to be taken. */
  readonly free: RawBuilder<boolean>;
  /** What is set in a row that becomes free. */
  readonly freed: RawBuilder<unknown>;
}

export const leasable = {
  sessions: {
    table: 'sessions',
    id: 'session_id',
    free: sql<boolean>`wanted = 1 and lease_owner is null`,
    // Nobody is connected for it until another node is.
    freed: sql`lease_owner = null, status = case status when 'connected' then 'connecting' else status end`,
  },
  webhooks: {
    table: 'webhooks',
    id: 'webhook_id',
    free: sql<boolean>`lease_owner is null`,
    freed: sql`lease_owner = null`,
  },
} as const satisfies Record<string, Leasable>;

/** Takes up to `limit` free rows. @returns their ids */
export async function takeFree(
  tx: Tx,
  { table, id, free: isFree }: Leasable,
  nodeId: string,
  limit: number,
): Promise<string[]> {
  const { rows } = await sql<{ id: string }>`
    update ${sql.table(table)} set lease_owner = ${nodeId}, lease_generation = lease_generation + 1
    where ${sql.ref(id)} = any (array (
      select ${sql.ref(id)} from ${sql.table(table)} where ${isFree}
      order by ${sql.ref(id)} limit ${limit} for update skip locked))
    returning ${sql.ref(id)} as id`.execute(tx.kysely);
  return rows.map((row) => row.id);
}

/** Takes one row, if nobody has it. @returns who has it now; undefined when there is no such row */
export async function takeOne(
  tx: Tx,
  { table, id }: Leasable,
  nodeId: string,
  rowId: string,
): Promise<string | null | undefined> {
  const { rows } = await sql<{ lease_owner: string }>`
    update ${sql.table(table)} set lease_owner = ${nodeId}, lease_generation = lease_generation + 1
    where ${sql.ref(id)} = ${rowId} and lease_owner is null returning lease_owner`.execute(tx.kysely);
  return rows.length > 0 ? nodeId : readOwner(tx, { table, id }, rowId);
}

/** Who has a row; null when nobody does, undefined when there is no such row. */
export async function readOwner(
  on: Queryable,
  { table, id }: Pick<Leasable, 'table' | 'id'>,
  rowId: string,
): Promise<string | null | undefined> {
  const { rows } = await sql<{ lease_owner: string | null }>`
    select lease_owner from ${sql.table(table)} where ${sql.ref(id)} = ${rowId}`.execute(on.kysely);
  return rows[0]?.lease_owner;
}

/** The rows that a node has. */
export async function readOwn(on: Queryable, { table, id }: Leasable, nodeId: string): Promise<string[]> {
  const { rows } = await sql<{ id: string }>`
    select ${sql.ref(id)} as id from ${sql.table(table)} where lease_owner = ${nodeId}`.execute(on.kysely);
  return rows.map((row) => row.id);
}

/** Frees rows that this node holds. */
export async function giveBack(
  tx: Tx,
  { table, id, freed }: Leasable,
  nodeId: string,
  rowIds: readonly string[],
): Promise<void> {
  await sql`update ${sql.table(table)} set ${freed}
    where ${sql.ref(id)} in ${tx.dialect.texts(JSON.stringify(rowIds))} and lease_owner = ${nodeId}`.execute(tx.kysely);
}
