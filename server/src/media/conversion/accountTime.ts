const WINDOW_MS = 10 * 60_000;
/** Accounts that are remembered before those without used time are forgotten. */
const MAX_ACCOUNTS = 1000;

/**
 * Processing time that each account has used, as a bucket that drains steadily: a full one is empty after ten minutes.
 * Decides who comes next, and refuses accounts that have used up their budget.
 */
export class AccountTime {
  readonly #budgetMs: number;
  readonly #elapsed: () => number;
  readonly #used = new Map<string, { readonly ms: number; readonly at: number }>();

  /** @param budgetMs for ten minutes; infinite for no limit */
  constructor(budgetMs: number, elapsed = () => performance.now()) {
    this.#budgetMs = budgetMs;
    this.#elapsed = elapsed;
  }

  usedBy(accountId: string): number {
    const { ms = 0, at = 0 } = this.#used.get(accountId) ?? {};
    return Math.max(0, ms - (this.#elapsed() - at) * this.#drainRate());
  }

  add(accountId: string, ms: number): void {
    const used = this.usedBy(accountId) + ms;
    this.#used.delete(accountId);
    this.#used.set(accountId, { ms: used, at: this.#elapsed() });
    if (this.#used.size <= MAX_ACCOUNTS) return;
    for (const known of this.#used.keys()) if (this.usedBy(known) === 0) this.#used.delete(known);
  }

  /** Returns the milliseconds until the account has time again; 0 if it has some now. */
  waitMs(accountId: string): number {
    const over = this.usedBy(accountId) - this.#budgetMs;
    return over < 0 ? 0 : over / this.#drainRate() + 1000;
  }

  /** Without a limit, used time still decides who comes next, so it drains too. */
  #drainRate(): number {
    return (Number.isFinite(this.#budgetMs) ? this.#budgetMs : WINDOW_MS / 2) / WINDOW_MS;
  }
}
