import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { it } from 'node:test';
import { fileURLToPath } from 'node:url';
import {
  filteredLists,
  measuredJobs,
  measuredOperations,
  smallJobs,
  smallOperations,
} from '../../../bench/src/manyRows.ts';
import { operations } from '../../src/operations/index.ts';

const source = fileURLToPath(new URL('../../src/', import.meta.url));
/** Connectors and the sandbox have no database of their own, and commands run in other processes. */
const WITHOUT_ROWS = /^(connectors|sandbox|cli)\//;

it('assigns each operation to a measurement or a bound on its rows', () => {
  const entries = [...Object.keys(measuredOperations), ...filteredLists, ...smallOperations];
  assert.deepEqual(entries.toSorted(), operations.map(({ id }) => id).toSorted());
});

it('assigns each file with a timer to a measurement or a bound on its rows', () => {
  const timed = globSync('**/*.ts', { cwd: source }).filter(
    (file) =>
      !WITHOUT_ROWS.test(file) && /[cC]lock\.after\(|setInterval\(/.test(readFileSync(`${source}${file}`, 'utf8')),
  );
  const entries = [...Object.keys(measuredJobs), ...smallJobs];
  assert.deepEqual(entries.toSorted(), timed.toSorted());
});
