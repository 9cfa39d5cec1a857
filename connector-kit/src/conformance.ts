import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { AppError } from '../../server/src/errors.ts';
import { assertDeclaration, assertMembers, assertOptions } from './declaration.ts';
import type { FakeNetwork, Gap, NetworkUnderTest } from './networkUnderTest.ts';
import { samples } from './samples.ts';
import { assertCode, Scene } from './scene.ts';

/** A test of a connector. */
export interface ConformanceCase {
  readonly name: string;
  /** @throws if the connector does not conform. The message says what it should do. */
  run(): Promise<void>;
}

/** The functions of a test runner, such as those of `node:test`, Vitest or Jest. */
export interface TestRunner {
  describe(name: string, define: () => void): unknown;
  it(name: string, run: () => Promise<void>): unknown;
}

/** Defines the tests of a connector in a test runner. */
export function testConnector({ describe, it }: TestRunner, network: NetworkUnderTest): void {
  describe('connector conformance', () => {
    for (const { name, run } of conformanceCases(network)) it(name, () => run());
  });
}

/** Returns the tests of a connector, for a runner of another kind. */
export function conformanceCases(network: NetworkUnderTest): readonly ConformanceCase[] {
  return Object.entries(cases).flatMap(([name, { needs, play }]) =>
    needs.some((gap) => network.gaps?.[gap] !== undefined) ? [] : [{ name, run: () => Scene.run(network, play) }],
  );
}

interface Case {
  readonly needs: readonly Gap[];
  play(scene: Scene): Promise<void>;
}

const always = (play: Case['play']): Case => ({ needs: [], play });
const unless = (gap: Gap, play: Case['play']): Case => ({ needs: [gap], play });

