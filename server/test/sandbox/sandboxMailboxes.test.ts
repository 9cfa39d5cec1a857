import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, describe, it, type TestContext } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { systemClock } from '../../src/clock.ts';
import type { NetworkGroup } from '../../src/connectors/contract/groups.ts';
import { openDatabase } from '../../src/db/database.ts';
import type { Media } from '../../src/media/media.ts';
import { DatabaseSandboxStore } from '../../src/sandbox/databaseStore.ts';
import type { Envelope } from '../../src/sandbox/store.ts';
import { describeOnEachDatabase, type Home, newHome } from '../support/databases/databases.ts';
import { eventually } from '../support/eventually.ts';
import { createFakeClock } from '../support/fakeClock.ts';
import { type Node, queryOf, spawnNodes } from '../support/processes/nodes.ts';
import {
  type Answer,
  bearer,
  type Call,
  callerOf,
  connectSession,
  eventOf,
  newNumber,
  sharedSandbox,
  startServer,
  type TestServer,
} from '../support/server.ts';

/** How often a node is killed: each of them once. */
const KILLS = 2;
/** Between two messages of a session. Nodes that have nothing to wait for would compete with the tests beside them. */
const PAUSE_MS = 25;

type Body = Answer['body'];

/** A person with a session. */
interface Person {
  readonly call: Call;
  readonly number: string;
  readonly sessionId: string;
}

async function personOf(server: TestServer): Promise<Person> {
  const { call } = await server.account();
  const number = newNumber();
  return { call, number, sessionId: await connectSession(call, number) };
}

const textsOf = async ({ call }: Person): Promise<string[]> =>
  (await call('GET', '/messages?direction=incoming&limit=200')).body.data.map(({ message }: Body) => message);

const groupNamed = (networkId: string): NetworkGroup => ({
  networkId,
  subject: networkId,
  description: null,
  createdBy: '4917011111',
  createdAt: 0,
  participants: [{ phoneNumber: '4917011111', role: 'admin' }],
  settings: { announce: false, locked: false, joinApproval: false },
  inviteCode: null,
  picture: null,
});

const mailIn = async (home: Home): Promise<number> =>
  (await queryOf(home)<{ mail_id: string }>('select mail_id from sandbox_mailbox')).length;

