import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import pg from 'pg';
import { newFolder, type Running, startServer } from './harness.ts';

/** The database and data folder of a server. */
export interface Home {
  /** Starts the server on it. */
  start(env?: Record<string, string>): Promise<Running>;
  /** Fills the queue of the only webhook with events, while the server is stopped. */
  fillQueue(events: number): Promise<void>;
  /** Runs one statement, while the server is stopped. */
  run(statement: string): Promise<void>;
}

export type NewHome = () => Promise<Home>;

/** SQLite with its defaults. */
export const onSqlite: NewHome = async () => {
  const dataDir = newFolder();
  const withDatabase = async (use: (db: DatabaseSync) => void) => {
    const db = new DatabaseSync(join(dataDir, 'switchboard.db'));
    use(db);
    db.close();
  };
  return {
    start: (env) => startServer(dataDir, env),
    fillQueue: (events) =>
      withDatabase((db) => {
        const series = `(with recursive series (n) as (select 0 union all select n + 1 from series where n < ${events - 1})
          select n from series)`;
        db.exec('pragma synchronous = off');
        for (const statement of filling(series, events, "printf('%024d', n)")) db.exec(statement);
        db.exec('pragma wal_checkpoint(truncate)');
      }),
    run: (statement) => withDatabase((db) => db.exec(statement)),
  };
};

/** A database of its own in a PostgreSQL. */
export const onPostgres =
  (url: string): NewHome =>
  async () => {
    const name = `bench_${randomUUID().replaceAll('-', '')}`;
    const databaseUrl = new URL(`/${name}`, url).href;
    await query(url, `create database ${name}`);
    const dataDir = newFolder();
    return {
      start: (env) => startServer(dataDir, { DATABASE_URL: databaseUrl, ...env }),
      async fillQueue(events) {
        const series = `(select generate_series(0, ${events - 1}) as n)`;
        for (const statement of filling(series, events, "lpad(n::text, 24, '0')")) await query(databaseUrl, statement);
        await query(databaseUrl, 'vacuum analyze');
      },
      run: (statement) => query(databaseUrl, statement),
    };
  };

async function query(url: string, statement: string): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  await client.query(statement);
  await client.end();
}

/** @param padded SQL for `n` with 24 digits */
function filling(series: string, events: number, padded: string): string[] {
  const body = JSON.stringify({
    event: 'message.sent',
    data: { messageId: 'msg_0', to: '491701234567', status: 'sent', timestamp: new Date().toISOString() },
  });
  const firstAt = Date.now() - events;
  return [
    `insert into events (account_id, event_id, kind, conversation, message_id, body, is_test, created_at)
     select account_id, 'evt_01' || ${padded}, 'message.sent', 'chat ' || (n % 1000), null, '${body}', 0, ${firstAt} + n
     from ${series} series, webhooks`,
    `insert into deliveries (account_id, delivery_id, webhook_id, event_id, kind, conversation, state, due_at, attempts,
       steps, last_class, last_message, is_test, created_at, settled_at)
     select account_id, 'dlv_01' || ${padded}, webhook_id, 'evt_01' || ${padded}, 'message.sent', 'chat ' || (n % 1000),
       'pending', ${firstAt} + n, 0, 0, null, null, 0, ${firstAt} + n, null
     from ${series} series, webhooks`,
  ];
}
