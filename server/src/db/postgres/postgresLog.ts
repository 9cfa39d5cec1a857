import type { Connection, LogState } from '../dialect.ts';

/*
 * Positions of the event log on PostgreSQL, and how far it can be read without skipping events.
 *
 * Transactions commit in another order than they draw positions from a sequence, so the newest visible event may have
 * one before it that is not visible yet. A reader must stop before the first position that a running transaction may
 * still fill. Transaction ids and snapshots do not answer this: they cover the whole cluster, and a transaction that
 * stays open in another database would hold up every reader. So writers of events announce it with locks:
 *
 * A writer (1) reads the last value `s` of the sequence, (2) takes a shared advisory lock whose key contains `s` and
 * that its transaction holds until it ends, and (3) only then draws positions. A reader (4) reads the last value `h` of
 * the sequence, (5) then the smallest key `m` among those locks, and (6) only then, in a later statement with a new
 * snapshot, the events up to the smaller of `h` and `m`.
 *
 * No event is skipped. Take an event at a position `p` up to the reader's horizon. `p` is at most `h`, so it was drawn
 * before (4), and its writer had its lock before (5), because it locks before it draws. At (5) the writer
 * - held its lock: then `m` is at most `s`, and `s` is less than `p`, because the sequence only goes up. So `p` is
 *   beyond the horizon, which contradicts the assumption;
 * - or had released it: then its transaction had ended. PostgreSQL makes a commit visible before it releases the locks
 *   of the transaction, so the snapshot of (6) sees the event if it was committed. A position that is drawn after (4)
 *   is greater than `h`. A writer that stalls between (1) and (2) has a small `s`, but draws only afterwards, so it
 *   delays readers and hides nothing.
 *
 * The lock belongs to the transaction, so it works through a pooler in transaction mode, is released when its process
 * dies, and ignores other databases. Rolling back a savepoint releases the lock and also resets the setting that marks
 * it as held. The sequence is part of a dump, so a restored database continues after its positions.
 *
 * The writer's steps are the default of the column.
 */

/** The high 16 bits of our keys; the rest is the position. */
const LOCK_CLASS = 21_334;
const POSITION_BITS = 48;

/** Function names are qualified, because others are not looked up among temporary ones; see `inScratch`. */
export const eventPositions: readonly string[] = [
  `create sequence event_positions minvalue 0`,
  `do $migration$ begin execute format($statements$
    create function %1$I.next_event_position() returns bigint language plpgsql as $body$
    begin
      if current_setting('switchboard.log_lock', true) is distinct from pg_current_xact_id()::text then
        perform pg_advisory_xact_lock_shared((${LOCK_CLASS}::bigint << ${POSITION_BITS}) | last_value) from event_positions;
        perform set_config('switchboard.log_lock', pg_current_xact_id()::text, true);
      end if;
      return nextval('event_positions');
    end $body$;
    create function %1$I.event_horizon() returns bigint language plpgsql as $body$
    declare
      last bigint;
      first_open bigint;
    begin
      select last_value into last from event_positions;
      select min(((classid::bigint & 65535) << 32) | objid::bigint) into first_open from pg_locks
        where locktype = 'advisory' and objsubid = 1 and classid::bigint >> 16 = ${LOCK_CLASS}
          and database = (select oid from pg_database where datname = current_database());
      return least(last, first_open);
    end $body$;
    alter table events alter position set default %1$I.next_event_position();
  $statements$, current_schema()); end $migration$`,
];

/** Returns the position up to which the log is complete, and what identifies the server cheaply. */
export async function readState(connection: Connection): Promise<LogState> {
  const { rows } = await connection.query<LogState>(
    `select event_horizon() as horizon, (select last_value from event_positions) as newest,
      pg_postmaster_start_time()::text as since`,
    [],
    'event_state',
  );
  const [row] = rows;
  if (row === undefined) throw new Error('event_horizon() gave no row');
  return row;
}

/**
 * Returns the identity of the server, of its timeline, which a promotion and a recovery to a moment change, and of the
 * database, of which a template makes copies.
 */
export async function readServer(connection: Connection): Promise<string> {
  const { rows } = await connection.query<{ server: string }>(
    `select system_identifier::text || ' ' || left(pg_walfile_name(pg_current_wal_lsn()), 8) || ' ' || d.oid as server
      from pg_control_system(), pg_database d where d.datname = current_database()`,
    [],
  );
  const [row] = rows;
  if (row === undefined) throw new Error('pg_control_system() gave no row');
  return row.server;
}

/** The last position that was drawn. */
export async function readNewest(connection: Connection): Promise<number> {
  const { rows } = await connection.query<{ newest: number }>(
    'select last_value as newest from event_positions',
    [],
    'event_newest',
  );
  const [row] = rows;
  if (row === undefined) throw new Error('event_positions has no row');
  return row.newest;
}