describe('sandbox sessions on different nodes', () => {
  let server: TestServer;
  before(async () => {
    server = await startServer({ database: 'sessions apart', env: sharedSandbox });
  });
  after(() => server.stop());

  it('are owned by different nodes, as these tests assume', async () => {
    const [a, b] = [await personOf(server), await personOf(server)];
    const owners = await queryOf(server.home)<{ lease_owner: string }>(
      `select distinct lease_owner from sessions where session_id in ('${a.sessionId}', '${b.sessionId}')`,
    );
    assert.equal(owners.length, 2);
  });

  it('receive each message before its edit', async () => {
    const [a, b] = [await personOf(server), await personOf(server)];
    const send = async (n: number) => {
      const { body } = await a.call('POST', '/messages/send', { to: b.number, message: `draft ${n}` });
      const edited = await a.call('PATCH', `/messages/${body.messageId}`, { message: `text ${n}` });
      assert.equal(edited.status, 200, JSON.stringify(edited.body));
    };
    const expected = Array.from({ length: 30 }, (_, n) => `text ${n}`);
    await Promise.all(expected.map((_, n) => send(n)));
    const texts = await eventually(
      () => textsOf(b),
      (found) => found.length === 30 && found.every((text) => text.startsWith('text')),
    );
    assert.deepEqual(texts.toSorted(), expected.toSorted());
  });

  it('confirm a group message once the last member has it, wherever the members are', async () => {
    const [a, b, c] = [await personOf(server), await personOf(server), await personOf(server)];
    const group = await a.call('POST', '/groups', { subject: 'three', phoneNumbers: [b.number, c.number] });
    await c.call('POST', `/sessions/${c.sessionId}/disconnect`);
    const sent = await a.call('POST', '/messages/send', { to: group.body.groupId, message: 'to both' });
    await eventually(
      () => textsOf(b),
      (texts) => texts.includes('to both'),
    );
    const statusOf = async () => (await a.call('GET', `/messages/${sent.body.messageId}`)).body.status;
    assert.equal(await statusOf(), 'sent');
    await c.call('POST', `/sessions/${c.sessionId}/connect`);
    await eventually(statusOf, (status) => status === 'delivered');
    assert.deepEqual(await textsOf(c), ['to both']);
  });

  it('see simulated actions on one phone as if they were on one node', async () => {
    const [a, b] = [await personOf(server), await personOf(server)];
    const founder = newNumber();
    const created = await a.call('POST', `/sessions/${a.sessionId}/simulate`, {
      action: 'group_create',
      from: founder,
      subject: 'from a phone',
      phoneNumbers: [b.number],
    });
    assert.equal(created.status, 200, JSON.stringify(created.body));
    const theirs = await eventOf(b.call, 'group.created', ({ createdBy }) => createdBy === founder);
    const mine = await eventOf(a.call, 'group.created', ({ createdBy }) => createdBy === founder);
    await a.call('POST', `/sessions/${a.sessionId}/simulate`, {
      action: 'group_subject',
      groupId: mine.groupId,
      subject: 'renamed on a phone',
    });
    await eventOf(b.call, 'group.updated', ({ subject }) => subject === 'renamed on a phone');
    await b.call('POST', `/sessions/${b.sessionId}/simulate`, {
      action: 'group_leave',
      groupId: theirs.groupId,
      from: founder,
    });
    const left = await eventOf(a.call, 'group.updated', ({ change }) => change.type === 'participants');
    assert.deepEqual([left.change.action, left.change.phoneNumbers], ['remove', [founder]]);
  });

  it('serialize concurrent group changes without losing one', async () => {
    const [a, b] = [await personOf(server), await personOf(server)];
    const { body: mine } = await a.call('POST', '/groups', { subject: 'busy', phoneNumbers: [b.number] });
    const participants = `/groups/${mine.groupId}/participants`;
    await a.call('POST', participants, { action: 'promote', phoneNumbers: [b.number] });
    const theirs = await eventOf(b.call, 'group.updated', ({ change }) => change.action === 'promote');
    const guests = Array.from({ length: 10 }, () => newNumber());
    await Promise.all(
      guests.map((number, n) => {
        const [member, id] = n % 2 === 0 ? [a, mine.groupId] : [b, theirs.groupId];
        return member.call('POST', `/groups/${id}/participants`, { action: 'add', phoneNumbers: [number] });
      }),
    );
    for (const [member, id] of [
      [a, mine.groupId],
      [b, theirs.groupId],
    ] as const) {
      const numbers = async () =>
        (await member.call('GET', `/groups/${id}`)).body.participants.map(({ phoneNumber }: Body) => phoneNumber);
      const found = await eventually(numbers, (all) => all.length === 12);
      assert.deepEqual(found.toSorted(), [a.number, b.number, ...guests].toSorted());
    }
  });

  it('leave no mail in the database once everything has arrived', async () => {
    await eventually(
      () => mailIn(server.home),
      (left) => left === 0,
    );
  });
});

