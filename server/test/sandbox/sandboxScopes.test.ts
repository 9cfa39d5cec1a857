import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, describe, it, type TestContext } from 'node:test';
import { sql } from 'kysely';
import { migrate } from '../../src/db/migrate.ts';
import { migrations } from '../../src/db/migrations/index.ts';
import { openPostgres } from '../../src/db/postgres/postgres.ts';
import { openSqlite } from '../../src/db/sqlite/sqlite.ts';
import {
  describeOnEachDatabase,
  describeWithSessionsApart,
  emptyHome,
  type Home,
} from '../support/databases/databases.ts';
import { eventually } from '../support/eventually.ts';
import { createFakeClock } from '../support/fakeClock.ts';
import { queryOf } from '../support/processes/nodes.ts';
import {
  type Answer,
  bearer,
  type Call,
  connectSession,
  eventOf,
  newNumber,
  sharedSandbox,
  startServer,
  type TestServer,
} from '../support/server.ts';

interface Person {
  readonly call: Call;
  readonly accountId: string;
  readonly number: string;
  readonly sessionId: string;
}

const textsOf = async (call: Call): Promise<string[]> =>
  (await call('GET', '/messages?direction=incoming&limit=200')).body.data.map(({ message }: Answer['body']) => message);

const sendTo = async (call: Call, to: string, message: string): Promise<string> => {
  const { status, body } = await call('POST', '/messages/send', { to, message });
  assert.equal(status, 201, JSON.stringify(body));
  return body.messageId;
};

const untilStatus = (call: Call, messageId: string, status: string) =>
  eventually(
    () => call('GET', `/messages/${messageId}`),
    ({ body }) => body.status === status,
  );

describeWithSessionsApart('accounts on the sandbox network', (_, database) => {
  let server: TestServer;
  before(async () => {
    server = await startServer({ database });
  });
  after(() => server.stop());

  async function person(number = newNumber()): Promise<Person> {
    const { call, accountId } = await server.account();
    return { call, accountId, number, sessionId: await connectSession(call, number) };
  }

  /** Asserts that an account has no events except that its session is connected. */
  async function assertUntouched({ call, sessionId }: Person): Promise<void> {
    // A session receives its events in order, so nothing earlier can be outstanding after this one.
    await call('POST', `/sessions/${sessionId}/simulate`, {
      action: 'incoming',
      from: '491700000001',
      message: 'last',
    });
    await eventOf(call, 'message.incoming', ({ message }) => message === 'last');
    const { body } = await call('GET', '/events?limit=200');
    assert.deepEqual(
      body.data.map(({ event }: Answer['body']) => event),
      ['session.connected', 'message.incoming'],
    );
  }

  it('send to a virtual contact instead of another account', async () => {
    const [mallory, victim] = [await person(), await person()];
    const messageId = await sendTo(mallory.call, victim.number, 'hello stranger');
    await untilStatus(mallory.call, messageId, 'delivered');
    await mallory.call('PUT', `/messages/${messageId}/reaction`, { emoji: '👍' });
    await mallory.call('PATCH', `/messages/${messageId}`, { message: 'edited' });
    await assertUntouched(victim);
  });

  it('cannot add numbers of another account to groups, nor join its groups by invite', async () => {
    const [mallory, victim] = [await person(), await person()];
    const planted = await mallory.call('POST', '/groups', { subject: 'planted', phoneNumbers: [victim.number] });
    assert.equal(planted.status, 201);
    await mallory.call('POST', `/sessions/${mallory.sessionId}/simulate`, {
      action: 'group_create',
      from: newNumber(),
      subject: 'planted',
      phoneNumbers: [victim.number],
    });
    await assertUntouched(victim);

    const own = await victim.call('POST', '/groups', { subject: 'own', phoneNumbers: [newNumber()] });
    const { inviteLink } = (await victim.call('GET', `/groups/${own.body.groupId}/invite-link`)).body;
    const joined = await mallory.call('POST', '/groups/join', { invite: inviteLink });
    assert.deepEqual([joined.status, joined.body.code], [404, 'not_found']);
  });

  it('see no profiles of another account', async () => {
    const [mallory, victim] = [await person(), await person()];
    await victim.call('PATCH', `/sessions/${victim.sessionId}/profile`, { about: 'At sea' });
    const seen = await mallory.call('GET', `/contacts/${victim.number}/profile`);
    assert.deepEqual(seen.body, { phoneNumber: victim.number, about: null, picture: null });
  });

  it('can use the same number, each on its own network and once per account', async () => {
    const number = newNumber();
    const [first, second] = [await person(number), await person(number)];
    for (const [{ call }, about] of [
      [first, 'one'],
      [second, 'two'],
    ] as const)
      assert.equal(
        (await call('PATCH', `/sessions/${(await call('GET', '/sessions')).body.data[0].sessionId}/profile`, { about }))
          .status,
        200,
      );
    const friend = await connectSession(first.call, newNumber());
    assert.equal((await first.call('GET', `/contacts/${number}/profile?sessionId=${friend}`)).body.about, 'one');
    const { body } = await first.call('POST', '/messages/send', { sessionId: friend, to: number, message: 'psst' });
    await untilStatus(first.call, body.messageId, 'delivered');
    assert.deepEqual(await textsOf(first.call), ['psst']);
    await assertUntouched(second);

    const again = await first.call('POST', '/sessions', { phoneNumber: number });
    const refused = await first.call('POST', `/sessions/${again.body.sessionId}/connect`);
    assert.deepEqual([refused.status, refused.body.code], [409, 'phone_number_in_use']);
  });

  it('cannot claim a number that another account writes to', async () => {
    const [mallory, victim] = [await person(), await person()];
    const customer = newNumber();
    await connectSession(mallory.call, customer);
    const messageId = await sendTo(victim.call, customer, 'your code is 1234');
    await untilStatus(victim.call, messageId, 'delivered');
    assert.deepEqual(await textsOf(mallory.call), []);
  });
});

