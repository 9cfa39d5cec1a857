import { type RawBuilder, sql } from 'kysely';
import { serialize, type Tx } from '../db/commit.ts';
import type { Membership, Queryable } from '../db/dialect.ts';
import { OperatorError } from '../errors.ts';
import { leasable } from './leaseRows.ts';

/*
 * The rows of `nodes`, in SQL that only PostgreSQL runs. The clock of the database decides whether a node is alive,
 * because the clocks of the nodes may differ.
 */

export interface Member {
  readonly nodeId: string;
  /** Null until it listens. */
  readonly url: string | null;
  /** Whether it acquires sessions and webhooks. */
  readonly acceptsWork: boolean;
  /** Identifies its media store; null if unknown. */
  readonly fileStore: string | null;
  readonly isAlive: boolean;
}

export interface Joining extends Membership {
  /** Id of the data folder. A restarted process has the same one, so it releases its predecessor's leases at once. */
  readonly instance: string;
  /** Nodes that ran on the same data folder before; undefined if unknown. */
  readonly former?: ReadonlySet<string> | undefined;
  readonly url: string | null;
  readonly version: string;
  readonly acceptsWork: boolean;
  /** Fingerprint of the secret that signs login tokens, which all nodes must share. */
  readonly jwtFingerprint: string;
  readonly fileStore: string | null;
}

export class OtherSecretError extends OperatorError {
  constructor(others: readonly string[]) {
    super(
      `JWT_SECRET differs from that of the running nodes (${others.join(', ')}), so they would refuse each other's login tokens. Set the same value on all nodes, or on none. To change it, stop all nodes first; a killed node counts as running until its lease ends (LEASE_SECONDS).`,
    );
  }
}

/** A live node has a data folder with the same id, and never ran on this one. */
export class CopiedFolderError extends OperatorError {
  /** When the last of their leases ends unless it is renewed, in ms of the database's clock. */
  readonly expiresAt: number;

  constructor(others: readonly string[], expiresAt: number) {
    super(
      `DATA_DIR is a copy of the folder of a running node (${others.join(', ')}), or that node runs on a copy of this folder. Every node needs its own DATA_DIR; start one of the two with an empty folder.`,
    );
    this.expiresAt = expiresAt;
  }
}

/** Something else has locked the rows of nodes for so long that this one could not join. */
export class NodesInUseError extends OperatorError {
  constructor(holders: readonly string[], cause: unknown) {
    const list = holders.length === 0 ? 'none is visible now' : holders.join(', ');
    super(
      `DATABASE_URL: the node could not join, because other connections have locked the rows of nodes (${list}). Wait until they are done, or end them with pg_terminate_backend(pid). Then start again.`,
      { cause },
    );
  }
}

/**
 * Adds this node in place of an earlier one on the same data folder, which is dead, or is this node after an eviction.
 * @throws {OtherSecretError}
 * @throws {CopiedFolderError}
 */
export async function join(tx: Tx, joining: Joining, leaseMs: number): Promise<Membership> {
  await serialize(tx, 'nodes');
  await requireOwnFolder(tx, joining);
  const { now } = tx.dialect;
  const { nodeId, epoch, instance, url, version, acceptsWork, jwtFingerprint, fileStore } = joining;
  const own = (alias: string) =>
    sql`${sql.ref(`${alias}.instance`)} = ${instance} or ${sql.ref(`${alias}.node_id`)} = ${nodeId}`;
  await endTransactions(tx, own('n'));
  const { rows: former } = await sql<{ node_id: string }>`
    delete from nodes where ${own('nodes')} returning node_id`.execute(tx.kysely);
  await free(tx, [nodeId, ...former.map(({ node_id }) => node_id)]);
  await requireSameSecret(tx, jwtFingerprint);
  await sql`insert into nodes
      (node_id, epoch, instance, url, version, carries, jwt_fingerprint, file_store, joined_at, expires_at)
    values (${nodeId}, ${epoch}, ${instance}, ${url}, ${version}, ${acceptsWork ? 1 : 0}, ${jwtFingerprint}, ${fileStore},
      ${now}, ${now} + ${leaseMs})`.execute(tx.kysely);
  return { nodeId, epoch };
}

/** @throws {CopiedFolderError} */
async function requireOwnFolder({ kysely, dialect }: Tx, { nodeId, instance, former }: Joining): Promise<void> {
  if (former === undefined) return;
  const { rows } = await sql<{ nodeId: string; name: string; expiresAt: number }>`
    select node_id as "nodeId", coalesce(url, node_id) as name, expires_at as "expiresAt" from nodes
    where instance = ${instance} and node_id <> ${nodeId} and expires_at > ${dialect.now}`.execute(kysely);
  const others = rows.filter((row) => !former.has(row.nodeId));
  if (others.length === 0) return;
  const expiresAt = Math.max(...others.map((other) => other.expiresAt));
  throw new CopiedFolderError(
    others.map(({ name }) => name),
    expiresAt,
  );
}

/**
 * A node of an older version stores no fingerprint, and counts as having the same.
 * @throws {OtherSecretError}
 */