describe('sandbox mailboxes', () => {
  it('are not used between sessions of one node', async () => {
    const server = await startServer({ database: 'postgres', env: sharedSandbox });
    try {
      const [a, b] = [await personOf(server), await personOf(server)];
      const contact = newNumber();
      await a.call('POST', '/messages/send', { to: b.number, message: 'to a session' });
      const { body } = await a.call('POST', '/messages/send', { to: contact, message: 'to a virtual contact' });
      await eventOf(a.call, 'message.delivered', ({ messageId }) => messageId === body.messageId);
      await eventOf(b.call, 'message.incoming', ({ message }) => message === 'to a session');
      const [{ used } = { used: undefined }] = await queryOf(server.home)<{ used: boolean }>(
        `select pg_sequence_last_value(pg_get_serial_sequence('sandbox_mailbox', 'mail_id')) is not null as used`,
      );
      assert.equal(used, false);
    } finally {
      await server.stop();
    }
  });

  it('are polled, because a wake-up may be lost', async () => {
    const clock = createFakeClock();
    const server = await startServer({ database: 'postgres', clock, env: sharedSandbox });
    try {
      const me = await personOf(server);
      const event = {
        type: 'message',
        networkId: randomUUID(),
        chat: { type: 'direct', id: '491700000000' },
        from: '491700000000',
        content: { type: 'text', text: 'nobody was told' },
        timestamp: clock.now(),
        replyTo: null,
      };
      await queryOf(server.home)(
        `insert into sandbox_mailbox (session_id, event, created_at)
          values ('${me.sessionId}', '${JSON.stringify(event)}', ${clock.now()})`,
      );
      assert.deepEqual(await textsOf(me), []);
      await clock.advance(10_000);
      await eventually(
        () => textsOf(me),
        (texts) => texts.length === 1,
      );
      assert.equal(await mailIn(server.home), 0);
    } finally {
      await server.stop();
    }
  });

  it('block neither start nor stop with mail that cannot be stored', async (test) => {
    const home = await newHome('postgres');
    const clock = createFakeClock(Date.now());
    const ask = queryOf(home);
    const start = async () => {
      const server = await startServer({ home, clock });
      test.after(() => server.stop());
      return server;
    };
    test.after(() => home.remove());
    const first = await start();
    const { call, token } = await first.account();
    const [here, away] = [await connectSession(call, newNumber()), await connectSession(call, newNumber())];
    await call('POST', `/sessions/${away}/simulate`, { action: 'disconnect', reconnectAfterMs: 600_000 });
    const { phoneNumber: to } = (await call('GET', `/sessions/${away}`)).body;
    assert.equal((await call('POST', '/messages/send', { sessionId: here, to, message: 'not now' })).status, 201);
    await eventually(
      () => mailIn(home),
      (count) => count === 1,
    );
    await first.stop();

    await ask(`alter table messages add constraint not_now check (direction <> 'incoming' or body <> 'not now')`);
    const second = await start();
    const { status } = (await bearer(second.url, token)('GET', `/sessions/${away}`)).body;
    assert.equal(status, 'connected');
    await second.stop();
    assert.equal(await mailIn(home), 1);

    await ask('alter table messages drop constraint not_now');
    const third = await start();
    await eventOf(bearer(third.url, token), 'message.incoming', ({ message }) => message === 'not now');
  });

  it('send one receipt for a message that two nodes remove concurrently', async (test) => {
    const home = await newHome('postgres');
    const databases = [
      await openDatabase(home, systemClock),
      await openDatabase({ ...home, dataDir: `${home.dataDir}/other` }, systemClock),
    ];
    test.after(async () => {
      for (const database of databases) await database.close();
      await home.remove();
    });
    const stores = databases.map((database) => {
      const media: Partial<Media> = {}; // there are no files
      return new DatabaseSandboxStore({ database, media: media as Media, clock: systemClock });
    });
    const [store] = stores as [DatabaseSandboxStore];
    assert.equal(await store.claim('4917011111', 'ses_sender'), 'ses_sender');
    assert.equal(await store.claim('4917012345', 'ses_1'), 'ses_1');
    const envelope = (networkId: string): Envelope => ({
      to: ['4917012345', '4917099999'],
      event: {
        type: 'message',
        networkId,
        chat: { type: 'direct', id: '4917011111' },
        from: '4917011111',
        content: { type: 'text', text: networkId },
        timestamp: 0,
        replyTo: null,
      },
      sender: { sessionId: 'ses_sender', address: '4917011111' },
    });
    const messages = Array.from({ length: 20 }, (_, n) => `message ${n}`);
    const stored = await Promise.all(messages.map((id) => store.put([envelope(id)])));
    assert.deepEqual(new Set(stored.flat()), new Set(['ses_1']), 'unregistered numbers get no mail');
    const mail = await store.mailOf('ses_1', 100);
    assert.deepEqual(
      mail.map(({ event }) => event.type === 'message' && event.networkId),
      messages,
    );
    await Promise.all(mail.flatMap(({ mailId }) => stores.map((one) => one.remove([mailId], []))));
    assert.deepEqual(await store.mailOf('ses_1', 100), []);
    const confirmed = (await store.mailOf('ses_sender', 100)).flatMap(({ event }) =>
      event.type === 'receipt' ? event.networkIds : [],
    );
    assert.deepEqual(confirmed.toSorted(), messages.toSorted());

    // Receipts of messages that are removed together keep the order of sending.
    const more = Array.from({ length: 20 }, (_, n) => `later ${n}`);
    await Promise.all(more.map((id) => store.put([envelope(id)])));
    const later = (await store.mailOf('ses_1', 100)).map(({ mailId }) => mailId);
    await store.remove(later.toReversed(), []);
    const receipts = (await store.mailOf('ses_sender', 100)).slice(messages.length);
    assert.deepEqual(
      receipts.flatMap(({ event }) => (event.type === 'receipt' ? event.networkIds : [])),
      more,
    );
  });
});

