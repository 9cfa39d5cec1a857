import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { cpuMs, type FileUsage, USAGE } from './usage.ts';

let assertions = 0;
let isComplete = false;
after(() => {
  isComplete = true;
});
// Fails a process that exits before all of its tests have run, whatever its exit code.
process.on('exit', () => {
  if (!isComplete) process.exitCode = 1;
});
countAssertions();

/** Runs the tests of a file as subtests, and what they left to `after` at their end. The next file waits for it. */
export function runFile(file: string, path: string): void {
  test(file, async (t) => {
    const startedAt = performance.now();
    const cpuAtStart = cpuMs();
    const assertionsAtStart = assertions;
    await import(pathToFileURL(path).href);
    t.after(() => {
      const usage: FileUsage = {
        file,
        wallMs: Math.round(performance.now() - startedAt),
        cpuMs: Math.round(cpuMs() - cpuAtStart),
        assertions: assertions - assertionsAtStart,
      };
      t.diagnostic(USAGE + JSON.stringify(usage));
    });
  });
}

/** Counts reads of `assert.equal` and so on. A wrapper would hide the source line that `assert.ok` quotes. */
function countAssertions(): void {
  for (const [name, assertion] of Object.entries(assert)) {
    if (typeof assertion !== 'function' || /^[A-Z]|^strict$/.test(name)) continue;
    Object.defineProperty(assert, name, {
      get() {
        assertions++;
        return assertion;
      },
    });
  }
}
