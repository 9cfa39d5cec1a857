import assert from 'node:assert/strict';
import { it } from 'node:test';
import { sql } from 'kysely';
import { accountNumber, webhookNumber } from '../../src/db/numbers.ts';
import { firstIdAt } from '../../src/ids.ts';
import type { Cleaning } from '../../src/jobs/cleaning.ts';
import { Retention } from '../../src/webhooks/retention/retention.ts';
import { describeOnEachDatabase, newHome } from '../support/databases/databases.ts';
import { eventually } from '../support/eventually.ts';
import { createFakeClock } from '../support/fakeClock.ts';
import { queryOf } from '../support/processes/nodes.ts';
import { startServer, type TestServer } from '../support/server.ts';

const DAY_MS = 86_400_000;
const EVERY_MS = 600_000;

type Account = Awaited<ReturnType<TestServer['account']>>;

/** Stores pairs of old events: the first one was delivered, the delivery of the second is pending. */
async function storeOld({ app }: TestServer, { accountId, call }: Account, pairs: number): Promise<void> {
  const endpoint = { webhookUrl: 'http://127.0.0.1:9/', events: ['message.sent'], paused: true };
  const { webhookId } = (await call('POST', '/webhooks/endpoints', endpoint)).body;
  const { commit, reader } = app.services.database;
  const at = app.services.steady.now() - 3 * DAY_MS;
  const [event, delivery] = [firstIdAt('evt', at).slice(0, 20), firstIdAt('dlv', at).slice(0, 20)];
  const isSqlite = reader.dialect.name === 'sqlite';
  const last = sql.lit(2 * pairs);
  const series = isSqlite
    ? sql`(with recursive s (n) as (select 1 union all select n + 1 from s where n < ${last}) select n from s) as s`
    : sql`generate_series(1, ${last}) as s (n)`;
  const id = (prefix: string) =>
    isSqlite ? sql`${prefix} || printf('%010d', n)` : sql`${sql.lit(prefix)} || lpad(n::text, 10, '0')`;
  // In the order of their ids, before all others.
  const first = sql`(select coalesce(min(position), 1000000000000) - ${sql.lit(3 * pairs)} from events)`;
  await commit(async ({ kysely }) => {
    const { event: from } = (await sql<{ event: number }>`select ${first} as event`.execute(kysely)).rows[0] ?? {
      event: 0,
    };
    const [position, account, webhook] = [
      sql`${sql.lit(Number(from))} + n`,
      accountNumber(accountId),
      webhookNumber(webhookId),
    ];
    await sql`insert into events (position, account, event_id, kind, conversation, body, is_test, created_at)
      select ${position}, ${account}, ${id(event)}, 'message.sent', 'x', '{}', 0, ${at} from ${series}`.execute(kysely);
    await sql`insert into deliveries (event, webhook, account, delivery_id, state, attempts, steps)
      select ${position}, ${webhook}, ${account}, ${id(delivery)},
        case when n % 2 = 0 then 'pending' else 'delivered' end, 0, 0 from ${series}`.execute(kysely);
    await sql`insert into queue (webhook, event)
      select ${webhook}, ${position} from ${series} where n % 2 = 0`.execute(kysely);
  });
}

async function countRows({ app }: TestServer, accountId: string) {
  const { kysely } = app.services.database.reader;
  const count = async (table: 'events' | 'deliveries') => {
    const rows = kysely.selectFrom(table).where('account', '=', accountNumber(accountId));
    return Number((await rows.select(({ fn }) => fn.countAll().as('count')).executeTakeFirstOrThrow()).count);
  };
  return [await count('events'), await count('deliveries')];
}

