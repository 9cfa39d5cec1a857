import assert from 'node:assert/strict';
import { it } from 'node:test';
import { ADA, cloudSession, eventsOf, GRACE, passUntil } from '../support/cloudSession.ts';
import { eventually } from '../support/eventually.ts';
import type { Answer } from '../support/server.ts';

const DAY_MS = 24 * 3600 * 1000;
const CHECK_EVERY_MS = 5 * 60_000;

it("counts Meta's refusals of unwanted messages, whether they come at once or later", async (t) => {
  const { graph, clock, call, send, sessionId } = await cloudSession(t);
  const health = async () => (await call('GET', `/sessions/${sessionId}`)).body.health;
  graph.failNext({ code: 131048, details: 'Spam rate limit hit' });
  assert.equal((await send('Hello')).body.code, 'send_failed');
  graph.failNext({ code: 131051, details: 'Unsupported type' });
  await send('Hello');
  assert.equal((await health()).lastDay.spamLimits, 1);
  const { messageId } = (await send('Hello')).body;
  await graph.settled();
  const [sent] = graph.sent.slice(-1);
  assert.ok(sent !== undefined);
  await graph.post({ statuses: [graph.statusOf(sent, 'failed', graph.failure(131049, 'Not delivered'))] });
  const found = await passUntil(clock, health, ({ lastDay }) => lastDay.spamLimits === 2);
  assert.deepEqual([found.risk, found.reasons[0].code], ['elevated', 'spam_limits']);
  assert.ok(messageId);
});

it("shows Meta's rating of the number, and reports its fall", async (t) => {
  const { graph, clock, call, sessionId } = await cloudSession(t);
  const health = async () => (await call('GET', `/sessions/${sessionId}`)).body.health;
  assert.equal((await health()).network.quality, null);
  const rated = (rating: 'GREEN' | 'RED') => {
    graph.rate(rating);
    const check = async () => {
      await clock.advance(CHECK_EVERY_MS);
      return health();
    };
    return eventually(check, ({ network }) => network.quality === rating.toLowerCase());
  };
  await rated('GREEN');
  const found = await rated('RED');
  assert.deepEqual([found.risk, found.reasons[0].code], ['high', 'quality']);
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
