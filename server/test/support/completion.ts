import { after } from 'node:test';

/* Fails a test process that exits before all of its tests have run, whatever its exit code. */
let isComplete = false;
after(() => {
  isComplete = true;
});
process.on('exit', () => {
  if (!isComplete) process.exitCode = 1;
});
