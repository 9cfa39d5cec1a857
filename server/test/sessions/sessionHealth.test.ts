import assert from 'node:assert/strict';
import { after, before, it } from 'node:test';
import { describeOnEachDatabase, describeWithSessionsApart, newHome } from '../support/databases/databases.ts';
import { eventually } from '../support/eventually.ts';
import { createFakeClock } from '../support/fakeClock.ts';
import {
  type Answer,
  bearer,
  type Call,
  connectSession,
  newNumber,
  startServer,
  type TestServer,
} from '../support/server.ts';

const DAY_MS = 24 * 3600 * 1000;

/**
 * The health of a session once it is as expected. Time passes, so that what was counted is stored; at first quickly,
 * and then slowly, because a busy machine must come to it within the hour whose figures it shows.
 */
function healthOf(
  call: Call,
  clock: ReturnType<typeof createFakeClock>,
  sessionId: string,
  isMet: (health: Answer['body']) => boolean,
): Promise<Answer['body']> {
  let polls = 0;
  return eventually(async () => {
    polls += 1;
    await clock.advance(polls <= 20 ? 15_000 : 1000);
    return (await call('GET', `/sessions/${sessionId}`)).body.health;
  }, isMet);
}

/**
 * Lets time pass until the call is answered: a send waits for the owner of a session that is moving to another node.
 * That time may pass faster than a busy machine renews leases, and a node without one refuses the call with 503. Then
 * it calls again.
 */
function answerOf(clock: ReturnType<typeof createFakeClock>, request: () => Promise<Answer>): Promise<Answer> {
  return eventually(
    () => clock.settle(request(), 100),
    ({ status }) => status !== 503,
  );
}

const changesOf = async (call: Call): Promise<Answer['body'][]> => {
  const { body } = await call('GET', '/events?events=session.status&limit=200');
  return body.data.flatMap(({ data }: Answer['body']) => (data.health === undefined ? [] : [data]));
};

