import { randomBytes } from 'node:crypto';
import { statfs } from 'node:fs/promises';
import { withTimeout } from '../async.ts';
import { systemClock } from '../clock.ts';
import type { Database } from './database.ts';

/** Whether the server can do its work now, for a load balancer's health check. */
export type IsReady = () => Promise<boolean>;

/** Cached for one second, because the route is public. */
const KEPT_MS = 1000;
/** A hanging database counts as unavailable, and the load balancer has a deadline too. */
const TIMEOUT_MS = 2000;

/** More than the free space that existing pages of a table can have. */
const PROBE_BYTES = 256 * 1024;

/**
 * The server is ready if it can read and write and has room to write. An empty transaction detects a lock, a read-only
 * or missing database and a node that was evicted. It does not detect a full disk, because SQLite's log often has room
 * left when nothing else has, so the free space is checked as well. The disk of PostgreSQL is on another machine: after
 * a write of any node fails because it is full, a large row is written and rolled back until that succeeds.
 */
export function createReadiness({
  database,
  dataDir,
  reserveBytes,
  signals,
}: {
  database: Database;
  dataDir: string;
  /** The disk counts as full if less than this is free in `dataDir`. */
  reserveBytes: number;
  /** Tells the other nodes that the database's disk is full, so that each need not find out itself. */
  signals: { send(topic: 'storage', id: string): void; on(topic: 'storage', listener: () => void): void };
}): IsReady {
  let answer: Promise<boolean> | undefined;
  let wasFull = false;
  database.on('full', () => {
    wasFull = true;
    signals.send('storage', 'full');
  });
  signals.on('storage', () => (wasFull = true));

  async function ask(): Promise<boolean> {
    try {
      const probe = async () => {
        await database.reader.connection.query('select 1', []);
        await database.commit(async () => {});
        wasFull &&= !(await hasRoom(database));
        if (wasFull) throw new Error('the disk of the database is full');
      };
      await withTimeout(systemClock, TIMEOUT_MS, probe());
      const { bavail, bsize } = await statfs(dataDir);
      return bavail * bsize >= reserveBytes;
    } catch {
      return false; // the error that callers get explains the reason; here only the result counts
    }
  }

  return () => {
    answer ??= ask().finally(() => setTimeout(() => (answer = undefined), KEPT_MS).unref());
    return answer;
  };
}

async function hasRoom(database: Database): Promise<boolean> {
  // Random, so that it does not compress.
  const value = randomBytes(PROBE_BYTES / 2).toString('hex');
  let fits = false;
  const probe = database.commit(async ({ kysely }) => {
    const adding = kysely
      .insertInto('secrets')
      .values({ name: `probe ${value.slice(0, 32)}`, value })
      .execute();
    // A full disk is not reported as such, because `commit` would try again and fill it a little more each time.
    fits = await adding.then(Boolean, () => false);
    throw new Error('rolled back');
  });
  await probe.catch(() => {});
  return fits;
}
