/** Reports what a conversion does. */
export interface Reporter {
  /** Called with a finished line. */
  line(text: string): void;
  /** Called after each stored step; a test throws here to break off. */
  stored?(step: string): void;
}

const EVERY_MS = 2000;
const number = new Intl.NumberFormat('en-US');

/** Reports the rows of a step, at most every two seconds, and its end. */
export class RowReport {
  readonly #reporter: Reporter;
  readonly #what: string;
  readonly #total: number | undefined;
  readonly #startedAt = performance.now();
  #reportedAt = performance.now();

  constructor(reporter: Reporter, what: string, total: number | undefined) {
    this.#reporter = reporter;
    this.#what = what;
    this.#total = total;
  }

  at(rows: number): void {
    const now = performance.now();
    if (now < this.#reportedAt + EVERY_MS) return;
    this.#reportedAt = now;
    const of = this.#total === undefined ? ' rows' : ` of ${number.format(this.#total)}`;
    this.#reporter.line(`${this.#what}: ${number.format(rows)}${of}`);
  }

  done(rows: number): void {
    if (rows === 0) return;
    const seconds = (performance.now() - this.#startedAt) / 1000;
    this.#reporter.line(`${this.#what}: ${number.format(rows)} rows (${seconds.toFixed(1)} s)`);
  }
}
