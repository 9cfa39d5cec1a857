import type { Clock } from '../clock.ts';
import { isAway } from '../errors.ts';

export interface Key {
  readonly accountId: string;
  /** Whose key it is: the id of an API key, which a rotation keeps, or `login`. */
  readonly credential: string;
  readonly key: string;
}

const RETRY_MS = 1000;
/** A claim whose commit was not answered may take effect after the first attempt to release it. */
const MAX_ATTEMPTS = 3;
/** Concurrent attempts, which bound the cost per second while the database is unavailable. */
const BATCH = 50;
/** A few MB. Further keys stay with this node until their runs count as abandoned. */
const MAX_KEYS = 10_000;

/**
 * Releases keys once the database is back; until then, other nodes assume that this one still works on them. One loop
 * serves all keys, however many requests fail meanwhile.
 */
export class KeyReleases {
  readonly #release: (key: Key) => Promise<boolean>;
  readonly #isInUse: (key: Key) => boolean;
  readonly #clock: Clock;
  readonly #waiting = new Map<string, Key & { attempts: number }>();
  #cancel: (() => void) | undefined;
  #passing: Promise<void> | undefined;
  #isStopped = false;

  /**
   * @param release releases a key that this node owns, and returns whether it did
   * @param isInUse whether a running request uses the key, and so will release it itself
   */
  constructor(release: (key: Key) => Promise<boolean>, isInUse: (key: Key) => boolean, clock: Clock) {
    this.#release = release;
    this.#isInUse = isInUse;
    this.#clock = clock;
  }

  add({ accountId, credential, key }: Key): void {
    if (this.#isStopped) return;
    const name = nameOf({ accountId, credential, key });
    if (this.#waiting.size >= MAX_KEYS && !this.#waiting.has(name)) return;
    this.#waiting.set(name, { accountId, credential, key, attempts: 0 });
    if (this.#passing === undefined) this.#schedule();
  }

  /** Resolves when the attempts in progress have ended. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    this.#cancel?.();
    this.#waiting.clear();
    await this.#passing;
  }

  #schedule(): void {
    if (this.#isStopped || this.#cancel !== undefined || this.#waiting.size === 0) return;
    this.#cancel = this.#clock.after(RETRY_MS, () => {
      this.#cancel = undefined;
      this.#passing = this.#pass().finally(() => {
        this.#passing = undefined;
        this.#schedule();
      });
    });
  }

  /** Tries to release every key, and stops if the database is still away. */
  async #pass(): Promise<void> {
    const names = [...this.#waiting.keys()];
    for (let at = 0; at < names.length && !this.#isStopped; at += BATCH) {
      const outcomes = await Promise.all(names.slice(at, at + BATCH).map((name) => this.#tryRelease(name)));
      if (outcomes.includes('unavailable')) return;
    }
  }

  async #tryRelease(name: string): Promise<'unavailable' | 'done'> {
    const key = this.#waiting.get(name);
    if (key === undefined) return 'done';
    let isDone = this.#isInUse(key);
    try {
      if (!isDone) isDone = (await this.#release(key)) || ++key.attempts >= MAX_ATTEMPTS;
    } catch (error) {
      if (isAway(error)) return 'unavailable';
      isDone = true; // the server stops, or has lost its leases
    }
    if (isDone && this.#waiting.get(name) === key) this.#waiting.delete(name);
    return 'done';
  }
}

/** Makes a unique name of a key across accounts and credentials. */
export function nameOf({ accountId, credential, key }: Key): string {
  return `${accountId} ${credential} ${key}`;
}
