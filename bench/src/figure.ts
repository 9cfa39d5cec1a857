import type { Tree } from './harness/tree.ts';

/** A value that a figure measures. */
export interface Reading {
  readonly what: string;
  readonly unit: string;
  /** Decimal places. */
  readonly digits?: number;
  readonly goal?: { readonly atLeast: number } | { readonly atMost: number };
  /** Further values of the last round, shown behind the value. */
  readonly note?: (sample: Sample) => string;
}

/** The values of one round, by the keys of the readings, and values that only notes show. */
export type Sample<K extends string = string> = Readonly<Record<K, number>>;

export interface Figure<K extends string = string> {
  /** One line for `list`. */
  readonly about: string;
  readonly rounds: number;
  readonly readings: Readonly<Record<K, Reading>>;
  /**
   * Prepares the measurement of a tree and returns a function that measures one round. Processes that it starts end
   * with `scope`.
   * @throws {UnavailableError}
   */
  prepare(tree: Tree, scope: AsyncDisposableStack): Promise<() => Promise<Sample<K>>>;
}

/** Lets the compiler derive the keys of the readings. */
export const defineFigure = <K extends string>(figure: Figure<K>): Figure<K> => figure;

/** The machine lacks something that a figure needs. */
export class UnavailableError extends Error {}

/** `BENCH_QUICK=1` runs every figure with small counts, to see that it works. The values mean nothing. */
export const isQuick = process.env['BENCH_QUICK'] === '1';

/** Chooses a count for a full or a quick run. */
export const count = (full: number, quick: number): number => (isQuick ? quick : full);

export const ROUNDS = count(5, 1);

/** The value below which a share of the values lies. */
export function percentile(values: readonly number[], share: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;
}

export const median = (values: readonly number[]): number => percentile(values, 0.5);
