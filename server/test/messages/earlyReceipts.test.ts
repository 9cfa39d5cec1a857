import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { it, type TestContext } from 'node:test';
import { fileURLToPath } from 'node:url';
import type { NetworkEvent } from '../../src/connectors/contract/events.ts';
import { describeOnEachDatabase, type Home } from '../support/databases/databases.ts';
import { puppet } from '../support/networks/puppet.ts';
import { startServer, type TestServerOptions } from '../support/server.ts';

const PUPPET = fileURLToPath(new URL('../support/networks/puppet.ts', import.meta.url));
const [BOB, MALLORY, HIDDEN, STRANGER] = ['491702222222', '491703333333', '000491704444444', '000491705555555'];

type Receipt = Extract<NetworkEvent, { type: 'receipt' }>;

const report = async (event: NetworkEvent) => puppet.host?.onEvent(event);
const direct = (id: string) => ({ type: 'direct', id }) as const;
const receive = (networkId: string, from: string, rest: Partial<Receipt> = {}) =>
  report({
    type: 'receipt',
    networkIds: [networkId],
    status: 'read',
    timestamp: Date.now(),
    chat: direct(from),
    ...rest,
  });
const identify = (standIn: string, phoneNumber: string) => report({ type: 'identified', standIn, phoneNumber });

/** Starts a server with a session whose network is the test. */
async function startPuppet(
  test: TestContext,
  home: Home,
  options: TestServerOptions = {},
  network: Partial<typeof puppet> = {},
) {
  const { send, reportsTogether } = puppet;
  Object.assign(puppet, network);
  const server = await startServer({ home, env: { CONNECTORS: PUPPET }, ...options });
  test.after(async () => {
    Object.assign(puppet, { send, reportsTogether });
    await server.stop();
    await home.remove();
  });
  const { call } = await server.account();
  const { sessionId } = (await call('POST', '/sessions', { connector: 'puppet' })).body;
  await call('POST', `/sessions/${sessionId}/connect`);
  return { server, call, sessionId };
}

