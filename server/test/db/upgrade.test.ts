import assert from 'node:assert/strict';
import { createHash, randomUUID } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { describe, it, type TestContext } from 'node:test';
import { sql } from 'kysely';
import type { Store } from '../../src/db/dialect.ts';
import { MigrationError, migrate, SchemaMismatchError } from '../../src/db/migrate.ts';
import { migrations, newestShape } from '../../src/db/migrations/index.ts';
import { WrongKeyError } from '../../src/db/sealing.ts';
import { fingerprintOf, readShape } from '../../src/db/shape.ts';
import { createLog } from '../../src/log.ts';
import { type DatabaseName, describeOnEachDatabase, emptyHome, type Home } from '../support/databases/databases.ts';
import {
  assertKept,
  type Changes,
  type Contents,
  openHome,
  type Row,
  readContents,
  restoreFixture,
} from '../support/databases/fixtures.ts';
import { eventually } from '../support/eventually.ts';
import { createFakeClock } from '../support/fakeClock.ts';
import { queryOf } from '../support/processes/nodes.ts';
import { bearer, eventOf, sharedSandbox, startServer } from '../support/server.ts';

/**
 * The rows of earlier schemas that a migration changes. A migration that only adds something needs no entry: the tests
 * below run it on the fixtures once it is in the list of migrations.
 */
function changesUpTo(after: Contents): Changes {
  const ownerOf = (number: unknown) =>
    after.get('sandbox_numbers')?.find((row) => row['number'] === number)?.['session_id'];
  return {
    deliveries: (row) => ({ table: 'deliveries', row: isDueAtOnce(row) ? { ...row, due_at: 0 } : row }),
    sandbox_post({ post_id: _, number, receipt_to, is_counted: __, ...row }) {
      const session_id = ownerOf(number);
      if (session_id === undefined) return undefined; // the number is not registered
      return { table: 'sandbox_mailbox', row: { ...row, session_id, receipt_to: ownerOf(receipt_to) ?? null } };
    },
    sandbox_receipts: () => undefined, // counted the contents of the mailboxes
    sandbox_profiles: ({ state, ...row }) => ({ table: 'sandbox_numbers', row: { ...row, profile: state } }),
  };
}

/** Whether a delivery has neither been tried nor queued for a replay. */
const isDueAtOnce = ({ state, attempts, due_at, created_at }: Row) =>
  state === 'pending' && attempts === 0 && Number(due_at) <= Number(created_at);

