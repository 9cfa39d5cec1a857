import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { it } from 'node:test';
import { loadParts, slowPackages } from '../../../src/slowPackages.ts';

for (const name of Object.keys(slowPackages) as (keyof typeof slowPackages)[])
  it(`the parts of ${name} exist, and other work goes on between them`, async () => {
    const entry = import.meta.resolve(name);
    const missing = slowPackages[name].filter((part) => !existsSync(new URL(part, entry)));
    assert.deepEqual(missing, []);
    // Immediates, because timers miss turns that are short: another test may have loaded the package in this process.
    let turns = 0;
    const count = () => {
      turns++;
      next = setImmediate(count);
    };
    let next = setImmediate(count);
    await loadParts(name);
    clearImmediate(next);
    assert.ok(turns >= 2, `${turns} turns`);
    assert.ok(await import(name));
  });
