import type { TestEvent } from 'node:test/reporters';
import { type FileUsage, USAGE } from './usage.ts';

/** Collects what the test files used, for a table at the end of the run. */
export class SlowestFiles {
  readonly #shown: number;
  readonly #usages: FileUsage[] = [];
  #tests = 0;

  /** @param shown number of files in the table */
  constructor(shown: number) {
    this.#shown = shown;
  }

  /** Passes the events of a run on, except the usage of the files. */
  async *collect(events: AsyncIterable<TestEvent>): AsyncGenerator<TestEvent> {
    for await (const event of events) {
      if (event.type === 'test:diagnostic' && event.data.message.startsWith(USAGE)) {
        this.#usages.push(JSON.parse(event.data.message.slice(USAGE.length)));
        continue;
      }
      // Each file is a test around its own ones.
      const isTest = event.type === 'test:pass' || event.type === 'test:fail';
      if (isTest && event.data.nesting > 0 && event.data.details.type !== 'suite') this.#tests++;
      yield event;
    }
  }

  /** @param cpuMs CPU time of the whole run, with PostgreSQL */
  table(cpuMs: number): string {
    const row = (...cells: (string | number)[]) => cells.map((cell) => String(cell).padStart(12)).join('');
    const seconds = (ms: number) => (ms / 1000).toFixed(1);
    const files = this.#usages.toSorted((one, other) => other.cpuMs - one.cpuMs);
    const assertions = files.reduce((sum, file) => sum + file.assertions, 0);
    return [
      row('CPU (s)', 'wall (s)', 'assertions'),
      ...files
        .slice(0, this.#shown)
        .map((file) => `${row(seconds(file.cpuMs), seconds(file.wallMs), file.assertions)}  ${file.file}`),
      `${files.length} files, ${this.#tests} tests, ${assertions} assertions, ${seconds(cpuMs)} s of CPU time`,
      '',
    ].join('\n');
  }
}
