import assert from 'node:assert/strict';
import { beforeEach, describe, it, type TestContext } from 'node:test';
import { fileURLToPath } from 'node:url';
import { AppError } from '../../src/errors.ts';
import { describeOnEachDatabase, type Home, newHome } from '../support/databases/databases.ts';
import { eventually } from '../support/eventually.ts';
import { puppet } from '../support/networks/puppet.ts';
import { queryOf } from '../support/processes/nodes.ts';
import {
  type Answer,
  bearer,
  type Call,
  connectSession,
  newNumber,
  startServer,
  type TestServer,
} from '../support/server.ts';

const neverAborted = new AbortController().signal;
const PUPPET = fileURLToPath(new URL('../support/networks/puppet.ts', import.meta.url));

beforeEach(() => {
  Object.assign(puppet, { open: 0, host: undefined, opening: async () => {}, closing: async () => {} });
});

/** A server with the puppet network on a home that outlives it. */
function startPuppet(test: TestContext, home: Home): Promise<TestServer> {
  const starting = startServer({ home, env: { CONNECTORS: PUPPET } });
  test.after(async () => (await starting).stop());
  return starting;
}

/** Delays the next connections until the test releases them. */
function holdOpening(test: TestContext): PromiseWithResolvers<void> {
  const opened = Promise.withResolvers<void>();
  puppet.opening = () => opened.promise;
  // A failed test must not prevent its server from stopping.
  test.after(() => opened.resolve());
  return opened;
}

/** The results of a delayed connect. */
const outcomes = [
  ['succeeds', (opened: PromiseWithResolvers<void>) => opened.resolve()],
  ['fails', (opened: PromiseWithResolvers<void>) => opened.reject(new Error('The line was cut'))],
] as const;

/** Disconnects a session whose connection closes on command. */
async function disconnectSlowly(test: TestContext, call: Call, sessionId: string) {
  const closed = Promise.withResolvers<void>();
  test.after(() => closed.resolve());
  puppet.closing = () => closed.promise;
  const answer = call('POST', `/sessions/${sessionId}/disconnect`);
  await eventually(
    async () => puppet.open,
    (open) => open === 0,
  );
  return { closed, answer };
}

const newSession = async (call: Call): Promise<string> =>
  (await call('POST', '/sessions', { connector: 'puppet' })).body.sessionId;

const isOpened = () =>
  eventually(
    async () => puppet.host,
    (host) => host !== undefined,
  );

const isConnected = (call: Call, sessionId: string) =>
  eventually(
    () => call('GET', `/sessions/${sessionId}`),
    ({ body }) => body.status === 'connected',
  );

/** The types of all events of the account, once this one is among them. */
const eventsWith = (call: Call, kind: string): Promise<string[]> =>
  eventually(
    async () => (await call('GET', '/events')).body.data.map(({ event }: Answer['body']) => event),
    (kinds) => kinds.includes(kind),
  );

/** Resolves once the server is stopping its sessions. */
const isStopping = ({ app: { services } }: TestServer) =>
  eventually(
    () => services.sessions.connect({ accountId: '', sessionId: '' }, neverAborted).catch((error) => error),
    (error) => error instanceof AppError && error.code === 'shutting_down',
  );

describeOnEachDatabase('a session that is connecting', (newHome) => {
  for (const [how, outcome] of outcomes) {
    it(`is closed if its server stops before its first connect ${how}, and reconnects at the next start`, async (test) => {
      const home = await newHome();
      test.after(() => home.remove());
      const first = await startPuppet(test, home);
      const { call, token, accountId } = await first.account();
      const sessionId = await newSession(call);
      const opened = holdOpening(test);
      const connecting = first.app.services.sessions.connect({ accountId, sessionId }, neverAborted);
      await isOpened();
      const stopped = first.stop();
      await isStopping(first);
      outcome(opened);
      await connecting;
      await stopped;
      assert.equal(puppet.open, 0);

      puppet.opening = async () => {};
      const next = await startPuppet(test, home);
      await isConnected(bearer(next.url, token), sessionId);
      assert.equal(puppet.open, 1);
    });

    it(`is closed without an event if its server stops before a reconnect ${how}, and reconnects at the next start`, async (test) => {
      const home = await newHome();
      test.after(() => home.remove());
      const first = await startPuppet(test, home);
      const { call, token } = await first.account();
      const sessionId = await newSession(call);
      await call('POST', `/sessions/${sessionId}/connect`);
      await first.stop();

      const opened = holdOpening(test);
      const second = await startPuppet(test, home); // however long its network takes
      const stopped = second.stop();
      await isStopping(second);
      outcome(opened);
      await stopped;
      assert.equal(puppet.open, 0);

      puppet.opening = async () => {};
      const third = await startPuppet(test, home);
      const again = bearer(third.url, token);
      await isConnected(again, sessionId);
      assert.equal(puppet.open, 1);
      assert.deepEqual(await eventsWith(again, 'session.connected'), ['session.connected']);
    });
  }

  it('does not start connecting once its server is stopping', async (test) => {
    const home = await newHome();
    test.after(() => home.remove());
    const first = await startPuppet(test, home);
    const { call, token, accountId } = await first.account();
    const sessionId = await newSession(call);
    const { sessions, database } = first.app.services;
    // The write that precedes opening must wait.
    const held = Promise.withResolvers<void>();
    const writing = database.commit(() => held.promise, sessionId);
    const connecting = sessions.connect({ accountId, sessionId }, neverAborted);
    const stopped = first.stop();
    await isStopping(first);
    held.resolve();
    await writing;
    await connecting;
    await stopped;
    assert.equal(puppet.host, undefined);

    const next = await startPuppet(test, home);
    await isConnected(bearer(next.url, token), sessionId);
  });
});

