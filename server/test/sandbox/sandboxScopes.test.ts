import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { describeWithSessionsApart } from '../support/databases/databases.ts';
import { eventually } from '../support/eventually.ts';
import {
  type Answer,
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
