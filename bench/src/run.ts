import { type Figure, isQuick, median, type Reading, type Sample, UnavailableError } from './figure.ts';
import type { Tree } from './harness/tree.ts';

/**
 * Measures a figure on each tree, in turns, and prints the medians as a table.
 * @param trees the last one is the present tree; one before it is compared with it
 */
export async function run(name: string, figure: Figure, trees: readonly Tree[], scope: AsyncDisposableStack) {
  const samples = new Map<Tree, Sample[]>(trees.map((tree) => [tree, []]));
  try {
    const measures = new Map<Tree, () => Promise<Sample>>();
    for (const tree of trees) measures.set(tree, await figure.prepare(tree, scope));
    for (let round = 0; round < figure.rounds; round++) {
      // The second tree of a round may find a warmer or a busier machine.
      const turns = round % 2 === 0 ? [...measures] : [...measures].reverse();
      for (const [tree, measure] of turns) samples.get(tree)?.push(await measure());
    }
  } catch (error) {
    if (!(error instanceof UnavailableError)) throw error;
    print(`${name}: not measured: ${error.message}\n\n`);
    return;
  }
  const rounds = figure.rounds === 1 ? '1 round' : `median of ${figure.rounds} rounds`;
  print(`${name}: ${figure.about} (${rounds}${isQuick ? ', quick: the values mean nothing' : ''})\n`);
  const rows = Object.entries(figure.readings).map(([key, reading]) => {
    const medians = trees.map((tree) => median((samples.get(tree) ?? []).map((sample) => sample[key] ?? Number.NaN)));
    return rowOf(reading, medians, [...samples.values()].at(-1)?.at(-1));
  });
  print(`${table([headerOf(trees), ...rows])}\n`);
}

function headerOf(trees: readonly Tree[]): string[] {
  return ['', ...trees.map(({ name }) => name), ...(trees.length > 1 ? ['ratio'] : []), 'goal'];
}

function rowOf(reading: Reading, medians: readonly number[], last: Sample | undefined): string[] {
  const { what, unit, digits = 1, goal, note } = reading;
  const format = new Intl.NumberFormat('en', { minimumFractionDigits: digits, maximumFractionDigits: digits });
  const present = medians.at(-1) ?? Number.NaN;
  const details = note === undefined || last === undefined ? '' : ` (${note(last)})`;
  const values = medians.map((value, at) =>
    `${format.format(value)} ${unit}${at === medians.length - 1 ? details : ''}`.trim(),
  );
  const ratio = medians.length > 1 ? [(present / (medians[0] ?? Number.NaN)).toFixed(2)] : [];
  return [what, ...values, ...ratio, goal === undefined || isQuick ? '' : verdict(goal, present, format)];
}

function verdict(goal: NonNullable<Reading['goal']>, value: number, format: Intl.NumberFormat): string {
  const isMet = 'atLeast' in goal ? value >= goal.atLeast : value <= goal.atMost;
  const wanted = 'atLeast' in goal ? `≥ ${format.format(goal.atLeast)}` : `≤ ${format.format(goal.atMost)}`;
  return `${wanted} ${isMet ? 'met' : 'missed'}`;
}

/** Aligns the columns: the first one to the left, the others to the right. */
function table(rows: readonly (readonly string[])[]): string {
  const widths = rows[0]?.map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0))) ?? [];
  return rows
    .map((row) => {
      const cells = row.map((cell, n) => (n === 0 ? cell.padEnd(widths[n] ?? 0) : cell.padStart(widths[n] ?? 0)));
      return `  ${cells.join('  ').trimEnd()}\n`;
    })
    .join('');
}

export function print(text: string): void {
  process.stdout.write(text);
}