describeOnEachDatabase('retention', (_, database) => {
  it('prunes around pending deliveries that outlive the log', async (test) => {
    const server = await startServer({ database, env: { EVENT_RETENTION_DAYS: '1', HELD_RETENTION_DAYS: '7' } });
    test.after(() => server.stop());
    const account = await server.account();
    const { accountId } = account;
    await storeOld(server, account, 3000); // more than a window
    assert.deepEqual(await server.app.retention.run(), { expired: 0, pruned: 6000 });
    assert.deepEqual(await countRows(server, accountId), [3000, 3000]);
    assert.deepEqual(await server.app.retention.run(), { expired: 0, pruned: 0 });
  });

  it('cleans the other accounts and tables when one account fails', async (test) => {
    const server = await startServer({ database, env: { EVENT_RETENTION_DAYS: '1' } });
    test.after(() => server.stop());
    const accounts = [await server.account(), await server.account()];
    for (const account of accounts) await storeOld(server, account, 10);
    const [one = '', other = ''] = accounts.map(({ accountId }) => accountId);
    const { services, retention } = server.app;
    const { kysely } = services.database.reader;
    const { seq } = await kysely
      .selectFrom('accounts')
      .select('seq')
      .where('account_id', '=', one)
      .executeTakeFirstOrThrow();
    await services.database.commit(async (tx) => {
      await tx.kysely.insertInto('key_sends').values({ key_id: 'key_old', day: 1, sends: 1 }).execute();
      const statements =
        tx.dialect.name === 'sqlite'
          ? [
              `create trigger refuse before delete on deliveries when old.account = ${seq}
                begin select raise(abort, 'refused'); end`,
            ]
          : [
              `create function refuse() returns trigger as $$ begin raise 'refused' using errcode = 'check_violation'; end $$ language plpgsql`,
              `create trigger refuse before delete on deliveries for each row when (old.account = ${seq})
                execute function refuse()`,
            ];
      for (const statement of statements) await tx.connection.query(statement, []);
    });
    await assert.rejects(retention.run(), /1 cleanings failed/);
    assert.deepEqual(await countRows(server, one), [20, 20]);
    assert.deepEqual(await countRows(server, other), [10, 10]);
    assert.deepEqual(await services.database.reader.kysely.selectFrom('key_sends').selectAll().execute(), []);
  });

  it('deletes the file lists of deleted keys, and keeps the others', async (test) => {
    const server = await startServer({ database });
    test.after(() => server.stop());
    const { accountId, call } = await server.account();
    const { keyId } = (await call('POST', '/api-keys/create', { name: 'kept', permissions: ['media:read'] })).body;
    const { commit, reader } = server.app.services.database;
    const rows = ['key_gone', keyId, 'key_zzz'].flatMap((key_id: string) =>
      Array.from({ length: 700 }, (_, n) => ({ account_id: accountId, key_id, media_id: `med_${n}` })),
    );
    for (let start = 0; start < rows.length; start += 300)
      await commit(({ kysely }) =>
        kysely
          .insertInto('key_media')
          .values(rows.slice(start, start + 300))
          .execute(),
      );
    await server.app.retention.run();
    const left = reader.kysely.selectFrom('key_media').select(({ fn }) => ['key_id', fn.countAll().as('count')]);
    const [kept, ...others] = await left.groupBy('key_id').execute();
    assert.deepEqual([kept?.key_id, Number(kept?.count), others], [keyId, 700, []]);
  });

  it('keeps running the other cleanings while one does not end', async (test) => {
    const server = await startServer({ database });
    test.after(() => server.stop());
    const clock = createFakeClock();
    const { promise, resolve } = Promise.withResolvers<number>();
    let rounds = 0;
    const endless: Cleaning = { name: 'endless rows', run: () => promise };
    const counted: Cleaning = { name: 'counted rows', run: async () => ++rounds };
    const retention = new Retention({
      ...server.app.services,
      clock,
      eventDays: 1,
      heldDays: 1,
      others: [endless, counted],
    });
    retention.start();
    for (const round of [1, 2, 3]) {
      await clock.advance(EVERY_MS);
      await eventually(
        async () => rounds,
        (count) => count === round,
      );
    }
    resolve(0);
    await retention.stop();
  });
});

it('reads each log row a few times per run on PostgreSQL, regardless of pending deliveries', async (test) => {
  const PAIRS = 20_000;
  const home = await newHome('postgres');
  test.after(() => home.remove());
  const server = await startServer({ home, env: { EVENT_RETENTION_DAYS: '1', HELD_RETENTION_DAYS: '7' } });
  const account = await server.account();
  const { accountId } = account;
  await storeOld(server, account, PAIRS);
  await server.app.services.database.reader.connection.query('analyze events, deliveries', []);
  await server.app.retention.run();
  assert.deepEqual(await countRows(server, accountId), [PAIRS, PAIRS]);
  await server.stop(); // connections report what they have read when they end

  const read = await queryOf(home)<{ name: string; rows: number }>(`
    select relname as name, seq_tup_read::int + (
      select sum(idx_tup_read)::int from pg_stat_user_indexes i where i.relid = t.relid) as rows
    from pg_stat_user_tables t where relname in ('events', 'deliveries') order by relname`);
  // Some of it is read by `analyze` and by the counts above.
  for (const { name, rows } of read) assert.ok(rows < 2 * PAIRS * 7, `${name}: ${rows}`);
});
