import type { Log } from './log.ts';

/** Parts of the server that run in child processes or threads, as `GET /ready` lists them. */
export type ChildPart =
  | 'media_conversion'
  | 'link_previews'
  | 'passwords'
  | 'long_reads'
  | 'log_sync'
  | 'database_check';

/** Consecutive failures after which work is refused instead of waiting for the next attempt. */
const ATTEMPTS = 3;
/** Pauses after the first failures, in ms. */
const RETRY_MS = [200, 1000] as const;
const LATER_RETRY_MS = 5000;

/**
 * The child processes and threads of the server. Any of them can fail to start: at the limit of open files or
 * processes, or while an upgrade replaces the program. The server then continues without them, tries again, and reports
 * it.
 */
export class Children {
  readonly #log: Log | undefined;
  readonly #parts = new Map<ChildPart, ChildHealth>();

  constructor(log?: Log) {
    this.#log = log;
  }

  of(part: ChildPart): ChildHealth {
    const known = this.#parts.get(part) ?? new ChildHealth(part, this.#log);
    this.#parts.set(part, known);
    return known;
  }

  /** Returns for each part whether it currently fails to start or to respond. */
  states(): { readonly part: ChildPart; readonly isFailing: boolean }[] {
    return Array.from(this.#parts, ([part, { isFailing }]) => ({ part, isFailing }));
  }
}

/** Counts the failures of one part since it last worked, and decides how soon to try again. */
export class ChildHealth {
  readonly #part: ChildPart;
  readonly #log: Log | undefined;
  #failures = 0;

  constructor(part: ChildPart, log?: Log) {
    this.#part = part;
    this.#log = log;
  }

  get isFailing(): boolean {
    return this.#failures > 0;
  }

  /** Whether work should be refused until the part works again. */
  get isDown(): boolean {
    return this.#failures >= ATTEMPTS;
  }

  /** Pause before the next attempt to start it. */
  get retryMs(): number {
    return RETRY_MS[this.#failures - 1] ?? LATER_RETRY_MS;
  }

  failed(error: unknown): void {
    this.#failures += 1;
    // One line per outage, not one per attempt.
    if (this.#failures === 1)
      this.#log?.error({ part: this.#part, err: error }, 'a child process or thread failed; retrying');
  }

  works(): void {
    if (this.#failures > 0) this.#log?.info({ part: this.#part }, 'the child process or thread works again');
    this.#failures = 0;
  }
}