describeWithSessionsApart('the health of a session', (_, database) => {
  const clock = createFakeClock(Date.now());
  let server: TestServer;
  before(async () => {
    server = await startServer({ database, clock });
  });
  after(() => server.stop());

  async function setUp(options: object = {}) {
    const owner = await server.account();
    const { key } = (await owner.call('POST', '/api-keys/create', { name: 'lasting' })).body;
    const byKey = bearer(server.url, key); // a login would expire within a day
    const call: Call = (...request) => answerOf(clock, () => byKey(...request));
    const sessionId = await connectSession(call, newNumber(), { options });
    const send = async (to: string) => {
      const message = { sessionId, to, message: 'hi', idempotencyKey: newNumber() }; // a call is repeated after a 503
      return (await call('POST', '/messages/send', message)).status;
    };
    const play = async (action: object) => {
      const { status, body } = await call('POST', `/sessions/${sessionId}/simulate`, action);
      assert.equal(status, 200, JSON.stringify(body));
    };
    const health = (isMet: (found: Answer['body']) => boolean) => healthOf(call, clock, sessionId, isMet);
    return { call, sessionId, send, play, health };
  }

  it('is low and has no figures at first', async () => {
    const { call, sessionId } = await setUp();
    const { health } = (await call('GET', `/sessions/${sessionId}`)).body;
    assert.deepEqual([health.risk, health.reasons, health.lastDay.sent], ['low', [], 0]);
    assert.ok(Date.parse(health.linkedAt) <= clock.now());
    const [listed] = (await call('GET', '/sessions')).body.data;
    assert.deepEqual(listed.health, health);
  });

  it('counts started chats, answers and failures, each once', async () => {
    const { call, sessionId, send, play, health } = await setUp();
    const [ann, ben, cas] = [newNumber(), newNumber(), newNumber()];
    await play({ action: 'incoming', from: ann, message: 'first' });
    await health(() => true);
    for (const to of [ann, ben, cas, ben]) assert.equal(await send(to), 201);
    // A session that has just moved to the other node sends it from its queue, and then every failure is a 502.
    assert.ok([422, 502].includes(await send('15550001234')));
    await play({ action: 'incoming', from: ben, message: 'an answer' });
    const counted = await health(({ lastDay }) => lastDay.sent === 4 && lastDay.unreachable === 1);
    assert.deepEqual([counted.lastDay.newChats, counted.lastHour.failed], [2, 1], 'the chat with ann is hers');
    assert.deepEqual(counted.startedChats, { started: 0, answered: 0 }, 'not before a day has passed');
    await send(ben);
    await play({ action: 'incoming', from: ben, message: 'another answer' });
    const { data } = (await call('GET', `/messages?sessionId=${sessionId}&chatId=${cas}`)).body;
    await play({ action: 'receipt', messageId: data[0].messageId, status: 'failed' });
    await play({ action: 'receipt', messageId: data[0].messageId, status: 'failed' });
    const later = await health(({ lastHour }) => lastHour.failed === 2);
    assert.equal(later.lastDay.newChats, 2);
    clock.skip(DAY_MS + 1);
    const nextDay = await health(({ lastDay }) => lastDay.sent === 0);
    assert.deepEqual(nextDay.startedChats, { started: 2, answered: 1 });
    assert.deepEqual([nextDay.lastDay.newChats, nextDay.lastHour.failed], [0, 0]);
  });

  it('emits a change of the risk once, with the reasons, and the status as it was', async () => {
    const { call, sessionId, play, health } = await setUp();
    await play({ action: 'block_report' });
    const elevated = await health(({ risk }) => risk === 'elevated');
    assert.deepEqual(elevated.reasons[0].code, 'block_reports');
    const [change] = await eventually(
      () => changesOf(call),
      (changes) => changes.length === 1,
    );
    const { status, previousStatus, reason, health: told } = change;
    assert.deepEqual([change.sessionId, status, previousStatus, reason], [sessionId, 'connected', 'connected', null]);
    assert.deepEqual([told.risk, told.previousRisk, told.reasons], ['elevated', 'low', elevated.reasons]);
    await play({ action: 'number_update', quality: 'low' });
    await health(({ risk }) => risk === 'high');
    await play({ action: 'number_update', quality: 'high' });
    clock.skip(DAY_MS);
    await health(({ risk }) => risk === 'low');
    const changes = await eventually(
      () => changesOf(call),
      (all) => all.at(-1)?.health.risk === 'low',
    );
    assert.equal(changes[0]?.health.previousRisk, 'low');
    for (const [index, { health: one }] of changes.entries())
      if (index > 0) assert.equal(one.previousRisk, changes[index - 1]?.health.risk);
    assert.ok(changes.some(({ health: one }) => one.risk === 'high'));
  });

  it('shows what the network says, and keeps what it leaves out', async () => {
    const { play, health } = await setUp();
    const noNewChatsUntil = new Date(clock.now() + DAY_MS).toISOString();
    await play({ action: 'standing', noNewChatsUntil, newChats: { used: 9, total: 10 } });
    await play({ action: 'standing', newChats: { used: 8, total: 10 } });
    const { network, risk } = await health((found) => found.network.newChats?.used === 8);
    assert.deepEqual([network, risk], [{ noNewChatsUntil, newChats: { used: 8, total: 10 } }, 'high']);
    await play({ action: 'standing', noNewChatsUntil: null, newChats: null });
    const after = await health((found) => found.risk === 'low');
    assert.deepEqual(after.network, { noNewChatsUntil: null, newChats: null });
  });

  it('starts again with another number', async () => {
    const { call, sessionId, play, health } = await setUp();
    await play({ action: 'block_report' });
    await health(({ risk }) => risk === 'elevated');
    await call('POST', `/sessions/${sessionId}/disconnect`);
    await call('POST', `/sessions/${sessionId}/connect`);
    await health(({ risk }) => risk === 'elevated');
    await call('POST', `/sessions/${sessionId}/logout`);
    await server.app.services.database.commit(({ kysely }) =>
      kysely.updateTable('sessions').set({ phone_number: newNumber() }).where('session_id', '=', sessionId).execute(),
    );
    await call('POST', `/sessions/${sessionId}/connect`);
    await health(({ risk, lastDay }) => risk === 'low' && lastDay.blockReports === 0);
  });

  it('is deleted with the session', async () => {
    const { call, sessionId, send, health } = await setUp();
    await send(newNumber());
    await health(({ lastDay }) => lastDay.newChats === 1);
    const { reader } = server.app.services.database;
    const left = async () => {
      const rows = [];
      for (const table of ['session_health', 'session_activity', 'started_chats'] as const)
        rows.push(...(await reader.kysely.selectFrom(table).selectAll().where('session_id', '=', sessionId).execute()));
      return rows.length;
    };
    assert.ok((await left()) >= 3, 'one of each, or two if ten minutes ended between them');
    assert.equal((await call('DELETE', `/sessions/${sessionId}`)).status, 200);
    assert.equal(await left(), 0);
  });

  it('paces a number that is warmed up: refuses what a caller waits for, and says until when', async () => {
    const { call, sessionId, send } = await setUp({ warmUp: true });
    const statuses = [];
    for (let n = 0; n < 10; n++) statuses.push(await send(newNumber()));
    assert.deepEqual(statuses, Array(10).fill(201));
    // While the session moves to another node, that one refuses the message, and the caller gets only its words.
    const { headers } = await eventually(
      async () => {
        const answer = await call('POST', '/messages/send', { sessionId, to: newNumber(), message: 'x' });
        assert.match(answer.body.detail, /is warming up: it may start 10 chats on day 1 of 14/);
        return answer;
      },
      ({ status }) => status === 429,
    );
    const seconds = Number(headers.get('retry-after'));
    assert.ok(seconds > DAY_MS / 1000 - 3600 && seconds <= DAY_MS / 1000, String(seconds));
    const later = { sessionId, to: [newNumber()], message: 'x' };
    assert.equal((await call('POST', '/messages/send-bulk', later)).body.accepted, 1);
  });
});

