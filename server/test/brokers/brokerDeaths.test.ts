import assert from 'node:assert/strict';
import { createServer, type Socket } from 'node:net';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { createLog } from '../../src/log.ts';
import { Flights, PAUSED_BY_DEATHS } from '../../src/webhooks/delivery/flights.ts';
import { startReceiver } from '../support/connections/receiver.ts';
import { describeOnEachDatabase, newHome } from '../support/databases/databases.ts';
import { eventually } from '../support/eventually.ts';
import { type Node, queryOf, spawnNodes } from '../support/processes/nodes.ts';
import { spawnServer } from '../support/processes/process.ts';
import { bearer, type Call, callerOf, connectSession, startServer } from '../support/server.ts';

/** Accepts connections, and confirms messages as Redis unless it is silent. */
async function startRedisLike(test: TestContext) {
  const sockets = new Set<Socket>();
  const redis = { isSilent: false, accepted: 0, confirmed: 0, port: 0 };
  const server = createServer((socket) => {
    redis.accepted++;
    sockets.add(socket);
    socket.on('error', () => {});
    socket.on('data', (chunk) => {
      if (redis.isSilent) return;
      for (const [command] of chunk.toString().matchAll(/\r\n(PING|XADD)\r\n/g))
        socket.write(command.includes('PING') ? '+PONG\r\n' : `$3\r\n1-${++redis.confirmed % 10}\r\n`);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  redis.port = typeof address === 'object' && address !== null ? address.port : 0;
  test.after(() => {
    server.close();
    for (const socket of sockets) socket.destroy();
  });
  return redis;
}

type RedisLike = Awaited<ReturnType<typeof startRedisLike>>;

const untilAccepted = (redis: RedisLike, count: number) =>
  eventually(
    async () => redis.accepted,
    (is) => is >= count,
  );

/** Registers an account that sends with one session, and whose `message.sent` goes to a broker. */
async function setUpBroker(url: () => string, redis: RedisLike) {
  const credentials = { email: 'broker@example.com', password: 'correct horse battery' };
  const { token } = (await callerOf(url(), {})('POST', '/auth/register', credentials)).body;
  const call: Call = (...request) => bearer(url(), token)(...request);
  await connectSession(call, '491701111111');
  const destination = { type: 'redis', stream: 'events' };
  const broker = { webhookUrl: `redis://127.0.0.1:${redis.port}`, destination, events: ['message.sent'] };
  const { webhookId } = (await call('POST', '/webhooks/endpoints', broker)).body;
  const send = () => call('POST', '/messages/send', { to: '491705550001', message: 'Hello' });
  return { call, webhookId: webhookId as string, send };
}

describe('a broker during which the process dies', () => {
  async function setUp(test: TestContext) {
    const home = await newHome('sqlite');
    const redis = await startRedisLike(test);
    const receiver = await startReceiver();
    let server = await spawnServer(home);
    test.after(async () => {
      await server.kill();
      await receiver.close();
      await home.remove();
    });
    const { call, webhookId, send } = await setUpBroker(() => server.url, redis);
    await call('POST', '/webhooks/endpoints', { webhookUrl: receiver.url, events: ['message.sent'] });
    const restart = async () => {
      await server.kill();
      server = await spawnServer(home);
    };
    const read = async () => (await call('GET', `/webhooks/endpoints/${webhookId}`)).body;
    return { redis, receiver, call, webhookId, restart, read, send };
  }

  it('starts its webhook paused after two deaths with a delivery in flight, until it is resumed', async (test) => {
    const { redis, receiver, call, webhookId, restart, read, send } = await setUp(test);
    redis.isSilent = true;
    await send();
    await untilAccepted(redis, 1);
    await restart();
    await untilAccepted(redis, 2);
    assert.equal((await read()).paused, false, 'one death');
    await restart();
    const webhook = await eventually(read, ({ paused }) => paused === true);
    assert.equal(webhook.pausedReason, PAUSED_BY_DEATHS);
    const { data } = (await call('GET', `/webhooks/deliveries?webhookId=${webhookId}`)).body;
    const delivery = (await call('GET', `/webhooks/deliveries/${data[0].deliveryId}`)).body;
    assert.ok(JSON.stringify(delivery).includes(PAUSED_BY_DEATHS), JSON.stringify(delivery));
    await send();
    await receiver.waitFor(2);
    assert.equal(redis.accepted, 2, 'nothing is sent to it');

    redis.isSilent = false;
    await call('PATCH', `/webhooks/endpoints/${webhookId}`, { paused: false });
    await eventually(
      async () => redis.confirmed,
      (count) => count >= 2,
    );
    const { paused, pausedReason } = await read();
    assert.deepEqual([paused, pausedReason], [false, null]);
  });

  it('keeps its webhook active if no delivery was in flight at the second death', async (test) => {
    const { redis, call, webhookId, restart, read, send } = await setUp(test);
    const untilDelivered = async (count: number) => {
      const path = `/webhooks/deliveries?webhookId=${webhookId}&states=delivered`;
      await eventually(
        async () => (await call('GET', path)).body.data.length as number,
        (delivered) => delivered === count,
      );
    };
    for (let death = 1; death <= 2; death++) {
      await send();
      await untilDelivered(death);
      await restart();
    }
    assert.equal(redis.confirmed, 2);
    assert.equal((await read()).paused, false);
  });
});

describeOnEachDatabase('flights to brokers', (newHome) => {
  /** A webhook, and the flights of several processes on its database. */
  async function setUp(test: TestContext) {
    const home = await newHome();
    const server = await startServer({ home });
    test.after(async () => {
      await server.stop();
      await home.remove();
    });
    const { services } = server.app;
    await services.engine.stop(0);
    const { call } = await server.account();
    const { body } = await call('POST', '/webhooks/endpoints', { webhookUrl: server.url, events: ['message.sent'] });
    const { webhookId } = body;
    const open = (instance: string) => new Flights({ ...services, instance });
    const stored = async () => {
      const { kysely } = services.database.reader;
      const row = kysely
        .selectFrom('webhooks')
        .select(['deaths', 'in_flight_by as by', 'paused', 'paused_reason as reason']);
      return { ...(await row.executeTakeFirstOrThrow()) };
    };
    /** Begins a delivery that does not end. */
    const begin = (flights: Flights) =>
      new Promise<void>((started) => {
        void flights.run(webhookId, async () => {
          started();
          await new Promise(() => {});
        });
      });
    const takeOver = async (flights: Flights) => {
      await flights.recover([webhookId]);
      await begin(flights);
    };
    return { webhookId, open, stored, begin, takeOver };
  }
  const active = { paused: 0, reason: null };

  it('retract the death that another process counted', async (test) => {
    const { open, stored, begin, takeOver } = await setUp(test);
    const [evicted, other] = [open('evicted'), open('other')];
    await begin(evicted);
    await takeOver(other);
    assert.deepEqual(await stored(), { ...active, deaths: 1, by: 'other' });
    evicted.lose();
    assert.deepEqual(await evicted.retract(), []);
    assert.deepEqual(await stored(), { ...active, deaths: 0, by: 'other' });
    await evicted.retract();
    await evicted.stop();
    assert.deepEqual(await stored(), { ...active, deaths: 0, by: 'other' }, 'once');
  });

  it('resume a webhook that was paused by the death of a live process, and keep the other death', async (test) => {
    const { webhookId, open, stored, begin, takeOver } = await setUp(test);
    const [evicted, dead, last] = [open('evicted'), open('dead'), open('last')];
    await begin(evicted);
    await takeOver(dead);
    await last.recover([webhookId]);
    assert.deepEqual(await stored(), { deaths: 0, by: null, paused: 1, reason: PAUSED_BY_DEATHS });
    evicted.lose();
    assert.deepEqual(await evicted.retract(), [webhookId]);
    assert.deepEqual(await stored(), { ...active, deaths: 1, by: null });
  });

  it('remove their mark before another process counts it', async (test) => {
    const { webhookId, open, stored, begin } = await setUp(test);
    const [evicted, other] = [open('evicted'), open('other')];
    await begin(evicted);
    evicted.lose();
    await Promise.all([evicted.retract(), evicted.retract()]);
    await other.recover([webhookId]);
    assert.deepEqual(await stored(), { ...active, deaths: 0, by: null });
  });

  it('keep the mark of the process that took over when a delivery of the evicted one ends', async (test) => {
    const { webhookId, open, stored, begin, takeOver } = await setUp(test);
    const [dead, evicted, other] = [open('dead'), open('evicted'), open('other')];
    await begin(dead);
    await evicted.recover([webhookId]);
    const { promise: ending, resolve: end } = Promise.withResolvers<void>();
    const { promise: started, resolve: start } = Promise.withResolvers<void>();
    const delivery = evicted.run(webhookId, async () => {
      start();
      await ending;
    });
    const waiting = assert.rejects(evicted.run(webhookId, async () => assert.fail('the webhook is elsewhere')));
    await started;
    evicted.lose();
    await waiting;
    await other.recover([webhookId]);
    assert.deepEqual(await stored(), { deaths: 0, by: null, paused: 1, reason: PAUSED_BY_DEATHS });
    await evicted.retract();
    await takeOver(other);
    end();
    await delivery;
    await evicted.stop();
    assert.deepEqual(await stored(), { ...active, deaths: 1, by: 'other' });
  });
});

describe('a broker with deliveries in flight on several nodes', () => {
  const slow = { LEASE_SECONDS: '4', WEBHOOK_TIMEOUT_SECONDS: '60', WEBHOOK_RETRY_SECONDS: '1' };

  it('is not suspected because of nodes that were evicted and live', async (test) => {
    const home = await newHome('postgres');
    const redis = await startRedisLike(test);
    redis.isSilent = true;
    const nodes = await spawnNodes(home, 2, slow);
    test.after(async () => {
      for (const node of nodes) node.process.child.kill('SIGCONT');
      await Promise.all(nodes.map((node) => node.process.kill()));
      await home.remove();
    });
    const { send } = await setUpBroker(() => nodes[0]?.url ?? '', redis);
    const ask = queryOf(home);
    const stored = async () => {
      const [row] = await ask<{ owner: string; by: string | null; deaths: number; paused: number }>(
        `select lease_owner as owner, in_flight_by as by, deaths, paused from webhooks`,
      );
      assert.ok(row !== undefined);
      return row;
    };
    await send();
    for (let eviction = 1; eviction <= 2; eviction++) {
      const { owner } = await eventually(stored, ({ owner, by }) => nodes.some(isNode(owner)) && by !== null);
      const evicted = nodes.find(isNode(owner));
      assert.ok(evicted !== undefined);
      const { accepted } = redis;
      evicted.process.child.kill('SIGSTOP');
      await untilAccepted(redis, accepted + 1);
      await eventually(stored, ({ deaths }) => deaths === 1);
      evicted.process.child.kill('SIGCONT');
      await eventually(stored, ({ deaths }) => deaths === 0);
      assert.equal((await stored()).paused, 0);
    }
  });

  it('gets the deliveries of a dead node once its death could be stored', async (test) => {
    const home = await newHome('postgres');
    const redis = await startRedisLike(test);
    redis.isSilent = true;
    const dead = await spawnServer(home, slow);
    test.after(async () => {
      await dead.kill();
      await home.remove();
    });
    const { send } = await setUpBroker(() => dead.url, redis);
    await send();
    await untilAccepted(redis, 1);
    await dead.kill();
    const ask = queryOf(home);
    await ask(`create function refuse() returns trigger as $$ begin
        raise 'refused' using errcode = 'lock_not_available'; end $$ language plpgsql;
      create trigger refuse before update of deaths on webhooks for each row execute function refuse()`);
    const { promise: refused, resolve: refuse } = Promise.withResolvers<void>();
    const log = createLog('warn', {
      write: (line: string) => line.includes('failed to start work on acquired leases') && refuse(),
    });
    const env = { DATA_DIR: join(home.dataDir, 'other'), MEDIA_DIR: join(home.dataDir, 'media') };
    const server = await startServer({ home, env, log });
    test.after(() => server.stop());
    await refused;
    assert.equal(redis.accepted, 1);
    await ask('drop trigger refuse on webhooks');
    await untilAccepted(redis, 2);
    const rows = await ask('select deaths from webhooks');
    assert.deepEqual(rows, [{ deaths: 1 }]);
  });
});

const isNode =
  (nodeId: string) =>
  (node: Node): boolean =>
    node.nodeId === nodeId;
