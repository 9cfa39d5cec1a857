import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { eventually } from '../support/eventually.ts';
import { ACCOUNT_ID, type FakeGraph } from '../support/fakeGraph/fakeGraph.ts';
import { ADA, cloudSession, eventsOf, GRACE, passUntil } from '../support/networks/cloudSession.ts';
import { type Answer, bearer } from '../support/server.ts';

const DAY_MS = 24 * 3600 * 1000;
/** How often the connector reads the state of a number. */
const READ_EVERY_MS = 30 * 60_000;

it("counts Meta's refusals of unwanted messages, whether they come at once or later", async (t) => {
  const { graph, clock, call, send, sessionId } = await cloudSession(t);
  const health = async () => (await call('GET', `/sessions/${sessionId}`)).body.health;
  graph.failNext({ code: 131048, details: 'Spam rate limit hit' });
  assert.equal((await send('Hello')).body.code, 'send_failed');
  graph.failNext({ code: 131051, details: 'Unsupported type' });
  await send('Hello');
  assert.equal((await health()).lastDay.spamLimits, 1);
  graph.confirm(false);
  const { messageId } = (await send('Hello')).body;
  await graph.settled();
  const [sent] = graph.sent.slice(-1);
  assert.ok(sent !== undefined);
  const failed = graph.statusOf(sent, 'failed', graph.failure(131049, 'Not delivered'));
  for (let time = 0; time < 3; time++) await graph.post({ statuses: [failed, failed] });
  const found = await passUntil(clock, health, ({ lastDay }) => lastDay.spamLimits === 2);
  assert.deepEqual([found.risk, found.reasons[0].code], ['elevated', 'spam_limits']);
  assert.ok(messageId);
});

it('counts messages that Meta cannot deliver, whether it says so at once or later', async (t) => {
  const { graph, clock, call, sessionId } = await cloudSession(t);
  const health = async () => (await call('GET', `/sessions/${sessionId}`)).body.health;
  const send = () => call('POST', '/messages/send-template', { to: GRACE, name: 'hello_world', language: 'en_US' });
  graph.failNext({ code: 131026, details: 'Message undeliverable' });
  assert.equal((await send()).body.code, 'recipient_not_on_network');
  graph.confirm(false);
  for (let n = 0; n < 5; n++) {
    assert.equal((await send()).status, 201);
    const [sent] = graph.sent.slice(-1);
    assert.ok(sent !== undefined);
    const failed = graph.statusOf(sent, 'failed', graph.failure(131026, 'Message undeliverable'));
    for (let time = 0; time < 2; time++) await graph.post({ statuses: [failed] });
  }
  const found = await passUntil(clock, health, ({ lastDay }) => lastDay.unreachable >= 6);
  assert.deepEqual([found.lastDay.unreachable, found.lastHour.failed], [6, 6]);
  const reason = found.reasons.find(({ code }: Answer['body']) => code === 'unreachable');
  assert.match(reason.message, / 6 messages went to numbers that the network cannot reach/);
});

it("assesses Meta's rating of the number, and reports its fall", async (t) => {
  const { graph, clock, call, sessionId } = await cloudSession(t);
  const session = async () => (await call('GET', `/sessions/${sessionId}`)).body;
  const { health } = await eventually(session, ({ network }) => network?.quality === 'high');
  assert.equal(health.risk, 'low');
  graph.rate('RED');
  const read = async () => {
    await clock.advance(READ_EVERY_MS);
    return session();
  };
  const after = await eventually(read, ({ health: found }) => found.risk === 'high');
  assert.deepEqual([after.network.quality, after.health.reasons[0].code], ['low', 'quality']);
  await eventually(
    () => eventsOf(call, 'session.status'),
    (events) => events.some(({ data }: Answer['body']) => data.health?.risk === 'high'),
  );
});

