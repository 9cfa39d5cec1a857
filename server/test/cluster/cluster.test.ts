import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, describe, it } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { type Receiver, startReceiver } from '../support/connections/receiver.ts';
import { type Home, newHome } from '../support/databases/databases.ts';
import { startPostgres } from '../support/databases/postgres.ts';
import { eventually } from '../support/eventually.ts';
import { type Node, queryOf, spawnNodes, watchForTwoOwners } from '../support/processes/nodes.ts';
import { type Answer, bearer, type Call, callerOf, connectSession, newNumber, startServer } from '../support/server.ts';

/** How often a node is killed; more in `npm run test:soak`. */
const KILLS = 1;
const ACCOUNTS = 3;
const SESSIONS_PER_ACCOUNT = 4;
/** Between two messages of a session. Nodes that have nothing to wait for would compete with the tests beside them. */
const PAUSE_MS = 200;
/** The lease duration of a node. */
const LEASE_MS = 4000;
/** The time within which another node acquires the sessions of a dead node. */
const TAKEOVER_MS = 15_000;

it('a node evicts dead ones even if steady time cannot be stored', async (test) => {
  const home = await newHome('postgres');
  const ends = [home.remove];
  test.after(async () => {
    for (const end of ends.toReversed()) await end();
  });
  const server = await startServer({ home, env: { LEASE_SECONDS: '4' } });
  ends.push(server.stop);
  const ask = queryOf(home);
  await ask(`
    create function refuse() returns trigger as $$ begin
      raise exception using errcode = '53100', message = 'could not extend file: No space left on device';
    end $$ language plpgsql;
    create trigger refuse before update on steady_time for each row execute function refuse();
    insert into nodes (node_id, epoch, instance, version, carries, jwt_fingerprint, joined_at, expires_at)
      select 'nod_dead', 1, 'dead', version, carries, jwt_fingerprint, joined_at, 1 from nodes;`);
  await eventually(
    () => ask('select node_id from nodes'),
    (nodes) => nodes.length === 1,
  );
});

it('delivers the first event of a new webhook before webhooks are redistributed among the nodes', async (test) => {
  const home = await newHome('postgres');
  const receiver = await startReceiver();
  const ends = [home.remove, receiver.close];
  test.after(async () => {
    for (const end of ends.toReversed()) await end();
  });
  const server = await startServer({ home });
  ends.push(server.stop);
  // The redistribution acquires nothing.
  await queryOf(home)(`
    create function refuse() returns trigger as $$ begin
      if current_query() like '%skip locked%' then return null; end if;
      return new;
    end $$ language plpgsql;
    create trigger refuse before update of lease_owner on webhooks for each row execute function refuse();`);
  const { call } = await server.account();
  const sessionId = await connectSession(call);
  await call('POST', '/webhooks/set', { webhookUrl: receiver.url, events: ['message.sent'] });
  await call('POST', '/messages/send', { sessionId, to: newNumber(), message: 'the first' });
  await receiver.waitFor(1);
});

