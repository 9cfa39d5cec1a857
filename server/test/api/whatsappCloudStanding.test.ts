import assert from 'node:assert/strict';
import { it } from 'node:test';
import { ADA, cloudSession, eventsOf, GRACE, passUntil } from '../support/cloudSession.ts';
import { eventually } from '../support/eventually.ts';
import type { Answer } from '../support/server.ts';

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
  assert.deepEqual(await check({ message: 'Hi' }), ['ok', 'template_required']);
  assert.deepEqual(await check({ template: { name: 'hello_world', language: 'en_US' } }), ['ok', 'ok']);
  clock.skip(DAY_MS / 2 - 3600_000);
  assert.deepEqual(await check({ message: 'Hi' }), ['ok', 'template_required']);
});
