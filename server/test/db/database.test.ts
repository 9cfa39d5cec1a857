import assert from 'node:assert/strict';
import { statSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { describe, it, type TestContext } from 'node:test';
import { sql } from 'kysely';
import pg from 'pg';
import { systemClock } from '../../src/clock.ts';
import type { LateWriter } from '../../src/db/commit.ts';
import { type Database, DataInUseError, openDatabase } from '../../src/db/database.ts';
import { GroupCommit } from '../../src/db/groupCommit.ts';
import { migrate, TablesInUseError } from '../../src/db/migrate.ts';
import { migrations } from '../../src/db/migrations/index.ts';
import type { Migration } from '../../src/db/migrations/migration.ts';
import { openPostgres } from '../../src/db/postgres/postgres.ts';
import { connectionOf, PIPELINED } from '../../src/db/postgres/postgresConnection.ts';
import { query } from '../../src/db/query.ts';
import { isAway } from '../../src/errors.ts';
import { databaseConformance } from '../conformance/database.ts';
import { joiningCommits } from '../conformance/joiningCommits.ts';
import { describeOnEachDatabase, emptyHome, newHome } from '../support/databases/databases.ts';
import { eventually } from '../support/eventually.ts';
import { startServer } from '../support/server.ts';

describeOnEachDatabase('the data layer', (_, name) => databaseConformance(() => emptyHome(name)));
describeOnEachDatabase('a group commit', (_, name) => joiningCommits(() => emptyHome(name)));

describeOnEachDatabase('a database', (newHome) => {
  it('rejects a second process and names the first', async () => {
    const home = await newHome();
    const first = await openDatabase(home, systemClock);
    await assert.rejects(openDatabase(home, systemClock), DataInUseError);
    await first.close();
    await (await openDatabase(home, systemClock)).close();
    await home.remove();
  });
});

/** Opens a new database, and removes it after the test. */
async function openOn(test: TestContext, name: 'sqlite' | 'postgres'): Promise<Database> {
  const home = await newHome(name);
  const database = await openDatabase(home, systemClock);
  test.after(async () => {
    await database.close();
    await home.remove();
  });
  return database;
}

describe('PostgreSQL', () => {
  /** Opens a database with a table, and commits two pieces of work together, each of which counts and adds a row. */
  async function commitTwo(
    test: TestContext,
    { writer, setUp = [] }: { writer: LateWriter<string>; setUp?: string[] },
  ) {
    const database = await openOn(test, 'postgres');
    await database.commit(async ({ kysely }) => {
      for (const statement of ['create table things (id text)', ...setUp]) await sql.raw(statement).execute(kysely);
    });
    let runs = 0;
    const add = (id: string) =>
      database.commit(async (tx) => {
        runs++;
        await sql`insert into things (id) values (${id})`.execute(tx.kysely);
        tx.writeLater(writer, id);
      }, 'key');
    const results = await Promise.allSettled([add('a'), add('b')]);
    const { rows } = await sql<{ id: string }>`select id from things order by id`.execute(database.reader.kysely);
    return { runs, errors: results.map((result) => result.status === 'rejected' && result.reason.code), rows };
  }
  const ENDED = 'pg_terminate_backend(pg_backend_pid())';

  it('does not repeat a transaction whose end is unknown', async (test) => {
    const writer: LateWriter<string> = async () => {};
    const setUp = [
      `create function break_off() returns trigger language plpgsql as 'begin perform ${ENDED}; return null; end'`,
      `create constraint trigger broken after insert on things deferrable initially deferred
        for each row execute function break_off()`,
    ];
    const { runs, errors } = await commitTwo(test, { writer, setUp });
    assert.equal(runs, 2);
    assert.deepEqual(errors, ['storage_unavailable', 'storage_unavailable']);
  });

  it('does not repeat a transaction that was committed in spite of an error', async (test) => {
    const writer: LateWriter<string> = (tx) => tx.endWith(Promise.reject(new Error('not sent')));
    const { runs, errors, rows } = await commitTwo(test, { writer });
    assert.equal(runs, 2);
    assert.deepEqual(errors, ['storage_unavailable', 'storage_unavailable']);
    assert.deepEqual(rows, [{ id: 'a' }, { id: 'b' }]);
  });

  it('repeats a transaction whose last statement was broken off', async (test) => {
    const breakOff = query((db) => db.selectNoFrom(sql`${sql.raw(ENDED)}`.as('ended')));
    let tries = 0;
    const writer: LateWriter<string> = async (tx) => {
      if (++tries === 1) await tx.endWith(breakOff.run(tx, {}));
    };
    const { runs, errors, rows } = await commitTwo(test, { writer });
    assert.equal(runs, 4);
    assert.deepEqual(errors, [false, false]);
    assert.deepEqual(rows, [{ id: 'a' }, { id: 'b' }]);
  });
});

describe('a PostgreSQL whose state keeps work from being stored', () => {
  /** Opens a database with rows, and another connection to it. */
  async function openWithForeigner(test: TestContext, databasePoolSize = 4) {
    const home = await newHome('postgres');
    const database = await openDatabase({ ...home, databasePoolSize }, systemClock);
    const foreigner = new pg.Client({ connectionString: home.databaseUrl });
    await foreigner.connect();
    test.after(async () => {
      await foreigner.end();
      await database.close();
      await home.remove();
    });
    await foreigner.query(`create table things (id text primary key, n integer not null)`);
    await foreigner.query(`insert into things (id, n) values ('locked', 0), ('free', 0)`);
    return { database, foreigner };
  }
  const countUp = (database: Database, id: string, key?: string) =>
    database.commit(({ kysely }) => sql`update things set n = n + 1 where id = ${id}`.execute(kysely), key);
  const findThing = query((_, p: { id: string }) => sql<{ n: number }>`select id, n from things where id = ${p.id}`);
  const addThing = query((_, p: { id: string }) => sql`update things set n = n + 1 where id = ${p.id} returning n`);

  it('fails only the work that waits for a foreign lock, and not the rest of its batch', async (test) => {
    const { database, foreigner } = await openWithForeigner(test);
    const inserts = Array.from({ length: 20 }, (_, n) => `new ${n}`);
    await foreigner.query(`begin; update things set n = 5 where id = 'locked'`);
    // One key, so that all of it shares a transaction.
    const [locked, ...others] = await Promise.allSettled([
      countUp(database, 'locked', 'key'),
      ...inserts.map((id) =>
        database.commit(({ kysely }) => sql`insert into things (id, n) values (${id}, 1)`.execute(kysely), 'key'),
      ),
    ]);
    assert.equal(locked?.status === 'rejected' && locked.reason.code, 'storage_unavailable');
    assert.equal(locked?.status === 'rejected' && locked.reason.cause.code, '55P03');
    assert.deepEqual([...new Set(others.map(({ status }) => status))], ['fulfilled']);
    await foreigner.query('rollback');
    await countUp(database, 'locked', 'key');
  });

  it('repeats a statement that was canceled', async (test) => {
    const { database, foreigner } = await openWithForeigner(test);
    await foreigner.query(`begin; update things set n = 5 where id = 'locked'`);
    const counted = countUp(database, 'locked');
    await eventually(
      async () => {
        const { rows } = await foreigner.query(
          `select pg_cancel_backend(pid) from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()`,
        );
        return rows.length;
      },
      (canceled) => canceled > 0,
    );
    await foreigner.query('rollback');
    await counted;
    assert.equal((await findThing.first(database.reader, { id: 'locked' }))?.n, 1);
  });

  it('goes on after a schema change that makes prepared statements stale', async (test) => {
    const { database, foreigner } = await openWithForeigner(test);
    const readAll = () =>
      Promise.all(Array.from({ length: 8 }, () => findThing.first(database.reader, { id: 'free' })));
    const countAll = () =>
      Promise.all(Array.from({ length: 8 }, () => database.commit((tx) => addThing.run(tx, { id: 'free' }))));
    await readAll();
    await countAll();
    await foreigner.query('alter table things alter column n type bigint');
    await readAll();
    await foreigner.query('alter table things alter column n type numeric');
    await countAll();
    assert.equal(Number((await findThing.first(database.reader, { id: 'free' }))?.n), 16);
  });

  it('goes on after its prepared statements were discarded', async (test) => {
    const { database } = await openWithForeigner(test, 1);
    const discard = () => database.commit(({ connection }) => connection.query('deallocate all', []));
    await findThing.first(database.reader, { id: 'free' });
    await discard();
    assert.equal((await findThing.first(database.reader, { id: 'free' }))?.n, 0);
    await database.commit((tx) => addThing.run(tx, { id: 'free' }));
    await discard();
    await database.commit((tx) => addThing.run(tx, { id: 'free' }));
    assert.equal((await findThing.first(database.reader, { id: 'free' }))?.n, 2);
  });

  it('reports a missing table as unavailable, and a refused row as refused', async (test) => {
    const { database, foreigner } = await openWithForeigner(test);
    await assert.rejects(
      database.commit(({ kysely }) => sql`insert into things (id, n) values ('free', 1)`.execute(kysely)),
      { code: '23505' },
    );
    await foreigner.query('alter table things rename to others');
    await assert.rejects(countUp(database, 'free'), { code: 'storage_unavailable' });
    await assert.rejects(findThing.first(database.reader, { id: 'free' }), { code: 'storage_unavailable' });
    await foreigner.query('alter table others rename to things');
    await countUp(database, 'free');
  });

  it('ends the statements of a process that hangs', async (test) => {
    const { database } = await openWithForeigner(test);
    const setting = async (name: string) => {
      const { rows } = await database.commit(({ connection }) =>
        connection.query<{ value: string }>(`select current_setting('${name}') as value`, []),
      );
      return rows[0]?.value;
    };
    assert.equal(await setting('idle_in_transaction_session_timeout'), '2500ms');
    assert.equal(await setting('client_connection_check_interval'), '2s');
    assert.equal(await setting('lock_timeout'), '3s');
    assert.equal(await setting('statement_timeout'), '25s');
    const { rows } = await database.reader.connection.query('show statement_timeout', []);
    assert.deepEqual(rows, [{ statement_timeout: '30s' }]);
  });
});

describe('a migration of a PostgreSQL in use', () => {
  const version = (migrations.at(-1)?.version ?? 0) + 1;
  const next: Migration = {
    version,
    name: 'next',
    statements: () => ['alter table media add column mood text', 'alter table accounts add column mood text'],
  };

  async function openInUse(test: TestContext) {
    const home = await newHome('postgres');
    const store = openPostgres(home.databaseUrl);
    await migrate(store, Date.now);
    const foreigner = new pg.Client({ connectionString: home.databaseUrl, application_name: 'pg_dump' });
    await foreigner.connect();
    test.after(async () => {
      await foreigner.end();
      await store.close();
      await home.remove();
    });
    const upgrade = (locksForMs = 60_000, migration = next) =>
      migrate(store, Date.now, [...migrations, migration], { locksForMs });
    const isWaiting = async () => {
      const { rows } = await foreigner.query(`select from pg_locks where not granted`);
      return rows.length > 0;
    };
    return { foreigner, store, upgrade, isWaiting, group: new GroupCommit(store) };
  }

  it('waits for a dump and does not keep nodes from writing', async (test) => {
    const { foreigner, upgrade, isWaiting, group } = await openInUse(test);
    await foreigner.query('begin; lock table accounts, media in access share mode');
    const upgraded = upgrade();
    await eventually(isWaiting, Boolean);
    for (let n = 0; n < 5; n++) await group.commit(({ kysely }) => sql`update media set size = size`.execute(kysely));
    await foreigner.query('commit');
    assert.deepEqual(await upgraded, [version]);
  });

  it('adds an index while others read the table', async (test) => {
    const { foreigner, upgrade } = await openInUse(test);
    await foreigner.query('begin; lock table media in access share mode');
    const indexed = { version, name: 'next', statements: () => ['create index media_size on media (size)'] };
    assert.deepEqual(await upgrade(500, indexed), [version]);
    await foreigner.query('commit');
  });

  it('is not broken off by a deadlock, and breaks no node off', async (test) => {
    const { foreigner, upgrade, isWaiting } = await openInUse(test);
    await foreigner.query('begin; update media set size = size');
    const upgraded = upgrade();
    await eventually(isWaiting, Boolean);
    await foreigner.query('update accounts set name = name');
    await foreigner.query('commit');
    assert.deepEqual(await upgraded, [version]);
  });

  it('lists the connections that keep the check of the schema from its tables, while it waits', async (test) => {
    const { foreigner, store } = await openInUse(test);
    await foreigner.query('begin; lock table messages in access exclusive mode');
    const { promise: waiting, resolve: onWait } = Promise.withResolvers<readonly string[]>();
    const checked = migrate(store, Date.now, migrations, { onWait });
    assert.match((await waiting).join(), /^pg_dump \(pid \d+, for \d+ s\)$/);
    await assert.rejects(migrate(store, Date.now, migrations, { locksForMs: 500 }), (error: Error) => {
      assert.ok(error instanceof TablesInUseError);
      assert.match(error.message, /^The check of the schema could not lock its tables.*pg_dump/);
      return true;
    });
    await foreigner.query('commit');
    assert.deepEqual(await checked, []);
  });

  it('lists the connections that keep it from its tables, and changes nothing', async (test) => {
    const { foreigner, upgrade } = await openInUse(test);
    await foreigner.query('begin; lock table accounts in access share mode');
    await assert.rejects(upgrade(500), (error: Error) => {
      assert.ok(error instanceof TablesInUseError);
      assert.match(error.message, /schema version \d+ \(next\).*pg_dump \(pid \d+, for \d+ s\)/);
      assert.match(error.message, /pg_terminate_backend/);
      assert.doesNotMatch(error.message, /backup/);
      return true;
    });
    await foreigner.query('commit');
    assert.deepEqual(await upgrade(), [version]);
  });
});

describe('faults', () => {
  const withCode = (code: string, message = '') => Object.assign(new Error(message), { code });
  const withErrcode = (errcode: number) => Object.assign(new Error(), { code: 'ERR_SQLITE_ERROR', errcode });

  it('of PostgreSQL are about a row only in classes 22 and 23, or with 54000', async (test) => {
    const { dialect } = (await openOn(test, 'postgres')).reader;
    const faults = {
      row: ['22P02', '22021', '23505', '23514', '54000'],
      conflict: ['40001', '40P01', '55P03', '57014', '25P02', '25P03', '25P04', '26000', '42P05'],
      away: ['08006', '53100', '53300', '57P01', '57P03', '58030', '25006', 'ECONNRESET', 'EAI_AGAIN'],
      other: ['42P01', '42703', '42501', '0A000', 'XX000', 'XX001', 'P0001', '55000', '54001', '54011', '54023'],
    };
    for (const [fault, codes] of Object.entries(faults))
      for (const code of codes) assert.equal(dialect.faultOf(withCode(code)), fault, code);
    assert.equal(dialect.faultOf(withCode('0A000', 'cached plan must not change result type')), 'conflict');
    assert.equal(dialect.faultOf(new Error('Connection terminated unexpectedly')), 'away');
    assert.equal(dialect.faultOf(new TypeError('a bug')), undefined);
  });

  it('of a connection to PostgreSQL that cannot be made are about no row', async (test) => {
    const missing = openPostgres('postgres:///switchboard?host=/nonexistent&user=nobody');
    test.after(() => missing.close());
    await assert.rejects(missing.reader.connection.query('select 1', []), (error) => isAway(error));
    await assert.rejects(missing.begin(undefined), (error: NodeJS.ErrnoException) => {
      assert.equal(error.code, 'ENOENT');
      return missing.dialect.faultOf(error) === 'away';
    });
    const isOfSocket = Object.assign(new Error('too many open files'), { code: 'EMFILE', syscall: 'connect' });
    assert.equal(missing.dialect.faultOf(isOfSocket), 'away');
  });

  it('of a statement behind a pooler come from PostgreSQL, which ends it in time', async (test) => {
    const home = await newHome('postgres');
    const pool = new pg.Pool({ connectionString: home.databaseUrl, max: 1, ...PIPELINED });
    test.after(async () => {
      await pool.end();
      await home.remove();
    });
    const connection = connectionOf(pool, false, 1500);
    await assert.rejects(connection.query('select pg_sleep(60)', []), { code: '57014' });
    const { rows } = await connection.query<{ limit: string }>(
      `select current_setting('statement_timeout') as limit`,
      [],
    );
    assert.equal(rows[0]?.limit, '1s');
    const outside = await pool.query(`select current_setting('statement_timeout') as limit`);
    assert.equal(outside.rows[0].limit, '0', 'the session keeps no setting');
  });

  it('of SQLite are about a row only if it refuses the values', async (test) => {
    const { dialect } = (await openOn(test, 'sqlite')).reader;
    const faults = {
      row: [19, 2067, 18, 20, 25],
      conflict: [4, 17],
      away: [5, 261, 6, 7, 8, 9, 10, 13, 14],
      other: [1, 11],
    };
    for (const [fault, codes] of Object.entries(faults))
      for (const code of codes) assert.equal(dialect.faultOf(withErrcode(code)), fault, String(code));
    assert.equal(dialect.faultOf(new TypeError('a bug')), undefined);
  });
});

describe('SQLite', () => {
  it('stores the secret that signs tokens with access for the owner only', async () => {
    const server = await startServer();
    assert.equal(statSync(`${server.home.dataDir}/jwt-secret`).mode & 0o777, 0o600);
    await server.stop();
  });

  it('writes nothing more after a statement that has ended the transaction by itself', async (test) => {
    const database = await openOn(test, 'sqlite');
    await database.commit(({ kysely }) => sql`create table things (id text primary key)`.execute(kysely));
    const ending: LateWriter<string> = (tx, [id]) =>
      tx.endWith(sql`insert or rollback into things (id) values (${id}), (${id})`.execute(tx.kysely));
    const next: LateWriter<string> = (tx, [id]) =>
      tx.endWith(sql`insert into things (id) values (${id})`.execute(tx.kysely));
    await assert.rejects(
      database.commit(async (tx) => {
        tx.writeLater(ending, 'a');
        tx.writeLater(next, 'b');
      }),
      /UNIQUE/,
    );
    const { rows } = await sql`select id from things`.execute(database.reader.kysely);
    assert.deepEqual(rows, []);
  });

  it('closes the connection when trimming the log fails', async (test) => {
    const database = await openOn(test, 'sqlite');
    const run = DatabaseSync.prototype.exec;
    const failing = test.mock.method(DatabaseSync.prototype, 'exec', function (this: DatabaseSync, text: string) {
      if (text.includes('wal_checkpoint')) throw new Error('disk I/O error');
      run.call(this, text);
    });
    const closing = test.mock.method(DatabaseSync.prototype, 'close');
    await assert.rejects(database.trimLog(), /disk I\/O error/);
    failing.mock.restore();
    assert.equal(closing.mock.callCount(), 1);
  });

  it('returns 503 while another process holds a lock, loses nothing and recovers', async () => {
    const server = await startServer();
    const { call } = await server.account();
    const { body: session } = await call('POST', '/sessions', {});
    await call('POST', `/sessions/${session.sessionId}/connect`);

    const intruder = new DatabaseSync(`${server.home.dataDir}/switchboard.db`);
    intruder.exec('begin immediate');
    const refused = await call('POST', '/messages/send', { to: '491702222222', message: 'while locked' });
    assert.equal(refused.status, 503);
    assert.equal(refused.body.code, 'storage_unavailable');
    assert.ok(refused.headers.get('retry-after'));
    assert.equal((await call('GET', '/messages')).status, 200);
    intruder.exec('rollback');
    intruder.close();

    assert.equal((await call('POST', '/messages/send', { to: '491702222222', message: 'after' })).status, 201);
    const { body: list } = await call('GET', '/messages');
    assert.deepEqual(
      list.data.map(({ message }: { message: string }) => message),
      ['after'],
    );
    await server.stop();
  });

  it('returns 503 when the disk is full, keeps acknowledged data and recovers', async () => {
    const server = await startServer();
    const { call } = await server.account();
    const { body: session } = await call('POST', '/sessions', {});
    await call('POST', `/sessions/${session.sessionId}/connect`);
    const { database } = server.app.services;
    const limit = (pages: number) =>
      database.commit(({ connection }) => connection.query(`pragma max_page_count = ${pages}`, []));

    const acknowledged: string[] = [];
    await limit(1); // SQLite uses the current size instead, so not one page more.
    for (let n = 0; ; n++) {
      const sent = await call('POST', '/messages/send', { to: '491702222222', message: 'x'.repeat(5000) });
      if (sent.status === 503) {
        assert.equal(sent.body.code, 'storage_unavailable');
        break;
      }
      acknowledged.push(sent.body.messageId);
      assert.ok(n < 1000, 'the disk did not fill up');
    }
    await limit(1_000_000);
    assert.equal((await call('POST', '/messages/send', { to: '491702222222', message: 'after' })).status, 201);
    for (const messageId of acknowledged) assert.equal((await call('GET', `/messages/${messageId}`)).status, 200);
    await server.stop();
  });
});
