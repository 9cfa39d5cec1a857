import { randomBytes } from 'node:crypto';
import { statfs } from 'node:fs/promises';
import { withTimeout } from '../async.ts';
import { systemClock } from '../clock.ts';
import type { Database } from './database.ts';

/** Whether the server can do its work now, as a load balancer asks. */
export type IsReady = () => Promise<boolean>;

/** Whoever asks more often gets the answer of before: the route is open to everybody. */
const KEPT_MS = 1000;
/** A database that hangs is no better than one that is away, and whoever asks has a deadline as well. */
const PATIENCE_MS = 2000;

/** More than the pages of a table have left. */
const PROBE_BYTES = 256 * 1024;

/**
 * Ready is who can read, write, and has room to write to. A transaction without changes finds a lock, a read-only
 * or missing database and a node that has lost its place; a full disk it does not find, since SQLite's log often has
 * room left when nothing else has. So the free space is asked for as well. The disk of PostgreSQL is another machine's:
 * once it was full for a write, of this node or another one, a large row is written and undone until that passes.
 */
export function createReadiness({
  database,
  dataDir,
  reserveBytes,
  signals,
}: {
  database: Database;
  dataDir: string;
  /** Less free space than this in `dataDir` is a full disk. */
  reserveBytes: number;
  /** Other nodes hear by it that the disk of the database was full, and do not have to find out. */
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
      const goesThrough = async () => {
        await database.reader.connection.query('select 1', []);
        await database.commit(async () => {});
        if (wasFull) await requireRoom(database);
        wasFull = false;
      };
      await withTimeout(systemClock, PATIENCE_MS, goesThrough());
      const { bavail, bsize } = await statfs(dataDir);
      return bavail * bsize >= reserveBytes;
    } catch {
      return false; // whoever is refused finds out why; here the word is all that counts
    }
  }

  return () => {
    answer ??= ask().finally(() => setTimeout(() => (answer = undefined), KEPT_MS).unref());
    return answer;
  };
}

/** Undoes the probe, and says whether there was room for it. */
class ProbedError extends Error {
  readonly hasRoom: boolean;
  constructor(hasRoom: boolean) {
    super(hasRoom ? 'there is room' : 'there is no room');
    this.hasRoom = hasRoom;
  }
}

/** @throws {Error} */
async function requireRoom(database: Database): Promise<void> {
  // Random, so that no compression makes it small.
  const value = randomBytes(PROBE_BYTES / 2).toString('hex');
  const probe = database.commit(async ({ kysely }) => {
    const name = `probe ${value.slice(0, 32)}`;
    const adding = kysely.insertInto('secrets').values({ name, value }).execute();
    // An error of ours is not tried again: each try would fill the disk a little more.
    throw new ProbedError(await adding.then(Boolean, () => false));
  });
  await probe.catch((error) => {
    if (!(error instanceof ProbedError && error.hasRoom)) throw error;
  });
}
