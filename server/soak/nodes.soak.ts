import assert from 'node:assert/strict';
import { join } from 'node:path';
import { it } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { type FaultyLine, type Silence, startFaultyLine } from '../test/support/connections/faultyLine.ts';
import { startReceiver } from '../test/support/connections/receiver.ts';
import { newHome } from '../test/support/databases/databases.ts';
import { type Postgres, startPostgres } from '../test/support/databases/postgres.ts';
import { Load } from './load.ts';
import { SoakServer } from './server.ts';
import { randomFrom, SECONDS, SEED } from './settings.ts';
import { judge } from './verdict.ts';

const NODES = 3;
/** The lease duration of the nodes, after which others acquire the leases of a silent node. */
const LEASE_MS = 8000;
const HEALED_MS = 2000;
const JUMPS_MS = [900, -900, -60_000, -3_600_000, 600_000];
const SILENCES: readonly Silence[] = ['requests', 'answers', 'both'];

/** A node with its two proxies: other nodes reach it through one, and it reaches PostgreSQL through the other. */
interface Member {
  readonly server: SoakServer;
  readonly fromNodes: FaultyLine;
  readonly toDatabase: FaultyLine;
  start(): Promise<void>;
}

type Fault = (member: Member, random: () => number, postgres: Postgres) => Promise<string>;

const faults: readonly Fault[] = [
  async ({ server, start }) => {
    await server.kill();
    await start();
    return 'killed';
  },
  async ({ server }, random) => {
    const ms = Math.round(LEASE_MS - 800 + random() * 1600);
    server.pause();
    await delay(ms);
    server.resume();
    return `paused for ${ms} ms`;
  },
  async ({ fromNodes }, random) => breakLine('from other nodes', fromNodes, random),
  async ({ toDatabase }, random) => breakLine('to PostgreSQL', toDatabase, random),
  async ({ server }, random) => {
    const ms = pick(JUMPS_MS, random);
    server.setClock(ms);
    await delay(2000);
    server.setClock(0);
    return `clock off by ${ms} ms`;
  },
  async (_, random, postgres) => {
    await postgres.crash();
    await delay(random() * 3000);
    await postgres.start();
    return 'PostgreSQL crashed';
  },
];

async function breakLine(which: string, line: FaultyLine, random: () => number): Promise<string> {
  const silence = pick(SILENCES, random);
  const ms = Math.round(1000 + random() * 10_000);
  const ways: readonly (() => string)[] = [
    () => {
      line.reset();
      return 'reset';
    },
    () => {
      line.halfOpen();
      return 'half open';
    },
    () => {
      line.delay(300);
      return `300 ms late for ${ms} ms`;
    },
    () => {
      line.silence(silence);
      return `${silence} swallowed for ${ms} ms`;
    },
  ];
  const what = pick(ways, random)();
  await delay(ms);
  line.delay(0);
  line.silence('none');
  return `line ${which}: ${what}`;
}

const pick = <T>(from: readonly T[], random: () => number): T => from[Math.floor(random() * from.length)] as T;

it('PostgreSQL nodes lose, duplicate and reorder nothing while every link between them fails', async (test) => {
  const random = randomFrom(SEED);
  test.diagnostic(`SOAK_SEED=${SEED} SOAK_SECONDS=${SECONDS}`);
  const postgres = await startPostgres();
  const home = await newHome('postgres', postgres.url);
  const receiver = await startReceiver();
  const members: Member[] = [];
  test.after(async () => {
    for (const { server, fromNodes, toDatabase } of members) {
      await server.kill();
      await fromNodes.close();
      await toDatabase.close();
    }
    await receiver.close();
    await home.remove();
    await postgres.remove();
  });
  for (let n = 0; n < NODES; n++) {
    members.push(await memberAt(join(home.dataDir, `node-${n}`), home.databaseUrl, join(home.dataDir, 'media')));
  }
  const load = new Load(() => members.map(({ server }) => server.url), receiver);
  await load.prepare();
  load.start();
  const happened: string[] = [];
  const endsAt = performance.now() + SECONDS * 1000;
  // Every fault once, then as the seed determines.
  for (let round = 0; performance.now() < endsAt; round++) {
    const fault = faults[round] ?? pick(faults, random);
    const n = Math.floor(random() * NODES);
    happened.push(`node ${n} ${await fault(members[n] as Member, random, postgres)}`);
    await delay(HEALED_MS);
    for (const { server } of members) assert.ok(server.isRunning, `a node exited after ${happened.at(-1)}`);
  }
  await load.stop();
  await judge(test, load, happened);
});

async function memberAt(dataDir: string, databaseUrl: string, mediaDir: string): Promise<Member> {
  const fromNodes = await startFaultyLine();
  const toDatabase = await startFaultyLine();
  const url = new URL(databaseUrl);
  toDatabase.aim(url);
  url.host = `127.0.0.1:${toDatabase.port}`;
  const env = { NODE_URL: `http://127.0.0.1:${fromNodes.port}`, MEDIA_DIR: mediaDir };
  const server = new SoakServer({ dataDir, databaseUrl: url.href, env });
  const start = async () => {
    await server.start();
    fromNodes.aim(new URL(server.url));
  };
  await start();
  return { server, fromNodes, toDatabase, start };
}