describeOnEachFixture((version, database) => {
  it('keeps every row through every migration', async (test) => {
    const { home } = await restoreFixture(version, database);
    const store = openStore(test, home);
    const before = await readContents(store);
    const isInMemory = (table: string) => database === 'sqlite' && version === 4 && table.startsWith('sandbox_');
    for (const [table, rows] of before) assert.ok(rows.length > 0 || isInMemory(table), table);
    const applied = await migrate(store, Date.now);
    assert.deepEqual(
      applied,
      migrations.map(({ version }) => version).filter((one) => one > version),
    );
    const after = await readContents(store);
    assertKept(before, after, changesUpTo(after));
    const queue = (contents: Contents, columns: readonly string[]) =>
      (contents.get('deliveries') ?? [])
        .filter(({ state, attempts }) => state === 'pending' && attempts === 0)
        .sort((a, b) => compare(a, b, ['webhook_id', ...columns]))
        .map(({ delivery_id }) => delivery_id);
    assert.deepEqual(
      queue(after, ['due_at', 'position', 'delivery_id']),
      queue(before, version < 3 ? ['due_at', 'delivery_id'] : ['due_at', 'position', 'delivery_id']),
      'pending deliveries keep their order',
    );
  });

  it('is not upgraded without its encryption key', async (test) => {
    const { home } = await restoreFixture(version, database);
    const store = openStore(test, home);
    const versions = () => sql<{ version: number }>`select version from schema_versions`.execute(store.reader.kysely);
    const before = (await versions()).rows;
    await assert.rejects(startServer({ home, env: { ENCRYPTION_KEY: '' } }), WrongKeyError);
    assert.deepEqual((await versions()).rows, before);
  });

  it('opens in the server with its accounts, keys, messages, search and pending deliveries', async (test) => {
    const { home, credentials } = await restoreFixture(version, database);
    const clock = createFakeClock(credentials.writtenAt);
    const lines: Row[] = [];
    const log = createLog('info', { write: (line) => void lines.push(JSON.parse(line)) });
    const server = await startServer({ home, clock, log, env: { ENCRYPTION_KEY: credentials.encryptionKey } });
    test.after(async () => {
      await server.stop();
      await home.remove();
    });
    const newest = migrations.at(-1)?.version;
    assert.deepEqual(
      lines.filter(({ msg }) => msg === 'upgraded database schema').map(({ from, to, ms }) => [from, to, typeof ms]),
      version === newest ? [] : [[version, newest, 'number']],
    );
    const { email, password, apiKey, sessionId, webhookId, messageId } = credentials;
    const login = await server.call('POST', '/auth/login', { email, password });
    assert.equal(login.status, 200);
    const asOwner = bearer(server.url, login.body.token);

    const call = bearer(server.url, apiKey);
    const { body: found } = await call('GET', '/messages?q=quick%20fox');
    const isFound = ({ data }: { data: { messageId: string }[] }) => data.some((one) => one.messageId === messageId);
    assert.ok(isFound(found));
    const { reader } = server.app.services.database;
    if (reader.dialect.search.buckets !== undefined) {
      const former = () => reader.kysely.selectFrom('message_words').select('rowid').execute();
      await eventually(former, (rows) => rows.length === 0);
      assert.ok(isFound((await call('GET', '/messages?q=quick%20fox')).body), 'after its words have moved');
    }
    const { body: settled } = await asOwner('GET', '/webhooks/deliveries?states=delivered&limit=1');
    const { body: delivered } = await asOwner('GET', `/webhooks/deliveries/${settled.data[0].deliveryId}`);
    assert.equal(delivered.attemptLog.length, delivered.attempts, 'attempts of earlier versions are listed');
    const { body: webhook } = await asOwner('GET', `/webhooks/endpoints/${webhookId}`);
    assert.deepEqual([webhook.sessionIds, webhook.metadata], [null, {}], 'receives the events of all sessions');
    const { filters, headerNames, timeoutMs, retrySeconds, paused, pausedReason } = webhook;
    assert.deepEqual(
      [filters, headerNames, timeoutMs, retrySeconds, paused, pausedReason],
      [null, [], null, null, false, null],
    );
    assert.deepEqual([webhook.destination, webhook.credentialNames], [{ type: 'http' }, []]);
    const { body: keys } = await asOwner('GET', '/api-keys');
    for (const key of keys.data) {
      const { sessionIds, allowedIps, allowedRecipients, sendQuota, confirm, requiresApproval } = key;
      const limits = [sessionIds, allowedIps, allowedRecipients, sendQuota, confirm, requiresApproval];
      assert.deepEqual(limits, [null, null, null, null, null, false]);
    }
    const { body: events } = await asOwner('GET', '/events?limit=200');
    assert.ok(events.data.length > 0);
    const message = { sessionId, to: '491700000002', message: 'After the upgrade', idempotencyKey: 'upgrade' };
    const sent = await eventually(
      () => call('POST', '/messages/send', message),
      ({ status }) => status === 201, // the session is reconnecting until then
    );
    const { body: list } = await call('GET', '/messages');
    assert.equal(list.data[0].messageId, sent.body.messageId, 'newest message first');

    // A message that was queued before the upgrade may be sent meanwhile.
    const { body: news } = await eventually(
      () => asOwner('GET', `/events?events=message.sent&afterCursor=${events.nextCursor}`),
      ({ body }) =>
        body.data.some(({ data }: { data: { messageId: string } }) => data.messageId === sent.body.messageId),
    );
    const before = new Set(events.data.map(({ eventId }: { eventId: string }) => eventId));
    const again = news.data.filter(({ eventId }: { eventId: string }) => before.has(eventId));
    assert.deepEqual(again, [], 'the log continues after an earlier cursor');

    const pending = await server.app.services.database.reader.kysely
      .selectFrom('deliveries')
      .select('delivery_id')
      .where('webhook_id', '=', webhookId)
      .where('state', '=', 'pending')
      .execute();
    assert.ok(pending.length > 0);
  });
});

