import assert from 'node:assert/strict';
import { it, type TestContext } from 'node:test';
import type { Connection } from '../../src/connectors/contract/connection.ts';
import type { Connector } from '../../src/connectors/contract/connector.ts';
import type { SessionHost } from '../../src/connectors/contract/host.ts';
import { describeOnEachDeployment } from '../support/databases/databases.ts';
import { eventually } from '../support/eventually.ts';
import { cloudSession } from '../support/networks/cloudSession.ts';
import { newNumber, serversFor, type TestServer } from '../support/server.ts';

/** Two values of every option of every connector. An option that is missing here fails the test. */
const VALUES: Readonly<Record<string, readonly [unknown, unknown]>> = {
  pairing: [false, true],
  history: ['none', 'recent'],
  historyEvents: [false, true],
  newChatsPerDay: [1, 2],
  warmUp: [false, true],
  calls: [{ autoReject: true }, { autoReject: false }],
  statuses: [false, true],
  channels: [false, true],
  proxy: ['socks5://a:b@8.8.8.8:1080', 'socks5://a:c@8.8.8.8:1080'],
  pauseMs: [1, 2],
  phoneNumberId: ['1', '2'],
  businessAccountId: ['1', '2'],
  coexistence: [false, true],
  token: ['TOKEN-1', 'TOKEN-2'],
  appSecret: ['secret-1', 'secret-2'],
  verifyToken: ['verify-secret-1', 'verify-secret-2'],
  messagesPerSecond: [1, 2],
};
const REQUIRED: Readonly<Record<string, readonly string[]>> = {
  'whatsapp-cloud': ['phoneNumberId', 'token', 'appSecret', 'verifyToken'],
};

describeOnEachDeployment('a connected session', (_, database) => {
  const start = serversFor(database);

  /** Replaces how a connector opens sessions, and returns the options that it was given. */
  function openedOptions(test: TestContext, connector: Connector, phoneNumber: string): SessionHost['options'][] {
    const opened: SessionHost['options'][] = [];
    test.mock.method(connector, 'open', async (host: SessionHost): Promise<Connection> => {
      opened.push(host.options);
      await host.onEvent({ type: 'connected', phoneNumber });
      const nothing = async () => {};
      return { send: () => assert.fail('nothing is sent'), close: nothing, logout: nothing };
    });
    return opened;
  }

  const connectorsOf = ({ app }: TestServer) => [...app.services.sessions.connectors.values()];

  it('connects again with a new value of every option of every connector', async (test) => {
    if (database !== 'sqlite') return; // the connectors of this process are replaced
    const server = await start();
    for (const connector of connectorsOf(server)) {
      const { call } = await server.account();
      const phoneNumber = newNumber();
      const opened = openedOptions(test, connector, phoneNumber);
      const required = REQUIRED[connector.name] ?? [];
      const base = Object.fromEntries(required.map((name) => [name, VALUES[name]?.[0]]));
      const { body } = await call('POST', '/sessions', { connector: connector.name, options: base });
      const path = `/sessions/${body.sessionId}`;
      assert.equal((await call('POST', `${path}/connect`)).body.status, 'connected');
      for (const name of Object.keys(connector.options.properties)) {
        const values = VALUES[name] ?? assert.fail(`${connector.name} has a new option ${name}`);
        for (const value of values) {
          const before = opened.length;
          const options = { ...base, [name]: value };
          const changed = await call('PATCH', path, { options });
          assert.equal(changed.status, 200, JSON.stringify(changed.body));
          assert.equal(changed.body.status, 'connected', `${connector.name} ${name}`);
          assert.deepEqual(opened.at(-1)?.[name], value, `${connector.name} ${name}`);
          const count = opened.length;
          assert.ok(count > before || name === required[0] || base[name] === value, `${connector.name} ${name}`);
          await call('PATCH', path, { options });
          await call('PATCH', path, { name: 'renamed' });
          await call('POST', `${path}/connect`);
          assert.equal(opened.length, count, `${connector.name} reconnected without a change of ${name}`);
        }
      }
      const events = (await call('GET', '/events?events=session.connected,session.disconnected')).body.data;
      assert.deepEqual(
        events.map(({ event }: { event: string }) => event),
        ['session.connected'],
      );
    }
  });

  it('connects again with new options on the node that owns it', async () => {
    const server = await start();
    const { call } = await server.account();
    const { body } = await call('POST', '/sessions', { connector: 'sandbox', phoneNumber: newNumber() });
    const path = `/sessions/${body.sessionId}`;
    await call('POST', `${path}/connect`);
    const { body: changed } = await call('PATCH', path, { options: { newChatsPerDay: 1 } });
    assert.equal(changed.status, 'connected');
    const { body: history } = await call('GET', `${path}/history`);
    assert.deepEqual(
      history.data.map(({ status, reason }: { status: string; reason: string }) => [status, reason]).slice(0, 2),
      [
        ['connected', null],
        ['connecting', 'The options of the session changed'],
      ],
    );
    const send = (to: string) => call('POST', '/messages/send', { to, message: 'hi' });
    assert.equal((await send(newNumber())).status, 201);
    assert.equal((await send(newNumber())).body.code, 'rate_limited');
  });
});

it('returns a warning when new options wait for a disconnected session to connect', async (t) => {
  const { graph, call, sessionId } = await cloudSession(t);
  const path = `/sessions/${sessionId}`;
  const { token, ...others } = graph.options;
  const connected = await call('PATCH', path, { options: { ...others, token } });
  assert.equal(connected.body.warnings, undefined);
  await call('POST', `${path}/disconnect`);
  const renamed = await call('PATCH', path, { name: 'renamed' });
  assert.equal(renamed.body.warnings, undefined);
  const { body: corrected } = await call('PATCH', path, { options: { ...others, token } });
  assert.equal(corrected.status, 'disconnected');
  assert.equal(corrected.warnings.length, 1);
  assert.match(corrected.warnings[0], /not connected.*take effect when it connects/);
  assert.ok(corrected.warnings[0].includes(`POST ${path}/connect`));
});

it('reports a wrong Cloud API token that a connected session gets, and uses the next one', async (t) => {
  const { graph, call, sessionId, send } = await cloudSession(t);
  const path = `/sessions/${sessionId}`;
  const { token, ...others } = graph.options;
  const { body: wrong } = await call('PATCH', path, { options: { ...others, token: 'WRONG' } });
  assert.notEqual(wrong.status, 'connected');
  assert.match(wrong.error, /token/i);
  assert.notEqual((await call('POST', `${path}/connect`)).body.status, 'connected');
  assert.notEqual((await send('Hello')).status, 201);
  await call('PATCH', path, { options: { ...others, token } });
  await call('POST', `${path}/connect`);
  await eventually(
    async () => (await call('GET', path)).body.status,
    (status) => status === 'connected',
  );
  assert.equal((await send('Hello')).status, 201);
});