describe('a session whose node loses its lease while connecting', () => {
  for (const [how, outcome] of outcomes) {
    it(`has one connection on its new owner and one event, even if the connect on the old owner ${how}`, async (test) => {
      const home = await newHome('postgres');
      test.after(() => home.remove());
      const server = await startPuppet(test, home);
      const { call, accountId } = await server.account();
      const sessionId = await newSession(call);
      const opened = holdOpening(test);
      const answer = call('POST', `/sessions/${sessionId}/connect`);
      await isOpened();
      const { liveSessions, cluster } = server.app.services;
      await queryOf(home)('delete from nodes');
      await eventually(
        async () => liveSessions.stateOf({ accountId, sessionId }),
        (state) => state === undefined,
      );
      await eventually(
        async () => cluster.sessions.owns(sessionId),
        (holds) => holds,
      );
      puppet.opening = async () => {};
      outcome(opened);
      await answer;
      await isConnected(call, sessionId);
      assert.equal(puppet.open, 1);
      assert.deepEqual(await eventsWith(call, 'session.connected'), ['session.connected']);
    });
  }
});

describeOnEachDatabase('a session that is disconnected', (newHome) => {
  it('is reconnected after a crash before the disconnect was stored, and leaves nothing half done', async (test) => {
    const home = await newHome();
    test.after(() => home.remove());
    const server = await startPuppet(test, home);
    const { call } = await server.account();
    const sessionId = await newSession(call);
    await call('POST', `/sessions/${sessionId}/connect`);
    const stored = async () => {
      const { kysely } = server.app.services.database.reader;
      const { status, wanted } = await kysely
        .selectFrom('sessions')
        .select(['status', 'wanted'])
        .executeTakeFirstOrThrow();
      return { status, wanted };
    };
    const { closed, answer } = await disconnectSlowly(test, call, sessionId);
    assert.deepEqual(await stored(), { status: 'connected', wanted: 1 });
    closed.resolve();
    assert.equal((await answer).body.status, 'disconnected');
    assert.deepEqual(await stored(), { status: 'disconnected', wanted: 0 });
    // A second disconnect does not change the time.
    assert.equal((await call('POST', `/sessions/${sessionId}/disconnect`)).status, 200);
    const { data } = (await call('GET', `/sessions/${sessionId}/history`)).body;
    assert.equal(data.filter(({ status }: Answer['body']) => status === 'disconnected').length, 1);
  });

  it('becomes disconnected even if closing its connection fails', async (test) => {
    const home = await newHome();
    test.after(() => home.remove());
    const server = await startPuppet(test, home);
    const { call } = await server.account();
    const sessionId = await newSession(call);
    await call('POST', `/sessions/${sessionId}/connect`);
    puppet.closing = async () => {
      throw new Error('The line was cut');
    };
    const { status, body } = await call('POST', `/sessions/${sessionId}/disconnect`);
    assert.deepEqual([status, body.status], [200, 'disconnected']);
    await eventsWith(call, 'session.disconnected');
  });
});

describe('a session that moves to another node during a disconnect', () => {
  it("keeps the new owner's state, and the caller gets an error", async (test) => {
    const home = await newHome('postgres');
    test.after(() => home.remove());
    const server = await startPuppet(test, home);
    const { call } = await server.account();
    const sessionId = await newSession(call);
    await call('POST', `/sessions/${sessionId}/connect`);
    const { closed, answer } = await disconnectSlowly(test, call, sessionId);
    const { cluster } = server.app.services;
    const ask = queryOf(home);
    await ask(`update sessions set lease_owner = 'nod_other'`);
    await ask('delete from nodes');
    await ask(`insert into nodes (node_id, epoch, instance, version, carries, joined_at, expires_at)
      values ('nod_other', 1, 'another machine', '0.1.0', 1, 1, ${Date.now() + 600_000})`);
    await eventually(
      async () => cluster.isMember() && !cluster.sessions.owns(sessionId),
      (isWithOther) => isWithOther,
    );
    closed.resolve();
    const { status, body } = await answer;
    assert.deepEqual([status, body.code], [503, 'session_unavailable']);
    assert.deepEqual(await ask('select status, wanted from sessions'), [{ status: 'connected', wanted: 1 }]);
  });
});

describe('a sandbox session that failed to connect', () => {
  it('does not delay callers that use its number, and can connect again', async (test) => {
    const home = await newHome('postgres');
    test.after(() => home.remove());
    const server = await startServer({ home });
    test.after(() => server.stop());
    const { call } = await server.account();
    const founder = await connectSession(call, newNumber());
    const number = newNumber();
    const { sessionId } = (await call('POST', '/sessions', { phoneNumber: number })).body;
    const ask = queryOf(home);
    await ask(
      `alter table sessions add constraint not_it check (phone_number <> '${number}' or status <> 'connected')`,
    );
    assert.equal((await call('POST', `/sessions/${sessionId}/connect`)).status, 500);
    await ask('alter table sessions drop constraint not_it');
    assert.equal(
      (await call('POST', '/groups', { sessionId: founder, subject: 'all', phoneNumbers: [number] })).status,
      201,
    );
    assert.equal((await call('POST', `/sessions/${sessionId}/connect`)).body.status, 'connected');
  });
});
