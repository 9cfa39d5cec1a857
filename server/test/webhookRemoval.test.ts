import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { startReceiver } from './support/receiver.ts';
import { bearer, connectSession, startServer } from './support/server.ts';

describe('a webhook that is removed', () => {
  for (const database of ['sqlite', 'two nodes'] as const)
    it(`gets no request after the answer, and what is under way is broken off (${database})`, async (test) => {
      const server = await startServer({ database });
      const receiver = await startReceiver();
      test.after(async () => {
        await receiver.close();
        await server.stop();
      });
      const { call, token } = await server.account();
      const removals = [
        () => call('DELETE', '/webhooks'),
        async () => {
          const [{ webhookId }] = (await call('GET', '/webhooks/endpoints')).body.data;
          return call('DELETE', `/webhooks/endpoints/${webhookId}`);
        },
      ];
      await connectSession(bearer(server.url, token));
      for (const remove of removals) {
        const { promise: brokenOff, resolve } = Promise.withResolvers<void>();
        receiver.respond((_, response) => void response.once('close', resolve)); // never answers
        await call('POST', '/webhooks/set', { webhookUrl: receiver.url, events: ['message.sent'] });
        const before = receiver.deliveries.length;
        await call('POST', '/messages/send', { to: '491702222222', message: 'hello' });
        await receiver.waitFor(before + 1);
        assert.equal((await remove()).status, 200);
        await brokenOff;
        const { data } = (await call('GET', '/webhooks/deliveries?limit=1')).body;
        assert.equal(data[0].state, 'cancelled');
      }
    });
});
