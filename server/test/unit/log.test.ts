import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { describe, it } from 'node:test';

const log = new URL('../../src/log.ts', import.meta.url).href;

/** Runs code in a process of its own, and returns the messages of its log. */
function logged(code: string): string[] {
  const script = `import { createLog } from '${log}'; const log = createLog('info'); ${code}`;
  const { stdout } = spawnSync(process.execPath, ['--input-type=module', '--eval', script], { encoding: 'utf8' });
  return stdout
    .split('\n')
    .filter((line) => line.startsWith('{'))
    .map((line) => JSON.parse(line).msg);
}

describe('the process log', () => {
  it('has the lines of all turns, in order', () => {
    const code = `log.info('a'); log.info('b'); setTimeout(() => log.info('d'), 5); log.info('c')`;
    assert.deepEqual(logged(code), ['a', 'b', 'c', 'd']);
  });

  it('keeps the last lines of a process that crashes or exits', () => {
    assert.deepEqual(logged(`log.info('first'); log.fatal('last'); throw new Error('a bug')`), ['first', 'last']);
    assert.deepEqual(logged(`log.info('first'); log.info('last'); process.exit(1)`), ['first', 'last']);
  });
});
