import assert from 'node:assert/strict';
import { it } from 'node:test';
import { storeOf } from '../../../src/sessions/store.ts';
import { eventually } from '../../support/eventually.ts';
import { type Answer, eventOf } from '../../support/server.ts';
import { linkSession, nextPhone, showQr, useWhatsapp } from '../support.ts';

const setting = useWhatsapp();

const healthOf = (sessionId: string, isMet: (health: Answer['body']) => boolean): Promise<Answer['body']> =>
  eventually(async () => (await setting.call('GET', `/sessions/${sessionId}`)).body.health, isMet);

it('the ban on new chats and its end are in the health of the session, with an event', async () => {
  const { whatsapp, call } = setting;
  const me = nextPhone(whatsapp);
  const sessionId = await linkSession(call, me);
  const untilS = Math.floor(Date.now() / 1000) + 3600;
  me.limit({ noNewChatsUntilS: untilS });
  const denied = await healthOf(sessionId, ({ risk }) => risk === 'high');
  assert.deepEqual(
    [denied.network.noNewChatsUntil, denied.reasons[0].code],
    [new Date(untilS * 1000).toISOString(), 'new_chats_denied'],
  );
  const told = await eventOf(call, 'session.status', (data) => data.sessionId === sessionId && data.health);
  assert.deepEqual([told.health.risk, told.health.previousRisk], ['high', 'low']);
  me.limit({ noNewChatsUntilS: undefined });
  await healthOf(sessionId, ({ risk }) => risk === 'low');
});

it('the quota of new chats raises the risk before it is used up', async () => {
  const { whatsapp, call } = setting;
  const me = nextPhone(whatsapp);
  me.limit({ newChats: { total: 10, used: 8 } });
  const sessionId = await linkSession(call, me);
  const { network, risk } = await healthOf(sessionId, ({ reasons }) => reasons.length > 0);
  assert.deepEqual([network.newChats, risk], [{ used: 8, total: 10 }, 'elevated']);
});

it('a refusal because of restrictions is a warning, and others are not', async () => {
  const { whatsapp, call } = setting;
  const [me, bob] = [nextPhone(whatsapp), nextPhone(whatsapp)];
  const sessionId = await linkSession(call, me);
  const send = () => call('POST', '/messages/send', { sessionId, to: bob.number, message: 'hello' });
  assert.equal((await send()).status, 201);
  whatsapp.faults.refuseNextMessage(me.number, 421);
  assert.equal((await send()).body.code, 'send_failed');
  whatsapp.faults.refuseNextMessage(me.number, 475);
  assert.equal((await send()).body.code, 'send_failed');
  const { reasons } = await healthOf(sessionId, ({ risk }) => risk === 'high');
  assert.deepEqual(
    reasons.map(({ code }: Answer['body']) => code),
    ['restricted'],
  );
});

it('a preflight applies the limits of the session and of WhatsApp, and sends nothing', async () => {
  const { whatsapp, call } = setting;
  const [me, bob, carol, dan] = [1, 2, 3, 4].map(() => nextPhone(whatsapp));
  assert.ok(me && bob && carol && dan);
  const sessionId = await linkSession(call, me, { newChatsPerDay: 2 });
  const outcomes = async () => {
    const to = [bob.number, carol.number, dan.number, '4917099999999'];
    const { status, body } = await call('POST', '/messages/preflight', { sessionId, to, message: 'hi' });
    assert.equal(status, 200, JSON.stringify(body));
    return body.results.map(({ outcome }: Answer['body']) => outcome);
  };
  assert.deepEqual(await outcomes(), ['ok', 'limit_near', 'limit_reached', 'not_on_network']);
  assert.equal((await call('POST', '/messages/send', { sessionId, to: carol.number, message: 'hello' })).status, 201);
  assert.deepEqual(await outcomes(), ['limit_near', 'ok', 'limit_reached', 'not_on_network']);
  me.limit({ noNewChatsUntilS: Math.floor(Date.now() / 1000) + 3600 });
  await eventually(outcomes, ([first]) => first === 'limit_reached');
  assert.deepEqual(await outcomes(), ['limit_reached', 'ok', 'limit_reached', 'not_on_network']);
  assert.deepEqual([bob.messages.all.length, dan.messages.all.length], [0, 0]);
});

it('the warm-up begins when the number is linked, not while the session waits for that', async () => {
  const { whatsapp, server, call } = setting;
  const { sessionId, qr } = await showQr(call, { warmUp: true });
  const begun = () => storeOf(server.app.services.database, sessionId).get('warm-up');
  assert.equal(await begun(), undefined);
  await nextPhone(whatsapp).scan(qr);
  const text = await eventually(begun, (stored) => stored !== undefined);
  assert.equal(JSON.parse(text ?? '').day, 1);
});

it('a number that is warmed up starts few chats', async () => {
  const { whatsapp, call } = setting;
  const me = nextPhone(whatsapp);
  const sessionId = await linkSession(call, me, { warmUp: true, newChatsPerDay: 3 });
  const people = [1, 2, 3, 4].map(() => nextPhone(whatsapp).number);
  const statuses = [];
  for (const to of people) {
    const { status } = await call('POST', '/messages/send', { sessionId, to, message: 'hello' });
    statuses.push(status);
  }
  assert.deepEqual(statuses, [201, 201, 201, 429]);
});
