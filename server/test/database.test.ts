import assert from 'node:assert/strict';
import { statSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { describe, it, type TestContext } from 'node:test';
import { sql } from 'kysely';
import { systemClock } from '../src/clock.ts';
import type { LateWriter } from '../src/db/commit.ts';
import { type Database, DataInUseError, openDatabase } from '../src/db/database.ts';
import { query } from '../src/db/query.ts';
import { databaseConformance } from './conformance/database.ts';
import { describeOnEachDatabase, newHome } from './support/databases.ts';
import { startServer } from './support/server.ts';

describeOnEachDatabase('the data layer', databaseConformance);

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
    assert.throws(() => database.trimLog(), /disk I\/O error/);
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
