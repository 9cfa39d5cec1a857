import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { describe, it } from 'node:test';
import { makeApiKey } from '../../../src/auth/tokens.ts';
import { createLog } from '../../../src/log.ts';

const log = new URL('../../../src/log.ts', import.meta.url).href;

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

  it('masks credentials under any name, and inside any text', () => {
    const lines: string[] = [];
    const log = createLog('info', { write: (line) => void lines.push(line) });
    const { key } = makeApiKey('key_01JZ0000000000000000000000');
    const jwt = 'eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJhY2NfMSJ9.c2lnbmF0dXJl';
    log.info({ apiKey: key, nested: { list: [`Bearer ${key}`] }, url: `/x?k=${key}`, jwt }, `refused ${key}`);
    log.error({ err: new Error(`401 for ${key}`), text: `whsec_${'a'.repeat(32)}` }, 'failed');
    const text = lines.join('');
    const secret = key.slice(-38);
    for (const hidden of [secret, jwt, 'a'.repeat(32)]) assert.ok(!text.includes(hidden), hidden);
    assert.match(text, /sb_01JZ0000000000000000000000_\[redacted\]/);
    for (const line of lines) JSON.parse(line);
  });

  it('keeps the last lines of a process that crashes or exits', () => {
    assert.deepEqual(logged(`log.info('first'); log.fatal('last'); throw new Error('a bug')`), ['first', 'last']);
    assert.deepEqual(logged(`log.info('first'); log.info('last'); process.exit(1)`), ['first', 'last']);
  });
});
