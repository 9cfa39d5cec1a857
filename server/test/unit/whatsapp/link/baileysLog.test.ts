import assert from 'node:assert/strict';
import { it } from 'node:test';
import { pino } from 'pino';
import { createBaileysLog } from '../../../../src/connectors/whatsapp/link/baileysLog.ts';
import { createFakeClock } from '../../../support/fakeClock.ts';

function start(level = 'info') {
  const clock = createFakeClock();
  const lines: string[] = [];
  const log = createBaileysLog({ log: pino({ level }, { write: (line) => void lines.push(line) }), clock });
  return { clock, lines, log };
}

it('leaves out similar lines beyond the first ones of a minute', async () => {
  const { clock, lines, log } = start();
  for (let n = 0; n < 1024; n++) log.child({ part: 'x' }).warn(`Invalid LID-PN mapping: ${n}@lid, ${n}@lid`);
  assert.equal(lines.length, 21);
  assert.match(lines.at(-1) ?? '', /leaving out/);
  log.error({ err: new Error('another') }, 'failed to decrypt');
  assert.match(lines.at(-1) ?? '', /failed to decrypt/);
  await clock.advance(60_000);
  log.warn('Invalid LID-PN mapping: 1@lid, 1@lid');
  assert.equal(lines.length, 23);
});

it('logs no content of messages, and nothing below the level of the server', () => {
  const { lines, log } = start('trace');
  log.info({ message: 'text' }, 'received');
  log.debug('text');
  log.trace('text');
  assert.deepEqual(lines, []);
  const quiet = start('error');
  quiet.log.warn('a warning');
  quiet.log.error('an error');
  assert.equal(quiet.lines.length, 1);
});
