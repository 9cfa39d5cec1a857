import assert from 'node:assert/strict';
import { it } from 'node:test';
import { startReceiver } from '../support/connections/receiver.ts';
import { describeOnEachDatabase } from '../support/databases/databases.ts';
import { eventually } from '../support/eventually.ts';
import { spawnServer } from '../support/processes/process.ts';
import { callerOf } from '../support/server.ts';

/** More in `npm run test:soak`. */
const KILLS = Number(process.env['KILLS'] ?? 2);

describeOnEachDatabase('a killed server', (newHome) => {
  it('delivers the events of every acknowledged message after its restart', async (test) => {
    const home = await newHome();
    const receiver = await startReceiver();
    let server = await spawnServer(home);
    test.after(async () => {
      await server.kill();
      await receiver.close();
      await home.remove();
    });
    const { body: login } = await callerOf(server.url, {})('POST', '/auth/register', {
      email: 'killed@example.com',
      password: 'correct horse battery',
    });
    const headers = { authorization: `Bearer ${login.token}` };
    let call = callerOf(server.url, headers);
    const sessionIds: string[] = [];
    for (const phoneNumber of ['491701111111', '491702222222']) {
      const { body } = await call('POST', '/sessions', { phoneNumber });
      await call('POST', `/sessions/${body.sessionId}/connect`);
      sessionIds.push(body.sessionId);
    }
    const events = ['message.sent', 'message.delivered', 'message.incoming'];
    await call('POST', '/webhooks/set', { webhookUrl: receiver.url, events, secret: 'a secret' });

    /** Texts of the messages that were answered with 201. */
    const acknowledged = new Map<string, string>();
    let n = 0;
    for (let round = 0; round < KILLS; round++) {
      const before = acknowledged.size;
      let isUp = true;
      const load = Array.from({ length: 20 }, async () => {
        while (isUp) {
          const message = `message ${n++}`;
          // Half of them to the other session, which receives them, half to an outside number.
          const to = n % 2 === 0 ? '491702222222' : `4917033${String(n % 50).padStart(5, '0')}`;
          try {
            const sent = await call('POST', '/messages/send', { sessionId: sessionIds[0], to, message });
            if (sent.status === 201) acknowledged.set(sent.body.messageId, message);
          } catch {
            return; // the server is gone
          }
        }
      });
      await new Promise((resolve) => setTimeout(resolve, 50 + Math.random() * 400));
      await eventually(
        async () => acknowledged.size - before,
        (count) => count > 2,
      );
      await server.kill();
      isUp = false;
      await Promise.all(load);
      server = await spawnServer(home);
      call = callerOf(server.url, headers);
    }

    const toTheOther = [...acknowledged].filter(([, message]) => Number(message.split(' ')[1]) % 2 === 1);
    const missing = () => {
      const seen = (kind: string, field: string) =>
        new Set(receiver.deliveries.filter(({ event }) => event === kind).map(({ parsed }) => parsed.data[field]));
      const [sent, delivered] = [seen('message.sent', 'messageId'), seen('message.delivered', 'messageId')];
      const incoming = seen('message.incoming', 'message');
      return {
        sent: [...acknowledged.keys()].filter((id) => !sent.has(id)).length,
        delivered: [...acknowledged.keys()].filter((id) => !delivered.has(id)).length,
        incoming: toTheOther.filter(([, message]) => !incoming.has(message)).length,
      };
    };
    const quiet = () => Object.values(missing()).every((count) => count === 0);
    const deadline = performance.now() + 60_000;
    while (!quiet() && performance.now() < deadline) await new Promise((resolve) => setTimeout(resolve, 250));
    assert.deepEqual(missing(), { sent: 0, delivered: 0, incoming: 0 });

    // Duplicates have the same id, so that a receiver can detect them.
    const byEvent = Map.groupBy(receiver.deliveries, ({ event, parsed }) => `${event} ${parsed.data.messageId}`);
    for (const [what, deliveries] of byEvent) {
      assert.equal(new Set(deliveries.map(({ id }) => id)).size, 1, `${what} has one event id`);
    }
    const duplicates = receiver.deliveries.length - byEvent.size;
    test.diagnostic(`${acknowledged.size} acknowledged over ${KILLS} kills, 0 lost, ${duplicates} duplicates`);

    assert.equal(await server.stop(), 0);
  });

  it('exits cleanly on SIGTERM, and its successor delivers the rest', async (test) => {
    const home = await newHome();
    const receiver = await startReceiver();
    let server = await spawnServer(home);
    test.after(async () => {
      await server.kill();
      await receiver.close();
      await home.remove();
    });
    const { body: login } = await callerOf(server.url, {})('POST', '/auth/register', {
      email: 'stopped@example.com',
      password: 'correct horse battery',
    });
    const call = callerOf(server.url, { authorization: `Bearer ${login.token}` });
    const { body: session } = await call('POST', '/sessions', { phoneNumber: '491701111111' });
    await call('POST', `/sessions/${session.sessionId}/connect`);
    receiver.respond(() => {}); // accepts the request and never responds
    await call('POST', '/webhooks/set', { webhookUrl: receiver.url, events: ['message.sent'] });
    const { body: sent } = await call('POST', '/messages/send', { to: '491702222222', message: 'hello' });
    await receiver.waitFor(1);
    assert.equal(await server.stop(), 0);

    receiver.respond(200);
    server = await spawnServer(home);
    await receiver.waitFor(2);
    const [first, second] = receiver.deliveries;
    assert.equal(second?.parsed.data.messageId, sent.messageId);
    assert.equal(second?.id, first?.id);
  });
});
