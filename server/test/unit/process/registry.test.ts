import assert from 'node:assert/strict';
import { it } from 'node:test';
import { pino } from 'pino';
import { systemClock } from '../../../src/clock.ts';
import { readSettings } from '../../../src/config.ts';
import { loadConnectors } from '../../../src/connectors/registry.ts';
import { createTargetPolicy } from '../../../src/egress/target.ts';

it('a connector gets no secrets of the server', async () => {
  const settings = { ...readSettings({}) };
  for (const secret of ['jwtSecret', 'encryptionKey', 'databaseUrl', 'mediaS3SecretAccessKey'])
    Object.defineProperty(settings, secret, { enumerable: true, get: () => assert.fail(`${secret} is read`) });
  const targets = createTargetPolicy({ host: '127.0.0.1', allowedCidrs: [] });
  const tools = { clock: systemClock, log: pino({ level: 'silent' }), random: Math.random, targets };
  const connectors = await loadConnectors(settings, tools);
  assert.deepEqual(
    connectors.map(({ name }) => name),
    ['whatsapp', 'whatsapp-cloud'],
  );
});
