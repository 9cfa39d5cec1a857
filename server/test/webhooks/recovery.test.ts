import assert from 'node:assert/strict';
import { it } from 'node:test';
import { startReceiver } from '../support/connections/receiver.ts';
import { describeOnEachDatabase } from '../support/databases/databases.ts';
import { eventually } from '../support/eventually.ts';
import { createFakeClock } from '../support/fakeClock.ts';
import { bearer, type Call, connectSession, startServer } from '../support/server.ts';

describeOnEachDatabase('a receiver that was down', (newHome) => {
  for (const downSeconds of [31, 45, 60])
    it(`for ${downSeconds} s gets its first delivery within 10 s, and probes at least 5 s apart until then`, async (test) => {
      const home = await newHome();
      const clock = createFakeClock();
      const receiver = await startReceiver();
      let server = await startServer({ home, clock });
      test.after(async () => {
        await server.stop();
        await receiver.close();
        await home.remove();
      });
      const { call, token } = await server.account();
      await connectSession(call);
      await call('POST', '/webhooks/set', { webhookUrl: receiver.url, events: ['message.sent'] });
      const attempts: { at: number; isUp: boolean }[] = [];
      const downSince = clock.now();
      receiver.respond((_, response) => {
        const isUp = clock.now() >= downSince + downSeconds * 1000;
        attempts.push({ at: clock.now(), isUp });
        response.writeHead(isUp ? 200 : 503).end();
      });
      const send = (n: number) => call('POST', '/messages/send', { to: `49170555000${n}`, message: `${n}` });
      for (let n = 0; n < 5; n++) await send(n);
      // Five failures open the breaker, and what follows is held.
      await breakerIs(call, 'open');
      const outage = attempts.length;
      for (let n = 5; n < 8; n++) await send(n);

      for (let probes = 0; attempts.at(-1)?.isUp === false; probes++) {
        const { nextProbeAt } = (await breakerIs(bearer(server.url, token), 'open')).body;
        // The state of the breaker outlives a restart.
        if (probes === 2) {
          await server.stop();
          server = await startServer({ home, clock });
        }
        await clock.advance(Date.parse(nextProbeAt) - clock.now());
        await receiver.waitFor(outage + probes + 1);
        if (attempts.at(-1)?.isUp === false) await breakerIs(bearer(server.url, token), 'open');
      }

      const probes = attempts.slice(outage);
      const apart = probes.slice(1).map(({ at }, n) => at - (probes[n]?.at ?? 0));
      assert.ok(Math.min(...apart) >= 5000, `${apart}`);
      const backAt = downSince + downSeconds * 1000;
      const first = probes.find(({ isUp }) => isUp)?.at ?? Number.POSITIVE_INFINITY;
      assert.ok(first - backAt < 10_000, `delivered after ${first - backAt} ms`);
      await breakerIs(bearer(server.url, token), 'closed');
    });
});

const breakerIs = (call: Call, state: string) =>
  eventually(
    () => call('GET', '/webhooks/circuit-breaker'),
    ({ body }) => body.state === state && (state !== 'open' || body.nextProbeAt !== null),
  );