describeOnEachDatabase('the groups of a sandbox network', (newHome) => {
  it('are restored for a session with more of them than a statement has parameters', async (test) => {
    const home = await newHome();
    const database = await openDatabase(home, systemClock);
    test.after(async () => {
      await database.close();
      await home.remove();
    });
    const media: Partial<Media> = {}; // there are no files
    const store = new DatabaseSandboxStore({ database, media: media as Media, clock: systemClock });
    const groups = Array.from({ length: 22_000 }, (_, n) => groupNamed(`group ${n}`));
    await store.restoreGroups('scope', groups);
    await store.restoreGroups('scope', groups);
    const stored = await database.reader.kysely.selectFrom('sandbox_groups').select('network_id').execute();
    assert.equal(stored.length, groups.length);
    const last = groups.at(-1) ?? assert.fail();
    const { group } = await store.changeGroup('scope', last.networkId, () => undefined);
    assert.deepEqual(group, last);
  });
});

describeOnEachDatabase('a sandbox mailbox after a crash between delivery and removal', (newHome, name) => {
  /** Blocks removal from all mailboxes until `allow` is called. */
  async function forbidRemoval({ app }: TestServer): Promise<{ allow(server: TestServer): Promise<void> }> {
    const run = ({ app: { services } }: Pick<TestServer, 'app'>, statements: readonly string[]) =>
      services.database.commit(async ({ connection }) => {
        for (const statement of statements) await connection.query(statement, []);
      });
    if (name === 'sqlite') {
      await run({ app }, [
        `create trigger keep_mail before delete on sandbox_mailbox begin select raise(abort, 'not now'); end`,
      ]);
      return { allow: (server) => run(server, ['drop trigger keep_mail']) };
    }
    await run({ app }, [
      `create function refuse() returns trigger as $$ begin raise exception 'not now'; end $$ language plpgsql`,
      'create trigger keep_mail before delete on sandbox_mailbox for each row execute function refuse()',
    ]);
    return { allow: (server) => run(server, ['drop trigger keep_mail on sandbox_mailbox', 'drop function refuse']) };
  }

  it('delivers every event again, and each takes effect once', async (test) => {
    const home = await newHome();
    const first = await startServer({ home });
    test.after(async () => {
      await first.stop();
      await home.remove();
    });
    const { call, token } = await first.account();
    const [mine, theirs] = [newNumber(), newNumber()];
    const [me, other] = [await connectSession(call, mine), await connectSession(call, theirs)];
    const post = async (path: string, body: object): Promise<Body> => {
      const answer = await call('POST', path, { sessionId: me, ...body });
      assert.ok(answer.status < 300, JSON.stringify(answer.body));
      return answer.body;
    };
    const send = async (message: string): Promise<string> =>
      (await post('/messages/send', { to: theirs, message })).messageId;
    const { groupId } = await post('/groups', { subject: 'crew', phoneNumbers: [theirs] });
    await call('POST', `/sessions/${other}/disconnect`);
    const draft = await send('draft');
    await call('PATCH', `/messages/${draft}`, { message: 'text' });
    await call('PATCH', `/messages/${draft}`, { message: 'final text' });
    await call('PUT', `/messages/${draft}/reaction`, { emoji: '🔥' });
    await call('PUT', `/messages/${draft}/reaction`, { emoji: '👍' });
    await call('DELETE', `/messages/${await send('mistake')}`);
    const subjects = ['day crew', 'night crew', 'day crew'];
    for (const subject of subjects) await call('PATCH', `/groups/${groupId}`, { subject });
    await send('the last');

    const { allow } = await forbidRemoval(first);
    const isTheirs = ({ sessionId }: Body) => sessionId === other;
    const has = (texts: readonly string[], text: string) => texts.includes(text);
    const stored = async (asked: Call): Promise<string[]> => {
      const { body } = await asked('GET', `/messages?sessionId=${other}&direction=incoming&limit=200`);
      return body.data.map(({ message }: Body) => message).reverse();
    };
    await call('POST', `/sessions/${other}/connect`);
    await eventOf(call, 'group.updated', (data) => isTheirs(data) && data.subject === 'day crew');
    assert.ok(!has(await stored(call), 'the last'), 'a group change is removed before later mail');
    await first.stop();

    const second = await startServer({ home });
    test.after(() => second.stop());
    const again = bearer(second.url, token);
    await eventually(
      async () => (await again('GET', `/sessions/${other}`)).body.status,
      (status) => status === 'connected',
    );
    await allow(second);
    await eventually(
      () => stored(again),
      (texts) => has(texts, 'the last'),
    );
    const eventsOf = async (kind: string) =>
      (await again('GET', `/events?events=${kind}&limit=200`)).body.data.map(({ data }: Body) => data);
    assert.deepEqual(await stored(again), ['final text', '', 'the last']);
    assert.equal((await eventsOf('message.incoming')).filter(isTheirs).length, 3);
    const events = (await eventsOf('group.updated')).filter(isTheirs);
    assert.deepEqual(
      events.map(({ subject }: Body) => subject),
      subjects,
    );
    const { body: list } = await again('GET', `/messages?sessionId=${other}&direction=incoming&limit=200`);
    const received = list.data.find(({ message }: Body) => message === 'final text');
    const { reactions } = (await again('GET', `/messages/${received.messageId}`)).body;
    assert.deepEqual(
      reactions.map(({ emoji }: Body) => emoji),
      ['👍'],
    );
    const delivered = await eventually(
      () => eventsOf('message.delivered'),
      (all) => all.length >= 3,
    );
    assert.equal(delivered.length, 3);
  });
});

