import assert from 'node:assert/strict';
import { beforeEach, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { describeOnEachDatabase } from './support/databases.ts';
import { eventually } from './support/eventually.ts';
import { createFakeClock } from './support/fakeClock.ts';
import { puppet } from './support/networks/puppet.ts';
import { type Answer, bearer, startServer } from './support/server.ts';

const PUPPET = fileURLToPath(new URL('./support/networks/puppet.ts', import.meta.url));
/** Longer than a stop waits for requests. */
const GRACE_MS = 6000;

describeOnEachDatabase('a session that is being opened', (newHome) => {
  beforeEach(() => {
    Object.assign(puppet, { open: 0, host: undefined, opening: async () => {} });
  });

  for (const [how, outcome] of [
    ['opens after all', (opened: PromiseWithResolvers<void>) => opened.resolve()],
    ['fails', (opened: PromiseWithResolvers<void>) => opened.reject(new Error('The line was cut'))],
  ] as const) {
    it(`when its server stops, and then ${how}, is closed, tells nothing of it, and is connected with the next start`, async (test) => {
      const home = await newHome();
      const clock = createFakeClock();
      const start = () => startServer({ home, clock, env: { CONNECTORS: PUPPET } });
      const first = await start();
      test.after(() => home.remove());
      test.after(() => first.stop());
      const { call, token, accountId } = await first.account();
      const { sessionId } = (await call('POST', '/sessions', { connector: 'puppet' })).body;

      const opened = Promise.withResolvers<void>();
      puppet.opening = () => opened.promise;
      const answer = call('POST', `/sessions/${sessionId}/connect`).catch(() => 'cut off');
      await eventually(
        async () => puppet.host,
        (host) => host !== undefined,
      );
      const stopped = first.stop();
      await clock.advance(GRACE_MS);
      assert.equal(await answer, 'cut off');
      await eventually(
        async () => first.app.services.sessions.isLive({ accountId, sessionId }),
        (isLive) => !isLive,
      );
      outcome(opened);
      await stopped;
      assert.equal(puppet.open, 0);

      puppet.opening = async () => {};
      const next = await start();
      test.after(() => next.stop());
      const again = bearer(next.url, token);
      await eventually(
        () => again('GET', `/sessions/${sessionId}`),
        ({ body }) => body.status === 'connected',
      );
      assert.equal(puppet.open, 1);
      const told = await eventually(
        async () => (await again('GET', '/events')).body.data.map(({ event }: Answer['body']) => event),
        (events) => events.includes('session.connected'),
      );
      assert.deepEqual(told, ['session.connected']);
    });
  }

  it('is not opened once its server stops', async (test) => {
    const home = await newHome();
    const clock = createFakeClock();
    const start = () => startServer({ home, clock, env: { CONNECTORS: PUPPET } });
    const first = await start();
    test.after(() => home.remove());
    test.after(() => first.stop());
    const { call, token } = await first.account();
    const { sessionId } = (await call('POST', '/sessions', { connector: 'puppet' })).body;
    // What is to be stored before it is opened has to wait.
    const held = Promise.withResolvers<void>();
    const writing = first.app.services.database.commit(() => held.promise, sessionId);
    const answer = call('POST', `/sessions/${sessionId}/connect`).catch(() => 'cut off');
    await sleep(100);
    const stopped = first.stop();
    await clock.advance(GRACE_MS);
    assert.equal(await answer, 'cut off');
    await sleep(100);
    held.resolve();
    await writing;
    await stopped;
    assert.equal(puppet.open, 0);

    const next = await start();
    test.after(() => next.stop());
    await eventually(
      () => bearer(next.url, token)('GET', `/sessions/${sessionId}`),
      ({ body }) => body.status === 'connected',
    );
  });

  it('keeps no server from starting, however long its network takes', async (test) => {
    const home = await newHome();
    const start = () => startServer({ home, env: { CONNECTORS: PUPPET } });
    const first = await start();
    test.after(() => home.remove());
    test.after(() => first.stop());
    const { call, token } = await first.account();
    const { sessionId } = (await call('POST', '/sessions', { connector: 'puppet' })).body;
    await call('POST', `/sessions/${sessionId}/connect`);
    await first.stop();

    const opened = Promise.withResolvers<void>();
    puppet.opening = () => opened.promise;
    const next = await start();
    test.after(() => next.stop());
    const session = () => bearer(next.url, token)('GET', `/sessions/${sessionId}`);
    assert.equal((await session()).body.status, 'connecting');
    opened.resolve();
    await eventually(session, ({ body }) => body.status === 'connected');
  });
});