describeOnEachDatabase('a database of schema 4', (_, database) => {
  it('delivers the pending mail of a disconnected sandbox session', async (test) => {
    const { home, credentials } = await restoreFixture(4, database);
    const { encryptionKey, password, sessionId, away } = credentials;
    assert.ok(away !== undefined);
    const clock = createFakeClock(credentials.writtenAt);
    const server = await startServer({ home, clock, env: { ...sharedSandbox, ENCRYPTION_KEY: encryptionKey } });
    test.after(async () => {
      await server.stop();
      await home.remove();
    });
    const loginOf = async (email: string) =>
      bearer(server.url, (await server.call('POST', '/auth/login', { email, password })).body.token);
    const [alice, bob] = [await loginOf(credentials.email), await loginOf(away.email)];
    const isSaid = (text: string) => (data: { message: string }) => data.message === text;
    const edited = isSaid('While Bob was away');

    assert.equal((await bob('POST', `/sessions/${away.sessionId}/connect`)).body.status, 'connected');
    await eventOf(bob, 'message.incoming', isSaid('To the crew'));
    const incoming = await eventually(
      () => bob('GET', '/messages?direction=incoming&limit=200'),
      ({ body }) => body.data.some(edited),
    );
    const waited = incoming.body.data.filter((data: { message: string }) => /While Bob|To the crew/.test(data.message));
    assert.equal(waited.length, 2, 'each once');
    await eventually(
      () => alice('GET', `/messages?sessionId=${sessionId}&direction=outgoing&limit=200`),
      ({ body }) => body.data.find(edited)?.status === 'delivered',
    );
    const { body: profile } = await bob('GET', '/contacts/491700000001/profile');
    assert.equal(profile.about, 'On call');
    if (database === 'postgres') await eventOf(bob, 'group.updated', ({ subject }) => subject === 'Night crew');
    const left = () => server.app.services.database.reader.kysely.selectFrom('sandbox_mailbox').selectAll().execute();
    await eventually(left, (mail) => mail.length === 0);
  });
});

/** Opens a database, which is removed after the test. */
function openStore(test: TestContext, home: Home) {
  const store = openHome(home);
  test.after(async () => {
    await store.close();
    await home.remove();
  });
  return store;
}

/** Migrates to the schema before this one. */
const migrateBefore = (store: ReturnType<typeof openHome>, schema: number) =>
  migrate(
    store,
    Date.now,
    migrations.filter(({ version }) => version < schema),
  );

/** Runs a suite on every fixture: a database written by a server with that schema. */
function describeOnEachFixture(suite: (version: number, database: DatabaseName) => void): void {
  for (const version of [1, 4, 15])
    describeOnEachDatabase(`a database of schema ${version}`, (_, database) => suite(version, database));
}

/** Orders rows by columns. */
function compare(a: Row, b: Row, columns: readonly string[]): number {
  for (const column of columns) {
    const [left, right] = [a[column], b[column]] as [string, string] | [number, number]; // columns of an index
    if (left !== right) return left < right ? -1 : 1;
  }
  return 0;
}

