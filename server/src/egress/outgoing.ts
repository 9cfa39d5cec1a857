import { EventEmitter } from 'node:events';
import { readFileSync } from 'node:fs';
import { AppError } from '../errors.ts';

/*
 * Connections that the server opens for accounts: webhook attempts, webhook tests, files behind URLs. The number of
 * sockets of a process is limited, and one account's slow receivers must not use them all.
 */

/** File descriptors that are reserved for everything else: callers, sessions, the database, files. */
const OTHER_FILES = 1024;

export interface OpenFiles {
  /** The soft limit of this process; undefined if unknown. */
  readonly limit: number | undefined;
  /** The file descriptors needed for `OUTGOING_CONNECTIONS` and everything else. */
  readonly wanted: number;
}

/** Returns the number of outgoing connections: the configured number, but at most half of the file limit. */
export function outgoingLimit(wanted: number, { limit = Number.POSITIVE_INFINITY }: OpenFiles): number {
  return Math.max(1, Math.min(wanted, Math.floor(limit / 2)));
}

/** Reads the limit that Linux reports. At startup, Node raises the soft limit to the hard one. */
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
 * Distributes connections fairly. An account may take another one while it has fewer than are free: alone it gets half
 * of them, two get a third each, and a share is always left for the next one. (Dynamic thresholds, as in shared switch
 * buffers: Choudhury and Hahne, 1998.)
 *
 * Emits `released` whenever a connection is free again.
 */
export class OutgoingConnections extends EventEmitter<{ released: [] }> {
  readonly #limit: number;
  readonly #byAccount = new Map<string, number>();
  #used = 0;

  constructor(limit: number) {
    super();
    this.#limit = limit;
  }

  get isFull(): boolean {
    return this.#used >= this.#limit;
  }

  countOf(accountId: string): number {
    return this.#byAccount.get(accountId) ?? 0;
  }

  /** @returns false if the account has used up its share; otherwise call `release` once, with the same count */
  take(accountId: string, count = 1): boolean {
    const own = this.countOf(accountId);
    if (own + count > this.#limit - this.#used) return false;
    this.#byAccount.set(accountId, own + count);
    this.#used += count;
    return true;
  }

  release(accountId: string, count = 1): void {
    const own = this.countOf(accountId) - count;
    if (own > 0) this.#byAccount.set(accountId, own);
    else this.#byAccount.delete(accountId);
    this.#used -= count;
    this.emit('released');
  }

  /** @throws {AppError} `rate_limited` if the account has used up its share */
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
