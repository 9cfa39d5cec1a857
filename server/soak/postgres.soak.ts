import assert from 'node:assert/strict';
import { join } from 'node:path';
import { it, type TestContext } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';
import { startReceiver } from '../test/support/connections/receiver.ts';
import { type Home, newHome } from '../test/support/databases/databases.ts';
import { type Postgres, startPostgres } from '../test/support/databases/postgres.ts';
import { eventually } from '../test/support/eventually.ts';
import { queryOf } from '../test/support/processes/nodes.ts';
import { bearer } from '../test/support/server.ts';
import { Load } from './load.ts';
import { unpackPreviousVersion } from './previousVersion.ts';
import { SoakServer } from './server.ts';
import { randomFrom, SECONDS, SEED } from './settings.ts';
import { judge } from './verdict.ts';

const NODES = 3;
const HEALED_MS = 1500;
/** Tables that requests, deliveries or leases wait for. */
const TABLES = ['messages', 'events', 'deliveries', 'webhooks', 'sessions', 'chats'];

interface Scene {
  readonly home: Home;
  readonly postgres: Postgres;
  readonly servers: readonly SoakServer[];
  readonly random: () => number;
  readonly load: Load;
}

type Fault = (scene: Scene) => Promise<string>;

const pick = <T>(from: readonly T[], random: () => number): T => from[Math.floor(random() * from.length)] as T;

const newClient = ({ databaseUrl }: Home) => new pg.Client({ connectionString: databaseUrl });

/** Cancels whatever runs, as an administrator or a `statement_timeout` does. */
async function cancelStatements({ home, random }: Scene): Promise<string> {
  const ms = 500 + random() * 2500;
  const table = pick(TABLES, random);
  const [holder, client] = [newClient(home), newClient(home)];
  await Promise.all([holder.connect(), client.connect()]);
  let cancelled = 0;
  try {
    // Statements that write wait for this lock. Without it, most take less than a millisecond and are missed.
    await holder.query(`begin; lock table ${table} in share row exclusive mode`);
    const endsAt = performance.now() + ms; // the lock can be late
    // Within a transaction, PostgreSQL would always show the statements of its first look.
    while (performance.now() < endsAt) {
      const { rows } = await client.query(`select pg_cancel_backend(pid) from pg_stat_activity
        where datname = current_database() and pid <> pg_backend_pid() and state = 'active'`);
      cancelled += rows.length;
    }
  } finally {
    await Promise.all([holder.end(), client.end()]);
  }
  assert.ok(cancelled > 0, `no statement waited for ${table}`);
  return `${cancelled} statements cancelled that waited for ${table} or ran`;
}

/** Locks a table in a transaction of another program. */
async function lockTable({ home, random }: Scene): Promise<string> {
  const table = pick(TABLES, random);
  const mode = pick(['share', 'share row exclusive', 'access exclusive'], random);
  const ms = Math.round(500 + random() * 6000);
  const client = newClient(home);
  await client.connect();
  try {
    await client.query(`begin; lock table ${table} in ${mode} mode`);
    await delay(ms);
    await client.query('rollback');
  } finally {
    await client.end();
  }
  return `${table} locked for ${ms} ms (${mode})`;
}

/** Adds and removes columns, which invalidates the plans of prepared statements. */
async function changeSchema({ home, random }: Scene): Promise<string> {
  const table = pick(TABLES, random);
  // A migration waits for locks only briefly, and tries again.
  const change = (statement: string) =>
    eventually(
      () =>
        queryOf(home)(`set lock_timeout = '1s'; ${statement}`).then(
          () => true,
          () => false,
        ),
      (isDone) => isDone,
    );
  await change(`alter table ${table} add column soak text not null default 'x'`);
  await delay(500 + random() * 1500);
  await change(`alter table ${table} drop column soak`);
  return `a column of ${table} added and dropped`;
}

async function killNode({ servers, random }: Scene): Promise<string> {
  const n = Math.floor(random() * servers.length);
  await servers[n]?.kill();
  await servers[n]?.start();
  return `node ${n} killed`;
}

let deletions = 0;

/** Kills a node while it deletes a session with messages. Nothing of the session may be left. */
async function deleteUnderKill({ home, servers, random }: Scene): Promise<string> {
  const n = Math.floor(random() * servers.length);
  const server = servers[n] as SoakServer;
  const credentials = { email: `deleted${++deletions}@example.com`, password: 'a passphrase that nobody guesses' };
  const { body } = await bearer(server.url, '')('POST', '/auth/register', credentials);
  const call = bearer(server.url, body.token);
  const { sessionId } = (await call('POST', '/sessions', { phoneNumber: `4930${10_000_000 + deletions}` })).body;
  await call('POST', `/sessions/${sessionId}/connect`);
  for (let index = 0; index < 30; index++)
    await call('POST', '/messages/send', { sessionId, to: '493012345678', message: `To be deleted ${index}` });
  const request = call('DELETE', `/sessions/${sessionId}`).catch(() => undefined);
  const afterMs = Math.round(random() * 60);
  await delay(afterMs);
  await server.kill();
  await request;
  await server.start();
  const again = () => bearer(server.url, body.token)('GET', `/sessions/${sessionId}`).catch(() => undefined);
  const before = await eventually(again, (answer) => answer !== undefined && answer.status !== 503);
  // Either the deletion had not begun, or it completes by itself.
  if (before?.status === 200 && before.body.status !== 'deleting')
    await eventually(
      () => bearer(server.url, body.token)('DELETE', `/sessions/${sessionId}`).catch(() => undefined),
      (answer) => answer?.status === 200 || answer?.status === 404,
    );
  await eventually(again, (answer) => answer?.status === 404);
  for (const table of ['sessions', 'messages', 'chats'])
    await eventually(
      () => queryOf(home)(`select 1 from ${table} where session_id = '${sessionId}' limit 1`),
      (rows) => rows.length === 0,
    );
  return `node ${n} killed ${afterMs} ms into the deletion of a session`;
}

