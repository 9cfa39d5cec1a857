import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { newHome } from './support/databases.ts';
import { eventually } from './support/eventually.ts';
import { queryOf } from './support/nodes.ts';
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

  it('stays when the node that has it does not answer, and the error speaks of webhooks', async (test) => {
    const home = await newHome('postgres');
    const server = await startServer({ home, env: { NODE_ROLE: 'api' } });
    test.after(async () => {
      await server.stop();
      await home.remove();
    });
    const { call } = await server.account();
    await call('POST', '/webhooks/set', { webhookUrl: 'http://127.0.0.1:9/', events: ['message.sent'] });
    await queryOf(home)(`
      insert into nodes (node_id, epoch, instance, url, version, carries, jwt_fingerprint, joined_at, expires_at)
        select 'nod_other', 1, 'other', 'http://127.0.0.1:9/', version, 1, jwt_fingerprint, joined_at,
          expires_at + 600000 from nodes;
      create function keep() returns trigger as $$ begin return null; end $$ language plpgsql;
      create trigger keep before update or delete on nodes for each row when (old.node_id = 'nod_other')
        execute function keep();
      update webhooks set lease_owner = 'nod_other';`);
    const { cluster } = server.app.services;
    await eventually(
      async () => cluster.hasOthers(),
      (hasOthers) => hasOthers,
    );
    const { status, body } = await call('DELETE', '/webhooks');
    assert.deepEqual([status, body.code], [503, 'session_unavailable']);
    assert.match(body.detail, /webhook/);
  });
});
