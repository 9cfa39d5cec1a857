import pg from 'pg';
import { count, defineFigure } from '../figure.ts';
import { setUp } from '../harness/api.ts';
import { type Home, onPostgresWith } from '../harness/home.ts';
import { cpuMs, newFolder, type Running, rssMb, sleep } from '../harness/processes.ts';

const NODES = 3;
const SESSIONS = count(1000, 10);
const WEBHOOKS_PER_SESSION = 10;
const WEBHOOKS = SESSIONS * WEBHOOKS_PER_SESSION;
/** Lets the effects of starting pass: restored sessions, compilation, the first garbage collections. */
const SETTLE_MS = count(30_000, 2000);
const SECONDS = count(60, 2);

/**
 * The idle cost of three nodes on one PostgreSQL: accounts with a connected session and ten webhooks each. Every
 * statement counts, including `begin` and `commit`.
 */
export const idle = defineFigure({
  about: `${NODES} idle nodes on one PostgreSQL with ${SESSIONS} sessions and ${WEBHOOKS} webhooks`,
  rounds: 1,
  readings: {
    cpu: { what: 'CPU use of the busiest node, share of a core', unit: '%', digits: 2, goal: { atMost: 2 } },
    statements: { what: 'statements per second, all nodes together', unit: '/s', goal: { atMost: 20 } },
    memory: { what: 'memory of the largest node', unit: 'MB', digits: 0 },
  },
  async prepare(tree, scope) {
    const home = await onPostgresWith({ shared_preload_libraries: 'pg_stat_statements' }).open(tree, scope);
    const first = await home.start();
    await setUp(first, 'http://127.0.0.1:9/nobody');
    await first.stop();
    const client = new pg.Client({ connectionString: home.databaseUrl });
    await client.connect();
    scope.defer(() => client.end());
    await multiply(client);
    return () => measure(home, client);
  },
});

async function measure(home: Home, client: pg.Client) {
  const nodes: Running[] = [];
  for (let n = 0; n < NODES; n++) nodes.push(await home.start({ DATA_DIR: newFolder() }));
  await untilDivided(nodes);
  await sleep(SETTLE_MS);
  await client.query('select pg_stat_statements_reset()');
  const before = nodes.map(({ pid }) => cpuMs(pid));
  await sleep(SECONDS * 1000);
  const shares = nodes.map(({ pid }, n) => (cpuMs(pid) - (before[n] ?? 0)) / (SECONDS * 10));
  const { rows } = await client.query<{ calls: number }>(
    `select sum(calls)::int as calls from pg_stat_statements where query not like '%pg_stat_statements%'`,
  );
  const memory = Math.max(...nodes.map(({ pid }) => rssMb(pid)));
  for (const node of nodes) await node.stop();
  return { cpu: Math.max(...shares), statements: (rows[0]?.calls ?? Number.NaN) / SECONDS, memory };
}

/** Copies the only account, its session and its webhook, until there are enough of each. */
async function multiply(client: pg.Client): Promise<void> {
  const id = (column: string, n: string) => `left(${column}, 4) || lpad((${n})::text, 26, '0')`;
  await client.query('create extension pg_stat_statements');
  await copy(client, 'accounts', `generate_series(2, ${SESSIONS}) n`, {
    account_id: id('account_id', 'n'),
    email: `n || email`,
  });
  await copy(client, 'sessions', `generate_series(2, ${SESSIONS}) n`, {
    account_id: id('account_id', 'n'),
    session_id: id('session_id', 'n'),
    phone_number: `(491700000000 + n)::text`,
    lease_owner: 'null',
  });
  await copy(client, 'webhooks', `generate_series(2, ${SESSIONS}) n, generate_series(1, ${WEBHOOKS_PER_SESSION}) k`, {
    account_id: id('account_id', 'n'),
    webhook_id: id('webhook_id', 'n * 100 + k'),
    is_default: 'case when k = 1 then 1 else 0 end',
    lease_owner: 'null',
  });
  await copy(client, 'webhooks', `generate_series(2, ${WEBHOOKS_PER_SESSION}) k`, {
    webhook_id: id('webhook_id', 'k'),
    is_default: '0',
    lease_owner: 'null',
  });
  await client.query('vacuum analyze');
}

/** Copies the first row of a table for each row of `series`, with other values in some columns. */
async function copy(
  client: pg.Client,
  table: string,
  series: string,
  changed: Readonly<Record<string, string>>,
): Promise<void> {
  const { rows } = await client.query<{ name: string }>(
    `select column_name as name from information_schema.columns where table_name = $1 order by ordinal_position`,
    [table],
  );
  const names = rows.map(({ name }) => name);
  const values = names.map((name) => changed[name] ?? name);
  await client.query(
    `insert into ${table} (${names.join()})
     select ${values.join()} from (select * from ${table} order by account_id desc limit 1) one, ${series}`,
  );
}

/** Waits until every session and webhook has an owner, and every session is connected. */
async function untilDivided(nodes: readonly Running[]): Promise<void> {
  const read = async (series: string) => {
    const figures = nodes.map(async ({ url }) => {
      const lines = (await (await fetch(`${url}/metrics`)).text()).split('\n');
      return Number(lines.find((line) => line.startsWith(`${series} `))?.slice(series.length));
    });
    return Promise.all(figures);
  };
  const sum = (counts: readonly number[]) => counts.reduce((total, count) => total + count, 0);
  const isDivided = async () =>
    sum(await read('switchboard_leases{kind="sessions"}')) === SESSIONS &&
    sum(await read('switchboard_leases{kind="webhooks"}')) === WEBHOOKS &&
    Math.max(...(await read('switchboard_sessions{status="connected"}'))) === SESSIONS;
  const deadline = performance.now() + 120_000;
  while (!(await isDivided())) {
    if (performance.now() > deadline) throw new Error('the nodes have not divided the work within two minutes');
    await sleep(1000);
  }
}
