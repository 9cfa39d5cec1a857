import { ToolError } from './host.ts';

interface Options {
  readonly everyMs: number;
  /** Stops then by itself, so that a page that somebody left open asks nothing forever. */
  readonly forMs: number;
  /** Returns whether to go on. */
  readonly turn: () => Promise<boolean>;
  /** Called when it stops by itself: at its end, or after several errors, with the last one. */
  readonly onPause: (error?: ToolError) => void;
}

const MAX_ERRORS = 3;

/** Polls while the page is visible. Waits as long as a rate limit says. */
export class Polling {
  readonly #options: Options;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #endsAt = 0;
  #errors = 0;
  #isRunning = false;

  constructor(options: Options) {
    this.#options = options;
    document.addEventListener('visibilitychange', () => {
      if (this.#isRunning && !document.hidden) this.#schedule(0);
    });
  }

  /** Starts, or continues for the whole time again. */
  start(): void {
    this.#isRunning = true;
    this.#errors = 0;
    this.#endsAt = performance.now() + this.#options.forMs;
    this.#schedule(0);
  }

  stop(): void {
    this.#isRunning = false;
    clearTimeout(this.#timer);
  }

  #schedule(ms: number): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => void this.#turn(), ms);
  }

  async #turn(): Promise<void> {
    if (document.hidden) return; // continues when it is visible
    if (performance.now() > this.#endsAt) return this.#pause();
    let waitMs = this.#options.everyMs;
    try {
      if (!(await this.#options.turn())) return this.stop();
      this.#errors = 0;
    } catch (error) {
      if (!(error instanceof ToolError)) throw error;
      if (error.retryAfterMs === undefined && ++this.#errors >= MAX_ERRORS) return this.#pause(error);
      waitMs = Math.max(waitMs, error.retryAfterMs ?? 0);
    }
    if (this.#isRunning) this.#schedule(waitMs);
  }

  #pause(error?: ToolError): void {
    this.stop();
    this.#options.onPause(error);
  }
}
