import assert from 'node:assert/strict';
import { it } from 'node:test';
import { type Connection, queryable, type Store } from '../../src/db/dialect.ts';
import { webhookNumber } from '../../src/db/numbers.ts';
import type { DeliveryState } from '../../src/db/tables/webhooks.ts';
import type { EventKind } from '../../src/events/events.ts';
import { firstIdAt } from '../../src/ids.ts';
import { describeOnEachDatabase } from '../support/databases/databases.ts';
import { storeLog } from '../support/databases/storedLog.ts';
import { eventually } from '../support/eventually.ts';
import { startServer, type TestServer } from '../support/server.ts';

interface Stored {
  readonly webhookId: string;
  readonly state: DeliveryState;
  readonly kind: EventKind;
}

/** Stores deliveries with their events, in order. */
async function store({ app }: TestServer, accountId: string, deliveries: readonly Stored[]): Promise<void> {
  const { commit } = app.services.database;
  const at = app.services.steady.now() - 3_600_000;
  const rows = deliveries.map(({ webhookId, state, kind }, n) => {
    const place = String(n).padStart(10, '0');
    const [eventId, deliveryId] = [
      firstIdAt('evt', at).slice(0, 20) + place,
      firstIdAt('dlv', at).slice(0, 20) + place,
    ];
    return { eventId, deliveryId, webhookId, state, kind, conversation: 'ses_1/491701', createdAt: at };
  });
  for (let start = 0; start < rows.length; start += 1000)
    await commit((tx) => storeLog(tx, accountId, rows.slice(start, start + 1000)));
}

const statesOf = async ({ app }: TestServer, webhookId: string) => {
  const rows = await app.services.database.reader.kysely
    .selectFrom('deliveries as d')
    .innerJoin('events as e', 'e.position', 'd.event')
    .select(({ fn }) => ['e.kind', 'd.state', fn.countAll().as('count')])
    .where('d.webhook', '=', webhookNumber(webhookId))
    .groupBy(['e.kind', 'd.state'])
    .execute();
  return Object.fromEntries(rows.map(({ kind, state, count }) => [`${kind} ${state}`, Number(count)]));
};

