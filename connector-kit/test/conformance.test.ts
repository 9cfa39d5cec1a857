import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { describe, it } from 'node:test';
import { AppError, type Connection, type Connector, type SessionHost } from '../src/index.ts';
import { conformanceCases, testConnector } from '../src/testing.ts';
import { createConnector } from '../template/src/index.ts';
import { startFakeGateway } from '../template/test/fakeGateway.ts';

const gaps = { outages: 'The gateway answers requests, and keeps no connection.' };

/** Changes a connector so that it breaks a promise. */
interface Defect {
  readonly declaration?: object;
  open?(connector: Connector, host: SessionHost): Promise<Connection>;
  /** Members that replace those of the connection. */
  connection?(connection: Connection, host: SessionHost): Partial<Connection> | object;
}

const secretOf = (host: SessionHost) => String(host.options['secret']);
/** Survives in the process, as a connector must not rely on. */
const linked = new WeakMap<Connector, Set<string>>();

/** Each breaks one promise, and the case of that name must notice. */
const defects: readonly (readonly [title: string, noticed: string, Defect])[] = [
  ['has an invalid name', 'declares its name', { declaration: { name: 'Pager 2' } }],
  ['has an unknown message type', 'declares its name', { declaration: { messageTypes: ['text', 'song'] } }],
  ['has an unknown capability', 'declares its name', { declaration: { capabilities: ['singing'] } }],
  ['declares what it lacks', 'has the members', { declaration: { capabilities: ['reactions'] } }],
  [
    'requires an option that is not defined',
    'declares its name',
    { declaration: { options: { type: 'object', properties: { gateway: { type: 'string' } }, required: ['secret'] } } },
  ],
  [
    'has an option with an invalid pattern',
    'declares its name',
    { declaration: { options: { type: 'object', properties: { gateway: { type: 'string', pattern: '(' } } } } },
  ],
  [
    'has no option that its network needs',
    'declares its name',
    { declaration: { options: { type: 'object', properties: {}, additionalProperties: false } } },
  ],
  ['does not declare its callbacks', 'has the members', { declaration: { takesCallbacks: undefined } }],
  ['misspells a member', 'has the members', { connection: () => ({ markread: async () => {} }) }],
  ['implements half of a part', 'has the members', { connection: () => ({ profiles: { read: async () => null } }) }],
  [
    'reports a number with a plus',
    'connects and reports',
    { open: (connector, host) => connector.open(reporting(host, { type: 'connected', phoneNumber: '+49 30 123' })) },
  ],
  [
    'waits for the network in `open`',
    'opens and closes',
    {
      async open(connector, host) {
        const connection = await connector.open(host);
        await connection.attempt;
        return connection;
      },
    },
  ],
  ['cannot be closed twice', 'can be closed twice', { connection: (connection) => ({ close: closeOnce(connection) }) }],
  [
    'reports after it was closed',
    'can be closed twice',
    {
      connection: (connection, host) => ({
        async close() {
          await connection.close();
          host.clock.after(60_000, () => void host.onEvent({ type: 'logged_out', reason: 'Nobody used it' }));
        },
      }),
    },
  ],
  [
    'keeps its login in the process',
    'connects on another node',
    {
      async open(connector, host) {
        const logins = linked.get(connector) ?? new Set();
        linked.set(connector, logins);
        if (host.phoneNumber !== null && !logins.has(host.sessionId)) return connector.open(mute(host));
        logins.add(host.sessionId);
        return connector.open(host);
      },
    },
  ],
  [
    'returns seconds',
    'sends a text',
    {
      connection: (connection) => ({
        async send(message: Parameters<Connection['send']>[0]) {
          const { timestamp } = await connection.send(message);
          return { timestamp: Math.floor(timestamp / 1000) };
        },
      }),
    },
  ],
  [
    'sends a repeated message again',
    'sends a message once',
    {
      connection: (connection) => ({
        send: (message: Parameters<Connection['send']>[0]) => connection.send({ ...message, networkId: randomUUID() }),
      }),
    },
  ],
  [
    'cannot send a type that it declares',
    'sends every type',
    {
      declaration: { messageTypes: ['text', 'poll'] },
      connection: (connection) => ({
        async send(message: Parameters<Connection['send']>[0]) {
          if (message.content.type === 'poll') throw new AppError('not_supported');
          return connection.send(message);
        },
      }),
    },
  ],
  [
    'hides that a recipient does not exist',
    'reports that a recipient',
    { connection: (connection) => ({ send: failingWith(connection, () => new AppError('send_failed')) }) },
  ],
  [
    'throws errors of its own',
    'reports why the network refuses',
    { connection: (connection) => ({ send: failingWith(connection, () => new Error('The gateway answered 503')) }) },
  ],
  [
    'shows its secret in an error',
    'reports why the network refuses',
    {
      connection: (connection, host) => ({
        send: failingWith(connection, () => new AppError('send_failed', `Refused Bearer ${secretOf(host)}`)),
      }),
    },
  ],
  [
    'lets a send wait although it was closed',
    'ends everything that waits',
    { connection: () => ({ send: () => new Promise(() => {}) }) },
  ],
  ['sends after it was closed', 'sends nothing after', { connection: () => ({ close: async () => {} }) }],
  [
    'reports the id of a person in place of a number',
    'reports a message that arrives',
    { open: (connector, host) => connector.open(changing(host, (event) => ({ ...event, from: 'grace@example.com' }))) },
  ],
  [
    'reports a repeated message under a new id',
    'reports a repeated message',
    { open: (connector, host) => connector.open(changing(host, (event) => ({ ...event, networkId: randomUUID() }))) },
  ],
  [
    'acknowledges before the event is stored',
    'acknowledges a message only after',
    {
      connection: (connection) => ({
        takeCallback: async (request: Parameters<NonNullable<Connection['takeCallback']>>[0]) => {
          connection.takeCallback?.(request).catch(() => {});
          return { status: request.headers['authorization'] === undefined ? 403 : 204 };
        },
      }),
    },
  ],
  ['reports no receipts', 'reports receipts', { open: (connector, host) => connector.open(dropping(host, 'receipt')) }],
  [
    'believes strangers',
    'answers callbacks only',
    { connection: () => ({ takeCallback: async () => ({ status: 204 }) }) },
  ],
  [
    'logs its options',
    'connects and reports',
    {
      open(connector, host) {
        host.log.child({ part: 'gateway' }).debug({ options: host.options }, 'connecting');
        return connector.open(host);
      },
    },
  ],
  [
    'logs the text of a message',
    'sends a text',
    {
      connection: (connection, host) => ({
        send(message: Parameters<Connection['send']>[0]) {
          host.log.trace({ message }, 'sending');
          return connection.send(message);
        },
      }),
    },
  ],
  [
    'stores objects',
    'connects and reports',
    {
      async open(connector, host) {
        await host.store.set('login', { token: 'x' } as never);
        return connector.open(host);
      },
    },
  ],
  [
    'cannot log out',
    'logs out',
    { connection: () => ({ logout: () => Promise.reject(new Error('not implemented')) }) },
  ],
];

