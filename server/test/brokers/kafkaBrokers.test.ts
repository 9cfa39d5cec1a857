import assert from 'node:assert/strict';
import { connect } from 'node:net';
import { after, afterEach, before, describe, it } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { type Clock, systemClock } from '../../src/clock.ts';
import type { Lookup } from '../../src/egress/target.ts';
import {
  closeDelivers,
  kinds,
  Listener,
  login,
  newDeliver,
  requestFor,
  SHORT_MS,
} from '../support/brokers/brokerAttempts.ts';
import { type FakeKafka, startFakeKafka } from '../support/brokers/fakeKafka.ts';
import { eventually } from '../support/eventually.ts';

afterEach(closeDelivers);

describe('the brokers that a Kafka cluster advertises', () => {
  const kafka = kinds.find(({ scheme }) => scheme === 'kafka') ?? assert.fail();
  const listener = new Listener();
  let cluster: FakeKafka;
  before(async () => {
    await listener.start();
    cluster = await startFakeKafka({ topic: 'events', partitions: 3, ...login });
  });
  after(async () => {
    listener.close();
    await cluster.stop();
  });

  it('are not contacted at a forbidden address', async () => {
    for (const [host, outcome] of [
      ['10.0.0.1', 'blocked_address'],
      ['169.254.169.254', 'blocked_address'],
      ['0xa9fea9fe', 'blocked_address'],
      ['metadata.example.com', 'dns'],
    ] as const) {
      cluster.advertise(host, listener.port);
      const lookup: Lookup = (_, __, callback) => callback(null, [{ address: '169.254.169.254', family: 4 }]);
      const { class: kind, message } = await newDeliver({ lookup }).attempt(requestFor(kafka, cluster));
      assert.equal(kind, outcome, `${host}: ${message}`);
    }
    cluster.advertise('127.0.0.1', cluster.port);
  });

  it('are asked again after a broker was no longer the leader', async () => {
    const deliver = newDeliver();
    cluster.failNext(6);
    const moved = await deliver.attempt(requestFor(kafka, cluster));
    assert.equal(moved.class, 'server_error', moved.message);
    assert.match(moved.message, /NOT_LEADER/);
    assert.equal((await deliver.attempt(requestFor(kafka, cluster))).class, 'ok');
  });

  it('are not dialed once the attempt is over', async (test) => {
    listener.reset();
    cluster.advertise('leader.example.com', listener.port);
    test.after(() => cluster.advertise('127.0.0.1', cluster.port));
    const { promise: asked, resolve: onAsked } = Promise.withResolvers<() => void>();
    const lookup: Lookup = (_, __, callback) => onAsked(() => callback(null, [{ address: '127.0.0.1', family: 4 }]));
    const deliver = newDeliver({ lookup });
    const late = await deliver.attempt({ ...requestFor(kafka, cluster), timeoutMs: SHORT_MS });
    assert.equal(late.class, 'timeout', late.message);
    (await asked)();
    await setImmediate();
    // Connections are accepted in the order in which they were made.
    const probe = connect(listener.port, '127.0.0.1');
    await eventually(
      async () => [...listener.sockets].map(({ remotePort }) => remotePort),
      (ports) => ports.includes(probe.localPort),
    );
    probe.destroy();
    assert.equal(listener.accepted, 1);
  });

  it('are disconnected after the attempt if they say nothing', async (test) => {
    listener.reset();
    cluster.advertise('127.0.0.1', listener.port);
    test.after(() => cluster.advertise('127.0.0.1', cluster.port));
    const late = await newDeliver().attempt({ ...requestFor(kafka, cluster), timeoutMs: SHORT_MS });
    assert.equal(late.class, 'timeout', late.message);
    assert.equal(listener.accepted, 1);
    await eventually(
      async () => listener.sockets.size,
      (count) => count === 0,
    );
  });

  it('are limited in number: idle ones give way, and others wait', async (test) => {
    const large = await startFakeKafka({ topic: 'events', partitions: 64, leaders: 64, ...login });
    test.after(() => large.stop());
    const lookup: Lookup = (_, __, callback) => callback(null, [{ address: '127.0.0.1', family: 4 }]);
    const deliver = newDeliver({ lookup });
    const attempts = Array.from({ length: 200 }, (_, n) => {
      const request = requestFor(kafka, large);
      return deliver.attempt({ ...request, broker: { ...request.broker, conversation: `${n}` } });
    });
    for (const outcome of await Promise.all(attempts)) assert.equal(outcome.class, 'ok', outcome.message);
    assert.equal(large.records.length, 200);
    assert.ok(new Set(large.records.map(({ partition }) => partition)).size > 40);
    // A closed connection may be noticed after the next one.
    assert.ok(large.mostConnections <= 32, `${large.mostConnections} connections`);
  });

  it('are read again after 5 minutes', async (test) => {
    let passedMs = 0;
    const clock: Clock = { ...systemClock, elapsed: () => systemClock.elapsed() + passedMs };
    const moving = await startFakeKafka({ topic: 'events', partitions: 1, ...login });
    test.after(() => moving.stop());
    const deliver = newDeliver({ clock });
    assert.equal((await deliver.attempt(requestFor(kafka, moving))).class, 'ok');
    moving.advertise('10.0.0.1', moving.port);
    assert.equal((await deliver.attempt(requestFor(kafka, moving))).class, 'ok', 'still the known leader');
    passedMs = 5 * 60_000;
    assert.equal((await deliver.attempt(requestFor(kafka, moving))).class, 'ok', 'the last one on this connection');
    assert.equal((await deliver.attempt(requestFor(kafka, moving))).class, 'blocked_address');
  });

  it('may be older than the flexible versions of the protocol', async (test) => {
    const old = await startFakeKafka({ topic: 'events', partitions: 1, ...login, isRecent: false });
    test.after(() => old.stop());
    const outcome = await newDeliver().attempt(requestFor(kafka, old));
    assert.equal(outcome.class, 'ok', outcome.message);
    assert.equal(old.records.length, 1);
  });

  it('get the messages of a conversation in one partition', async () => {
    const deliver = newDeliver();
    for (const conversation of ['one', 'two', 'three', 'one', 'two', 'three', 'four']) {
      const request = requestFor(kafka, cluster);
      await deliver.attempt({ ...request, broker: { ...request.broker, conversation } });
    }
    const partitions = Map.groupBy(cluster.records, ({ key }) => key);
    for (const [key, records] of partitions)
      assert.equal(new Set(records.map(({ partition }) => partition)).size, 1, key);
    assert.ok(new Set(cluster.records.map(({ partition }) => partition)).size > 1);
  });
});
