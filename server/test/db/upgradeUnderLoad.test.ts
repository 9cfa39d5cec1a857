import assert from 'node:assert/strict';
import { it, type TestContext } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';
import { migrate, OlderNodesError } from '../../src/db/migrate.ts';
import { quietPort } from '../docs/quietPort.ts';
import { describeOnEachDatabase, type Home } from '../support/databases/databases.ts';
import {
  type Contents,
  type Credentials,
  openHome,
  type Row,
  readContents,
  restoreFixture,
} from '../support/databases/fixtures.ts';
import { eventually } from '../support/eventually.ts';
import { createFakeClock } from '../support/fakeClock.ts';
import { queryOf } from '../support/processes/nodes.ts';
import { bearer, type Call, startServer, type TestServer } from '../support/server.ts';

/*
 * Upgrades of databases that servers of earlier commits have written, while requests run: schema 1 by a700e59f, and
 * schema 15 by 195315aa, each filled by `writeFixture.ts` of its time. On PostgreSQL, a node of the earlier commit
 * keeps reading and writing alongside the new one.
 */

const BOB = '491700000002';
const SENDS = 40;

/** Rows that the background work of a server removes or moves when it starts. */
const SHORT_LIVED = [/^sandbox_/, /^nodes$/, /^schema_versions$/, /^leases$/, /^login_/, /^early_receipts$/];

/** Values that a server never changes. */
const isFixed = (column: string) =>
  /(^|_)id$|^created_at$|^body$|^kind$|^sha256$|^email$/.test(column) && !column.startsWith('last_');

for (const version of [1, 15]) {
  describeOnEachDatabase(`a database of schema ${version} that is opened while requests run`, (_, database) => {
    it('loses nothing that it had, and nothing that it acknowledges', async (test) => {
      const { home, credentials } = await restoreFixture(version, database);
      const before = await contentsOf(home);
      const port = await quietPort();
      const call = bearer(`http://127.0.0.1:${port}`, credentials.apiKey);
      // The requests begin before the server listens, as at a restart behind a proxy.
      const load = sendMessages(call, credentials);
      const server = await startUpgraded(test, home, credentials, { PORT: String(port) });
      const sent = await load;

      assertIdentitiesKept(before, await contentsOf(home, server));
      const { body } = await call('GET', '/messages?direction=outgoing&limit=200');
      const texts = body.data.map(({ message }: { message: string }) => message);
      for (const text of sent.keys()) assert.equal(texts.filter((one: string) => one === text).length, 1, text);
      for (const [text, messageId] of sent) {
        const again = await call('POST', '/messages/send', { ...draft(credentials, text), idempotencyKey: text });
        assert.equal(again.body.messageId, messageId, 'a repeated request finds its message');
      }
      for (const { message_id, body: text } of before.get('messages') ?? []) {
        const found = await asOwner(server, credentials, `/messages/${message_id}`);
        if (found.status === 200) assert.equal(found.body.message, text);
        else assert.equal(found.status, 404, 'it belongs to another account');
      }
    });
  });
}

it('PostgreSQL: a node of schema 15 reads and writes while a new node upgrades and works', async (test) => {
  const { home, credentials } = await restoreFixture(15, 'postgres');
  const before = await contentsOf(home);
  const old = await OldNode.join(test, home, credentials);
  await old.start();
  const port = await quietPort();
  const call = bearer(`http://127.0.0.1:${port}`, credentials.apiKey);
  const load = sendMessages(call, credentials);
  const server = await startUpgraded(test, home, credentials, { PORT: String(port) });
  const writtenBefore = old.written.length;
  assert.ok(writtenBefore > 0, 'the old node wrote before the upgrade was complete');
  const sent = await load;
  await eventually(
    async () => old.written.length,
    (count) => count >= writtenBefore + 20,
  );
  await old.stop();

  assert.deepEqual(old.failures, []);
  assertIdentitiesKept(before, await contentsOf(home, server));
  for (const [messageId, text] of old.written) {
    const { status, body } = await call('GET', `/messages/${messageId}`);
    assert.equal(status, 200, JSON.stringify(body));
    assert.equal(body.message, text, 'the new node reads messages of the old one');
  }
  for (const [text, messageId] of sent)
    assert.equal(await old.readText(messageId), text, 'the old node reads messages of the new one');
});