describeOnEachDatabase('the counters of a session', (_, database) => {
  it('survive a restart of the server, which stores the last of them when it stops', async (test) => {
    const home = await newHome(database);
    const clock = createFakeClock(Date.now());
    const first = await startServer({ home, clock });
    const { call, token } = await first.account();
    const sessionId = await connectSession(call);
    const { status } = await call('POST', '/messages/send', { sessionId, to: newNumber(), message: 'hi' });
    assert.equal(status, 201);
    await call('POST', `/sessions/${sessionId}/simulate`, { action: 'block_report' });
    await first.stop();
    const second = await startServer({ home, clock });
    test.after(async () => {
      await second.stop();
      await home.remove();
    });
    const answer = await second.call('GET', `/sessions/${sessionId}`, undefined, { authorization: `Bearer ${token}` });
    const { lastDay, risk } = answer.body.health;
    assert.deepEqual([lastDay.sent, lastDay.newChats, lastDay.blockReports, risk], [1, 1, 1, 'elevated']);
  });

  it('are deleted once no figure needs them', async (test) => {
    const clock = createFakeClock(Date.now());
    const server = await startServer({ database, clock });
    test.after(() => server.stop());
    const { call } = await server.account();
    const sessionId = await connectSession(call);
    await call('POST', '/messages/send', { sessionId, to: newNumber(), message: 'hi' });
    await healthOf(call, clock, sessionId, ({ lastDay }) => lastDay.newChats === 1);
    clock.skip(9 * DAY_MS);
    const { reader } = server.app.services.database;
    await eventually(
      async () => {
        await clock.advance(15_000);
        const acts = await reader.kysely.selectFrom('session_activity').selectAll().execute();
        return [...acts, ...(await reader.kysely.selectFrom('started_chats').selectAll().execute())];
      },
      (rows) => rows.length === 0,
    );
  });
});