it('tells in a preflight who can get only a template', async (t) => {
  const { graph, clock, call, sessionId } = await cloudSession(t);
  const check = async (more: object) => {
    const { status, body } = await call('POST', '/messages/preflight', { sessionId, to: [ADA, GRACE], ...more });
    assert.equal(status, 200, JSON.stringify(body));
    return body.results.map(({ outcome }: Answer['body']) => outcome);
  };
  await graph.incoming(ADA, { type: 'text', text: { body: 'Hello' } });
  graph.templates.add({ name: 'hello_world' });
  assert.deepEqual(await check({ message: 'Hi' }), ['ok', 'template_required']);
  assert.deepEqual(await check({ template: { name: 'hello_world', language: 'en_US' } }), ['ok', 'ok']);
  clock.skip(DAY_MS / 2 - 3600_000);
  assert.deepEqual(await check({ message: 'Hi' }), ['ok', 'template_required']);
});

it('tells in a preflight whether Meta would take a template', async (t) => {
  const { graph, call, sessionId } = await cloudSession(t);
  await eventually(
    async () => (await call('GET', `/sessions/${sessionId}`)).body.network,
    (network) => network !== null,
  );
  const of = async (template: object) => {
    const { status, body } = await call('POST', '/messages/preflight', { sessionId, to: [ADA], template });
    assert.equal(status, 200, JSON.stringify(body));
    return [body.results[0].outcome, body.results[0].message];
  };
  const order = { name: 'order_sent', language: 'en_US' };
  assert.deepEqual(await of(order), [
    'template_unavailable',
    'The template order_sent does not exist in the language en_US',
  ]);
  graph.templates.add({ name: 'order_sent', language: 'de', status: 'REJECTED' });
  const template = graph.templates.add({ ...order, status: 'PENDING' });
  for (const status of ['PENDING', 'REJECTED', 'PAUSED', 'DISABLED']) {
    template.status = status;
    const named = status.toLowerCase();
    const expected = ['template_unavailable', `The template order_sent (en_US) is ${named}, and not approved`];
    assert.deepEqual(await of(order), expected);
    assert.equal((await of({ name: 'order_sent' }))[0], 'template_unavailable', `${named} in every language`);
    const sent = await call('POST', '/messages/send-template', { sessionId, to: ADA, ...order });
    assert.ok(sent.status >= 400, 'as the preflight said');
  }
  for (const status of ['APPROVED', 'FLAGGED']) {
    template.status = status;
    assert.equal((await of(order))[0], 'ok');
    assert.equal((await of({ name: 'order_sent' }))[0], 'unknown', 'the language is missing');
  }
  for (let n = 0; n < 120; n++) graph.templates.add({ name: 'many', language: `l${n}`, status: 'REJECTED' });
  assert.equal((await of({ name: 'many' }))[0], 'template_unavailable');
  graph.templates.add({ name: 'many', language: 'fr' });
  assert.equal((await of({ name: 'many' }))[0], 'unknown', 'one on the second page is approved');
  graph.failNext({ code: 10, details: 'No permission' });
  const [outcome, message] = await of(order);
  assert.deepEqual([outcome, /could not be checked.*No permission/.test(message)], ['unknown', true]);
});

it('tells in a preflight that Meta refuses messages to people whom the number has blocked', async (t) => {
  const { graph, call, sessionId } = await cloudSession(t);
  await graph.incoming(ADA, { type: 'text', text: { body: 'Hello' } });
  assert.equal((await call('PUT', `/contacts/${ADA}/blocked`, { sessionId, blocked: true })).status, 200);
  const { body } = await call('POST', '/messages/preflight', { sessionId, to: [ADA], message: 'Hi' });
  assert.deepEqual(
    [body.ok, body.results[0].outcome, /WhatsApp refuses messages/.test(body.results[0].message)],
    [0, 'blocked', true],
  );
});