describe('three nodes', () => {
  let deployment: Deployment;
  before(async () => {
    deployment = await startDeployment(await newHome('postgres'));
  });
  after(() => deployment.remove());

  it('lose nothing acknowledged while they are killed one after the other', async (test) => {
    const { nodes, home } = deployment;
    const load = startLoad(deployment);
    const takeovers: number[] = [];
    for (let kill = 0; kill < KILLS; kill++) {
      await delay(500);
      const victim = pick(nodes);
      const held = await heldBy(home, victim);
      assert.ok(held.length > 0, 'every node owns some sessions');
      const killedAt = performance.now();
      await victim.process.kill();
      await load.untilEachSent(held, killedAt);
      takeovers.push(performance.now() - killedAt);
      await victim.start();
      await untilDivided(home, nodes);
    }
    await load.stop();
    await assertAllArrived(deployment, load);
    assert.deepEqual(await deployment.violations(), []);
    for (const ms of takeovers) assert.ok(ms < TAKEOVER_MS, `acquired after ${ms} ms`);
    test.diagnostic(
      `${reportOf(deployment, load)}; all sessions of a killed node sent again after ${takeovers.map(seconds).join(', ')} s`,
    );
  });

  it('are unharmed by one that was paused beyond its lease', async (test) => {
    const { nodes, home } = deployment;
    const load = startLoad(deployment);
    await delay(500);
    const [paused] = nodes as [Node];
    const held = await heldBy(home, paused);
    const before = paused.nodeId;
    const pausedAt = performance.now();
    paused.process.child.kill('SIGSTOP');
    load.avoid(paused);
    await load.untilEachSent(held, pausedAt);
    const takeover = performance.now() - pausedAt;
    paused.process.child.kill('SIGCONT');
    // It detects the loss, releases everything, and rejoins with a share.
    await untilDivided(home, nodes);
    await delay(1000);
    await load.stop();
    await assertAllArrived(deployment, load);
    assert.deepEqual(await deployment.violations(), []);
    assert.equal((await queryOf(home)(`select from nodes where node_id = '${before}'`)).length, 1);
    assert.ok(takeover < TAKEOVER_MS, `acquired after ${takeover} ms`);
    test.diagnostic(
      `${reportOf(deployment, load)}; all sessions of the stopped node sent again after ${seconds(takeover)} s`,
    );
  });

  it('release sessions immediately when one shuts down', async (test) => {
    const { nodes, home } = deployment;
    const load = startLoad(deployment);
    await delay(500);
    const leaving = pick(nodes);
    const held = await heldBy(home, leaving);
    const askedAt = performance.now();
    load.avoid(leaving);
    assert.equal(await leaving.process.stop(), 0);
    assert.deepEqual(await heldBy(home, leaving), [], 'as after a crash, others would wait for its leases to expire');
    const stoppedAt = performance.now();
    await load.untilEachSent(held, stoppedAt);
    const handover = load.longestGap(held, askedAt);
    await load.stop();
    await assertAllArrived(deployment, load);
    assert.deepEqual(await deployment.violations(), []);
    test.diagnostic(
      `${reportOf(deployment, load)}; stopped within ${seconds(stoppedAt - askedAt)} s, no session went without a send for more than ${seconds(handover)} s`,
    );
  });
});

it('three nodes survive a PostgreSQL that crashes under load', async (test) => {
  const postgres = await startPostgres();
  let deployment: Deployment | undefined;
  test.after(async () => {
    await deployment?.remove();
    await postgres.remove();
  });
  deployment = await startDeployment(await newHome('postgres', postgres.url));
  const load = startLoad(deployment);
  await delay(500);
  await postgres.crash();
  await delay(1500);
  await postgres.start();
  await load.untilEachSent([...load.sessionIds], performance.now());
  await load.stop();
  await assertAllArrived(deployment, load);
  test.diagnostic(reportOf(deployment, load));
});

interface Deployment {
  readonly home: Home;
  readonly nodes: readonly Node[];
  readonly accounts: readonly Account[];
  readonly receiver: Receiver;
  /** Returns the writes of nodes that were not the owner. */
  violations(): Promise<string[]>;
  remove(): Promise<void>;
}

/** Starts three nodes with accounts, sessions and a receiver, evenly distributed. */
async function startDeployment(home: Home): Promise<Deployment> {
  const receiver = await startReceiver();
  const nodes: Node[] = [];
  const remove = async () => {
    for (const node of nodes) node.process.child.kill('SIGCONT');
    await Promise.all(nodes.map((node) => node.process.kill()));
    await receiver.close();
    await home.remove();
  };
  try {
    const env = { WEBHOOK_RETRY_SECONDS: '1,1,1,1,1,1,1,1,1,1', LEASE_SECONDS: String(LEASE_MS / 1000) };
    nodes.push(...(await spawnNodes(home, 3, env)));
    const accounts = await Promise.all(
      Array.from({ length: ACCOUNTS }, (_, n) => openAccount(nodes[n % 3]?.url ?? '', n, receiver)),
    );
    await untilDivided(home, nodes);
    return { home, nodes, accounts, receiver, violations: await watchForTwoOwners(home), remove };
  } catch (error) {
    await remove();
    throw error;
  }
}

