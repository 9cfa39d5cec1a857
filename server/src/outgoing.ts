import { readFileSync } from 'node:fs';
import { AppError } from './errors.ts';

/*
 * Connections that the server opens for accounts: webhook attempts, tests of webhooks, files behind URLs. A process has
 * so many sockets and no more, and one account's slow receivers must not take them all.
 */

/** What the server needs files and sockets for beside outgoing connections: callers, sessions, the database, files. */
const OTHER_FILES = 1024;

export interface OpenFiles {
  /** The soft limit of this process; undefined where it cannot be read. */
  readonly limit: number | undefined;
  /** What `OUTGOING_CONNECTIONS` takes, with all the rest. */
  readonly wanted: number;
}

/** How many outgoing connections there may be: as many as the operator wants, and half of the files at most. */
export function outgoingLimit(wanted: number, { limit = Number.POSITIVE_INFINITY }: OpenFiles): number {
  return Math.max(1, Math.min(wanted, Math.floor(limit / 2)));
}

/** Reads the limit as Linux tells it; Node has raised the soft limit to the hard one by then. */
export function readOpenFiles(outgoing: number, path = '/proc/self/limits'): OpenFiles {
  return { limit: readSoftLimit(path), wanted: outgoing + OTHER_FILES };
}

function readSoftLimit(path: string): number | undefined {
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch {
    return undefined; // not Linux
  }
  const soft = /^Max open files\s+(\S+)/m.exec(text)?.[1];
  return soft === undefined || soft === 'unlimited' ? undefined : Number(soft);
}

/**
 * Hands out connections. An account may take another one while it has fewer than are free: alone it gets half of them,
 * two get a third each, and there is always a share left for the next one. (Dynamic thresholds, as switches share their
 * buffers: Choudhury and Hahne, 1998.)
 */
export class OutgoingConnections {
  readonly #limit: number;
  readonly #byAccount = new Map<string, number>();
  #used = 0;

  constructor(limit: number) {
    this.#limit = limit;
  }

  get isFull(): boolean {
    return this.#used >= this.#limit;
  }

  /** @returns false when the account has its share; otherwise `release` is due once */
  take(accountId: string): boolean {
    const own = this.#byAccount.get(accountId) ?? 0;
    if (own >= this.#limit - this.#used) return false;
    this.#byAccount.set(accountId, own + 1);
    this.#used++;
    return true;
  }

  release(accountId: string): void {
    const own = (this.#byAccount.get(accountId) ?? 0) - 1;
    if (own > 0) this.#byAccount.set(accountId, own);
    else this.#byAccount.delete(accountId);
    this.#used--;
  }

  /**
   * Does something that takes one connection.
   * @throws {AppError} `rate_limited` when the account has its share
   */
  async use<T>(accountId: string, work: () => Promise<T>): Promise<T> {
    if (!this.take(accountId))
      throw new AppError('rate_limited', 'The account has too many outgoing connections open; try again', {
        retryAfterSeconds: 5,
      });
    try {
      return await work();
    } finally {
      this.release(accountId);
    }
  }
}