async function requireSameSecret({ kysely, dialect }: Tx, fingerprint: string): Promise<void> {
  const { rows } = await sql<{ name: string }>`
    select coalesce(url, node_id) as name from nodes
    where jwt_fingerprint <> ${fingerprint} and expires_at > ${dialect.now} order by node_id`.execute(kysely);
  if (rows.length > 0) throw new OtherSecretError(rows.map(({ name }) => name));
}

export interface Beat {
  readonly isMember: boolean;
  readonly members: readonly Member[];
  /** Whether a session or webhook has no owner. */
  readonly isFree: boolean;
  /** Whether another node's lease ends later than is possible: the clock of the database went back. */
  readonly isClockBack: boolean;
}

/** Renews all leases of this node, by the row that they depend on. */
export async function beat(on: Queryable, { nodeId, epoch }: Membership, leaseMs: number): Promise<Beat> {
  const { now } = on.dialect;
  const { rows } = await sql<Member & { isAhead: boolean; beats: number; isFree: boolean }>`
    with beat as (
      update nodes set expires_at = ${now} + ${leaseMs} where node_id = ${nodeId} and epoch = ${epoch} returning node_id
    )
    select node_id as "nodeId", url, carries = 1 as "acceptsWork", file_store as "fileStore",
      -- Sees this node's row as it was before the update.
      expires_at > ${now} or node_id = ${nodeId} as "isAlive",
      expires_at > ${latest(on, leaseMs)} and node_id <> ${nodeId} as "isAhead", (select count(*) from beat) as beats,
      exists (select from sessions where wanted = 1 and lease_owner is null)
        or exists (select from webhooks where lease_owner is null) as "isFree"
    from nodes order by node_id`.execute(on.kysely);
  return {
    isMember: rows[0]?.beats === 1,
    members: rows,
    isFree: rows[0]?.isFree === true,
    isClockBack: rows.some(({ isAhead }) => isAhead),
  };
}

/** The latest possible end of a lease that was just renewed: transactions read the clock at different times. */
const latest = ({ dialect }: Queryable, leaseMs: number) => sql<number>`${dialect.now} + ${leaseMs + 1000}`;

/**
 * Shortens leases after the clock of the database went back. A dead node would otherwise keep its sessions until the
 * clock has caught up. Live nodes renew their own.
 */
export async function shortenLeases(tx: Tx, leaseMs: number): Promise<void> {
  await serialize(tx, 'nodes');
  await sql`update nodes set expires_at = ${tx.dialect.now} + ${leaseMs} where expires_at > ${latest(tx, leaseMs)}`.execute(
    tx.kysely,
  );
}

export async function announce(tx: Tx, { nodeId }: Membership, url: string): Promise<void> {
  await sql`update nodes set url = ${url} where node_id = ${nodeId}`.execute(tx.kysely);
}

/**
 * Evicts nodes that have not renewed their leases in time, and frees the leases. Returns their ids. Ends their
 * transactions first, because each keeps its node from being evicted and may wait for a lock for long.
 */
export async function evictDead(tx: Tx): Promise<string[]> {
  await serialize(tx, 'nodes');
  await endTransactions(tx, sql`n.expires_at <= ${tx.dialect.now}`);
  const { rows } = await sql<{ node_id: string }>`
    delete from nodes where expires_at <= ${tx.dialect.now} returning node_id`.execute(tx.kysely);
  const dead = rows.map(({ node_id }) => node_id);
  await free(tx, dead);
  return dead;
}

async function endTransactions({ dialect, kysely }: Tx, which: RawBuilder<unknown>): Promise<void> {
  await dialect.endTransactions(which).execute(kysely);
}

/**
 * Frees the leases of nodes that are gone. Their eviction leaves those whose rows were locked. Returns whether there
 * were any.
 */
export async function freeOrphans(tx: Tx): Promise<boolean> {
  await serialize(tx, 'nodes'); // no node may join after the statement has looked at them
  const isOrphan = sql`lease_owner is not null and lease_owner not in (select node_id from nodes)`;
  return freeWhere(tx, isOrphan);
}

export async function leave(tx: Tx, { nodeId, epoch }: Membership): Promise<void> {
  await serialize(tx, 'nodes');
  const { rows } = await sql<{ node_id: string }>`
    delete from nodes where node_id = ${nodeId} and epoch = ${epoch} returning node_id`.execute(tx.kysely);
  if (rows.length > 0) await free(tx, [nodeId]);
}

async function free(tx: Tx, nodeIds: readonly string[]): Promise<void> {
  if (nodeIds.length === 0) return;
  await freeWhere(tx, sql`lease_owner in ${tx.dialect.texts(JSON.stringify(nodeIds))}`);
}

/** Leaves out the rows that something else has locked, so that the others do not wait for it. */
async function freeWhere({ kysely }: Tx, isFreed: RawBuilder<unknown>): Promise<boolean> {
  let count = 0n;
  for (const { table, id, freed } of Object.values(leasable)) {
    const key = sql.ref(id);
    const { numAffectedRows = 0n } = await sql`update ${sql.table(table)} set ${freed} where ${key} = any
      (array (select ${key} from ${sql.table(table)} where ${isFreed} for update skip locked))`.execute(kysely);
    count += numAffectedRows;
  }
  return count > 0n;
}
