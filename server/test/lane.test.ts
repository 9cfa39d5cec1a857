import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { Lane } from '../src/webhooks/lane.ts';
import { startServer } from './support/server.ts';

describe('a lane', () => {
  it('does not tell the engine that it is idle once it was stopped, because a newer one may have its place', async (test) => {
    const server = await startServer({});
    test.after(() => server.stop());
    const { services } = server.app;
    const { call } = await server.account();
    const { status } = await call('POST', '/webhooks/set', { webhookUrl: server.url, events: ['message.sent'] });
    assert.equal(status, 200);
    const { rows } = await services.database.reader.connection.query<{ webhook_id: string }>(
      'select webhook_id from webhooks',
      [],
    );
    let idle = 0;
    const newLane = () =>
      new Lane(rows[0]?.webhook_id ?? '', {
        ...services,
        deliver: services.webhooks.deliver,
        retry: { stepsMs: [], random: Math.random },
        breaker: { openMs: 1000, random: Math.random },
        offer: () => {},
        release: () => {},
        idle: () => idle++,
      });
    newLane().wake();
    let ticksUntilIdle = 0;
    for (; idle === 0; ticksUntilIdle++) await Promise.resolve();
    // Stops one at every step of its reads.
    for (let ticks = 0; ticks < ticksUntilIdle; ticks++) {
      idle = 0;
      const lane = newLane();
      lane.wake();
      for (let tick = 0; tick < ticks; tick++) await Promise.resolve();
      if (idle > 0) break;
      lane.abandon();
      await lane.stop();
      await setImmediate();
      assert.equal(idle, 0, `stopped after ${ticks} of ${ticksUntilIdle} ticks`);
    }
  });
});
