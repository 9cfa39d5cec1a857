import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { describe, it, type TestContext } from 'node:test';
import type { Store } from '../../src/db/dialect.ts';
import { EarlierSchemaError, MigrationError, migrate, SchemaMismatchError } from '../../src/db/migrate.ts';
import { migrations, newestShape } from '../../src/db/migrations/index.ts';
import { fingerprintOf, readShape } from '../../src/db/shape.ts';
import { describeOnEachDatabase, emptyHome, type Home } from '../support/databases/databases.ts';
import { openHome, readContents, restoreFixture } from '../support/databases/fixtures.ts';
import { queryOf } from '../support/processes/nodes.ts';

/** Opens a database, which is removed after the test. */
function openStore(test: TestContext, home: Home) {
  const store = openHome(home);
  test.after(async () => {
    await store.close();
    await home.remove();
  });
  return store;
}

it('numbers migrations without gaps', () => {
  const versions = migrations.map(({ version }) => version);
  assert.deepEqual(
    versions,
    versions.map((_, index) => (versions[0] ?? 0) + index),
  );
});

describeOnEachDatabase('the migrations', (_, database) => {
  it('create the tables that a start expects', async (test) => {
    const store = openStore(test, await emptyHome(database));
    await migrate(store, Date.now);
    assert.equal(fingerprintOf(await readShape(store.reader)), newestShape[database]);
    await migrate(withoutScratch(store), Date.now);
  });
});

/** The same database, but its dialect cannot create tables for a comparison. */
function withoutScratch(store: Store): Store {
  const inScratch = () => assert.fail('compared with new tables');
  const dialect = { ...store.dialect, shape: { ...store.dialect.shape, inScratch } };
  const begin = async () => {
    const transaction = await store.begin();
    return {
      ...transaction,
      dialect,
      commit: () => transaction.commit(),
      rollback: () => transaction.rollback(),
    };
  };
  return { ...store, dialect, begin };
}

describeOnEachDatabase('a database from before the first release', (_, database) => {
  it('is refused, and nothing in it changes', async (test) => {
    const { home } = await restoreFixture(15, database);
    const store = openStore(test, home);
    const before = await readContents(store);
    await assert.rejects(migrate(store, Date.now), (error) => {
      assert.ok(error instanceof EarlierSchemaError);
      assert.match(error.message, /schema version 15, .*`switchboard upgrade`/);
      return true;
    });
    assert.deepEqual(await readContents(store), before);
  });
});

describeOnEachDatabase('a failed upgrade', (_, database) => {
  it('names the failed step and the cause, and changes nothing', async (test) => {
    const store = openStore(test, await emptyHome(database));
    await migrate(store, Date.now);
    const tx = await store.begin();
    await tx.connection.query('delete from schema_versions', []);
    await tx.commit();
    const before = await readContents(store);
    await assert.rejects(migrate(store, Date.now), (error) => {
      assert.ok(error instanceof MigrationError);
      assert.match(error.message, /^The upgrade to schema version 50 \(foundation\) failed: .*already exists/);
      assert.match(error.message, /records version 0, but its tables may be those of another version\. Nothing was/);
      return true;
    });
    assert.deepEqual(await readContents(store), before);
  });
});

describe('PostgreSQL', () => {
  it('compares the tables as a role that cannot create schemas', async (test) => {
    const home = await emptyHome('postgres');
    const owner = openHome(home);
    await migrate(owner, Date.now);
    const role = `limited_${randomUUID().replaceAll('-', '')}`;
    const asOwner = queryOf(home);
    const clients = [owner];
    test.after(async () => {
      for (const client of clients) await client.close();
      // Roles belong to the whole cluster.
      await asOwner(`drop owned by ${role}; drop role ${role}`);
      await home.remove();
    });
    await asOwner(`create role ${role} login password 'limited'; grant all on all tables in schema public to ${role};
      grant usage, create on schema public to ${role}; revoke create on database ${new URL(home.databaseUrl).pathname.slice(1)} from public`);
    const url = new URL(home.databaseUrl);
    url.username = role;
    url.password = 'limited';
    const limited = openHome({ ...home, databaseUrl: url.href });
    clients.push(limited);
    assert.deepEqual(await migrate(limited, Date.now), []);
    await asOwner('drop index messages_from');
    await assert.rejects(migrate(limited, Date.now), SchemaMismatchError);
  });
});