/** Waits until all events of acknowledged messages have arrived, and asserts that repeats have the same id. */
async function assertAllArrived({ home, receiver }: Deployment, load: Load): Promise<void> {
  await receiver
    .waitFor(() => missing(load, receiver).length === 0)
    .catch(async () => assert.fail(`never came: ${await describeMissing(home, missing(load, receiver))}`));
  const byEvent = Map.groupBy(receiver.deliveries, ({ event, parsed }) => `${event} ${parsed.data.messageId}`);
  for (const [what, deliveries] of byEvent) {
    assert.equal(new Set(deliveries.map(({ id }) => id)).size, 1, `${what} has one event id`);
  }
}

function reportOf({ receiver }: Deployment, load: Load): string {
  const times = receiver.deliveries.length;
  const events = new Set(receiver.deliveries.map(({ id }) => id)).size;
  return `${load.acknowledged.size} acknowledged, 0 lost, ${times - events} of ${times} deliveries so far were repeats; ${load.refused} answers were a 503`;
}

interface Account {
  readonly token: string;
  readonly sessionIds: readonly string[];
}

async function openAccount(url: string, n: number, receiver: Receiver): Promise<Account> {
  const credentials = { email: `user${n}@example.com`, password: 'correct horse battery' };
  const { body } = await callerOf(url, {})('POST', '/auth/register', credentials);
  const call = bearer(url, body.token);
  const events = ['message.sent', 'message.delivered'];
  await call('POST', '/webhooks/set', { webhookUrl: receiver.url, events, secret: 'a secret' });
  const sessionIds: string[] = [];
  for (let s = 0; s < SESSIONS_PER_ACCOUNT; s++) {
    const created = await call('POST', '/sessions', { phoneNumber: `49170${n}00000${s}` });
    const path = `/sessions/${created.body.sessionId}`;
    await call('POST', `${path}/connect`);
    // On a busy machine the response comes before the session is connected.
    await eventually(
      () => call('GET', path),
      ({ body }) => body.status === 'connected',
    );
    sessionIds.push(created.body.sessionId);
  }
  return { token: body.token, sessionIds };
}

interface Load {
  /** Ids of messages that were answered with 201. */
  readonly acknowledged: ReadonlySet<string>;
  /** The number of responses with 503. */
  readonly refused: number;
  readonly sessionIds: ReadonlySet<string>;
  /** Sends no more requests to this node. */
  avoid(node: Node): void;
  /** The longest time, in ms, that one of these sessions sent nothing since `since`. */
  longestGap(sessionIds: readonly string[], since: number): number;
  /** Resolves once each of these sessions has sent a message that was requested after a time. */
  untilEachSent(sessionIds: readonly string[], since: number): Promise<void>;
  stop(): Promise<void>;
}