/** Works under faults, and judges what callers and receivers saw. */
async function runFaults(test: TestContext, scene: Scene, faults: readonly Fault[]): Promise<void> {
  scene.load.start();
  const happened: string[] = [];
  const endsAt = performance.now() + SECONDS * 1000;
  // Every fault once, even in a short run, then as the seed determines.
  for (let round = 0; round < faults.length || performance.now() < endsAt; round++) {
    const fault = faults[round] ?? pick(faults, scene.random);
    happened.push(await fault(scene));
    await delay(HEALED_MS);
    for (const server of scene.servers) assert.ok(server.isRunning, `a node exited after ${happened.at(-1)}`);
  }
  await scene.load.stop();
  await judge(test, scene.load, happened);
}

it('PostgreSQL nodes lose nothing while statements are cancelled, tables locked and changed, and sessions deleted', async (test) => {
  const scene = await startScene(
    test,
    Array.from({ length: NODES }, () => undefined),
  );
  await runFaults(test, scene, [cancelStatements, lockTable, changeSchema, deleteUnderKill, killNode]);
});

it('PostgreSQL nodes of two versions lose nothing while they work side by side under the same faults', async (test) => {
  const previous = unpackPreviousVersion();
  if (previous === undefined) return test.skip('there is no git history with a previous version');
  test.after(() => previous.remove());
  test.diagnostic(`previous version: ${previous.commit}`);
  // The previous version creates the database, and the next node upgrades it while the first one runs.
  const scene = await startScene(test, [previous.entry, undefined]);
  const versions = [previous.entry, undefined];
  const changeVersion: Fault = async ({ servers, random }) => {
    const n = Math.floor(random() * servers.length);
    const entry = pick(versions, random);
    await servers[n]?.kill();
    servers[n]?.setEntry(entry);
    await servers[n]?.start();
    return `node ${n} killed and started with ${entry === undefined ? 'this' : 'the previous'} version`;
  };
  await runFaults(test, scene, [changeVersion, cancelStatements, lockTable, changeSchema]);
});

it('PostgreSQL nodes lose and repeat nothing from before a backup when it is restored', async (test) => {
  const scene = await startScene(test, [undefined, undefined]);
  const { home, postgres, servers, random } = scene;
  const database = new URL(home.databaseUrl).pathname.slice(1);
  const onServer = (statement: string) => queryOf({ ...home, databaseUrl: `${postgres.url}/postgres` })(statement);
  const copy = async (from: string, to: string) => {
    for (const server of servers) await server.kill();
    await onServer(`select pg_terminate_backend(pid) from pg_stat_activity where datname = '${from}'`);
    await onServer(`drop database if exists ${to} with (force)`);
    await onServer(`create database ${to} template ${from}`);
    for (const server of servers) await server.start();
  };
  const run = async (load: Load) => {
    load.start();
    await delay(1000 + random() * 3000);
    await load.stop();
  };
  await run(scene.load);
  await judge(test, scene.load, ['none']);
  await copy(database, `${database}_backup`);
  // Each load judges the deliveries to its own receiver.
  const newLoad = async (name: string, prefix: string) => {
    const receiver = await startReceiver();
    test.after(() => receiver.close());
    const load = new Load(() => servers.map(({ url }) => url), receiver, name);
    await load.prepare(prefix);
    return load;
  };
  const forgotten = await newLoad('forgotten', '4918');
  await run(forgotten);
  await copy(`${database}_backup`, database);
  const after = await newLoad('after', '4919');
  await run(after);
  await judge(test, after, ['a backup restored']);
  await judge(test, scene.load, ['a backup restored']);
});

/** Starts nodes in this order, each with this version, and prepares a load on them. */
async function startScene(test: TestContext, entries: readonly (string | undefined)[]): Promise<Scene> {
  test.diagnostic(`SOAK_SEED=${SEED} SOAK_SECONDS=${SECONDS}`);
  const postgres = await startPostgres();
  const home = await newHome('postgres', postgres.url);
  const receiver = await startReceiver();
  const servers: SoakServer[] = [];
  test.after(async () => {
    for (const server of servers) await server.kill();
    await receiver.close();
    await home.remove();
    await postgres.remove();
  });
  for (const [n, entry] of entries.entries()) {
    const server = new SoakServer({
      dataDir: join(home.dataDir, `node-${n}`),
      databaseUrl: home.databaseUrl,
      env: { MEDIA_DIR: join(home.dataDir, 'media') },
      ...(entry !== undefined && { entry }),
    });
    servers.push(server);
    await server.start();
  }
  const load = new Load(() => servers.map(({ url }) => url), receiver);
  await load.prepare();
  return { home, postgres, servers, random: randomFrom(SEED), load };
}