describe('accounts that share the sandbox network', () => {
  it('reach one another, and each number belongs to one of them', async (test) => {
    const server = await startServer({ env: sharedSandbox });
    test.after(() => server.stop());
    const [a, b] = [await server.account(), await server.account()];
    const [mine, theirs] = [newNumber(), newNumber()];
    await connectSession(a.call, mine);
    await connectSession(b.call, theirs);
    await sendTo(a.call, theirs, 'hello');
    await eventOf(b.call, 'message.incoming', ({ message, from }) => message === 'hello' && from === mine);
    const { body } = await b.call('POST', '/sessions', { phoneNumber: mine });
    assert.equal((await b.call('POST', `/sessions/${body.sessionId}/connect`)).body.code, 'phone_number_in_use');
  });
});

describeOnEachDatabase('a deployment upgraded from a version with one shared sandbox network', (_, name) => {
  const CREATED_AT = 1_700_000_000_000;

  /** A database of the first schema: account `acc_a` has the sessions `ses_1` and `ses_2`, `acc_b` has `ses_3`. */
  async function oldHome(test: TestContext): Promise<{ home: Home; numbers: [string, string, string] }> {
    const home = await emptyHome(name);
    test.after(() => home.remove());
    const numbers: [string, string, string] = [newNumber(), newNumber(), newNumber()];
    const store =
      home.databaseUrl === '' ? openSqlite(`${home.dataDir}/switchboard.db`) : openPostgres(home.databaseUrl);
    await migrate(store, Date.now, migrations.slice(0, 1));
    const tx = await store.begin();
    const run = (statement: ReturnType<typeof sql>) => statement.execute(tx.kysely);
    for (const id of ['acc_a', 'acc_b'])
      await run(sql`insert into accounts (account_id, email, name, password_hash, token_version, created_at)
        values (${id}, ${`${id}@example.com`}, null, '-', 1, ${CREATED_AT})`);
    for (const [n, number] of numbers.entries()) {
      const [account, session] = [n < 2 ? 'acc_a' : 'acc_b', `ses_${n + 1}`];
      await run(sql`insert into sessions (account_id, session_id, connector, phone_number, status, wanted,
          will_reconnect, options, metadata, created_at, lease_generation)
        values (${account}, ${session}, 'sandbox', ${number}, 'disconnected', 0, 0, '{}', '{}', ${CREATED_AT}, 0)`);
      const profile = JSON.stringify({ name: null, about: `about ${session}`, picture: null });
      await run(
        sql`insert into sandbox_profiles (number, session_id, state) values (${number}, ${session}, ${profile})`,
      );
      if (name === 'postgres')
        await run(sql`insert into sandbox_numbers (number, session_id) values (${number}, ${session})`);
    }
    if (name === 'postgres') await addGroupAndPost(run, numbers);
    await tx.commit();
    await store.close();
    return { home, numbers };
  }

  /** All three are in a group that was renamed while they were away, and `ses_2` has a pending message. */
  async function addGroupAndPost(
    run: (statement: ReturnType<typeof sql>) => Promise<unknown>,
    [first, second, third]: readonly string[],
  ): Promise<void> {
    const group = {
      networkId: 'old@sandbox',
      subject: 'after',
      description: null,
      createdBy: first,
      createdAt: CREATED_AT,
      participants: [
        { phoneNumber: first, role: 'owner' },
        { phoneNumber: second, role: 'member' },
        { phoneNumber: third, role: 'member' },
      ],
      settings: { announce: false, locked: false, joinApproval: false },
      inviteCode: 'code',
      picture: null,
    };
    await run(sql`insert into sandbox_groups (network_id, invite_code, state)
      values ('old@sandbox', 'code', ${JSON.stringify(group)})`);
    for (const [account, session] of [
      ['acc_a', 'ses_1'],
      ['acc_a', 'ses_2'],
      ['acc_b', 'ses_3'],
    ]) {
      await run(sql`insert into groups (account_id, session_id, group_id, network_id, subject, created_by, announce,
          locked, join_approval, created_at)
        values (${account}, ${session}, ${`grp_${session}`}, 'old@sandbox', 'before', ${first}, 0, 0, 0, ${CREATED_AT})`);
      for (const { phoneNumber, role } of group.participants)
        await run(sql`insert into group_participants (account_id, group_id, phone_number, role, joined_at)
          values (${account}, ${`grp_${session}`}, ${phoneNumber}, ${role}, ${CREATED_AT})`);
    }
    await run(sql`insert into sandbox_post (number, event, is_counted, created_at)
      values (${second}, ${messageFrom(first, 'was waiting')}, 0, ${CREATED_AT})`);
  }

  const messageFrom = (from: string | undefined, text: string) =>
    JSON.stringify({
      type: 'message',
      networkId: randomUUID(),
      chat: { type: 'direct', id: from },
      from,
      content: { type: 'text', text },
      timestamp: CREATED_AT,
      replyTo: null,
    });

  async function start(test: TestContext, home: Home, env: Record<string, string> = {}) {
    const clock = createFakeClock(CREATED_AT);
    const server = await startServer({ home, clock, env });
    test.after(() => server.stop());
    const callOf = async (accountId: string) =>
      bearer(server.url, (await server.app.services.tokens.issue(accountId, 1)).token);
    return { clock, a: await callOf('acc_a'), b: await callOf('acc_b') };
  }

  const connect = async (call: Call, sessionId: string) =>
    assert.equal((await call('POST', `/sessions/${sessionId}/connect`)).body.status, 'connected');

  it('continues with one network per account that keeps its data', async (test) => {
    const { home, numbers } = await oldHome(test);
    const [first, second, third] = numbers;
    const { a, b } = await start(test, home);
    await connect(a, 'ses_1');
    const about = async (call: Call, number: string, sessionId: string) =>
      (await call('GET', `/contacts/${number}/profile?sessionId=${sessionId}`)).body.about;
    assert.equal(await about(a, second, 'ses_1'), 'about ses_2');
    assert.equal(await about(a, third, 'ses_1'), null, 'of another account');

    const { body: sent } = await a('POST', '/messages/send', { sessionId: 'ses_1', to: second, message: 'new' });
    const { body: strange } = await a('POST', '/messages/send', { sessionId: 'ses_1', to: third, message: 'lost' });
    await untilStatus(a, strange.messageId, 'delivered');
    assert.equal((await a('GET', `/messages/${sent.messageId}`)).body.status, 'sent', 'its session is away');
    await connect(a, 'ses_2');
    await untilStatus(a, sent.messageId, 'delivered');
    assert.deepEqual((await textsOf(a)).toSorted(), name === 'postgres' ? ['new', 'was waiting'] : ['new']);
    await connect(b, 'ses_3');
    assert.deepEqual(await textsOf(b), []);
    assert.equal(await about(b, first, 'ses_3'), null);
  });

  it('continues with the shared network if SANDBOX_SHARED=on', async (test) => {
    const { home, numbers } = await oldHome(test);
    const { a, b } = await start(test, home, sharedSandbox);
    await connect(b, 'ses_3');
    const { messageId } = (await b('POST', '/messages/send', { to: numbers[1], message: 'to another account' })).body;
    assert.equal((await b('GET', `/messages/${messageId}`)).body.status, 'sent');
    await connect(a, 'ses_2');
    await untilStatus(b, messageId, 'delivered');
    assert.equal((await b('GET', `/contacts/${numbers[1]}/profile`)).body.about, 'about ses_2');
  });

  if (name === 'postgres') {
    it('keeps the latest state of its groups, with the members of each account separated', async (test) => {
      const { home, numbers } = await oldHome(test);
      const { a, b } = await start(test, home);
      for (const sessionId of ['ses_1', 'ses_2']) await connect(a, sessionId);
      await connect(b, 'ses_3');
      const promoted = { action: 'promote', phoneNumbers: [numbers[1]] };
      const { status, body } = await a('POST', '/groups/grp_ses_1/participants', promoted);
      assert.equal(status, 200, JSON.stringify(body));
      await eventOf(a, 'group.updated', ({ groupId }) => groupId === 'grp_ses_2');
      assert.equal((await a('GET', '/groups/grp_ses_2')).body.subject, 'after');
      const roles = (await b('GET', '/groups/grp_ses_3')).body.participants.map(({ role }: Answer['body']) => role);
      assert.deepEqual(roles.toSorted(), ['member', 'member', 'owner']);
    });

    it('is not upgraded while a node of the old version runs', async (test) => {
      const { home } = await oldHome(test);
      await queryOf(home)(`insert into nodes (node_id, epoch, instance, version, carries, joined_at, expires_at)
        values ('nod_old', 1, 'another machine', '0.0.9', 1, 1, ${Date.now() + 600_000})`);
      await assert.rejects(start(test, home), /"sandbox mailbox" breaks older nodes: .*nod_old \(0\.0\.9\)/);
      assert.deepEqual(await queryOf(home)('select max(version) as version from schema_versions'), [{ version: 4 }]);
    });

    it('frees the number of a logged-out session on the shared network too', async (test) => {
      const { home } = await oldHome(test);
      const { a } = await start(test, home);
      await connect(a, 'ses_1');
      assert.equal((await a('POST', '/sessions/ses_1/logout')).status, 200);
      assert.deepEqual(await queryOf(home)(`select number from sandbox_numbers where session_id = 'ses_1'`), []);
      const profiles = await queryOf(home)(`select number from sandbox_numbers where profile like '%about ses_1%'`);
      assert.deepEqual(profiles, []);
    });
  }
});
