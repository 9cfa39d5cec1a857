import assert from 'node:assert/strict';
import { it } from 'node:test';
import type { NetworkEvent } from '../../../src/connectors/contract/events.ts';
import type { SessionHost } from '../../../src/connectors/contract/host.ts';
import type { Graph } from '../../../src/connectors/whatsapp-cloud/graph.ts';
import { NumberMonitor } from '../../../src/connectors/whatsapp-cloud/number/numberMonitor.ts';
import { AppError } from '../../../src/errors.ts';
import { createFakeClock } from '../../support/fakeClock.ts';

it('an answer of a Cloud API number that cannot be stored is not an outage', async () => {
  const clock = createFakeClock();
  const reported: NetworkEvent['type'][] = [];
  let isAvailable = false;
  const host: Pick<SessionHost, 'clock' | 'log' | 'store' | 'onEvent'> = {
    clock,
    log: { error() {}, warn() {} } as unknown as SessionHost['log'],
    store: { set: async () => {} } as unknown as SessionHost['store'],
    async onEvent({ type }) {
      if (isAvailable) reported.push(type);
      else {
        isAvailable = true;
        throw new AppError('storage_unavailable');
      }
    },
  };
  const graph: Pick<Graph, 'call'> = { call: async () => ({ display_phone_number: '+49 170 1111111' }) };
  const monitor = new NumberMonitor(host as SessionHost, graph as Graph, '1');
  await monitor.start();
  assert.deepEqual([reported, monitor.isOnline], [[], false]);
  await clock.advance(10_000);
  assert.deepEqual([reported, monitor.isOnline], [['connected'], true]);
  monitor.stop();
});