describe('two nodes of a sandbox network', () => {
  it('lose and duplicate nothing while they are killed one after the other', (test) =>
    keepAllWhile(test, KILLS, async (victim) => {
      await victim.process.kill();
      await delay(2000);
      await victim.start();
    }));

  it('lose and duplicate nothing while one is paused beyond its lease', (test) =>
    keepAllWhile(test, 1, async (victim, home) => {
      victim.process.child.kill('SIGSTOP');
      await eventually(
        () => heldBy(home, victim.nodeId),
        (held) => held === 0,
      );
      victim.process.child.kill('SIGCONT');
    }));
});

/** Disturbs a node under load, and asserts that everything acknowledged arrives exactly once. */
async function keepAllWhile(test: TestContext, times: number, harm: (victim: Node, home: Home) => Promise<void>) {
  const { home, nodes, people, callAny } = await startPeople(test);
  const group = await insist(() => callAny(people[0], 'POST', '/groups', groupOf(people)));
  const acknowledged = new Map<string, string>();
  let isRunning = true;
  const load = people.map(async (person, place) => {
    const peer = people[(place + 1) % people.length] as Remote;
    for (let n = 0; isRunning; n++) {
      const message = `${person.number} says ${n}`;
      const key = { 'idempotency-key': message };
      await insist(() => callAny(person, 'POST', '/messages/send', { to: peer.number, message }, key));
      acknowledged.set(message, peer.number);
      await delay(PAUSE_MS);
      if (place > 0 || n % 5 > 0) continue;
      await insist(() => callAny(person, 'PATCH', `/groups/${group.groupId}`, { subject: `subject ${n}` }));
    }
  });
  for (let time = 0; time < times; time++) {
    await delay(1000);
    await harm(nodes[time % 2] as Node, home);
    await untilDivided(home, people.length);
  }
  isRunning = false;
  await Promise.all(load);

  for (const person of people) {
    const expected = [...acknowledged].filter(([, to]) => to === person.number).map(([message]) => message);
    const texts = await eventually(
      () => allOf(callAny, person, '/messages?direction=incoming'),
      (all) => new Set(all.map(({ message }) => message)).size >= expected.length,
    );
    assert.deepEqual(texts.map(({ message }) => message).toSorted(), expected.toSorted());
  }
  await eventually(
    () => mailIn(home),
    (left) => left === 0,
  );
  const changes = await Promise.all(people.map((person) => subjectsSeenBy(callAny, person)));
  for (const seen of changes) assert.deepEqual(seen, changes[0]);
  const unconfirmed = await eventually(
    () => queryOf(home)(`select message_id from messages where direction = 'outgoing' and status <> 'delivered'`),
    (rows) => rows.length === 0,
  );
  assert.deepEqual(unconfirmed, []);
  test.diagnostic(`${acknowledged.size} messages, ${changes[0]?.length} group changes, ${times} times`);
}