describeOnEachDatabase('a long queue', (_, database) => {
  it('replays no delivery in a dry run, and opens no write transaction for it', async (test) => {
    const server = await startServer({ database });
    test.after(() => server.stop());
    const { call, accountId } = await server.account();
    const endpoint = { webhookUrl: 'http://127.0.0.1:9/', events: ['message.sent'], paused: true };
    const { webhookId } = (await call('POST', '/webhooks/endpoints', endpoint)).body;
    const kinds = ['message.sent', 'message.read'] as const;
    const stored = Array.from({ length: 1200 }, (_entry, n) => ({
      webhookId,
      state: n % 3 === 0 ? ('failed' as const) : ('delivered' as const),
      kind: kinds[n % 2] ?? 'message.sent',
    }));
    await store(server, accountId, stored);
    const hour = { afterTime: new Date(Date.now() - 7_200_000).toISOString(), beforeTime: new Date().toISOString() };
    const replay = (more: object) => call('POST', '/webhooks/replay', { ...hour, ...more });

    const commits = test.mock.method(server.app.services.database, 'commit');
    const dry = async (more: object) => (await replay({ dryRun: true, ...more })).body.matched;
    assert.equal(await dry({}), 400);
    assert.equal(await dry({ states: ['delivered'] }), 800);
    assert.equal(await dry({ states: ['delivered'], events: ['message.sent'] }), 400);
    assert.equal(await dry({ events: ['group.created'] }), 0);
    assert.equal(
      await dry({ states: ['delivered'], beforeTime: hour.afterTime, afterTime: '2020-01-01T00:00:00Z' }),
      0,
    );
    assert.equal(commits.mock.callCount(), 0);

    const { body } = await replay({ states: ['delivered', 'failed'], events: ['message.sent'] });
    assert.deepEqual([body.matched, body.replayed], [600, 600]);
    assert.deepEqual(await statesOf(server, webhookId), {
      'message.sent pending': 600,
      'message.read delivered': 400,
      'message.read failed': 200,
    });
  });

  it('lists filtered deliveries by an index, or in pages that pass a bounded number of rows', async (test) => {
    const texts: string[] = [];
    const wrapStore = ({ longReader, ...store }: Store): Store => {
      const query: Connection['query'] = (text, ...rest) => {
        texts.push(text);
        return longReader.connection.query(text, ...rest);
      };
      return { ...store, longReader: queryable(store.dialect, { ...longReader.connection, query }) };
    };
    const server = await startServer({ database, wrapStore });
    test.after(() => server.stop());
    const { call, accountId } = await server.account();
    const endpoint = { webhookUrl: 'http://127.0.0.1:9/', events: ['message.sent'], paused: true };
    const { webhookId } = (await call('POST', '/webhooks/endpoints', endpoint)).body;
    const { webhookId: emptyId } = (await call('POST', '/webhooks/endpoints', endpoint)).body;
    const stored = Array.from({ length: 4500 }, (_entry, n) => ({
      webhookId,
      state: n === 7 ? ('failed' as const) : n === 8 ? ('pending' as const) : ('delivered' as const),
      kind: (n === 9 ? 'group.created' : n === 10 ? 'message.read' : 'message.sent') as EventKind,
    }));
    await store(server, accountId, stored);
    const list = async (query: string) => {
      const pages: number[] = [];
      for (let cursor: string | null = ''; cursor !== null; ) {
        const { body } = await call('GET', `/webhooks/deliveries?limit=200&${query}${cursor && `&cursor=${cursor}`}`);
        pages.push(body.data.length);
        cursor = body.nextCursor;
      }
      return pages;
    };
    // By an index.
    assert.deepEqual(await list('states=failed'), [1]);
    assert.deepEqual(await list('states=expired&states=cancelled'), [0]);
    assert.deepEqual(await list('states=pending'), [1]);
    assert.deepEqual(await list('events=group.created'), [1]);
    assert.deepEqual(await list('events=group.updated'), [0]);
    assert.deepEqual(await list(`webhookId=${emptyId}`), [0]);
    // By the time in the ids, give or take a day.
    const inDays = (days: number) => new Date(Date.now() + days * 86_400_000).toISOString();
    assert.deepEqual(await list(`afterTime=${inDays(2)}`), [0]);
    assert.deepEqual(await list(`beforeTime=${inDays(-2)}`), [0]);
    assert.deepEqual(await list('beforeTime=1970-01-01T00:00:00Z'), [0]);
    assert.deepEqual(await list(`afterTime=${inDays(-1)}&states=failed&states=pending`), [0, 0, 2]);
    // In windows: the newest rows first.
    assert.deepEqual(await list('events=message.read'), [0, 0, 1]);
    assert.deepEqual(await list('states=failed&states=pending'), [0, 0, 2]);
    assert.deepEqual(await list(`webhookId=${webhookId}&events=message.read`), [0, 0, 1]);
    const all = await list('events=message.sent');
    assert.equal(
      all.reduce((sum, count) => sum + count),
      4498,
    );
    // SQLite would begin at one of two bounds, and pass all rows up to the other.
    for (const bound of [/"delivery_id" >/g, /"delivery_id" </g])
      assert.ok(texts.every((text) => (text.match(bound)?.length ?? 0) <= 1));
    assert.ok(texts.some((text) => text.includes('"delivery_id" >=')));
  });

  it('lists one state without passing deliveries in others', async (test) => {
    const server = await startServer({ database });
    test.after(() => server.stop());
    const { call, accountId } = await server.account();
    const endpoint = { webhookUrl: 'http://127.0.0.1:9/', events: ['message.sent'], paused: true };
    const { webhookId } = (await call('POST', '/webhooks/endpoints', endpoint)).body;
    const stored = Array.from({ length: 3000 }, (_entry, n) => ({
      ...{ webhookId, kind: 'message.sent' as const },
      state: n === 1 ? ('expired' as const) : ('failed' as const),
    }));
    await store(server, accountId, stored);
    const { body } = await call('GET', '/webhooks/deliveries?states=expired');
    assert.equal(body.data.length, 1);
    assert.equal(body.nextCursor, null);
  });

  it('reads events of several rare types in the order of the log', async (test) => {
    const server = await startServer({ database });
    test.after(() => server.stop());
    const { call, accountId } = await server.account();
    const endpoint = { webhookUrl: 'http://127.0.0.1:9/', events: ['message.sent'], paused: true };
    const { webhookId } = (await call('POST', '/webhooks/endpoints', endpoint)).body;
    const kinds = ['group.created', 'message.sent', 'group.updated', 'call.incoming'] as const;
    const stored = Array.from({ length: 40 }, (_entry, n) => ({
      ...{ webhookId, state: 'delivered' as const },
      kind: kinds[(n * 7) % kinds.length] ?? 'message.sent',
    }));
    await store(server, accountId, stored);
    const found: string[] = [];
    for (let cursor = ''; found.length < 30; ) {
      const after = cursor && `&afterCursor=${encodeURIComponent(cursor)}`;
      const { body } = await call('GET', `/events?events=group.*&events=call.incoming&limit=7${after}`);
      const rest = body.data.slice(0, 30 - found.length);
      assert.ok(rest.length > 0, `${found}`);
      found.push(...rest.map(({ event }: { readonly event: string }) => event));
      cursor = body.nextCursor;
    }
    assert.deepEqual(
      found,
      stored.flatMap(({ kind }) => (kind === 'message.sent' ? [] : [kind])),
    );
  });

  it('cancels dropped event types in short transactions, wherever they are in the queue', async (test) => {
    const server = await startServer({ database });
    test.after(() => server.stop());
    const { call, accountId } = await server.account();
    const events = ['message.sent', 'message.read'];
    const endpoint = { webhookUrl: 'http://127.0.0.1:9/', events, paused: true };
    const { webhookId } = (await call('POST', '/webhooks/endpoints', endpoint)).body;
    const [few, many] = [1500, 12_000];
    const stored = Array.from({ length: few + many }, (_entry, n) => ({
      webhookId,
      state: 'pending' as const,
      kind: ((n > many ? n % 2 === 0 : n < few / 2) ? 'message.read' : 'message.sent') as EventKind,
    }));
    await store(server, accountId, stored);
    const dropped = stored.filter(({ kind }) => kind === 'message.read').length;

    const { commit } = server.app.services.database;
    const { kysely } = server.app.services.database.reader;
    const pending = kysely
      .selectFrom('deliveries as d')
      .innerJoin('events as e', 'e.position', 'd.event')
      .where('d.webhook', '=', webhookNumber(webhookId))
      .where('e.kind', '=', 'message.read');
    const left = async () => {
      const rows = pending.where('d.state', '=', 'pending').select(({ fn }) => fn.countAll().as('count'));
      return Number((await rows.executeTakeFirstOrThrow()).count);
    };
    let most = 0;
    test.mock.method(server.app.services.database, 'commit', async (...args: Parameters<typeof commit>) => {
      const before = await left();
      const result = await commit(...args);
      most = Math.max(most, before - (await left()));
      return result;
    });
    const { body } = await call('PATCH', `/webhooks/endpoints/${webhookId}`, { events: ['message.sent'] });
    assert.equal(body.cancelled, dropped);
    await eventually(left, (count) => count === 0);
    assert.deepEqual(await statesOf(server, webhookId), {
      'message.sent pending': few + many - dropped,
      'message.read cancelled': dropped,
    });
    assert.ok(most <= 500, `${most} in one transaction`);
  });
});