it('PostgreSQL: a node of schema 1 keeps an upgrade that breaks it from starting, and goes on working', async (test) => {
  const { home, credentials } = await restoreFixture(1, 'postgres');
  const old = await OldNode.join(test, home, credentials);
  await old.start();
  const before = await contentsOf(home);
  const store = openHome(home);
  test.after(() => store.close());
  await assert.rejects(migrate(store, Date.now), (error) => {
    assert.ok(error instanceof OlderNodesError);
    assert.match(error.message, /nod_old/);
    return true;
  });
  const writtenBefore = old.written.length;
  await eventually(
    async () => old.written.length,
    (count) => count >= writtenBefore + 5,
  );
  await old.stop();
  assert.deepEqual(old.failures, []);
  await old.leave();
  assertIdentitiesKept(before, await contentsOf(home));
  assert.ok((await migrate(store, Date.now)).length > 0, 'the upgrade goes on once the old node has stopped');
});

const draft = ({ sessionId }: Credentials, message: string) => ({ sessionId, to: BOB, message });

/** Sends messages until each is acknowledged, and returns their ids by their texts. */
async function sendMessages(call: Call, credentials: Credentials): Promise<Map<string, string>> {
  const sent = new Map<string, string>();
  const send = async (text: string) => {
    const answer = await eventually(
      async () => {
        // Nothing listens until the upgrade is complete, and the session connects after that.
        const request = call('POST', '/messages/send', { ...draft(credentials, text), idempotencyKey: text });
        return request.catch((error: unknown) => ({ status: 0, body: { detail: String(error) } }));
      },
      ({ status }) => status === 201,
    );
    sent.set(text, answer.body.messageId);
  };
  for (let index = 0; index < SENDS; index += 4)
    await Promise.all([0, 1, 2, 3].map((n) => send(`During the upgrade ${index + n}`)));
  return sent;
}

const TICK_MS = 50;

async function startUpgraded(
  test: TestContext,
  home: Home,
  { encryptionKey, writtenAt }: Credentials,
  env: Record<string, string>,
): Promise<TestServer> {
  // The data would be too old for the real time. Retries need a clock that runs.
  const clock = createFakeClock(writtenAt);
  const ticking = setInterval(() => void clock.advance(TICK_MS), TICK_MS);
  test.after(() => clearInterval(ticking));
  const server = await startServer({
    home,
    clock,
    env: { ENCRYPTION_KEY: encryptionKey, ...env },
  });
  test.after(async () => {
    await server.stop();
    await home.remove();
  });
  return server;
}

async function asOwner(server: TestServer, { email, password }: Credentials, path: string) {
  const { body } = await server.call('POST', '/auth/login', { email, password });
  return bearer(server.url, body.token)('GET', path);
}

async function contentsOf(home: Home, server?: TestServer): Promise<Contents> {
  if (server !== undefined) return readContents(server.app.services.database);
  const store = openHome(home);
  try {
    return await readContents(store);
  } finally {
    await store.close();
  }
}

/** Fails unless every row is still there, with its ids, its text and its time. */
function assertIdentitiesKept(before: Contents, after: Contents): void {
  let count = 0;
  for (const [table, rows] of before) {
    if (SHORT_LIVED.some((pattern) => pattern.test(table))) continue;
    const identity = (row: Row, columns: readonly string[]) => JSON.stringify(columns.map((column) => row[column]));
    const columns = Object.keys(rows[0] ?? {}).filter(isFixed);
    const kept = new Set(after.get(table)?.map((row) => identity(row, columns)));
    for (const row of rows) {
      assert.ok(kept.has(identity(row, columns)), `a row of ${table} is missing: ${JSON.stringify(row)}`);
      count++;
    }
  }
  assert.ok(count > 50, `${count} rows were compared`);
}

