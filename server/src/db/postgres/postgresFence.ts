import { type RawBuilder, sql } from 'kysely';
import pg from 'pg';
import type { Membership } from '../dialect.ts';

/*
 * The fence around the nodes of a deployment: a transaction of a node changes nothing once the node's row in `nodes` is
 * gone, and nobody deletes the row while such a transaction is open.
 *
 * A transaction (1) takes a shared advisory lock whose key is derived from the node and its epoch, and that it holds
 * until it ends, and (2) only then, in a later statement with a new snapshot, looks for the row. Deleting the row takes
 * the same lock exclusively first, in a trigger, so that nodes of earlier releases and operators do too.
 *
 * A transaction that has its lock before the deletion gets its own keeps the deletion waiting. One that asks later
 * waits until the deletion has been committed, and then finds no row: PostgreSQL makes a commit visible before it
 * releases the locks of the transaction.
 *
 * A row lock would do the same, but writes to the row: with several transactions at a time, each send created more than
 * one multixact, on the same page.
 */

/** The high 16 bits of our keys; the rest is a hash. Differs from the class of the event log. */
const LOCK_CLASS = 21_335;
const HASH_BITS = 48;

/** The key of the lock, as an expression. Two nodes that share one by chance only wait for each other. */
const keyOf = (nodeId: string, epoch: string) =>
  `((${LOCK_CLASS}::bigint << ${HASH_BITS}) | (hashtextextended(${nodeId} || ' ' || ${epoch}, 0) & ${2 ** HASH_BITS - 1}))`;

/** Takes the lock. The last statement returns one row if the node is a member. */
export function fence({ nodeId, epoch }: Membership): string {
  const id = pg.escapeLiteral(nodeId);
  return `select pg_advisory_xact_lock_shared(${keyOf(id, `'${epoch}'`)});
    select from nodes where node_id = ${id} and epoch = ${epoch}`;
}

/**
 * Ends the transactions of nodes, by a condition on their rows `n`. They may belong to processes that died or hang, and
 * wait for something that never comes. Behind a pooler, a connection may by then serve another transaction, which is
 * repeated. Ending the transactions of other database users is not permitted.
 */
export const endTransactions = (condition: RawBuilder<unknown>) => sql`
  select pg_terminate_backend(l.pid) from pg_locks l join nodes n
    on (l.classid::bigint << 32 | l.objid::bigint) = ${sql.raw(keyOf('n.node_id', 'n.epoch'))}
  where l.locktype = 'advisory' and l.objsubid = 1 and l.pid <> pg_backend_pid()
    and exists (select from pg_stat_activity a where a.pid = l.pid and a.usename = current_user)
    and l.database = (select oid from pg_database where datname = current_database()) and (${condition})`;

/** Function names are qualified, because others are not looked up among temporary ones; see `inScratch`. */
export const nodeFence: readonly string[] = [
  `do $migration$ begin execute format($statements$
    create function %1$I.await_node_fence() returns trigger language plpgsql as $body$
    begin
      perform pg_advisory_xact_lock(${keyOf('old.node_id', 'old.epoch')});
      return old;
    end $body$;
    create trigger await_node_fence before delete on nodes for each row execute function %1$I.await_node_fence();
  $statements$, current_schema()); end $migration$`,
];