const cases: Readonly<Record<string, Case>> = {
  'declares its name, options and message types': always(async (scene) => {
    const connector = await scene.connector();
    assertDeclaration(connector);
    assertOptions(connector, scene.network.options);
    connector.checkOptions?.(scene.network.options);
  }),

  'has the members that it declares': always(async (scene) => {
    const { connection } = await scene.open();
    assertMembers(connection, await scene.connector());
  }),

  'connects and reports its number': always(async (scene) => {
    const { host } = await scene.open();
    assert.equal(host.eventsOf('connected').length, 1, '`connected` is reported once');
  }),

  'opens and closes while the network does not answer': always(async (scene) => {
    scene.network.hang();
    const { connection } = await scene.begin();
    await scene.within(connection.close(), '`close` ends an attempt to connect');
  }),

  'can be closed twice, and then stays silent': always(async (scene) => {
    const { host, connection } = await scene.open();
    await connection.close();
    await connection.close();
    const before = host.events.length;
    await scene.clock.advance(3_600_000);
    assert.equal(host.events.length, before, 'a closed connection reports nothing');
  }),

  'connects on another node with the data of its store': always(async (scene) => {
    const { host, connection } = await scene.open();
    await connection.close();
    const there = scene.newHost(host.store, host.phoneNumber);
    await scene.begin(there, await scene.newConnector());
    const { phoneNumber } = await there.waitFor('connected');
    assert.equal(phoneNumber, host.phoneNumber, 'the session has the same number on every node');
  }),

  'sends a text': always(async (scene) => {
    const { connection } = await scene.open();
    const message = scene.message();
    const { timestamp, networkId } = await connection.send(message);
    assert.ok(timestamp > 10_000_000_000, '`timestamp` is in milliseconds since the epoch');
    assert.ok(networkId === undefined || networkId !== '', 'an id of the network is not empty');
    assert.deepEqual(await scene.network.received(), [message.content.text], 'the person receives the text');
  }),

  'sends a message once, although it is asked twice': unless('sendingOnce', async (scene) => {
    const { connection } = await scene.open();
    const message = scene.message();
    await connection.send(message);
    await connection.send(message);
    assert.deepEqual(await scene.network.received(), [message.content.text], 'the person receives the text once');
  }),

  'sends every type of message that it declares': always(async (scene) => {
    const { connection } = await scene.open();
    for (const type of (await scene.connector()).messageTypes) {
      const { timestamp } = await connection.send(scene.message({ type, ...samples[type] }));
      assert.ok(timestamp > 0, `a message of the type ${type} is sent`);
    }
  }),

  'reports that a recipient is not on the network': unless('nobody', async (scene) => {
    const { connection } = await scene.open();
    const nobody = scene.network.nobody ?? missing('nobody', 'nobody');
    const sending = connection.send(scene.message({}, nobody));
    assertCode(await scene.refusal(sending, 'a message to nobody is refused'), 'recipient_not_on_network');
  }),

  'reports why the network refuses a message': always(async (scene) => {
    const { connection } = await scene.open();
    scene.network.refuse();
    await scene.refusal(connection.send(scene.message()), '`send` fails if the network refuses the message');
  }),

  'ends everything that waits when it is closed': always(async (scene) => {
    const { connection } = await scene.open();
    scene.network.hang();
    const sending = scene.refusal(connection.send(scene.message()), '`close` ends a `send` that waits');
    await scene.within(connection.close(), '`close` does not wait for the network');
    await sending;
  }),

  'sends nothing after it was closed': always(async (scene) => {
    const { connection } = await scene.open();
    await connection.close();
    const error = await scene.refusal(connection.send(scene.message()), '`send` fails after `close`');
    assertCode(error, 'session_not_connected');
    assert.deepEqual(await scene.network.received(), []);
  }),

  'reports a message that arrives': always(async (scene) => {
    const session = await scene.open();
    const text = scene.text();
    assert.ok(await scene.network.write(session, { id: randomUUID(), text }), 'the message is acknowledged');
    const { from, chat, content } = await session.host.waitFor('message');
    const { somebody } = scene.network;
    assert.deepEqual([from, chat.type, chat.id, content.text], [somebody, 'direct', somebody, text]);
  }),

  'reports a repeated message under the same id': unless('repeats', async (scene) => {
    const session = await scene.open();
    const message = { id: randomUUID(), text: scene.text() };
    for (const _ of [1, 2]) await scene.network.write(session, message);
    const ids = session.host.eventsOf('message').map(({ networkId }) => networkId);
    assert.equal(new Set(ids).size, 1, 'a message has the same `networkId` every time it is reported');
  }),

  'acknowledges a message only after it is stored': always(async (scene) => {
    const session = await scene.open();
    const message = { id: randomUUID(), text: scene.text() };
    session.host.failNext(new AppError('storage_unavailable'));
    const write = () => scene.whileTimePasses(scene.network.write(session, message));
    const isForgotten = await write();
    const stored = session.host.eventsOf('message').length;
    assert.ok(!isForgotten || stored > 0, 'a message that could not be stored is not acknowledged');
    if (isForgotten) return;
    assert.ok(await write(), 'the message is acknowledged once it is stored');
    await session.host.waitFor('message');
  }),

  'reports receipts': unless('receipts', async (scene) => {
    const session = await scene.open();
    const message = scene.message();
    const { networkId } = await session.connection.send(message);
    const derived = (await scene.connector()).messageIdOf?.(message.networkId);
    const id = networkId ?? derived ?? message.networkId;
    const confirm = scene.network.confirm?.bind(scene.network) ?? missing('confirm', 'receipts');
    await confirm(session, id, 'delivered');
    const { networkIds, status } = await session.host.waitFor('receipt');
    assert.equal(status, 'delivered');
    assert.ok(
      [id, message.networkId].some((each) => networkIds.includes(each)),
      'the receipt names the message',
    );
  }),

  'answers callbacks only to its network': always(async (scene) => {
    if ((await scene.connector()).takesCallbacks !== true) return;
    const session = await scene.open();
    const before = session.host.events.length;
    for (const request of [{ method: 'GET' }, { body: '' }, { body: '{}' }, { body: '{"type":' }]) {
      const { status } = await session.callBack(request);
      assert.ok(status >= 400, `a request that anyone can send is refused, and not answered with ${status}`);
    }
    assert.equal(session.host.events.length, before, 'a stranger causes no events');
  }),

  'reports the beginning and the end of an outage once': unless('outages', async (scene) => {
    const session = await scene.open();
    const { cut = missing('cut', 'outages'), restore = missing('restore', 'outages') } = scene.network;
    await cut.call(scene.network, session);
    const gone = await scene.whileTimePasses(session.host.waitFor('disconnected'));
    assert.equal(gone.willReconnect, true, 'a connection that was cut reconnects');
    await scene.refusal(session.connection.send(scene.message()), '`send` fails during an outage');
    await restore.call(scene.network, session);
    await scene.whileTimePasses(session.host.waitFor('connected', 1));
    assert.equal(session.host.eventsOf('disconnected').length, 1, 'one outage is reported once');
    const message = scene.message();
    await session.connection.send(message);
    assert.ok((await scene.network.received()).includes(message.content.text), 'messages are sent again');
  }),

  'logs out': always(async (scene) => {
    const { host, connection } = await scene.open();
    await scene.within(connection.logout(), '`logout` resolves');
    await scene.refusal(connection.send(scene.message()), '`send` fails after `logout`');
    const { sessionId, scope, phoneNumber } = host;
    await (await scene.connector()).forget?.({ sessionId, scope, phoneNumber });
  }),
};

function missing(member: keyof FakeNetwork, gap: Gap): never {
  return assert.fail(`The fake network has no \`${member}\`. Add it, or name \`${gap}\` in \`gaps\` with the reason.`);
}