/** A lease that ends much later would mean that the clock of the database went back. */
const LEASE_END = '(extract(epoch from clock_timestamp()) * 1000)::bigint + 15000';

/**
 * Uses the database as a node of an earlier commit does: it locks its own row in each transaction, and lists the
 * columns that it knows. It owns no sessions or webhooks.
 */
class OldNode {
  /** The ids and texts of the messages that it has stored. */
  readonly written: (readonly [string, string])[] = [];
  readonly failures: string[] = [];
  readonly #client: pg.Client;
  readonly #columns: readonly string[];
  readonly #template: string;
  #isStopping = false;
  #working: Promise<void> = Promise.resolve();

  private constructor(client: pg.Client, columns: readonly string[], template: string) {
    this.#client = client;
    this.#columns = columns;
    this.#template = template;
  }

  static async join(test: TestContext, home: Home, { messageId }: Credentials): Promise<OldNode> {
    await queryOf(home)(`insert into nodes (node_id, epoch, instance, url, version, carries, joined_at, expires_at)
      values ('nod_old', 1000, 'old:/data', 'http://127.0.0.1:9/', '0.1.0', 0, 1, ${LEASE_END})`);
    const client = new pg.Client({ connectionString: home.databaseUrl });
    await client.connect();
    test.after(() => client.end());
    const { rows } = await client.query<{ name: string }>(
      `select column_name as name from information_schema.columns
       where table_name = 'messages' and is_identity = 'NO' order by ordinal_position`,
    );
    return new OldNode(
      client,
      rows.map(({ name }) => `"${name}"`),
      messageId,
    );
  }

  /** Resolves once it has stored its first message. */
  async start(): Promise<void> {
    this.#working = this.#work();
    await eventually(
      async () => this.written.length,
      (count) => count > 0,
    );
  }

  async stop(): Promise<void> {
    this.#isStopping = true;
    await this.#working;
  }

  /** Gives up its membership, as a node does when it stops. */
  async leave(): Promise<void> {
    await this.#client.query(`delete from nodes where node_id = 'nod_old'`);
  }

  async readText(messageId: string): Promise<string | undefined> {
    const { rows } = await this.#client.query<{ body: string }>({
      name: 'read-message',
      text: `select ${this.#columns.join(', ')} from messages where message_id = $1`,
      values: [messageId],
    });
    return rows[0]?.body;
  }

  async #work(): Promise<void> {
    for (let index = 0; !this.#isStopping; index++) {
      const messageId = `msg_${String(index).padStart(26, '0')}`;
      const text = `Written by the old node ${index}`;
      try {
        await this.#store(messageId, text);
        if ((await this.readText(messageId)) !== text) this.failures.push(`${messageId} was not stored`);
        this.written.push([messageId, text]);
      } catch (error) {
        this.failures.push(String(error));
        await this.#client.query('rollback');
      }
      await this.#client.query(`update nodes set expires_at = ${LEASE_END} where node_id = 'nod_old'`);
      await delay(10); // each message is read again at the end
    }
  }

  async #store(messageId: string, text: string): Promise<void> {
    const replaced: Readonly<Record<string, string>> = { '"message_id"': '$1', '"body"': '$2', '"network_id"': '$1' };
    await this.#client.query('begin');
    const lock = await this.#client.query(`select from nodes where node_id = 'nod_old' and epoch = 1000 for key share`);
    if (lock.rowCount === 0) throw new Error('the old node was evicted');
    await this.#client.query({
      name: 'store-message',
      text: `insert into messages (${this.#columns.join(', ')})
        select ${this.#columns.map((column) => replaced[column] ?? column).join(', ')} from messages where message_id = $3`,
      values: [messageId, text, this.#template],
    });
    await this.#client.query('commit');
  }
}
