import { randomBytes } from 'node:crypto';
import { sql } from 'kysely';
import { withTimeout } from '../../async.ts';
import { type Clock, systemClock } from '../../clock.ts';
import type { Tx } from '../../db/commit.ts';
import type { Database } from '../../db/database.ts';
import type { LogState, Queryable } from '../../db/dialect.ts';
import { firstIdAt, timeOfId } from '../../ids.ts';
import type { Log } from '../../log.ts';
import type { SteadyClock } from '../../steadyClock.ts';
import type { SeenPosition } from './seenPosition.ts';

/*
 * After a restored backup, or a failover that lost transactions, the log draws positions that it has drawn before, for
 * other events. A reader that kept a cursor from then would skip them. So the log has epochs, and a cursor says which
 * one it is of. Whatever the database contains goes back with it, so an epoch ends when the database itself shows that
 * it is another one: on PostgreSQL by the server, its timeline, the database, and the transaction that wrote the row of
 * the epoch; on SQLite by the missing `switchboard.commits`, which a backup does not contain. A copy of PostgreSQL's
 * own files shows nothing of that. Then the log ends before the position that this node has noted in its data folder.
 */

/** The cursor before all events. */
export const BEGINNING = '0.evt_00000000000000000000000000';
/** How often a node looks whether the database was replaced, apart from every read of the log. */
const EVERY_MS = 10_000;
/**
 * Readers of an earlier epoch start again this long before the present one, because other nodes may have written before
 * this one noticed. They get some events twice.
 */
const OVERLAP_MS = 60_000;
const STOP_MS = 1000;
/** A savepoint hides the transaction that wrote a row, so it is written again. */
const MAX_WRITES = 3;

interface Options {
  readonly database: Database;
  readonly clock: Clock;
  readonly steady: SteadyClock;
  readonly log: Log;
  readonly seenPosition: SeenPosition;
}

export interface Resumed {
  /** Cursor of the present epoch. */
  readonly from: string;
  /** Whether events after the given cursor may be missing, or come again. */
  readonly truncated: boolean;
}

