import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { sql } from 'kysely';
import { systemClock } from '../../src/clock.ts';
import type { JointWork, LateWriter } from '../../src/db/commit.ts';
import { type Database, openDatabase } from '../../src/db/database.ts';
import type { Store } from '../../src/db/dialect.ts';
import { GroupCommit } from '../../src/db/groupCommit.ts';
import { migrate, NewerSchemaError, OlderNodesError, SchemaMismatchError } from '../../src/db/migrate.ts';
import { migrations } from '../../src/db/migrations/index.ts';
import { openPostgres } from '../../src/db/postgres/postgres.ts';
import { batch, query } from '../../src/db/query.ts';
import { openSqlite } from '../../src/db/sqlite/sqlite.ts';
import type { Home } from '../support/databases/databases.ts';

const newest = migrations.at(-1)?.version ?? 0;

/** The guarantees of the data layer on any database. */
export function databaseConformance(newHome: () => Promise<Home>): void {
  let home: Home;
  let database: Database;

  before(async () => {
    home = await newHome();
    database = await openDatabase(home, systemClock);
    await database.commit(({ kysely }) => sql`create table things (id text primary key, n bigint)`.execute(kysely));
  });
  after(async () => {
    await database.close();
    await home.remove();
  });

  const put = (id: string, n = 0, key?: string) =>
    database.commit(({ kysely }) => sql`insert into things (id, n) values (${id}, ${n})`.execute(kysely), key);
  const has = async (id: string) => {
    const { rows } = await sql`select id from things where id = ${id}`.execute(database.reader.kysely);
    return rows.length === 1;
  };

  const insertThings = batch(
    { id: 'text' },
    ({ row, from }) => sql`insert into things (id, n) select ${row.id}, 1 ${from}`,
  );

  describe('commit', () => {
    it('resolves with the result of the work once others can read it', async () => {
      const value = await database.commit(async ({ kysely }) => {
        await sql`insert into things (id, n) values ('a', 1)`.execute(kysely);
        return 42;
      });
      assert.equal(value, 42);
      assert.equal(await has('a'), true);
    });

    it('rolls back only the failed work, not the rest of its transaction', async () => {
      // With one key, because PostgreSQL would run them concurrently.
      const results = await Promise.allSettled([
        put('b1', 0, 'b'),
        database.commit(async ({ kysely }) => {
          await sql`insert into things (id, n) values ('b2', 1)`.execute(kysely);
          throw new Error('changed my mind');
        }, 'b'),
        put('b1', 0, 'b'), // violates the primary key
        put('b3', 0, 'b'),
      ]);
      assert.deepEqual(
        results.map(({ status }) => status),
        ['fulfilled', 'rejected', 'rejected', 'fulfilled'],
      );
      assert.deepEqual([await has('b1'), await has('b2'), await has('b3')], [true, false, true]);
    });

    it('rolls back failed work that has a transaction of its own', async () => {
      await assert.rejects(
        database.commit(async ({ kysely }) => {
          await sql`insert into things (id, n) values ('c', 1)`.execute(kysely);
          throw new Error('changed my mind');
        }),
        /changed my mind/,
      );
      assert.equal(await has('c'), false);
    });

    it('runs callbacks after the commit, but not if the work is rolled back', async () => {
      const seen: string[] = [];
      await Promise.allSettled([
        database.commit(async (tx) => tx.afterCommit(() => seen.push('done'))),
        database.commit(async (tx) => {
          tx.afterCommit(() => seen.push('undone'));
          throw new Error('no');
        }),
      ]);
      assert.deepEqual(seen, ['done']);
    });

    it('writes deferred rows together at the end, in order', async () => {
      const batches: (readonly string[])[] = [];
      const writer: LateWriter<string> = async (tx, ids) => {
        batches.push(ids);
        for (const id of ids) await sql`insert into things (id, n) values (${id}, 1)`.execute(tx.kysely);
      };
      await Promise.allSettled([
        database.commit(async (tx) => {
          tx.writeLater(writer, 'l1');
          tx.writeLater(writer, 'l2');
        }, 'late'),
        database.commit(async (tx) => {
          tx.writeLater(writer, 'l3');
        }, 'late'),
      ]);
      assert.deepEqual(batches, [['l1', 'l2', 'l3']]);
      assert.deepEqual([await has('l1'), await has('l2'), await has('l3')], [true, true, true]);
    });

    it('writes no deferred rows of work that is rolled back, but all of the others', async () => {
      const writer: LateWriter<string> = async (tx, ids) => {
        for (const id of ids) await sql`insert into things (id, n) values (${id}, 1)`.execute(tx.kysely);
      };
      const results = await Promise.allSettled([
        database.commit(async (tx) => tx.writeLater(writer, 'k1'), 'late'),
        database.commit(async (tx) => {
          tx.writeLater(writer, 'k2');
          throw new Error('no');
        }, 'late'),
        database.commit(async (tx) => tx.writeLater(writer, 'k1'), 'late'), // violates the primary key
        database.commit(async (tx) => tx.writeLater(writer, 'k3'), 'late'),
      ]);
      assert.deepEqual(
        results.map(({ status }) => status),
        ['fulfilled', 'rejected', 'rejected', 'fulfilled'],
      );
      assert.deepEqual([await has('k1'), await has('k2'), await has('k3')], [true, false, true]);
    });

    it('rolls back everything if the statement fails that ends a writer, and the connection stays usable', async () => {
      const seen: string[] = [];
      const writer: LateWriter<string> = async (tx, ids) => {
        for (const id of ids) await sql`insert into things (id, n) values (${id}, 1)`.execute(tx.kysely);
        tx.afterCommit(() => seen.push(...ids));
        await tx.endWith(insertThings.run(tx, [{ id: `${ids[0]} end` }]));
      };
      await put('bad end');
      for (let round = 0; round < 12; round++) {
        const results = await Promise.allSettled([
          database.commit(async (tx) => tx.writeLater(writer, 'bad'), 'end'), // violates the primary key
          database.commit(async (tx) => tx.writeLater(writer, `good ${round}`), 'end'),
        ]);
        const [failed, worked] = results;
        assert.ok(failed?.status === 'rejected' && database.reader.dialect.isUniqueViolation(failed.reason));
        assert.equal(worked?.status, 'fulfilled');
        assert.deepEqual(
          [await has('bad'), await has(`good ${round}`), await has(`good ${round} end`)],
          [false, true, true],
        );
      }
      assert.deepEqual(
        seen,
        Array.from({ length: 12 }, (_, round) => `good ${round}`),
      );
    });

    it('never commits a transaction after the error of a statement, even if its work ignores it', async () => {
      const ignoring = database.commit(async ({ kysely }) => {
        await sql`insert into things (id, n) values ('ignored', 1)`.execute(kysely);
        await sql`insert into things (id, n) values ('ignored', 1)`.execute(kysely).catch(() => {});
      });
      const isCommitted = await ignoring.then(
        () => true,
        () => false,
      );
      assert.equal(await has('ignored'), isCommitted);
    });

    it('applies work with the same key in order of arrival', async () => {
      await put('d', 0);
      const increments = Array.from({ length: 200 }, (_, n) =>
        database.commit(async ({ kysely }) => {
          const { rows } = await sql<{ n: number }>`select n from things where id = 'd'`.execute(kysely);
          assert.equal(rows[0]?.n, n);
          await sql`update things set n = n + 1 where id = 'd'`.execute(kysely);
        }, 'key-d'),
      );
      await Promise.all(increments);
    });

    it('batches adjacent work of the same kind, with one result each', async () => {
      const turns: number[][] = [];
      const insert: JointWork<number, string> = async ({ kysely }, items) => {
        turns.push([...items]);
        for (const n of items) await sql`insert into things (id, n) values (${`j${n}`}, ${n})`.execute(kysely);
        return items.map((n) => `result ${n}`);
      };
      const order: string[] = [];
      const results = await Promise.all([
        database.commitJointly(insert, 1, 'k'),
        database.commitJointly(insert, 2, 'k'),
        database.commit(async ({ kysely }) => {
          const { rows } = await sql<{ id: string }>`select id from things where id like 'j%'`.execute(kysely);
          order.push(...rows.map(({ id }) => id).sort());
          return 'between';
        }, 'k'),
        database.commitJointly(insert, 3, 'k'),
      ]);
      assert.deepEqual(results, ['result 1', 'result 2', 'between', 'result 3']);
      assert.deepEqual(turns, [[1, 2], [3]]);
      assert.deepEqual(order, ['j1', 'j2'], 'work with one key keeps its order');
    });

    it('rolls back only the failed work of a batch', async () => {
      const insert: JointWork<string, string> = async ({ kysely, writeLater }, items) => {
        for (const id of items) {
          await sql`insert into things (id, n) values (${id}, 0)`.execute(kysely);
          writeLater(writeMore, `${id} more`);
        }
        return items;
      };
      const writeMore: LateWriter<string> = async ({ kysely }, items) => {
        for (const id of items) await sql`insert into things (id, n) values (${id}, 0)`.execute(kysely);
      };
      await put('taken');
      const results = await Promise.allSettled(
        ['x1', 'taken', 'x3'].map((id, index) => database.commitJointly(insert, id, `key ${index % 2}`)),
      );
      assert.deepEqual(
        results.map((result) => (result.status === 'fulfilled' ? result.value : 'undone')),
        ['x1', 'undone', 'x3'],
      );
      const more = await Promise.all(['x1', 'taken', 'x3'].map((id) => has(`${id} more`)));
      assert.deepEqual(more, [true, false, true]);
    });

    it('rejects work after a stop, and finishes what it had accepted', async () => {
      const store = await open(home);
      const group = new GroupCommit(store);
      const last = group.commit(({ kysely }) => sql`insert into things (id, n) values ('e', 1)`.execute(kysely));
      await group.stop();
      await last;
      assert.equal(await has('e'), true);
      await assert.rejects(
        group.commit(async () => {}),
        { code: 'shutting_down' },
      );
      await group.stop();
      await store.close();
    });
  });

  describe('queries', () => {
    it('are built once and bound to parameters each time', async () => {
      let built = 0;
      const findEmail = query((db, p: { accountId: string }) => {
        built++;
        return db
          .selectFrom('accounts')
          .select('email')
          .where('account_id', '=', p.accountId)
          .where('token_version', '=', 1);
      });
      await database.commit(({ kysely }) =>
        kysely
          .insertInto('accounts')
          .values(
            ['x', 'y'].map((id) => ({
              account_id: id,
              email: `${id}@example.com`,
              name: null,
              password_hash: '',
              token_version: 1,
              created_at: 1,
            })),
          )
          .execute(),
      );
      assert.equal((await findEmail.first(database.reader, { accountId: 'x' }))?.email, 'x@example.com');
      assert.deepEqual(plain(await findEmail.all(database.reader, { accountId: 'y' })), [{ email: 'y@example.com' }]);
      assert.equal(await findEmail.first(database.reader, { accountId: 'z' }), undefined);
      assert.equal(built, 1);
    });

    it('return times and counts as numbers', async () => {
      await put('big', 1_767_225_600_000);
      const { rows } = await sql`select n from things where id = 'big'`.execute(database.reader.kysely);
      assert.deepEqual(plain(rows), [{ n: 1_767_225_600_000 }]);
    });

    it('accept batches of rows of any size, in order', async () => {
      const putAll = batch(
        { id: 'text', n: 'bigint' },
        ({ row, from }) => sql`insert into things (id, n) select ${row.id}, ${row.n} ${from}`,
      );
      await database.commit(async (tx) => {
        await putAll.run(tx, []);
        await putAll.run(tx, [
          { id: 'f1', n: 1 },
          { id: 'f2', n: null },
          { id: "f'3 ü", n: 3 },
        ]);
      });
      const { rows } = await sql`select id, n from things where id like 'f%' order by id`.execute(
        database.reader.kysely,
      );
      assert.deepEqual(plain(rows), [
        { id: "f'3 ü", n: 3 },
        { id: 'f1', n: 1 },
        { id: 'f2', n: null },
      ]);
      const addAll = batch(
        { id: 'text', n: 'bigint' },
        ({ row, from }) => sql`update things set n = things.n + ${row.n} ${from} where things.id = ${row.id}`,
      );
      const findAll = batch(
        { id: 'text' },
        ({ row, join }) => sql<{ n: number }>`select things.n from things ${join} where things.id = ${row.id}`,
      );
      const found = await database.commit(async (tx) => {
        await addAll.run(tx, [
          { id: 'f1', n: 10 },
          { id: "f'3 ü", n: 20 },
        ]);
        return findAll.all(tx, [{ id: 'f1' }, { id: "f'3 ü" }, { id: 'f missing' }]);
      });
      assert.deepEqual(found.map(({ n }) => n).toSorted(), [11, 23]);
    });

    it('distinguish a violated unique key from other errors', async () => {
      await put('g');
      const { dialect } = database.reader;
      await assert.rejects(put('g'), (error) => dialect.isUniqueViolation(error));
      await assert.rejects(
        sql`select nonsense`.execute(database.reader.kysely),
        (error) => !dialect.isUniqueViolation(error),
      );
    });
  });

  describe('migrations', () => {
    it('bring the schema to the current version, and do nothing on a second run', async () => {
      const store = await open(home);
      assert.deepEqual(await migrate(store, Date.now), []);
      await store.close();
    });

    it('are atomic: a failed one keeps the previous version', async () => {
      const fresh = await newHome();
      const store = await open(fresh);
      const good = { version: 1, name: 'good', statements: () => ['create table one (id text primary key)'] };
      const bad = {
        version: 2,
        name: 'bad',
        statements: () => ['create table two (id text primary key)', 'create nonsense'],
      };
      await assert.rejects(migrate(store, Date.now, [good, bad]));
      const tables = await store.reader.connection.query('select version from schema_versions', []);
      assert.deepEqual(plain(tables.rows), [{ version: 1 }]);
      await assert.rejects(store.reader.connection.query('select * from two', []));
      const repaired = { ...bad, statements: () => ['create table two (id text primary key)'] };
      assert.deepEqual(await migrate(store, Date.now, [good, repaired]), [2]);
      await store.close();
      await fresh.remove();
    });

    it('of a newer release allow older nodes to continue unless declared incompatible', async () => {
      const fresh = await newHome();
      const store = await open(fresh);
      await migrate(store, Date.now);
      const wider = {
        version: newest + 1,
        name: 'wider',
        statements: () => ['alter table accounts add column mood text'],
      };
      assert.deepEqual(await migrate(store, Date.now, [...migrations, wider]), [newest + 1]);
      assert.deepEqual(await migrate(store, Date.now), []);

      const narrower = {
        version: newest + 2,
        name: 'narrower',
        statements: () => ['alter table accounts drop column name'],
        breaksOlder: 'accounts no longer have a name',
      };
      assert.deepEqual(await migrate(store, Date.now, [...migrations, wider, narrower]), [newest + 2]);
      await assert.rejects(migrate(store, Date.now), NewerSchemaError);
      await assert.rejects(migrate(store, Date.now, [...migrations, wider]), NewerSchemaError);
      await store.close();
      await fresh.remove();
    });

    const afterChanges = async (changes: readonly string[], check: (store: Store) => Promise<void>) => {
      const fresh = await newHome();
      const store = await open(fresh);
      await migrate(store, Date.now);
      const tx = await store.begin();
      for (const change of changes) await tx.connection.query(change, []);
      await tx.commit();
      await check(store);
      await store.close();
      await fresh.remove();
    };

    it('reject a database whose tables differ from its version, list the differences and change nothing', async () => {
      const changes = [
        'alter table accounts rename column name to nickname',
        'alter table media add column place text not null default 0',
        'drop table reactions',
        'drop index messages_from',
        'drop index messages_chat',
        'create index messages_chat on messages (chat_id)',
        'create unique index one_session_each on sessions (account_id)',
      ];
      const next = { version: newest + 1, name: 'next', statements: () => ['create table next (id text)'] };
      await afterChanges(changes, async (store) => {
        await assert.rejects(migrate(store, Date.now, [...migrations, next]), (error: Error) => {
          assert.ok(error instanceof SchemaMismatchError);
          const [headline = '', ...lines] = error.message.split('\n');
          assert.match(headline, /schema version \d+, but its tables differ/);
          const found = lines.filter((line) => line.startsWith('  ')).join('\n');
          assert.match(found, /accounts: column name is missing/);
          assert.match(found, /table reactions is missing/);
          assert.match(found, /messages: index messages_from is missing/);
          assert.match(
            found,
            /messages: index messages_chat is ".*\(chat_id\)", not ".*\(account_id, chat_id, message_id\)"/,
          );
          assert.match(found, /sessions: index one_session_each is unexpected \(unique/);
          assert.doesNotMatch(found, /media|nickname/, 'additions that cannot fail an insert are allowed');
          return true;
        });
        await assert.rejects(store.reader.connection.query('select * from next', []));
      });
    });

    it('reject a database from before schema versions declared their compatibility', () =>
      afterChanges(['alter table schema_versions drop column works_from'], (store) =>
        assert.rejects(migrate(store, Date.now), /schema_versions: column works_from is missing/),
      ));

    it('accept tables, columns and indexes that an operator added', () =>
      afterChanges(
        [
          'create table reports (id text primary key)',
          'alter table accounts add column mood text',
          'create index accounts_created on accounts (created_at)',
        ],
        async (store) => assert.deepEqual(await migrate(store, Date.now), []),
      ));

    it('that are incompatible with older nodes wait for those to stop, and say so', async () => {
      const fresh = await newHome();
      const store = await open(fresh);
      await migrate(store, Date.now);
      const { kysely } = store.reader;
      const node = { node_id: 'nod_old', epoch: 1, instance: 'one', url: null, version: '0.1.0', carries: 1 };
      const tx = await store.begin();
      await tx.kysely
        .insertInto('nodes')
        .values({ ...node, joined_at: 1, expires_at: Date.now() + 60_000 })
        .execute();
      await tx.commit();
      const version = newest + 1;
      const breaking = { version, name: 'breaking', statements: () => [], breaksOlder: 'for a test' };
      const upgrade = () => migrate(store, Date.now, [...migrations, breaking]);
      await assert.rejects(upgrade(), (error: Error) => {
        assert.ok(error instanceof OlderNodesError);
        assert.match(error.message, /"breaking".*for a test.*nod_old \(0\.1\.0\)/);
        return true;
      });
      assert.equal((await kysely.selectFrom('nodes').select('node_id').execute()).length, 1);
      const later = await store.begin();
      await later.kysely.updateTable('nodes').set({ expires_at: 1 }).execute();
      await later.commit();
      assert.deepEqual(await upgrade(), [version]);
      await store.close();
      await fresh.remove();
    });
  });
}

/** Rows as plain objects, because those of SQLite have no prototype. */
function plain(rows: readonly unknown[]): object[] {
  return rows.map((row) => ({ ...(row as object) }));
}

async function open({ databaseUrl, dataDir }: Home): Promise<Store> {
  return databaseUrl === '' ? openSqlite(`${dataDir}/switchboard.db`) : openPostgres(databaseUrl);
}
