import assert from 'node:assert/strict';
import { it } from 'node:test';
import { removeExpired } from '../../src/webhooks/endpoints/expiry.ts';
import { describeOnEachDeployment } from '../support/databases/databases.ts';
import { eventually } from '../support/eventually.ts';
import { createFakeClock } from '../support/fakeClock.ts';
import { bearer, connectSession, newNumber, serversFor, startAgain } from '../support/server.ts';

const HOUR_MS = 3_600_000;
const KEEPER_MS = 30_000;

describeOnEachDeployment('a webhook with expiresAt', (newHome, database) => {
  const start = serversFor(database);

  async function setUp() {
    const clock = createFakeClock(Date.now());
    const server = await start({ clock });
    const { call } = await server.account();
    const webhook = { webhookUrl: 'http://127.0.0.1:1/', events: ['message.sent'] };
    const at = (ms: number) => new Date(clock.now() + ms).toISOString();
    const list = async (): Promise<{ webhookId: string; isDefault: boolean }[]> =>
      (await call('GET', '/webhooks/endpoints')).body.data;
    return { clock, server, call, webhook, at, list };
  }

  it('is removed once the time has passed, and its deliveries are cancelled', async () => {
    const { clock, call, webhook, at, list } = await setUp();
    await connectSession(call);
    const expiresAt = at(HOUR_MS);
    const { body: short } = await call('POST', '/webhooks/endpoints', { ...webhook, paused: true, expiresAt });
    assert.equal(short.expiresAt, expiresAt);
    const { body: long } = await call('POST', '/webhooks/endpoints', { ...webhook, events: ['message.incoming'] });
    assert.equal(long.expiresAt, null);
    await call('POST', '/messages/send', { to: newNumber(), message: 'held' });
    await clock.advance(KEEPER_MS);
    assert.equal((await list()).length, 2);
    clock.skip(HOUR_MS);
    await clock.advance(KEEPER_MS);
    assert.deepEqual(
      (await eventually(list, ({ length }) => length === 1)).map(({ webhookId }) => webhookId),
      [long.webhookId],
    );
    assert.equal((await call('GET', `/webhooks/endpoints/${short.webhookId}`)).status, 404);
    const [delivery] = (await call('GET', '/webhooks/deliveries')).body.data;
    assert.equal(delivery.state, 'cancelled');
    const { body } = await call('GET', `/webhooks/deliveries/${delivery.deliveryId}`);
    assert.match(JSON.stringify(body), /The webhook has expired/);
  });

  it('stays if the time was moved or removed in time', async () => {
    const { clock, call, webhook, at, list } = await setUp();
    const paths: string[] = [];
    for (const events of [['message.sent'], ['message.incoming'], ['message.failed']]) {
      const { body } = await call('POST', '/webhooks/endpoints', { ...webhook, events, expiresAt: at(HOUR_MS) });
      paths.push(`/webhooks/endpoints/${body.webhookId}`);
    }
    const [moved = '', removed = '', expired = ''] = paths;
    const later = at(3 * HOUR_MS);
    assert.equal((await call('PATCH', moved, { expiresAt: later })).body.expiresAt, later);
    assert.equal((await call('PATCH', moved, { description: 'unchanged' })).body.expiresAt, later);
    assert.equal((await call('PATCH', removed, { expiresAt: null })).body.expiresAt, null);
    clock.skip(2 * HOUR_MS);
    await clock.advance(KEEPER_MS);
    await eventually(list, ({ length }) => length === 2);
    assert.equal((await call('GET', expired)).status, 404);
    assert.equal((await call('GET', removed)).status, 200);
  });

  it('is removed by one of several nodes, including nodes that start after it has expired', async (test) => {
    const clock = createFakeClock(Date.now());
    const startNext = startAgain(test, newHome, { database, clock });
    const first = await startNext();
    const { call, token } = await first.account();
    const expiresAt = new Date(clock.now() + HOUR_MS).toISOString();
    const webhook = { webhookUrl: 'http://127.0.0.1:1/', events: ['message.sent'], expiresAt };
    const { webhookId } = (await call('POST', '/webhooks/endpoints', webhook)).body;
    await first.stop();
    clock.skip(2 * HOUR_MS);
    const second = await startNext();
    const remove = () => removeExpired(second.app.services, () => false);
    const counts = await Promise.all([remove(), remove()]);
    assert.deepEqual(counts.sort(), [0, 1]);
    const { status } = await bearer(second.url, token)('GET', `/webhooks/endpoints/${webhookId}`);
    assert.equal(status, 404);
  });

  it('is removed even if the removal of an earlier one fails', async () => {
    const { clock, server, call, webhook, at, list } = await setUp();
    for (const events of [['message.sent'], ['message.incoming']])
      await call('POST', '/webhooks/endpoints', { ...webhook, events, expiresAt: at(HOUR_MS) });
    clock.skip(2 * HOUR_MS);
    const { services } = server.app;
    const { reader } = services.database;
    let isFirst = true;
    const commit: typeof services.database.commit = (...given) => {
      if (!isFirst) return services.database.commit(...given);
      isFirst = false;
      return Promise.reject(new Error('the row is broken'));
    };
    await assert.rejects(
      removeExpired({ ...services, database: { reader, commit } }, () => false),
      /row is broken/,
    );
    assert.equal((await list()).length, 1);
  });

  it('must expire in the future, at most 366 days ahead, and must not be the default webhook', async () => {
    const { call, webhook, at } = await setUp();
    const create = (expiresAt: unknown) => call('POST', '/webhooks/endpoints', { ...webhook, expiresAt });
    for (const expiresAt of [at(-1000), at(367 * 24 * HOUR_MS), 'tomorrow', 5]) {
      const { status, body } = await create(expiresAt);
      assert.deepEqual([status, body.errors[0].field], [400, 'expiresAt'], JSON.stringify(body));
    }
    await call('POST', '/webhooks/set', webhook);
    const [first] = (await call('GET', '/webhooks/endpoints')).body.data;
    const { status, body } = await call('PATCH', `/webhooks/endpoints/${first.webhookId}`, { expiresAt: at(HOUR_MS) });
    assert.deepEqual([status, body.errors[0].code], [400, 'default_webhook']);
    assert.equal((await call('PATCH', `/webhooks/endpoints/${first.webhookId}`, { expiresAt: null })).status, 200);
  });
});