/** Databases created by these migrations exist, so a schema change is a new file in `server/src/db/migrations`. */
const FROZEN = {
  sqlite: {
    1: '5b794828e14e8b06667048211a10c9c32ce552eeb08b07318283e138e1d2c9fd',
    2: '1c370371f8935bee0e12183565828cdb682725862a8037202900ec0cbdf67e49',
    3: '5362b1d5f9c4868df23906ff9e69ce15bc162537fc30277595007d3c151d959d',
    4: 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855',
    5: '71a7bc4c80b859367f6c9b635969c6d5116cdf95fec574f4c3e11dfe2e7548c0',
    6: '3f5ae3534c487d445b8f1660394734293d6e577b4326e240a447e4c3f7a025e8',
    7: '39e6c90f05bc7212515d56e6c73ab0717ff25e5b06e2693b690097f86783f09a',
    8: 'd4361656bded7cd936416474d1a5cbaf1e6599b3c73deee96469ed67a987bd99',
    9: 'dfe32f64307c07843a23e5724d8068274bdcc714d2458d88ee34edebfe7296ce',
    10: '7fb0cbaa5c0da39b4fdf0ca1bc8f4c27cf056b65f9192235eb8fc4cf202d5d32',
    11: '54e9a2236f32d6de938a39c68306c19eb3ce53f97a440f14fd1fb25b5b572cae',
    12: '3b258cc38c8fae332a21e604d2d31c52ac1c1f6257a2c72f69aa13860f60db5c',
    13: '652fd8952d784fcfa770fa941899ac7fa706d86ae6855d0e7d37ae8aaf62b695',
    14: '23b0d82dc3ec3aebbf16991ea7129ba333a78419c5865285c64b6a3d375cbe3d',
    15: 'db5eaffd98a1ffe8e6eca31d8d02a9838eba6399d4268d585c82d21622566b62',
    16: '4e9dadaa8207974ef5b1d282028f99ec92b911986eef42573f6005525afc87ef',
    17: '2b72363131fb7e44bdd399261c865d56946f4777d24e39a8ef60a5c08bc9a380',
    18: '8f6ff1a0651849e997be7ac2110921503c08b9a7c9828f066fea5b718ef2996c',
    19: 'e2a16dc0065421e38a3d5dff0bed3c33c2b9ba96ab84dddb53e365ded52265e3',
    20: '620667de17014b9021f5804d66d09de1e9ea632af92ad32a92f48c61412fd7b9',
    21: 'dbd7cc158acfdce25e800e1fd3df725b8c4667110e5cd967b5fad2b4634371c9',
    22: '85cbd04b4e4fbb4ca437d70790761e9442f42e98233563adc9954de79594597e',
    23: 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855',
    24: '31b68d008a208375763eff536e03859c42bc7c6a702039a1b1a4ffae0bac29ed',
    25: '27ad78db3729d3d1b771ede899b93fa9c3b0b982de9b66723d1f2e1d339a7f7d',
    26: 'c4a3542397e6966b9205f6f6275bfd7786eecbf80eca58b9eaf2a575e8e0d2db',
    27: 'f8a241641b7e307da8e36001ce7101b5e6106205c0348014bde9069bf44e380a',
    28: 'dcc00980d24ab432f197127ae0d7758c8028fb351b7e73210c43bd750ebb5aff',
    29: 'f1c3fb56a6252bb88c0306f382f4290d6ee5c6d2c915ef7563c5262aa7c7f640',
    30: 'f4e7ce5462d87bc50096d775a913fc41931254dde2fa71c9136ef0982a1bca41',
    31: '750a7abe2d0865b2359e9966344c040f6c93da8e669ac56cef1f38d1ece56c3b',
    32: 'fa1ec3c50fb9ad9e7407a17f880c77583a6654c484b6d844f0d0fdc0fc5dc962',
    33: '3955886f48aadaa2dc25e1bdde5985a23d66ec1e5ae78ae656644252c13e4a9b',
    34: '7db0630070e8cfccd5cc95f7ce90b98be3d0abc1862de32eadaa38137dc449bb',
    35: '161588d4b621ba1cbc0618c363f5a788659519f7b6c16f07b4240b9c5982ba9b',
    36: 'a681dca66182f4d4d03e6fbb5c947bd717506ee63105cde2f4af0b2bad301f53',
    37: 'bf54363a27b3dd38c700802e9012392b102a1151b365c58656a3b5d1910d9ab6',
    38: '301ed9c1dae99b3db298f4c69f4fc566a9dabd98877590bcfdad7cdac0a9cc08',
    39: 'a2e783fc6604f5ea46a97f36974c3ac6da80ff9190feb557146399e963d57782',
    40: '321b7fb35de106b7ed4422f4a5847122f7c605cbee4407f86348a8f838be5cc5',
    41: '8a65aafb9a71b283b33477e7570d585e15841c5cf122ce5ecf80d8521606f2c0',
    42: 'b4d8a2764a60c12e7571fd84c42b3759d8d1284bd5a914d49c23f49c09ef6075',
    43: '619c3f14b7f39e16fa558e180474823dcf5408f6bdfd14453ee03caeb780c963',
    44: '273a808a91a257b45345066082a6edba922aedca2e7805ba1822db7539e51035',
    45: '545216a60ef2fc90c33dec07fdf1aaa39ee45802db816d0e508a78ed434871f9',
    46: '31fd6b8dc3babe9e50ad8586cfa6cac1505f59c8c2fbbe689c9c24f4118ce19c',
    47: 'a8cfd48e6dea4715240111fb2cb5abb1ae6aefd2e38fa8a869e93cd5f8d1438f',
    48: '209f51f29fe88a3d3fbf221f6d2c0261f658e4b9fe091be3ce110b9af2cc4162',
    49: '7398ec420af0c8c93516d8a728fe1d1e723f8bb502d5fda002da5d5f16950862',
  },
  postgres: {
    1: 'e914f695888fbaafe7648bfef48079236e243a619c4043145f31de8c78779152',
    2: '1c370371f8935bee0e12183565828cdb682725862a8037202900ec0cbdf67e49',
    3: 'c0289d0635596c31d4b797a81a4944c552313af166c90f39f2c9d1ee6fee15b2',
    4: '505f1192312614736d2438e706e3b0758b71b8376997d6a676c4dc1594edc945',
    5: '2e81590db67c8d20dee769ab6dc0ab82748846918f7ccd0b12a8da17e8f6861e',
    6: '3f5ae3534c487d445b8f1660394734293d6e577b4326e240a447e4c3f7a025e8',
    7: '39e6c90f05bc7212515d56e6c73ab0717ff25e5b06e2693b690097f86783f09a',
    8: 'd4361656bded7cd936416474d1a5cbaf1e6599b3c73deee96469ed67a987bd99',
    9: 'dfe32f64307c07843a23e5724d8068274bdcc714d2458d88ee34edebfe7296ce',
    10: '7fb0cbaa5c0da39b4fdf0ca1bc8f4c27cf056b65f9192235eb8fc4cf202d5d32',
    11: '54e9a2236f32d6de938a39c68306c19eb3ce53f97a440f14fd1fb25b5b572cae',
    12: '3b258cc38c8fae332a21e604d2d31c52ac1c1f6257a2c72f69aa13860f60db5c',
    13: '652fd8952d784fcfa770fa941899ac7fa706d86ae6855d0e7d37ae8aaf62b695',
    14: '23b0d82dc3ec3aebbf16991ea7129ba333a78419c5865285c64b6a3d375cbe3d',
    15: 'db5eaffd98a1ffe8e6eca31d8d02a9838eba6399d4268d585c82d21622566b62',
    16: '4e9dadaa8207974ef5b1d282028f99ec92b911986eef42573f6005525afc87ef',
    17: '8a2b84a8d224b4aa290c25502f3872a1db4b69dcd296b3b7497f748e74b354c4',
    18: '8f6ff1a0651849e997be7ac2110921503c08b9a7c9828f066fea5b718ef2996c',
    19: 'e2a16dc0065421e38a3d5dff0bed3c33c2b9ba96ab84dddb53e365ded52265e3',
    20: '49034dbbd87979c0fe96de5d06abe171e13e462cc223d9c0ba4c412afd55d71c',
    21: 'dbd7cc158acfdce25e800e1fd3df725b8c4667110e5cd967b5fad2b4634371c9',
    22: '7e7d83c8bba3ef1322d4ef9e1f7a4562aef284a93683d9d9368ac84cb040cdf1',
    23: 'de9e2c9e4875bacbe2cd1aff7d6305027fc4c0f67ce354c5aea61cdf382c500f',
    24: '31b68d008a208375763eff536e03859c42bc7c6a702039a1b1a4ffae0bac29ed',
    25: '27ad78db3729d3d1b771ede899b93fa9c3b0b982de9b66723d1f2e1d339a7f7d',
    26: '72cf11f5f6a3b29ef756579c7b15a9a8063d204e8a13790a78d3aacbbfd47ab3',
    27: 'f8a241641b7e307da8e36001ce7101b5e6106205c0348014bde9069bf44e380a',
    28: 'dcc00980d24ab432f197127ae0d7758c8028fb351b7e73210c43bd750ebb5aff',
    29: '7860b8c02836ede3aba1f2d8836632da2cb7961e5e3f9ba3820d2ca15d7764b1',
    30: 'f4e7ce5462d87bc50096d775a913fc41931254dde2fa71c9136ef0982a1bca41',
    31: 'e942b6d7fbd3f88ca11e5005dd8effd141195952afc0d8c53a6d731a2c917df1',
    32: 'fa1ec3c50fb9ad9e7407a17f880c77583a6654c484b6d844f0d0fdc0fc5dc962',
    33: '3955886f48aadaa2dc25e1bdde5985a23d66ec1e5ae78ae656644252c13e4a9b',
    34: 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855',
    35: '161588d4b621ba1cbc0618c363f5a788659519f7b6c16f07b4240b9c5982ba9b',
    36: 'a681dca66182f4d4d03e6fbb5c947bd717506ee63105cde2f4af0b2bad301f53',
    37: 'bf54363a27b3dd38c700802e9012392b102a1151b365c58656a3b5d1910d9ab6',
    38: '301ed9c1dae99b3db298f4c69f4fc566a9dabd98877590bcfdad7cdac0a9cc08',
    39: 'a2e783fc6604f5ea46a97f36974c3ac6da80ff9190feb557146399e963d57782',
    40: '321b7fb35de106b7ed4422f4a5847122f7c605cbee4407f86348a8f838be5cc5',
    41: '8a65aafb9a71b283b33477e7570d585e15841c5cf122ce5ecf80d8521606f2c0',
    42: 'b4d8a2764a60c12e7571fd84c42b3759d8d1284bd5a914d49c23f49c09ef6075',
    43: '619c3f14b7f39e16fa558e180474823dcf5408f6bdfd14453ee03caeb780c963',
    44: '273a808a91a257b45345066082a6edba922aedca2e7805ba1822db7539e51035',
    45: '545216a60ef2fc90c33dec07fdf1aaa39ee45802db816d0e508a78ed434871f9',
    46: '31fd6b8dc3babe9e50ad8586cfa6cac1505f59c8c2fbbe689c9c24f4118ce19c',
    47: 'a8cfd48e6dea4715240111fb2cb5abb1ae6aefd2e38fa8a869e93cd5f8d1438f',
    48: '209f51f29fe88a3d3fbf221f6d2c0261f658e4b9fe091be3ce110b9af2cc4162',
    49: '7398ec420af0c8c93516d8a728fe1d1e723f8bb502d5fda002da5d5f16950862',
  },
};