describeOnEachDatabase('a receipt that cannot take effect yet', (newHome) => {
  async function setUp(test: TestContext) {
    const { server, call, sessionId } = await startPuppet(test, await newHome());
    const read = async (messageId: string) => (await call('GET', `/messages/${messageId}`)).body;
    return {
      read,
      send: async (to: string): Promise<string> =>
        (await call('POST', '/messages/send', { sessionId, to, message: 'hi' })).body.messageId,
      statusOf: async (messageId: string) => (await read(messageId)).status,
      waiting: async () => {
        const { kysely } = server.app.services.database.reader;
        return (await kysely.selectFrom('early_receipts').select('status').execute()).length;
      },
    };
  }

  it('of a person known by a placeholder waits until the number is known', async (test) => {
    const { send, statusOf, waiting } = await setUp(test);
    const messageId = await send(BOB);
    await receive(messageId, HIDDEN);
    assert.equal(await statusOf(messageId), 'sent');
    await identify(HIDDEN, BOB);
    assert.deepEqual([await statusOf(messageId), await waiting()], ['read', 0]);
  });

  it('of a number whose chat still has a placeholder waits for the number', async (test) => {
    const { send, statusOf, waiting } = await setUp(test);
    await report({
      type: 'message',
      networkId: randomUUID(),
      from: HIDDEN,
      timestamp: Date.now(),
      chat: direct(HIDDEN),
      content: { type: 'text', text: 'hello' },
      replyTo: null,
    });
    const messageId = await send(HIDDEN);
    await receive(messageId, BOB);
    assert.equal(await statusOf(messageId), 'sent');
    await identify(HIDDEN, BOB);
    assert.deepEqual([await statusOf(messageId), await waiting()], ['read', 0]);
  });

  it('of a stranger changes nothing, neither with a number nor with a placeholder', async (test) => {
    const { send, statusOf, waiting } = await setUp(test);
    const messageId = await send(BOB);
    await receive(messageId, MALLORY);
    assert.equal(await waiting(), 0);
    await receive(messageId, STRANGER);
    await receive(messageId, HIDDEN);
    await identify(STRANGER, MALLORY);
    assert.deepEqual([await statusOf(messageId), await waiting()], ['sent', 1]);
    await identify(HIDDEN, BOB);
    assert.deepEqual([await statusOf(messageId), await waiting()], ['read', 0]);
  });

  it('of a stranger does not displace the receipts of others', async (test) => {
    const { send, statusOf, waiting } = await setUp(test);
    const messageId = await send(BOB);
    await receive(messageId, HIDDEN);
    const networkIds = await Promise.all(Array.from({ length: 60 }, () => send(BOB)));
    for (const status of ['delivered', 'read'] as const) await receive(messageId, STRANGER, { status, networkIds });
    await receive(messageId, STRANGER);
    assert.equal(await waiting(), 101);
    await identify(HIDDEN, BOB);
    assert.equal(await statusOf(messageId), 'read');
  });

  it('of a message without its id follows the person, with its error code', async (test) => {
    const { send, read, waiting } = await setUp(test);
    const networkId = randomUUID();
    puppet.send = async () => {
      const failed = { status: 'failed', error: 'refused', errorCode: 'template_required' } as const;
      await receive(networkId, STRANGER, { ...failed, isEarly: true });
      await receive(networkId, HIDDEN, { ...failed, isEarly: true });
      await identify(HIDDEN, BOB);
      return { timestamp: Date.now(), networkId };
    };
    const { status, error, errorCode } = await read(await send(BOB));
    assert.deepEqual([status, error, errorCode], ['failed', 'refused', 'template_required']);
    assert.equal(await waiting(), 1);
  });

  it('waits without the person when the message has its id before the number is known', async (test) => {
    const { send, statusOf, waiting } = await setUp(test);
    const networkId = randomUUID();
    puppet.send = async () => {
      await receive(networkId, HIDDEN, { isEarly: true });
      return { timestamp: Date.now(), networkId };
    };
    const messageId = await send(BOB);
    assert.equal(await statusOf(messageId), 'sent');
    await identify(HIDDEN, BOB);
    assert.deepEqual([await statusOf(messageId), await waiting()], ['read', 0]);
  });
});

describeOnEachDatabase('a receipt while nothing else is written', (newHome) => {
  async function setUp(test: TestContext, reportsTogether = true) {
    const started = await startPuppet(test, await newHome(), { patienceMs: 600_000 }, { reportsTogether });
    const { call, sessionId } = started;
    const send = async (): Promise<string> =>
      (await call('POST', '/messages/send', { sessionId, to: BOB, message: 'hi' })).body.messageId;
    return {
      ...started,
      send,
      messageId: await send(),
      statusOf: async (messageId: string) => (await call('GET', `/messages/${messageId}`)).body.status,
    };
  }

  it('is stored with the next message', async (test) => {
    const { send, messageId, statusOf } = await setUp(test);
    const received = receive(messageId, BOB);
    await send();
    await received;
    assert.equal(await statusOf(messageId), 'read');
  });

  it('is stored when its session is disconnected', async (test) => {
    const { call, sessionId, messageId, statusOf } = await setUp(test);
    const received = receive(messageId, BOB);
    await call('POST', `/sessions/${sessionId}/disconnect`);
    await received;
    assert.equal(await statusOf(messageId), 'read');
  });

  it('is stored when the server stops', async (test) => {
    const { server, messageId } = await setUp(test);
    const received = receive(messageId, BOB);
    await server.stop();
    await received;
  });

  it('does not wait if its network reports one event after the other', async (test) => {
    const { messageId, statusOf } = await setUp(test, false);
    await receive(messageId, BOB);
    assert.equal(await statusOf(messageId), 'read');
  });

  it('does not wait if the message has failed', async (test) => {
    const { messageId, statusOf } = await setUp(test);
    await receive(messageId, BOB, { status: 'failed', error: 'refused' });
    assert.equal(await statusOf(messageId), 'failed');
  });
});