/** Sends through every session in a loop, on any node, and repeats unacknowledged requests. */
function startLoad({ nodes, accounts }: Deployment): Load {
  const loadId = randomUUID();
  const acknowledged = new Set<string>();
  const lastSent = new Map<string, number>();
  const sentAt = new Map<string, number[]>();
  let refused = 0;
  let isRunning = true;
  let asked = nodes;

  async function work(token: string, sessionId: string): Promise<void> {
    for (let n = 0; isRunning; n++) {
      const startedAt = performance.now();
      const answer = await insist((call) =>
        call(
          'POST',
          '/messages/send',
          { sessionId, to: `4917033${String(n % 50).padStart(5, '0')}`, message: `message ${n}` },
          { 'idempotency-key': `${loadId} ${sessionId} ${n}` },
        ),
      );
      if (answer === undefined) return;
      acknowledged.add(answer.body.messageId);
      lastSent.set(sessionId, startedAt);
      sentAt.set(sessionId, [...(sentAt.get(sessionId) ?? []), performance.now()]);
      await delay(PAUSE_MS);
    }

    /** Repeats until a node acknowledges. The idempotency key makes sure that it is sent once. */
    async function insist(request: (call: Call) => Promise<Answer>): Promise<Answer | undefined> {
      const deadline = performance.now() + 60_000;
      while (performance.now() < deadline) {
        const node = pick(asked);
        // A node that is gone or paused does not respond.
        const answer = await inTime(request(bearer(node.url, token)), 4000);
        if (answer?.status === 201) return answer;
        if (answer?.status === 503) {
          assert.ok(Number(answer.headers.get('retry-after')) > 0, 'every 503 has Retry-After');
          refused++;
        } else if (answer !== undefined && answer.body.code !== 'idempotency_in_flight') {
          assert.fail(`${answer.status} ${JSON.stringify(answer.body)}`);
        }
        if (!isRunning) return undefined;
        await delay(100);
      }
      assert.fail(`no node has sent for ${sessionId} within a minute`);
    }
  }

  const workers = accounts.flatMap(({ token, sessionIds }) => sessionIds.map((sessionId) => work(token, sessionId)));
  return {
    acknowledged,
    get refused() {
      return refused;
    },
    sessionIds: new Set(accounts.flatMap(({ sessionIds }) => sessionIds)),
    avoid(node) {
      asked = asked.filter((other) => other !== node);
    },
    longestGap(sessionIds, since) {
      const gaps = sessionIds.flatMap((sessionId) => {
        const times = [since, ...(sentAt.get(sessionId) ?? []).filter((at) => at > since)];
        return times.slice(1).map((at, n) => at - (times[n] ?? at));
      });
      return Math.max(...gaps);
    },
    async untilEachSent(sessionIds, since) {
      const failed = Promise.all(workers);
      const sent = eventually(
        async () => sessionIds.filter((sessionId) => (lastSent.get(sessionId) ?? 0) < since),
        (waiting) => waiting.length === 0,
      );
      await Promise.race([sent, failed]);
    },
    async stop() {
      isRunning = false;
      await Promise.all(workers);
    },
  };
}

async function inTime<T>(promise: Promise<T>, ms: number): Promise<T | undefined> {
  return Promise.race([promise.catch(() => undefined), delay(ms, undefined, { ref: false })]);
}

/** The events of acknowledged messages that have not arrived. */
function missing({ acknowledged }: Load, receiver: Receiver): string[] {
  const seen = new Set(receiver.deliveries.map(({ event, parsed }) => `${event} ${parsed.data.messageId}`));
  const expected = [...acknowledged].flatMap((id) => [`message.sent ${id}`, `message.delivered ${id}`]);
  return expected.filter((one) => !seen.has(one));
}

/** The state of their messages and deliveries in the database. */
async function describeMissing(home: Home, events: readonly string[]): Promise<string> {
  const ids = events.map((event) => `'${event.split(' ')[1]}'`).join();
  const rows = await queryOf(home)(
    `select m.message_id, m.session_id, m.status, m.error, s.lease_owner, e.kind, d.state, d.attempts, d.last_message,
       w.lease_owner as lane_owner, w.breaker
     from messages m left join sessions s using (session_id) left join events e on e.message_id = m.message_id
     left join deliveries d on d.event = e.position left join receivers r on r.seq = d.webhook
     left join webhooks w using (webhook_id) where m.message_id in (${ids})`,
  );
  return `${events.join(', ')}; ${JSON.stringify(rows, null, 1)}`;
}

/** The sessions that a node owns. */
async function heldBy(home: Home, { nodeId }: Node): Promise<string[]> {
  const rows = await queryOf(home)<{ session_id: string }>(
    `select session_id from sessions where lease_owner = '${nodeId}'`,
  );
  return rows.map(({ session_id }) => session_id);
}

/** Waits until all sessions are owned and every node owns some. A difference of two is not worth a move. */
async function untilDivided(home: Home, nodes: readonly Node[]): Promise<void> {
  const share = (ACCOUNTS * SESSIONS_PER_ACCOUNT) / nodes.length;
  await eventually(
    async () => Promise.all(nodes.map(async (node) => (await heldBy(home, node)).length)),
    (counts) =>
      counts.reduce((sum, count) => sum + count) === ACCOUNTS * SESSIONS_PER_ACCOUNT &&
      counts.every((count) => count > 0 && count <= share + 2),
  );
}

const pick = <T>(from: readonly T[]): T => from[Math.floor(Math.random() * from.length)] as T;
const seconds = (ms: number) => (ms / 1000).toFixed(1);
