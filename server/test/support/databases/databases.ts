import { randomUUID } from 'node:crypto';
import { cpSync, mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { describe } from 'node:test';
import pg from 'pg';
import { homesFolder } from './homes.ts';

/** The place of a test's data, as in the settings of the server. */
export interface Home {
  readonly databaseUrl: string;
  readonly dataDir: string;
  remove(): Promise<void>;
}

export type DatabaseName = 'sqlite' | 'postgres';
export const databaseNames: readonly DatabaseName[] = ['sqlite', 'postgres'];

/**
 * The deployment under a suite. `two nodes` is PostgreSQL with all sessions and webhooks owned by another node than the
 * one that is called. With `sessions apart` both own some, and sessions connect alternately on them.
 */
export type Deployment = DatabaseName | 'two nodes' | 'sessions apart';

type Suite<Name> = (newHome: () => Promise<Home>, name: Name) => void;

/** Runs a suite once on each database. */
export function describeOnEachDatabase(title: string, suite: Suite<DatabaseName>): void {
  for (const name of databaseNames) describe(`${title} (${name})`, () => suite(() => newHome(name), name));
}

/**
 * Runs an API suite on SQLite, and on PostgreSQL behind a node that forwards every call to the owner. A single node on
 * PostgreSQL adds nothing to these; suites about the database run on it by `describeOnEachDatabase`.
 */
export function describeOnEachDeployment(title: string, suite: Suite<Deployment>): void {
  for (const name of ['sqlite', 'two nodes'] as const)
    describe(`${title} (${name})`, () => suite(() => newHome(name), name));
}

/**
 * Runs a suite in which sessions write to each other on SQLite, and on PostgreSQL with the sessions on different nodes.
 * That includes calls at a node that does not own the session.
 */
export function describeWithSessionsApart(title: string, suite: Suite<Deployment>): void {
  for (const name of ['sqlite', 'sessions apart'] as const)
    describe(`${title} (${name})`, () => suite(() => newHome(name), name));
}

/**
 * Creates a home whose database has the newest schema, so that a server starts without its migrations. The database is
 * empty on another PostgreSQL than the shared one, and without the global setup.
 */
export async function newHome(name: Deployment, server?: string): Promise<Home> {
  if (server !== undefined) return emptyHome(name, server);
  const { TEST_TEMPLATE: template } = process.env;
  const home = await emptyHome(name, undefined, template && POSTGRES_TEMPLATE);
  if (name === 'sqlite' && template !== undefined) cpSync(template, home.dataDir, { recursive: true });
  return home;
}

/** Name of the database that new ones are copied from. */
export const POSTGRES_TEMPLATE = 'switchboard_template';

/** Creates an empty home: a folder, and on PostgreSQL a database. */
export async function emptyHome(
  name: Deployment,
  server = process.env['TEST_POSTGRES_URL'],
  template = 'template1',
): Promise<Home> {
  const dataDir = mkdtempSync(join(homesFolder(), 'switchboard-test-'));
  // A process that was killed may still be writing its last bytes.
  const removeFolder = () => rmSync(dataDir, { recursive: true, force: true, maxRetries: 10, retryDelay: 50 });
  if (name === 'sqlite') return { databaseUrl: '', dataDir, remove: async () => removeFolder() };

  if (server === undefined) throw new Error('run the tests by `npm test`: its global setup starts PostgreSQL');
  const database = `test_${randomUUID().replaceAll('-', '')}`;
  // Since PostgreSQL 15. Through the log, which is the default, a copy takes 121 ms of CPU time instead of 18 ms.
  await onServer(server, `create database ${database} template ${template} strategy file_copy`);
  return {
    databaseUrl: `${server}/${database}`,
    dataDir,
    async remove() {
      await onServer(server, `drop database ${database} with (force)`);
      removeFolder();
    },
  };
}

/** Runs a statement on a PostgreSQL, outside of the databases of tests. */
export async function onServer(url: string, statement: string): Promise<void> {
  const client = new pg.Client({ connectionString: `${url}/postgres` });
  await client.connect();
  try {
    await client.query(statement);
  } finally {
    await client.end();
  }
}
