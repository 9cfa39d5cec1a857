import { statfs } from 'node:fs/promises';
import type { Database } from './database.ts';

/** Whether the server can do its work now, as a load balancer asks. */
export type IsReady = () => Promise<boolean>;

/** Whoever asks more often gets the answer of before: the route is open to everybody. */
const KEPT_MS = 1000;
/** A database that hangs is no better than one that is away, and whoever asks has a deadline as well. */
const PATIENCE_MS = 2000;

/** @throws {Error} when it takes longer */
export async function inTime<T>(work: Promise<T>, ms: number): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`not within ${ms} ms`)), ms);
  });
  return Promise.race([work, late]).finally(() => clearTimeout(timer));
}

/**
 * Ready is who can read, write, and has room to write to. A transaction without changes finds a lock, a read-only
 * or missing database and a node that has lost its place; a full disk it does not find, since SQLite's log often has
 * room left when nothing else has. So the free space is asked for as well.
 */
export function createReadiness({
  database,
  dataDir,
  reserveBytes,
}: {
  database: Database;
  dataDir: string;
  /** Less free space than this in `dataDir` is a full disk. */
  reserveBytes: number;
}): IsReady {
  let answer: Promise<boolean> | undefined;

  async function ask(): Promise<boolean> {
    try {
      const goesThrough = async () => {
        await database.reader.connection.query('select 1', []);
        await database.commit(async () => {});
      };
      await inTime(goesThrough(), PATIENCE_MS);
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
