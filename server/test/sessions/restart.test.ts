import assert from 'node:assert/strict';
import { beforeEach, it, type TestContext } from 'node:test';
import { fileURLToPath } from 'node:url';
import { describeOnEachDatabase, type Home } from '../support/databases/databases.ts';
import { eventually } from '../support/eventually.ts';
import { puppet } from '../support/networks/puppet.ts';
import { type Answer, type Call, newNumber, startServer } from '../support/server.ts';

const PUPPET = fileURLToPath(new URL('../support/networks/puppet.ts', import.meta.url));

beforeEach(() => {
  Object.assign(puppet, { open: 0, host: undefined, opening: async () => {}, closing: async () => {} });
});

async function puppetSession(test: TestContext, home: Home) {
  test.after(() => home.remove());
  const server = await startServer({ home, env: { CONNECTORS: PUPPET } });
  test.after(() => server.stop());
  const { call } = await server.account();
  const { sessionId } = (await call('POST', '/sessions', { connector: 'puppet' })).body;
  await call('POST', `/sessions/${sessionId}/connect`);
  return { call, path: `/sessions/${sessionId}`, sessionId };
}

/** Counts the connections that are opened from now on. */
function countOpened(): { count: number } {
  const opened = { count: 0 };
  puppet.opening = async () => void opened.count++;
  return opened;
}

const steps = async (call: Call, path: string) =>
  (await call('GET', `${path}/history`)).body.data.map(({ status, reason }: Answer['body']) => [status, reason]);

describeOnEachDatabase('a session restart', (newHome) => {
  it('opens the connection of a connected session again', async (test) => {
    const { call, path } = await puppetSession(test, await newHome());
    const opened = countOpened();
    const { status, body } = await call('POST', `${path}/restart`);
    assert.deepEqual([status, body.status, opened.count, puppet.open], [200, 'connected', 1, 1]);
    assert.deepEqual((await steps(call, path)).slice(0, 2), [
      ['connected', null],
      ['connecting', 'The account restarted the session'],
    ]);
    const { body: events } = await call('GET', '/events?events=session.disconnected');
    assert.deepEqual(events.data, []);
  });

  it('restarts once for concurrent calls', async (test) => {
    const { call, path } = await puppetSession(test, await newHome());
    const opened = countOpened();
    const closing = Promise.withResolvers<void>();
    test.after(() => closing.resolve());
    puppet.closing = () => closing.promise;
    const calls = [call('POST', `${path}/restart`), call('POST', `${path}/restart`)];
    await eventually(
      async () => puppet.open,
      (open) => open === 0,
    );
    calls.push(call('POST', `${path}/restart`));
    closing.resolve();
    for (const { status, body } of await Promise.all(calls))
      assert.deepEqual([status, body.status], [200, 'connected'], JSON.stringify(body));
    assert.ok(opened.count <= 2, `${opened.count} connections`);
    assert.equal(puppet.open, 1);
  });

  it('replaces a connection that is still connecting', async (test) => {
    const { call, path } = await puppetSession(test, await newHome());
    await puppet.host?.onEvent({ type: 'disconnected', reason: 'The line was cut', willReconnect: true });
    assert.equal((await call('GET', path)).body.status, 'connecting');
    assert.equal((await call('POST', `${path}/restart`)).body.status, 'connected');
    assert.equal(puppet.open, 1);
  });

  it('keeps messages that were sent during the restart', async (test) => {
    const { call, path, sessionId } = await puppetSession(test, await newHome());
    const closing = Promise.withResolvers<void>();
    test.after(() => closing.resolve());
    puppet.closing = () => closing.promise;
    const restarting = call('POST', `${path}/restart`);
    await eventually(
      async () => puppet.open,
      (open) => open === 0,
    );
    const sent: unknown[] = [];
    puppet.send = async (message) => {
      sent.push(message);
      return { timestamp: Date.now() };
    };
    const { status, body: now } = await call('POST', '/messages/send', { sessionId, to: newNumber(), message: 'now' });
    assert.deepEqual([status, now.code], [409, 'session_not_connected']);
    assert.match(now.detail, /closing or connecting; try again/);
    const { body: bulk } = await call('POST', '/messages/send-bulk', {
      sessionId,
      to: [newNumber()],
      message: 'waits',
    });
    assert.equal(bulk.accepted, 1);
    closing.resolve();
    assert.equal((await restarting).body.status, 'connected');
    await eventually(
      async () => sent.length,
      (count) => count === 1,
    );
  });

  it('connects a disconnected session, and becomes disconnected if the connection fails', async (test) => {
    const { call, path } = await puppetSession(test, await newHome());
    await call('POST', `${path}/disconnect`);
    assert.equal((await call('POST', `${path}/restart`)).body.status, 'connected');
    puppet.opening = async () => {
      throw new Error('The line was cut');
    };
    assert.equal((await call('POST', `${path}/restart`)).status, 500);
    assert.equal((await call('GET', path)).body.status, 'disconnected');
    assert.equal(puppet.open, 0);
  });

  it('is rejected for sessions that are not linked or do not exist', async (test) => {
    const { call, path } = await puppetSession(test, await newHome());
    const { body: unused } = await call('POST', '/sessions', { connector: 'puppet' });
    const created = await call('POST', `/sessions/${unused.sessionId}/restart`);
    assert.deepEqual([created.status, created.body.code], [409, 'session_state']);
    assert.match(created.body.detail, /not linked \(created\); connect it/);
    await call('POST', `${path}/logout`);
    assert.equal((await call('POST', `${path}/restart`)).body.code, 'session_state');
    await call('DELETE', path);
    assert.equal((await call('POST', `${path}/restart`)).status, 404);
  });
});