it('numbers migrations without gaps', () => {
  assert.deepEqual(
    migrations.map(({ version }) => version),
    Array.from(migrations, (_, index) => index + 1),
  );
});

describeOnEachDatabase('a released migration', (_, database) => {
  it('never changes', async (test) => {
    const store = openStore(test, await emptyHome(database));
    const hashes = migrations.map(({ version, statements }) => [
      version,
      createHash('sha256').update(statements(store.dialect).join(';\n')).digest('hex'),
    ]);
    assert.deepEqual(Object.fromEntries(hashes), FROZEN[database]);
  });

  it('creates the tables that a start expects', async (test) => {
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

describeOnEachDatabase('an upgrade to schema 37', (_, database) => {
  it('counts the chats that sessions have started, in the ten minutes of their start', async (test) => {
    const store = openStore(test, await emptyHome(database));
    await migrateBefore(store, 37);
    const owner = `'acc_1', 'ses_1'`;
    const tx = await store.begin();
    for (const statement of [
      `insert into session_activity (account_id, session_id, at, sent, failed, unreachable, peak, look_ups,
        block_reports, spam_limits, restrictions) values (${owner}, 600000, 5, 1, 0, 2, 0, 0, 0, 0)`,
      `insert into started_chats (account_id, session_id, chat_id, started_at, answered_at) values
        (${owner}, '1', 600000, null), (${owner}, '2', 1199999, 1300000), (${owner}, '3', 1200000, 1300000)`,
    ])
      await tx.connection.query(statement, []);
    await tx.commit();
    const upgrades = migrations.flatMap(({ version }) => (version < 37 ? [] : [version]));
    assert.deepEqual(await migrate(store, Date.now), upgrades);
    const rows = await store.reader.kysely.selectFrom('session_activity').selectAll().orderBy('at').execute();
    assert.deepEqual(
      rows.map((row) => [row.at, row.sent, row.new_chats, row.answered_chats, row.unreadable]),
      [
        [600_000, 5, 2, 1, 0],
        [1_200_000, 0, 1, 1, 0],
      ],
    );
  });
});

describeOnEachDatabase('an upgrade to schema 43', (_, database) => {
  it('keeps contacts and failed messages, whose ids, error codes and ads are unknown', async (test) => {
    const store = openStore(test, await emptyHome(database));
    await migrateBefore(store, 43);
    const tx = await store.begin();
    for (const statement of [
      `insert into contacts (account_id, session_id, phone_number, name, blocked) values ('acc_1', 'ses_1', '1', 'Ann', 0)`,
      `insert into messages (account_id, message_id, session_id, chat_id, network_id, direction, type, from_number, to_id,
        body, content, status, error, timestamp, created_at) values ('acc_1', 'msg_1', 'ses_1', '1', 'net1', 'outgoing',
        'text', '2', '1', 'hello', null, 'failed', 'Nobody is there', 1, 1)`,
    ])
      await tx.connection.query(statement, []);
    await tx.commit();
    const upgrades = migrations.flatMap(({ version }) => (version < 43 ? [] : [version]));
    assert.deepEqual(await migrate(store, Date.now), upgrades);
    const { kysely } = store.reader;
    const [contact = assert.fail()] = await kysely.selectFrom('contacts').selectAll().execute();
    assert.deepEqual([contact.name, contact.user_id, contact.user_name], ['Ann', null, null]);
    const [message = assert.fail()] = await kysely.selectFrom('messages').selectAll().execute();
    assert.deepEqual([message.error, message.error_code, message.ad_id], ['Nobody is there', null, null]);
  });
});

describeOnEachDatabase('an upgrade to schema 45', (_, database) => {
  it('keeps chats findable by the ads of their messages', async (test) => {
    const store = openStore(test, await emptyHome(database));
    await migrateBefore(store, 45);
    const insert = async (...messages: readonly [id: string, ad: string][]) => {
      const tx = await store.begin();
      for (const [id, ad] of messages)
        await tx.connection.query(
          `insert into messages (account_id, message_id, session_id, chat_id, network_id, direction, type, from_number,
            to_id, body, status, timestamp, created_at, ad_id) values ('acc_1', '${id}', 'ses_1', '1', '${id}',
            'incoming', 'text', '1', '2', 'hello', 'read', 1, 1, ${ad})`,
          [],
        );
      await tx.commit();
    };
    await insert(['msg_1', "'7'"], ['msg_2', "'7'"], ['msg_3', 'null']);
    const upgrades = migrations.flatMap(({ version }) => (version < 45 ? [] : [version]));
    assert.deepEqual(await migrate(store, Date.now), upgrades);
    const ads = await store.reader.kysely.selectFrom('chat_ads').selectAll().execute();
    assert.deepEqual(
      ads.map(({ account_id, session_id, chat_id, ad_id }) => [account_id, session_id, chat_id, ad_id]),
      [['acc_1', 'ses_1', '1', '7']],
    );
    // A node of the previous release stores a message, and the documented statement adds its ad.
    await insert(['msg_4', "'8'"], ['msg_5', "'7'"]);
    const guide = await readFile(new URL('../../../docs/upgrade.md', import.meta.url), 'utf8');
    const statement = /```sql\n(insert into chat_ads [^;]+);/.exec(guide)?.[1] ?? assert.fail();
    const tx = await store.begin();
    await tx.connection.query(statement, []);
    await tx.commit();
    const all = await store.reader.kysely.selectFrom('chat_ads').select('ad_id').orderBy('ad_id').execute();
    assert.deepEqual(
      all.map(({ ad_id }) => ad_id),
      ['7', '8'],
    );
  });
});

describeOnEachDatabase('an upgrade to schema 46', (_, database) => {
  it('keeps accounts and webhooks, without a link key and without files in deliveries', async (test) => {
    const store = openStore(test, await emptyHome(database));
    await migrateBefore(store, 46);
    const tx = await store.begin();
    for (const statement of [
      `insert into accounts (account_id, email, password_hash, token_version, created_at) values
        ('acc_1', 'a@example.com', 'x', 1, 1)`,
      `insert into webhooks (account_id, webhook_id, is_default, url, destination, events, metadata, accept_redirects,
        paused, deaths, ordering, enabled, max_in_flight, breaker_state, breaker_generation, breaker, created_at,
        updated_at, lease_generation) values ('acc_1', 'whk_1', 1, 'https://example.com', '{}', '[]', '{}', 0, 0, 0,
        'best_effort', 1, 8, 'closed', 0, '{}', 1, 1, 0)`,
    ])
      await tx.connection.query(statement, []);
    await tx.commit();
    await migrate(store, Date.now);
    const { kysely } = store.reader;
    const [account = assert.fail()] = await kysely.selectFrom('accounts').selectAll().execute();
    assert.deepEqual([account.email, account.link_salt], ['a@example.com', null]);
    const [webhook = assert.fail()] = await kysely.selectFrom('webhooks').selectAll().execute();
    assert.deepEqual([webhook.url, Number(webhook.inline_media_bytes)], ['https://example.com', 0]);
  });
});

describeOnEachDatabase('an upgrade to schema 47', (_, database) => {
  it('keeps chats, without metadata', async (test) => {
    const store = openStore(test, await emptyHome(database));
    await migrateBefore(store, 47);
    const tx = await store.begin();
    await tx.connection.query(
      `insert into chats (account_id, session_id, chat_id, type, unread_count, archived, pinned)
        values ('acc_1', 'ses_1', '491701234567', 'direct', 2, 0, 1)`,
      [],
    );
    await tx.commit();
    await migrate(store, Date.now);
    const [chat = assert.fail()] = await store.reader.kysely.selectFrom('chats').selectAll().execute();
    assert.deepEqual([chat.chat_id, Number(chat.unread_count), chat.metadata], ['491701234567', 2, '{}']);
  });
});

describeOnEachDatabase('an upgrade to schema 49', (_, database) => {
  it('keeps webhooks, which never expire', async (test) => {
    const store = openStore(test, await emptyHome(database));
    await migrateBefore(store, 49);
    const tx = await store.begin();
    await tx.connection.query(
      `insert into webhooks (account_id, webhook_id, is_default, url, destination, events, metadata, accept_redirects,
        paused, deaths, ordering, enabled, max_in_flight, breaker_state, breaker_generation, breaker, created_at,
        updated_at, lease_generation) values ('acc_1', 'whk_1', 0, 'https://example.com', '{}', '[]', '{}', 0, 0, 0,
        'best_effort', 1, 8, 'closed', 0, '{}', 1, 1, 0)`,
      [],
    );
    await tx.commit();
    await migrate(store, Date.now);
    const [webhook = assert.fail()] = await store.reader.kysely.selectFrom('webhooks').selectAll().execute();
    assert.deepEqual([webhook.webhook_id, webhook.remove_at], ['whk_1', null]);
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
      assert.match(error.message, /^The upgrade to schema version 1 \(foundation\) failed: .*already exists/);
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