describe('the connector of the template, changed in nothing', () => {
  testConnector({ describe, it }, { createConnector: () => broken({}), start: startFakeGateway, gaps });
});

describe('the conformance suite', () => {
  for (const [title, noticed, defect] of defects) {
    it(`notices a connector that ${title}`, async () => {
      const network = { createConnector: () => broken(defect), start: startFakeGateway, gaps, patienceMs: 300 };
      const found = conformanceCases(network).find(({ name }) => name.startsWith(noticed));
      await assert.rejects(found?.run() ?? assert.fail(`no case ${noticed}`));
    });
  }

  it('leaves out the cases of the gaps, and asks for what a fake lacks', async () => {
    const names = (given: object) =>
      conformanceCases({ createConnector, start: startFakeGateway, ...given }).map(({ name }) => name);
    const outage = 'reports the beginning and the end of an outage once';
    assert.ok(names({}).includes(outage) && !names({ gaps }).includes(outage));
    const found = conformanceCases({ createConnector, start: startFakeGateway }).find(({ name }) => name === outage);
    await assert.rejects(
      async () => found?.run(),
      /The fake network has no `cut`. Add it, or name `outages` in `gaps`/,
    );
  });
});

function broken({ declaration, open, connection }: Defect): Connector {
  const own = createConnector();
  return {
    ...own,
    ...declaration,
    async open(host) {
      const opened = await (open?.(own, host) ?? own.open(host));
      const changed = { ...connection?.(opened, host) };
      return new Proxy(opened, {
        get: (target, name) => {
          const value = Object.hasOwn(changed, name) ? Reflect.get(changed, name) : Reflect.get(target, name);
          return typeof value === 'function' ? value.bind(target) : value;
        },
        ownKeys: (target) => [...new Set([...Reflect.ownKeys(target), ...Reflect.ownKeys(changed)])],
        getOwnPropertyDescriptor: (target, name) =>
          Reflect.getOwnPropertyDescriptor(Object.hasOwn(changed, name) ? changed : target, name),
      });
    },
  };
}

function withOnEvent(host: SessionHost, onEvent: SessionHost['onEvent']): SessionHost {
  return new Proxy(host, {
    get: (target, name) => (name === 'onEvent' ? onEvent : Reflect.get(target, name)),
  });
}

const reporting = (host: SessionHost, event: Parameters<SessionHost['onEvent']>[0]) =>
  withOnEvent(host, () => host.onEvent(event));

const mute = (host: SessionHost) => withOnEvent(host, async () => {});

const dropping = (host: SessionHost, type: string) =>
  withOnEvent(host, async (event) => (event.type === type ? undefined : host.onEvent(event)));

const changing = (host: SessionHost, change: (event: object) => object) =>
  withOnEvent(host, (event) => host.onEvent(event.type === 'message' ? (change(event) as typeof event) : event));

function closeOnce(connection: Connection): () => Promise<void> {
  let isClosed = false;
  return async () => {
    if (isClosed) throw new Error('The connection is closed');
    isClosed = true;
    await connection.close();
  };
}

function failingWith(connection: Connection, errorOf: () => Error): Connection['send'] {
  return async (message) =>
    connection.send(message).catch(() => {
      throw errorOf();
    });
}