/** A person with a session on one of the nodes. */
interface Remote {
  readonly token: string;
  readonly number: string;
  readonly sessionId: string;
}

type CallAny = (person: Remote | undefined, ...request: Parameters<Call>) => Promise<Answer>;

async function startPeople(test: TestContext) {
  const home = await newHome('postgres');
  const nodes: Node[] = [];
  test.after(async () => {
    for (const node of nodes) node.process.child.kill('SIGCONT');
    await Promise.all(nodes.map((node) => node.process.kill()));
    await home.remove();
  });
  nodes.push(...(await spawnNodes(home, 2, { ...sharedSandbox, LEASE_SECONDS: '4' })));
  const people: Remote[] = [];
  for (let n = 0; n < 4; n++) {
    const { url } = nodes[n % 2] as Node;
    const credentials = { email: `remote${n}@example.com`, password: 'correct horse battery' };
    const { token } = (await callerOf(url, {})('POST', '/auth/register', credentials)).body;
    const number = newNumber();
    people.push({ token, number, sessionId: await connectSession(bearer(url, token), number) });
  }
  await untilDivided(home, people.length);
  const callAny: CallAny = (person, ...request) => {
    const { url } = nodes[Math.floor(Math.random() * 2)] as Node;
    return bearer(url, person?.token ?? '')(...request);
  };
  return { home, nodes, people, callAny };
}

const groupOf = (people: readonly Remote[]) => ({
  subject: 'all of us',
  phoneNumbers: people.slice(1).map(({ number }) => number),
});

/** Repeats until a node succeeds. A killed node does not respond, and its sessions have no owner for some seconds. */
async function insist(request: () => Promise<Answer>): Promise<Body> {
  const isDone = (answer: Answer | undefined): answer is Answer => answer !== undefined && answer.status < 300;
  const answer = await eventually(
    () => Promise.race([request().catch(() => undefined), delay(4000, undefined, { ref: false })]),
    isDone,
  );
  return answer?.body;
}

async function heldBy(home: Home, nodeId: string): Promise<number> {
  return (await queryOf(home)(`select session_id from sessions where lease_owner = '${nodeId}'`)).length;
}

async function untilDivided(home: Home, sessions: number): Promise<void> {
  await eventually(
    () => queryOf(home)<{ held: number }>('select count(*) as held from sessions group by lease_owner'),
    (rows) => rows.length === 2 && rows.every(({ held }) => Number(held) === sessions / 2),
  );
}

async function allOf(callAny: CallAny, person: Remote, path: string): Promise<Body[]> {
  const found: Body[] = [];
  for (let cursor = ''; ; ) {
    const { data, nextCursor } = await insist(() => callAny(person, 'GET', `${path}&limit=200${cursor}`));
    found.push(...data);
    if (nextCursor === null) return found;
    cursor = `&cursor=${nextCursor}`;
  }
}

async function subjectsSeenBy(callAny: CallAny, person: Remote): Promise<string[]> {
  const subjects: string[] = [];
  for (let after = ''; ; ) {
    const { data, nextCursor } = await insist(() =>
      callAny(person, 'GET', `/events?events=group.updated&limit=200${after}`),
    );
    subjects.push(...data.map((event: Body) => event.data.subject));
    if (data.length === 0) return subjects;
    after = `&afterCursor=${nextCursor}`;
  }
}