describe('a number that Meta has restricted', () => {
  const block = (graph: FakeGraph) => {
    graph.state.health_status.can_send_message = 'BLOCKED';
    graph.state.health_status.entities = [
      {
        entity_type: 'WABA',
        id: ACCOUNT_ID,
        can_send_message: 'BLOCKED',
        errors: [{ error_code: 141006, error_description: 'The account is disabled.', possible_solution: 'Appeal.' }],
      },
    ];
  };
  const reasonsOf = ({ health }: Answer['body']) =>
    health.reasons.map(({ code, risk }: Answer['body']) => [code, risk]);

  it('is at high risk while it cannot send', async (t) => {
    const { graph, clock, call, sessionId } = await cloudSession(t, { connects: false });
    block(graph);
    await call('POST', `/sessions/${sessionId}/connect`);
    const session = async () => (await call('GET', `/sessions/${sessionId}`)).body;
    const found = await eventually(session, ({ network }) => network?.canSend === 'no');
    assert.deepEqual([found.health.risk, reasonsOf(found)], ['high', [['restricted', 'high']]]);
    const { body } = await call('POST', '/messages/preflight', { sessionId, to: [ADA, 'nobody'], message: 'Hi' });
    assert.deepEqual(
      [body.ok, body.results[0].outcome, body.results[0].message, body.results[1].outcome],
      [
        0,
        'restricted',
        'The network does not let the number of the session send messages. The account is disabled. Appeal.',
        'invalid_number',
      ],
    );
    await eventually(
      () => eventsOf(call, 'session.status'),
      (events) => events.some(({ data }: Answer['body']) => data.health?.risk === 'high'),
    );
    graph.state.health_status.can_send_message = 'AVAILABLE';
    graph.state.health_status.entities = [];
    const read = async () => {
      await clock.advance(READ_EVERY_MS);
      return session();
    };
    assert.deepEqual(reasonsOf(await eventually(read, ({ network }) => network.canSend === 'yes')), []);
  });

  it('is at high risk for a day after a restriction, unless Meta lifts it', async (t) => {
    const restrictions = [
      { event: 'ACCOUNT_RESTRICTION', restriction_info: [{ restriction_type: 'RESTRICTED_BIZ_INITIATED_MESSAGING' }] },
      { event: 'DISABLED_UPDATE', ban_info: { waba_ban_state: 'DISABLE', waba_ban_date: 'January 1' } },
    ];
    const { graph, clock, server, call, sessionId } = await cloudSession(t);
    const { key } = (await call('POST', '/api-keys/create', { name: 'lasting' })).body;
    const byKey = bearer(server.url, key); // a login would expire within a day
    const session = async () => (await byKey('GET', `/sessions/${sessionId}`)).body;
    await eventually(session, ({ network }) => network !== null);
    for (const restriction of restrictions) {
      const report = { field: 'account_update', ...restriction };
      for (let time = 0; time < 2; time++) assert.equal(await graph.post(report), 200);
      const found = await session();
      assert.deepEqual([found.health.risk, reasonsOf(found)], ['high', [['restricted', 'high']]], restriction.event);
      assert.match(found.health.reasons[0].message, /restricted the number or its account within the last day/);
      assert.deepEqual(Object.keys(found.network.notices[0]).toSorted(), ['at', 'message', 'severity', 'type']);
      const lifted = { event: 'DISABLED_UPDATE', ban_info: { waba_ban_state: 'REINSTATE' } };
      assert.equal(
        await graph.post({
          field: 'account_update',
          ...lifted,
          ban_info: { ...lifted.ban_info, waba_ban_date: restriction.event },
        }),
        200,
      );
      assert.equal((await session()).health.risk, 'low', 'lifted');
    }
    assert.equal(await graph.post({ field: 'account_update', event: 'ACCOUNT_VIOLATION' }), 200);
    assert.equal((await session()).health.risk, 'low', 'a violation restricts nothing');
    assert.equal(await graph.post({ field: 'account_update', event: 'ACCOUNT_RESTRICTION' }), 200);
    assert.equal((await session()).health.risk, 'high');
    clock.skip(DAY_MS / 2 - 3600_000);
    assert.equal((await session()).health.risk, 'high');
    clock.skip(DAY_MS / 2 - 3600_000);
    clock.skip(2 * 3600_000 + 1);
    assert.equal((await session()).health.risk, 'low', 'a day later');
  });
});