/** Notices that the event log is another one than before, and knows where readers of the earlier one go on. */
export class LogEpochs {
  readonly #options: Options;
  #epochs: readonly { readonly epoch: string; readonly startsAfter: string }[] = [
    { epoch: '', startsAfter: BEGINNING },
  ];
  #seen: LogState | undefined;
  /** The newest position at the last look. Later ones can get lost if PostgreSQL crashes. */
  #lookedAt: number | undefined;
  #checking: Promise<void> | undefined;
  #ending = new AbortController();
  #cancelTimer = () => {};
  #isRunning = false;

  constructor(options: Options) {
    this.#options = options;
  }

  /** @throws {AppError} `storage_unavailable` */
  async start(): Promise<void> {
    await this.#check();
    this.#isRunning = true;
    this.#lookLater();
  }

  async stop(): Promise<void> {
    if (!this.#isRunning) return;
    this.#isRunning = false;
    this.#cancelTimer();
    // Nothing is being written now.
    const { reader } = this.#options.database;
    await withTimeout(systemClock, STOP_MS, reader.dialect.log.state(reader.connection))
      .then(({ newest }) => this.#note(newest))
      .catch(() => {}); // the position of the last look stays
  }

  /** Empty in the first epoch. */
  get current(): string {
    return this.#epochs.at(-1)?.epoch ?? '';
  }

  /** Aborted when the present epoch ends: what was read before does not continue. */
  get ended(): AbortSignal {
    return this.#ending.signal;
  }

  /** Takes what a read of the log has seen of the database. Resolves when the epoch is up to date. */
  async observe(state: LogState): Promise<void> {
    const before = this.#seen;
    const isSame = before === undefined || (state.since === before.since && state.newest >= before.newest);
    if (!isSame) await this.#check();
    this.#seen = state;
  }

  /** Returns where the reader of a cursor goes on in the present epoch. */
  resume(cursor: string): Resumed {
    const [position, eventId, epoch = ''] = cursor.split('.');
    const given = `${position}.${eventId}`;
    if (epoch === this.current) return { from: cursor, truncated: false };
    const known = this.#epochs.findIndex((one) => one.epoch === epoch);
    // An unknown epoch is one that a restore removed. It branched off any of the others.
    const later = this.#epochs.slice(known === -1 ? 1 : known + 1).map(({ startsAfter }) => startsAfter);
    const start = later.reduce((a, b) => (isBefore(b, a) ? b : a), later[0] ?? BEGINNING);
    return isBefore(start, given)
      ? { from: this.mark(start), truncated: true }
      : { from: this.mark(given), truncated: false };
  }

  /** Returns a cursor with its epoch. */
  mark(cursor: string): string {
    return this.current === '' ? cursor : `${cursor}.${this.current}`;
  }

  #check(): Promise<void> {
    this.#checking ??= this.#findEpoch().finally(() => {
      this.#checking = undefined;
    });
    return this.#checking;
  }

  async #findEpoch(): Promise<void> {
    const { database } = this.#options;
    const { reader } = database;
    const server = await reader.dialect.log.server(reader.connection);
    let rows = await readEpochs(reader);
    let written: string | undefined;
    const isKnown = async () => {
      const newest = rows.at(-1);
      const isWhole = newest?.epoch === written || !(await this.#hasGoneBack(reader, newest));
      return isWhole && this.#isOf(newest, server, written) && (server === null || newest?.server === server);
    };
    for (let writes = 0; writes < MAX_WRITES && !(await isKnown()); writes++) {
      written = await database.commit((tx) => this.#write(tx, server, written));
      rows = await readEpochs(reader);
    }
    database.keptEpoch();
    const before = this.current;
    this.#epochs = rows.map(({ epoch, starts_after }) => ({ epoch, startsAfter: starts_after }));
    if (this.current !== before) this.#lookedAt = undefined;
    if (this.current === before || !this.#isRunning) return;
    this.#options.log.warn(
      { epoch: this.current },
      'the database was restored or failed over; event readers start again',
    );
    this.#ending.abort();
    this.#ending = new AbortController();
  }

  /** Whether the newest epoch is of this database. */
  #isOf(newest: EpochRow | undefined, server: string | null, written?: string): boolean {
    if (server === null) return newest?.epoch === written || !this.#options.database.wasReplaced();
    if (newest === undefined) return false;
    // Earlier versions did not store the database, which is last.
    const isServer = newest.server === server || (newest.server !== null && server.startsWith(`${newest.server} `));
    return isServer && newest.written_by === newest.xmin;
  }

  /** Whether the log ends before a position that this node has seen in its newest epoch. */
  async #hasGoneBack(on: Queryable, newest: EpochRow | undefined): Promise<boolean> {
    const { log } = on.dialect;
    if (!log.drawsPositions) return false;
    const position = await log.newest(on.connection);
    return this.#options.seenPosition.isAheadOf({ position, epoch: newest?.epoch ?? '' });
  }

  #note(position: number): void {
    if (this.#options.database.reader.dialect.log.drawsPositions)
      this.#options.seenPosition.note({ position, epoch: this.current });
  }

  /** Begins another epoch, unless another node has, or the newest one has no server yet. Returns the newest one. */
  async #write(tx: Tx, server: string | null, written: string | undefined): Promise<string> {
    const { clock } = this.#options;
    const { log } = tx.dialect;
    for (const statement of log.lockEpochs) await tx.connection.query(statement, []);
    const newest = (await readEpochs(tx)).at(-1);
    const isOurs = newest?.epoch === written || (server !== null && newest?.server === null);
    const isKept = async () =>
      isOurs || (server !== null && this.#isOf(newest, server) && !(await this.#hasGoneBack(tx, newest)));
    if (newest !== undefined && (await isKept())) {
      await tx.kysely
        .updateTable('log_epochs')
        .set({ server, written_by: log.transaction })
        .where('epoch', '=', newest.epoch)
        .execute();
      return newest.epoch;
    }
    const epoch = randomBytes(4).toString('hex');
    const created_at = Math.max(clock.now(), (newest?.created_at ?? 0) + 1);
    const starts_after = await this.#startsAfter(tx);
    await tx.kysely
      .insertInto('log_epochs')
      .values({ epoch, starts_after, server, written_by: log.transaction, created_at })
      .execute();
    return epoch;
  }

  async #startsAfter({ kysely }: Tx): Promise<string> {
    const before = firstIdAt('evt', this.#options.steady.now() - OVERLAP_MS);
    const last = await kysely
      .selectFrom('events')
      .select(['position', 'event_id'])
      .where('event_id', '<', before)
      .orderBy('position', 'desc')
      .limit(1)
      .executeTakeFirst();
    return last === undefined ? BEGINNING : `${last.position}.${last.event_id}`;
  }

  #lookLater(): void {
    this.#cancelTimer = this.#options.clock.after(EVERY_MS, () => void this.#look());
  }

  async #look(): Promise<void> {
    const { reader } = this.#options.database;
    // The database may be unavailable and be replaced during the outage.
    try {
      const state = await reader.dialect.log.state(reader.connection);
      const before = this.current;
      await this.observe(state);
      if (this.#lookedAt !== undefined && this.current === before) this.#note(this.#lookedAt);
      this.#lookedAt = state.newest;
    } catch {
      // looked at again
    }
    if (this.#isRunning) this.#lookLater();
  }
}

export function isBefore(a: string, b: string): boolean {
  const [left, right] = [parseCursor(a), parseCursor(b)];
  return left.position === right.position ? left.eventId < right.eventId : left.position < right.position;
}

/** A cursor of an earlier version has no position on SQLite, and continues at the time of its event. */
export function parseCursor(cursor: string): { position: number; eventId: string } {
  const [position = '', eventId = ''] = cursor.split('.');
  return { position: Number(position) || Math.max(0, timeOfId(eventId) * 1000 - 1), eventId };
}

interface EpochRow {
  readonly epoch: string;
  readonly starts_after: string;
  readonly server: string | null;
  readonly written_by: string | null;
  readonly created_at: number;
  /** The transaction that wrote the row. */
  readonly xmin: string | null;
}

function readEpochs({ kysely, dialect }: Queryable): Promise<EpochRow[]> {
  return kysely
    .selectFrom('log_epochs')
    .select(['epoch', 'starts_after', 'server', 'written_by', 'created_at'])
    .select(sql<string | null>`${sql.raw(dialect.log.writer)}`.as('xmin'))
    .orderBy('created_at')
    .orderBy('epoch')
    .execute();
}
